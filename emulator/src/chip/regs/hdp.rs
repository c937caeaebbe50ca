// SPDX-License-Identifier: MIT
//! Host data path. Source: `rv770d.h` (`HDP_DEBUG1`), `r600d.h`
//! (`R_005480_HDP_MEM_COHERENCY_FLUSH_CNTL`).

super::registers! {
    /// An access that a read of VRAM follows flushes: the method for this
    /// family.
    HDP_DEBUG1 = 0x2F34;
    /// A write flushes.
    HDP_MEM_COHERENCY_FLUSH_CNTL = 0x5480;
}
