// SPDX-License-Identifier: MIT
//! Words of Evergreen and Northern Islands, and the shader words that R7xx does not have like this. Sources: Mesa's
//! `evergreend.h` and `eg_sq.h`.

use super::Descriptors;

super::words! {
    SQ_TEX_RESOURCE_WORD0 as sq_tex_resource_word0 {
        DIM 2:0, NON_DISP_TILING_ORDER 5, PITCH 17:6, TEX_WIDTH 31:18,
    }
    SQ_TEX_RESOURCE_WORD1 as sq_tex_resource_word1 {
        TEX_HEIGHT 13:0, TEX_DEPTH 26:14, ARRAY_MODE 31:28,
    }
    SQ_TEX_RESOURCE_WORD2 as sq_tex_resource_word2 {
        BASE_ADDRESS 31:0,
    }
    SQ_TEX_RESOURCE_WORD3 as sq_tex_resource_word3 {
        MIP_ADDRESS 31:0,
    }
    SQ_TEX_RESOURCE_WORD4 as sq_tex_resource_word4 {
        FORMAT_COMP_X 1:0, FORMAT_COMP_Y 3:2, FORMAT_COMP_Z 5:4, FORMAT_COMP_W 7:6,
        NUM_FORMAT_ALL 9:8, SRF_MODE_ALL 10, FORCE_DEGAMMA 11, ENDIAN_SWAP 13:12,
        LOG2_NUM_FRAGMENTS 15:14, DST_SEL_X 18:16, DST_SEL_Y 21:19, DST_SEL_Z 24:22,
        DST_SEL_W 27:25, BASE_LEVEL 31:28,
    }
    SQ_TEX_RESOURCE_WORD5 as sq_tex_resource_word5 {
        LAST_LEVEL 3:0, BASE_ARRAY 16:4, LAST_ARRAY 29:17,
    }
    SQ_TEX_RESOURCE_WORD6 as sq_tex_resource_word6 {
        MAX_ANISO_RATIO 2:0, FMASK_BANK_HEIGHT 1:0, PERF_MODULATION 5:3, INTERLACED 6,
        TILE_SPLIT 31:29,
    }
    SQ_TEX_RESOURCE_WORD7 as sq_tex_resource_word7 {
        DATA_FORMAT 5:0, MACRO_TILE_ASPECT 7:6, BANK_WIDTH 9:8, BANK_HEIGHT 11:10,
        DEPTH_SAMPLE_ORDER 15, NUM_BANKS 17:16, TYPE 31:30,
    }
    SQ_VTX_CONSTANT_WORD0 as sq_vtx_constant_word0 {
        BASE_ADDRESS 31:0,
    }
    SQ_VTX_CONSTANT_WORD1 as sq_vtx_constant_word1 {
        SIZE 31:0,
    }
    SQ_VTX_CONSTANT_WORD2 as sq_vtx_constant_word2 {
        BASE_ADDRESS_HI 7:0, STRIDE 18:8, CLAMP_X 19, DATA_FORMAT 25:20, NUM_FORMAT_ALL 27:26,
        FORMAT_COMP_ALL 28, SRF_MODE_ALL 29, ENDIAN_SWAP 31:30,
    }
    SQ_VTX_CONSTANT_WORD3 as sq_vtx_constant_word3 {
        UNCACHED 2, DST_SEL_X 5:3, DST_SEL_Y 8:6, DST_SEL_Z 11:9, DST_SEL_W 14:12,
    }
    SQ_VTX_CONSTANT_WORD7 as sq_vtx_constant_word7 {
        TYPE 31:30,
    }
    SQ_TEX_SAMPLER_WORD0 as sq_tex_sampler_word0 {
        CLAMP_X 2:0, CLAMP_Y 5:3, CLAMP_Z 8:6, XY_MAG_FILTER 10:9, XY_MIN_FILTER 12:11,
        Z_FILTER 14:13, MIP_FILTER 16:15, MAX_ANISO_RATIO 19:17, BORDER_COLOR_TYPE 21:20,
        DEPTH_COMPARE_FUNCTION 24:22, CHROMA_KEY 26:25,
    }
    SQ_TEX_SAMPLER_WORD1 as sq_tex_sampler_word1 {
        MIN_LOD 11:0, MAX_LOD 23:12, PERF_MIP 27:24, PERF_Z 31:28,
    }
    SQ_TEX_SAMPLER_WORD2 as sq_tex_sampler_word2 {
        LOD_BIAS 13:0, LOD_BIAS_SEC 19:14, MC_COORD_TRUNCATE 20, FORCE_DEGAMMA 21, ANISO_BIAS 27:22,
        TRUNCATE_COORD 28, DISABLE_CUBE_WRAP 29, TYPE 31,
    }
    SQ_CF_WORD0 as sq_cf_word0 {
        ADDR 23:0, JUMPTABLE_SEL 26:24,
    }
    SQ_CF_WORD1 as sq_cf_word1 {
        POP_COUNT 2:0, CF_CONST 7:3, COND 9:8, COUNT 15:10, VALID_PIXEL_MODE 20, END_OF_PROGRAM 21,
        CF_INST 29:22, WHOLE_QUAD_MODE 30, BARRIER 31,
    }
    SQ_CF_ALU_WORD1 as sq_cf_alu_word1 {
        KCACHE_MODE1 1:0, KCACHE_ADDR0 9:2, KCACHE_ADDR1 17:10, COUNT 24:18, ALT_CONST 25,
        CF_INST 29:26, WHOLE_QUAD_MODE 30, BARRIER 31,
    }
    SQ_CF_ALU_WORD0_EXT as sq_cf_alu_word0_ext {
        KCACHE_BANK_INDEX_MODE0 5:4, KCACHE_BANK_INDEX_MODE1 7:6, KCACHE_BANK_INDEX_MODE2 9:8,
        KCACHE_BANK_INDEX_MODE3 11:10, KCACHE_BANK2 25:22, KCACHE_BANK3 29:26, KCACHE_MODE2 31:30,
    }
    SQ_CF_ALU_WORD1_EXT as sq_cf_alu_word1_ext {
        KCACHE_MODE3 1:0, KCACHE_ADDR2 9:2, KCACHE_ADDR3 17:10, CF_INST 29:26, BARRIER 31,
    }
    SQ_CF_ALLOC_EXPORT_WORD0_RAT as sq_cf_alloc_export_word0_rat {
        RAT_ID 3:0, RAT_INST 9:4, RAT_INDEX_MODE 12:11,
    }
    SQ_CF_ALLOC_EXPORT_WORD1 as sq_cf_alloc_export_word1 {
        BURST_COUNT 19:16, VALID_PIXEL_MODE 20, END_OF_PROGRAM 21, CF_INST 29:22, MARK 30,
        BARRIER 31,
    }
    SQ_VTX_WORD2 as sq_vtx_word2 {
        OFFSET 15:0, ENDIAN_SWAP 17:16, CONST_BUF_NO_STRIDE 18, MEGA_FETCH 19, ALT_CONST 20,
        BIM 22:21,
    }
    SQ_TEX_WORD0 as sq_tex_word0 {
        TEX_INST 4:0, INST_MOD 6:5, FETCH_WHOLE_QUAD 7, RESOURCE_ID 15:8, SRC_GPR 22:16, SRC_REL 23,
        ALT_CONST 24, RIM 26:25, SIM 28:27,
    }
    SQ_MEM_GDS_WORD0 as sq_mem_gds_word0 {
        MEM_INST 4:0, MEM_OP 10:8, SRC_GPR 17:11, SRC_REL 19:18, SRC_SEL_X 22:20, SRC_SEL_Y 25:23,
        SRC_SEL_Z 28:26,
    }
    SQ_MEM_GDS_WORD1 as sq_mem_gds_word1 {
        DST_GPR 6:0, DST_REL 8:7, GDS_OP 14:9, SRC_GPR 22:16, UAV_INDEX_MODE 25:24, UAV_ID 29:26,
        ALLOC_CONSUME 30, BCAST_FIRST_REQ 31,
    }
    SQ_MEM_GDS_WORD2 as sq_mem_gds_word2 {
        DST_SEL_X 2:0, DST_SEL_Y 5:3, DST_SEL_Z 8:6, DST_SEL_W 11:9,
    }
    SQ_ALU_WORD0_LDS_IDX_OP as sq_alu_word0_lds_idx_op {
        IDX_OFFSET_4 12, IDX_OFFSET_5 25,
    }
    SQ_ALU_WORD1_LDS_IDX_OP as sq_alu_word1_lds_idx_op {
        IDX_OFFSET_1 12, LDS_OP 26:21, IDX_OFFSET_0 27, IDX_OFFSET_2 28, IDX_OFFSET_3 31,
    }
}

