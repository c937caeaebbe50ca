// SPDX-License-Identifier: MIT
//! Vertex grouper and tessellator. Source: `r600d.h`.

super::registers! {
    /// Primitive type of draws (`DI_PT_*`).
    VGT_PRIMITIVE_TYPE = 0x8958;
    /// Index type (16 or 32 bits) for draws.
    VGT_DMA_INDEX_TYPE = 0x2_8A7C;
    /// Instance count for draws.
    VGT_DMA_NUM_INSTANCES = 0x2_8A88;
    /// Stream-out buffer 0 write offset; the others follow every 16 bytes.
    VGT_STRMOUT_BUFFER_OFFSET_0 = 0x2_8ADC [4; 16];
}
