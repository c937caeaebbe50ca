// SPDX-License-Identifier: MIT
//! Host data path. Source: `rv770d.h` (`HDP_DEBUG1`), `r600d.h`
//! (`R_005480_HDP_MEM_COHERENCY_FLUSH_CNTL`).

super::registers! {
    /// Written and followed by a read of VRAM, it flushes: the way of this
    /// family.
    HDP_DEBUG1 = 0x2F34;
    /// A write flushes.
    HDP_MEM_COHERENCY_FLUSH_CNTL = 0x5480;
}
