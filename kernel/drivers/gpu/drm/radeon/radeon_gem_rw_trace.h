/* SPDX-License-Identifier: MIT */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM radeon

#if !defined(__RADEON_GEM_RW_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __RADEON_GEM_RW_TRACE_H__

#include <linux/tracepoint.h>
#include <linux/types.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

DECLARE_EVENT_CLASS(radeon_gem_rw,
		    TP_PROTO(const struct drm_radeon_gem_pwrite *args, int result),
		    TP_ARGS(args, result),
		    TP_STRUCT__entry(__field(u32, handle)
				     __field(u32, flags)
				     __field(u64, offset)
				     __field(u64, size)
				     __field(int, result)
				     ),
		    TP_fast_assign(__entry->handle = args->handle;
				   __entry->flags = args->pad;
				   __entry->offset = args->offset;
				   __entry->size = args->size;
				   __entry->result = result;
				   ),
		    TP_printk("handle=%u, offset=%llu, size=%llu, flags=0x%x, result=%d",
			      __entry->handle, __entry->offset, __entry->size,
			      __entry->flags, __entry->result)
);

DEFINE_EVENT(radeon_gem_rw, radeon_gem_pread,
	     TP_PROTO(const struct drm_radeon_gem_pwrite *args, int result),
	     TP_ARGS(args, result)
);

DEFINE_EVENT(radeon_gem_rw, radeon_gem_pwrite,
	     TP_PROTO(const struct drm_radeon_gem_pwrite *args, int result),
	     TP_ARGS(args, result)
);

TRACE_EVENT(radeon_gem_transfer,
	    TP_PROTO(const struct drm_radeon_gem_transfer *args, int result),
	    TP_ARGS(args, result),
	    TP_STRUCT__entry(__field(u32, regions)
			     __field(u32, done)
			     __field(u32, flags)
			     __field(int, result)
			     ),
	    TP_fast_assign(__entry->regions = args->region_count;
			   __entry->done = args->regions_done;
			   __entry->flags = args->flags;
			   __entry->result = result;
			   ),
	    TP_printk("regions=%u, done=%u, flags=0x%x, result=%d",
		      __entry->regions, __entry->done, __entry->flags,
		      __entry->result)
);

#endif

/* This part must be outside the protection. */
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE radeon_gem_rw_trace
#include <trace/define_trace.h>