/// The words of descriptors.
pub const DESCRIPTORS: Descriptors = Descriptors {
    texture: &[
        sq_tex_resource_word0::NAMED,
        sq_tex_resource_word1::NAMED,
        sq_tex_resource_word2::NAMED,
        sq_tex_resource_word3::NAMED,
        sq_tex_resource_word4::NAMED,
        sq_tex_resource_word5::NAMED,
        sq_tex_resource_word6::NAMED,
        sq_tex_resource_word7::NAMED,
    ],
    buffer: &[
        sq_vtx_constant_word0::NAMED,
        sq_vtx_constant_word1::NAMED,
        sq_vtx_constant_word2::NAMED,
        sq_vtx_constant_word3::NAMED,
        ("SQ_VTX_CONSTANT_WORD4", &[]),
        ("SQ_VTX_CONSTANT_WORD5", &[]),
        ("SQ_VTX_CONSTANT_WORD6", &[]),
        sq_vtx_constant_word7::NAMED,
    ],
    sampler: &[
        sq_tex_sampler_word0::NAMED,
        sq_tex_sampler_word1::NAMED,
        sq_tex_sampler_word2::NAMED,
    ],
    kind: (7, sq_tex_resource_word7::TYPE),
};

/// Cayman's `NON_DISP_TILING_ORDER` of `SQ_TEX_RESOURCE_WORD0` (`CM_S_030000_NON_DISP_TILING_ORDER`).
pub const CAYMAN_NON_DISP_TILING_ORDER: super::Field =
    super::Field::new("NON_DISP_TILING_ORDER", 5, 4);
