# SPDX-License-Identifier: MIT
#
# Print radeon_drm.h with what radeon_drm_rw.h adds to it, for the series: numbers beside
# those of the other ioctls and requests, the rest at the end.
#
# usage: awk -f merge-uapi.awk radeon_drm_rw.h radeon_drm.h
#
# Fails if one of the places is missing.

# Drop what only a header of its own needs, and the defines that go elsewhere with their
# comments.
FNR == NR {
	if (/^\/\*\* DRM_|^\/\*\*$/) { comment = $0 "\n"; in_comment = !/\*\/$/; next }
	if (in_comment) {
		if (/ radeon_drm.h has declared/) skip = 1
		sub(/all of them:/, "DRM_RADEON_GEM_PREAD, PWRITE and TRANSFER:")
		if (!skip) comment = comment $0 "\n"
		if (skip && /^ \*$/) skip = 0
		if (/\*\/$/) in_comment = 0
		next
	}
	if (/^#define (DRM_RADEON_GEM_TRANSFER|RADEON_INFO_GEM_RW|DRM_IOCTL_RADEON_GEM_TRANSFER)[ \t]/) {
		define[$2] = $0
		name = $2
		while (/\\$/) { getline; define[name] = define[name] "\n" $0 }
		comment = ""
		next
	}
	if (/^enum|^struct|^#define RADEON_/) begun = 1
	if (/^#if defined\(__cplusplus\)/ && begun) done = 1
	if (begun && !done && (comment $0 != "" || body !~ /\n\n$/)) body = body comment $0 "\n"
	else if (comment ~ /DOC:/) body = body comment "\n"
	comment = ""
	next
}

/^#if defined\(__cplusplus\)/ { if (++plus == 2) { sub(/\n+$/, "\n", body); printf "%s\n", body } }
/^struct drm_radeon_gem_p(read|write) / { in_rw = 1 }
in_rw && /__u32 pad;/ { print "\t/** Flags, see enum drm_radeon_gem_rw_flags */"; in_rw = 0 }
{ print }
/^#define DRM_RADEON_GEM_USERPTR[ \t]/ { print_define("DRM_RADEON_GEM_TRANSFER") }
/^#define DRM_IOCTL_RADEON_GEM_USERPTR[ \t]/ { print_define("DRM_IOCTL_RADEON_GEM_TRANSFER") }
/^#define RADEON_INFO_GPU_RESET_COUNTER[ \t]/ { print_define("RADEON_INFO_GEM_RW") }

function print_define(name) { print define[name]; delete define[name]; n++ }

END { if (n != 3 || plus != 2 || length(body) < 1000) exit 1 }
