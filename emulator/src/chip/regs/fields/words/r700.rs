// SPDX-License-Identifier: MIT
//! Words of R6xx and R7xx. Sources: Mesa's `r600d.h` and `r700_sq.h`.

use super::Descriptors;

super::words! {
    SQ_TEX_RESOURCE_WORD0 as sq_tex_resource_word0 {
        DIM 2:0, TILE_MODE 6:3, TILE_TYPE 7, PITCH 18:8, TEX_WIDTH 31:19,
    }
    SQ_TEX_RESOURCE_WORD1 as sq_tex_resource_word1 {
        TEX_HEIGHT 12:0, TEX_DEPTH 25:13, DATA_FORMAT 31:26,
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
        REQUEST_SIZE 15:14, DST_SEL_X 18:16, DST_SEL_Y 21:19, DST_SEL_Z 24:22, DST_SEL_W 27:25,
        BASE_LEVEL 31:28,
    }
    SQ_TEX_RESOURCE_WORD5 as sq_tex_resource_word5 {
        LAST_LEVEL 3:0, BASE_ARRAY 16:4, LAST_ARRAY 29:17,
    }
    SQ_TEX_RESOURCE_WORD6 as sq_tex_resource_word6 {
        MPEG_CLAMP 1:0, MAX_ANISO 4:2, PERF_MODULATION 7:5, INTERLACED 8, TYPE 31:30,
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
    SQ_VTX_CONSTANT_WORD6 as sq_vtx_constant_word6 {
        TYPE 31:30,
    }
    SQ_TEX_SAMPLER_WORD0 as sq_tex_sampler_word0 {
        CLAMP_X 2:0, CLAMP_Y 5:3, CLAMP_Z 8:6, XY_MAG_FILTER 11:9, XY_MIN_FILTER 14:12,
        Z_FILTER 16:15, MIP_FILTER 18:17, MAX_ANISO_RATIO 21:19, BORDER_COLOR_TYPE 23:22,
        POINT_SAMPLING_CLAMP 24, TEX_ARRAY_OVERRIDE 25, DEPTH_COMPARE_FUNCTION 28:26,
        CHROMA_KEY 30:29, LOD_USES_MINOR_AXIS 31,
    }
    SQ_TEX_SAMPLER_WORD1 as sq_tex_sampler_word1 {
        MIN_LOD 9:0, MAX_LOD 19:10, LOD_BIAS 31:20,
    }
    SQ_TEX_SAMPLER_WORD2 as sq_tex_sampler_word2 {
        LOD_BIAS_SEC 11:0, MC_COORD_TRUNCATE 12, FORCE_DEGAMMA 13, HIGH_PRECISION_FILTER 14,
        PERF_MIP 17:15, PERF_Z 19:18, ANISO_BIAS 27:22, FETCH_4 26, SAMPLE_IS_PCF 27, TYPE 31,
    }
    SQ_CF_WORD0 as sq_cf_word0 {
        ADDR 31:0,
    }
    SQ_CF_WORD1 as sq_cf_word1 {
        POP_COUNT 2:0, CF_CONST 7:3, COND 9:8, COUNT 12:10, CALL_COUNT 18:13, COUNT_3 19,
        END_OF_PROGRAM 21, VALID_PIXEL_MODE 22, CF_INST 29:23, WHOLE_QUAD_MODE 30, BARRIER 31,
    }
    SQ_CF_ALU_WORD0 as sq_cf_alu_word0 {
        ADDR 21:0, KCACHE_BANK0 25:22, KCACHE_BANK1 29:26, KCACHE_MODE0 31:30,
    }
    SQ_CF_ALU_WORD1 as sq_cf_alu_word1 {
        KCACHE_MODE1 1:0, KCACHE_ADDR0 9:2, KCACHE_ADDR1 17:10, COUNT 24:18, USES_WATERFALL 25,
        ALT_CONST 25, CF_INST 29:26, WHOLE_QUAD_MODE 30, BARRIER 31,
    }
    SQ_CF_ALLOC_EXPORT_WORD0 as sq_cf_alloc_export_word0 {
        ARRAY_BASE 12:0, TYPE 14:13, RW_GPR 21:15, RW_REL 22, INDEX_GPR 29:23, ELEM_SIZE 31:30,
    }
    SQ_CF_ALLOC_EXPORT_WORD1 as sq_cf_alloc_export_word1 {
        BURST_COUNT 20:17, END_OF_PROGRAM 21, VALID_PIXEL_MODE 22, CF_INST 29:23,
        WHOLE_QUAD_MODE 30, BARRIER 31,
    }
    SQ_CF_ALLOC_EXPORT_WORD1_BUF as sq_cf_alloc_export_word1_buf {
        ARRAY_SIZE 11:0, COMP_MASK 15:12,
    }
    SQ_CF_ALLOC_EXPORT_WORD1_SWIZ as sq_cf_alloc_export_word1_swiz {
        SEL_X 2:0, SEL_Y 5:3, SEL_Z 8:6, SEL_W 11:9,
    }
    SQ_ALU_WORD0 as sq_alu_word0 {
        SRC0_SEL 8:0, SRC0_REL 9, SRC0_CHAN 11:10, SRC0_NEG 12, SRC1_SEL 21:13, SRC1_REL 22,
        SRC1_CHAN 24:23, SRC1_NEG 25, INDEX_MODE 28:26, PRED_SEL 30:29, LAST 31,
    }
    SQ_ALU_WORD1 as sq_alu_word1 {
        ENCODING 17:15, BANK_SWIZZLE 20:18, DST_GPR 27:21, DST_REL 28, DST_CHAN 30:29, CLAMP 31,
    }
    SQ_ALU_WORD1_OP2 as sq_alu_word1_op2 {
        SRC0_ABS 0, SRC1_ABS 1, UPDATE_EXECUTE_MASK 2, UPDATE_PRED 3, WRITE_MASK 4, OMOD 6:5,
        ALU_INST 17:7,
    }
    SQ_ALU_WORD1_OP3 as sq_alu_word1_op3 {
        SRC2_SEL 8:0, SRC2_REL 9, SRC2_CHAN 11:10, SRC2_NEG 12, ALU_INST 17:13,
    }
    SQ_VTX_WORD0 as sq_vtx_word0 {
        VTX_INST 4:0, FETCH_TYPE 6:5, FETCH_WHOLE_QUAD 7, BUFFER_ID 15:8, SRC_GPR 22:16, SRC_REL 23,
        SRC_SEL_X 25:24, MEGA_FETCH_COUNT 31:26,
    }
    SQ_VTX_WORD1 as sq_vtx_word1 {
        DST_SEL_X 11:9, DST_SEL_Y 14:12, DST_SEL_Z 17:15, DST_SEL_W 20:18, USE_CONST_FIELDS 21,
        DATA_FORMAT 27:22, NUM_FORMAT_ALL 29:28, FORMAT_COMP_ALL 30, SRF_MODE_ALL 31,
    }
    SQ_VTX_WORD1_GPR as sq_vtx_word1_gpr {
        DST_GPR 6:0, DST_REL 7,
    }
    SQ_VTX_WORD1_SEM as sq_vtx_word1_sem {
        SEMANTIC_ID 7:0,
    }
    SQ_VTX_WORD2 as sq_vtx_word2 {
        OFFSET 15:0, ENDIAN_SWAP 17:16, CONST_BUF_NO_STRIDE 18, MEGA_FETCH 19, ALT_CONST 20,
    }
    SQ_TEX_WORD0 as sq_tex_word0 {
        TEX_INST 4:0, BC_FRAC_MODE 5, FETCH_WHOLE_QUAD 7, RESOURCE_ID 15:8, SRC_GPR 22:16,
        SRC_REL 23, ALT_CONST 24,
    }
    SQ_TEX_WORD1 as sq_tex_word1 {
        DST_GPR 6:0, DST_REL 7, DST_SEL_X 11:9, DST_SEL_Y 14:12, DST_SEL_Z 17:15, DST_SEL_W 20:18,
        LOD_BIAS 27:21, COORD_TYPE_X 28, COORD_TYPE_Y 29, COORD_TYPE_Z 30, COORD_TYPE_W 31,
    }
    SQ_TEX_WORD2 as sq_tex_word2 {
        OFFSET_X 4:0, OFFSET_Y 9:5, OFFSET_Z 14:10, SAMPLER_ID 19:15, SRC_SEL_X 22:20,
        SRC_SEL_Y 25:23, SRC_SEL_Z 28:26, SRC_SEL_W 31:29,
    }
    SQ_MEM_RD_WORD0 as sq_mem_rd_word0 {
        MEM_INST 4:0, ELEM_SIZE 6:5, FETCH_WHOLE_QUAD 7, MEM_OP 10:8, UNCACHED 11, INDEXED 12,
        SRC_SEL_Y 14:13, SRC_GPR 22:16, SRC_REL 23, SRC_SEL_X 25:24, BURST_COUNT 29:26, LDS_REQ 30,
        COALESCED_READ 31,
    }
    SQ_MEM_RD_WORD1 as sq_mem_rd_word1 {
        DST_GPR 6:0, DST_REL 7, DST_SEL_X 11:9, DST_SEL_Y 14:12, DST_SEL_Z 17:15, DST_SEL_W 20:18,
        DATA_FORMAT 27:22, NUM_FORMAT_ALL 29:28, FORMAT_COMP_ALL 30, SRF_MODE_ALL 31,
    }
    SQ_MEM_RD_WORD2 as sq_mem_rd_word2 {
        ARRAY_BASE 12:0, ENDIAN_SWAP 17:16, ARRAY_SIZE 31:20,
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
    ],
    buffer: &[
        sq_vtx_constant_word0::NAMED,
        sq_vtx_constant_word1::NAMED,
        sq_vtx_constant_word2::NAMED,
        ("SQ_VTX_CONSTANT_WORD3", &[]),
        ("SQ_VTX_CONSTANT_WORD4", &[]),
        ("SQ_VTX_CONSTANT_WORD5", &[]),
        sq_vtx_constant_word6::NAMED,
    ],
    sampler: &[
        sq_tex_sampler_word0::NAMED,
        sq_tex_sampler_word1::NAMED,
        sq_tex_sampler_word2::NAMED,
    ],
    kind: (6, sq_tex_resource_word6::TYPE),
};

/// The word that R6xx has otherwise. Source: Mesa's `r600_sq.h`.
pub mod r600 {
    super::super::words! {
        SQ_ALU_WORD1_OP2 as sq_alu_word1_op2 {
            SRC0_ABS 0, SRC1_ABS 1, UPDATE_EXECUTE_MASK 2, UPDATE_PRED 3, WRITE_MASK 4, FOG_MERGE 5,
            OMOD 7:6, ALU_INST 17:8,
        }
    }
}
