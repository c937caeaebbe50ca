// SPDX-License-Identifier: MIT
//! Fields of Evergreen's and Northern Islands' context registers. Source: Mesa's `evergreend.h`.

use crate::chip::regs::evergreen::gfx as place;

super::fields! {
    DB_RENDER_CONTROL as db_render_control {
        DEPTH_CLEAR_ENABLE 0, STENCIL_CLEAR_ENABLE 1, DEPTH_COPY_ENABLE 2, STENCIL_COPY_ENABLE 3,
        RESUMMARIZE_ENABLE 4, STENCIL_COMPRESS_DISABLE 5, DEPTH_COMPRESS_DISABLE 6,
        COPY_CENTROID 7, COPY_SAMPLE 10:8, COLOR_DISABLE 12,
    }
    DB_COUNT_CONTROL as db_count_control {
        ZPASS_INCREMENT_DISABLE 0, PERFECT_ZPASS_COUNTS 1, SAMPLE_RATE 6:4,
    }
    DB_RENDER_OVERRIDE as db_render_override {
        FORCE_HIZ_ENABLE 1:0, FORCE_HIS_ENABLE0 3:2, FORCE_HIS_ENABLE1 5:4,
        FORCE_SHADER_Z_ORDER 6, FAST_Z_DISABLE 7, FAST_STENCIL_DISABLE 8, NOOP_CULL_DISABLE 9,
        FORCE_COLOR_KILL 10, FORCE_Z_READ 11, FORCE_STENCIL_READ 12, FORCE_FULL_Z_RANGE 14:13,
        FORCE_QC_SMASK_CONFLICT 15, DISABLE_VIEWPORT_CLAMP 16, IGNORE_SC_ZRANGE 17,
        DISABLE_PIXEL_RATE_TILES 26,
    }
    PA_SC_SCREEN_SCISSOR_TL as pa_sc_screen_scissor_tl {
        TL_X 15:0, TL_Y 31:16,
    }
    PA_SC_SCREEN_SCISSOR_BR as pa_sc_screen_scissor_br {
        BR_X 15:0, BR_Y 31:16,
    }
    DB_Z_INFO as db_z_info {
        FORMAT 1:0, NUM_SAMPLES 3:2, ARRAY_MODE 7:4, TILE_SPLIT 10:8, NUM_BANKS 13:12,
        BANK_WIDTH 17:16, BANK_HEIGHT 21:20, MACRO_TILE_ASPECT 25:24, READ_SIZE 28,
        TILE_SURFACE_ENABLE 29, ZRANGE_PRECISION 31,
    }
    DB_STENCIL_INFO as db_stencil_info {
        FORMAT 0, TILE_SPLIT 10:8,
    }
    DB_DEPTH_SIZE as db_depth_size {
        PITCH_TILE_MAX 10:0, HEIGHT_TILE_MAX 21:11,
    }
    DB_DEPTH_SLICE as db_depth_slice {
        SLICE_TILE_MAX 21:0,
    }
    PA_SC_WINDOW_SCISSOR_TL as pa_sc_window_scissor_tl {
        TL_X 14:0, TL_Y 30:16, WINDOW_OFFSET_DISABLE 31,
    }
    PA_SC_WINDOW_SCISSOR_BR as pa_sc_window_scissor_br {
        BR_X 14:0, BR_Y 30:16,
    }
    PA_SC_GENERIC_SCISSOR_TL as pa_sc_generic_scissor_tl {
        TL_X 14:0, TL_Y 30:16, WINDOW_OFFSET_DISABLE 31,
    }
    PA_SC_GENERIC_SCISSOR_BR as pa_sc_generic_scissor_br {
        BR_X 14:0, BR_Y 30:16,
    }
    PA_SC_VPORT_SCISSOR_0_TL as pa_sc_vport_scissor_0_tl {
        TL_X 14:0, TL_Y 30:16, WINDOW_OFFSET_DISABLE 31,
    }
    PA_SC_VPORT_SCISSOR_0_BR as pa_sc_vport_scissor_0_br {
        BR_X 14:0, BR_Y 30:16,
    }
    SPI_PS_IN_CONTROL_0 as spi_ps_in_control_0 {
        NUM_INTERP 5:0, POSITION_ENA 8, POSITION_CENTROID 9, POSITION_ADDR 14:10, PARAM_GEN 18:15,
        PERSP_GRADIENT_ENA 28, LINEAR_GRADIENT_ENA 29, POSITION_SAMPLE 30,
    }
    SPI_PS_IN_CONTROL_1 as spi_ps_in_control_1 {
        FRONT_FACE_ENA 8, FRONT_FACE_CHAN 10:9, FRONT_FACE_ALL_BITS 11, FRONT_FACE_ADDR 16:12,
        FOG_ADDR 23:17, FIXED_PT_POSITION_ENA 24, FIXED_PT_POSITION_ADDR 29:25,
    }
    SPI_BARYC_CNTL as spi_baryc_cntl {
        PERSP_CENTER_ENA 1:0, PERSP_CENTROID_ENA 5:4, PERSP_SAMPLE_ENA 9:8,
        PERSP_PULL_MODEL_ENA 13:12, LINEAR_CENTER_ENA 17:16, LINEAR_CENTROID_ENA 21:20,
        LINEAR_SAMPLE_ENA 25:24,
    }
    CB_BLEND0_CONTROL as cb_blend0_control {
        COLOR_SRCBLEND 4:0, COLOR_COMB_FCN 7:5, COLOR_DESTBLEND 12:8, OPACITY_WEIGHT 13,
        ALPHA_SRCBLEND 20:16, ALPHA_COMB_FCN 23:21, ALPHA_DESTBLEND 28:24,
        SEPARATE_ALPHA_BLEND 29, BLEND_CONTROL_ENABLE 30,
    }
    CB_COLOR_CONTROL as cb_color_control {
        DEGAMMA_ENABLE 3, MODE 6:4, ROP3 23:16,
    }
    DB_SHADER_CONTROL as db_shader_control {
        Z_EXPORT_ENABLE 0, STENCIL_EXPORT_ENABLE 1, Z_ORDER 5:4, KILL_ENABLE 6,
        MASK_EXPORT_ENABLE 8, DUAL_EXPORT_ENABLE 9, EXEC_ON_HIER_FAIL 10, EXEC_ON_NOOP 11,
        ALPHA_TO_MASK_DISABLE 12, DB_SOURCE_FORMAT 14:13, DEPTH_BEFORE_SHADER 15,
        CONSERVATIVE_Z_EXPORT 17:16,
    }
    SQ_PGM_RESOURCES_PS as sq_pgm_resources_ps {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, PRIME_CACHE_ON_DRAW 23,
        UNCACHED_FIRST_INST 28, CLAMP_CONSTS 31,
    }
    SQ_PGM_RESOURCES_VS as sq_pgm_resources_vs {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, UNCACHED_FIRST_INST 28,
    }
    SQ_PGM_RESOURCES_GS as sq_pgm_resources_gs {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, UNCACHED_FIRST_INST 28,
    }
    SQ_PGM_RESOURCES_ES as sq_pgm_resources_es {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, UNCACHED_FIRST_INST 28,
    }
    SQ_PGM_RESOURCES_HS as sq_pgm_resources_hs {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, PRIME_CACHE_ON_DRAW 23,
        UNCACHED_FIRST_INST 28,
    }
    SQ_PGM_RESOURCES_LS as sq_pgm_resources_ls {
        NUM_GPRS 7:0, STACK_SIZE 15:8, DX10_CLAMP 21, PRIME_CACHE_ON_DRAW 23,
        UNCACHED_FIRST_INST 28,
    }
    PA_SC_MODE_CNTL_0 as pa_sc_mode_cntl_0 {
        MSAA_ENABLE 0, VPORT_SCISSOR_ENABLE 1, LINE_STIPPLE_ENABLE 2,
    }
    PA_SC_MODE_CNTL_1 as pa_sc_mode_cntl_1 {
        PS_ITER_SAMPLE 16, FORCE_EOV_CNTDWN_ENABLE 25, FORCE_EOV_REZ_ENABLE 26,
    }
    VGT_SHADER_STAGES_EN as vgt_shader_stages_en {
        LS_EN 1:0, HS_EN 2, ES_EN 4:3, GS_EN 5, VS_EN 7:6,
    }
    VGT_LS_HS_CONFIG as vgt_ls_hs_config {
        NUM_PATCHES 7:0, HS_NUM_INPUT_CP 13:8, HS_NUM_OUTPUT_CP 19:14,
    }
    VGT_TF_PARAM as vgt_tf_param {
        TYPE 1:0, PARTITIONING 4:2, TOPOLOGY 7:5, RESERVED_REDUC_AXIS 8, BUFFER_ACCESS_MODE 9,
        NUM_DS_WAVES_PER_SIMD 13:10,
    }
    VGT_GS_INSTANCE_CNT as vgt_gs_instance_cnt {
        ENABLE 0, CNT 8:2,
    }
    VGT_STRMOUT_CONFIG as vgt_strmout_config {
        STREAMOUT_0_EN 0, STREAMOUT_1_EN 1, STREAMOUT_2_EN 2, STREAMOUT_3_EN 3, RAST_STREAM 6:4,
        RAST_STREAM_MASK 11:8, USE_RAST_STREAM_MASK 31,
    }
    VGT_STRMOUT_BUFFER_CONFIG as vgt_strmout_buffer_config {
        STREAM_0_BUFFER_EN 3:0, STREAM_1_BUFFER_EN 7:4, STREAM_2_BUFFER_EN 11:8,
        STREAM_3_BUFFER_EN 15:12,
    }
    CB_COLOR0_PITCH as cb_color0_pitch {
        PITCH_TILE_MAX 10:0,
    }
    CB_COLOR0_SLICE as cb_color0_slice {
        SLICE_TILE_MAX 21:0,
    }
    CB_COLOR0_INFO as cb_color0_info {
        ENDIAN 1:0, FORMAT 7:2, ARRAY_MODE 11:8, NUMBER_TYPE 14:12, COMP_SWAP 16:15,
        FAST_CLEAR 17, COMPRESSION 18, BLEND_CLAMP 19, BLEND_BYPASS 20, SIMPLE_FLOAT 21,
        ROUND_MODE 22, TILE_COMPACT 23, SOURCE_FORMAT 25:24, RAT 26, RESOURCE_TYPE 29:27,
    }
    CB_COLOR0_ATTRIB as cb_color0_attrib {
        NON_DISP_TILING_ORDER 4, TILE_SPLIT 8:5, NUM_BANKS 11:10, BANK_WIDTH 14:13,
        BANK_HEIGHT 17:16, MACRO_TILE_ASPECT 20:19, FMASK_BANK_HEIGHT 23:22, NUM_SAMPLES 26:24,
        NUM_FRAGMENTS 28:27, FORCE_DST_ALPHA_1 31,
    }
    CB_COLOR0_DIM as cb_color0_dim {
        WIDTH_MAX 15:0, HEIGHT_MAX 31:16,
    }
    CB_COLOR0_CMASK_SLICE as cb_color0_cmask_slice {
        TILE_MAX 13:0,
    }
}

/// Registers with the fields of others above.
pub const SAME: &[super::Fields] = super::same_fields! {
    CB_COLOR8_PITCH as cb_color0_pitch,
    CB_COLOR8_SLICE as cb_color0_slice,
    CB_COLOR8_INFO as cb_color0_info,
    CB_COLOR8_ATTRIB as cb_color0_attrib,
    CB_COLOR8_DIM as cb_color0_dim,
    CB_COLOR9_PITCH as cb_color0_pitch,
    CB_COLOR9_SLICE as cb_color0_slice,
    CB_COLOR9_INFO as cb_color0_info,
    CB_COLOR9_ATTRIB as cb_color0_attrib,
    CB_COLOR9_DIM as cb_color0_dim,
    CB_COLOR10_PITCH as cb_color0_pitch,
    CB_COLOR10_SLICE as cb_color0_slice,
    CB_COLOR10_INFO as cb_color0_info,
    CB_COLOR10_ATTRIB as cb_color0_attrib,
    CB_COLOR10_DIM as cb_color0_dim,
    CB_COLOR11_PITCH as cb_color0_pitch,
    CB_COLOR11_SLICE as cb_color0_slice,
    CB_COLOR11_INFO as cb_color0_info,
    CB_COLOR11_ATTRIB as cb_color0_attrib,
    CB_COLOR11_DIM as cb_color0_dim,
};

/// Registers with the fields that R7xx's have.
pub const AS_R700: &[super::Fields] = super::same_fields! {
    r700;
    DB_DEPTH_VIEW as db_depth_view,
    PA_SC_WINDOW_OFFSET as pa_sc_window_offset,
    PA_SC_CLIPRECT_RULE as pa_sc_cliprect_rule,
    PA_SC_CLIPRECT_0_TL as pa_sc_cliprect_0_tl,
    PA_SC_CLIPRECT_0_BR as pa_sc_cliprect_0_br,
    SQ_VTX_SEMANTIC_0 as sq_vtx_semantic_0,
    SX_ALPHA_TEST_CONTROL as sx_alpha_test_control,
    DB_STENCILREFMASK as db_stencilrefmask,
    DB_STENCILREFMASK_BF as db_stencilrefmask_bf,
    SPI_VS_OUT_ID_0 as spi_vs_out_id_0,
    SPI_PS_INPUT_CNTL_0 as spi_ps_input_cntl_0,
    SPI_VS_OUT_CONFIG as spi_vs_out_config,
    SPI_INTERP_CONTROL_0 as spi_interp_control_0,
    DB_DEPTH_CONTROL as db_depth_control,
    PA_CL_CLIP_CNTL as pa_cl_clip_cntl,
    PA_SU_SC_MODE_CNTL as pa_su_sc_mode_cntl,
    PA_CL_VTE_CNTL as pa_cl_vte_cntl,
    PA_CL_VS_OUT_CNTL as pa_cl_vs_out_cntl,
    SQ_PGM_RESOURCES_FS as sq_pgm_resources_fs,
    SQ_ESGS_RING_ITEMSIZE as sq_esgs_ring_itemsize,
    SQ_GSVS_RING_ITEMSIZE as sq_gsvs_ring_itemsize,
    SQ_GS_VERT_ITEMSIZE as sq_gs_vert_itemsize,
    PA_SU_POINT_SIZE as pa_su_point_size,
    PA_SU_POINT_MINMAX as pa_su_point_minmax,
    PA_SU_LINE_CNTL as pa_su_line_cntl,
    PA_SC_LINE_STIPPLE as pa_sc_line_stipple,
    VGT_GS_MODE as vgt_gs_mode,
    VGT_GS_OUT_PRIM_TYPE as vgt_gs_out_prim_type,
    VGT_PRIMITIVEID_EN as vgt_primitiveid_en,
    VGT_MULTI_PRIM_IB_RESET_EN as vgt_multi_prim_ib_reset_en,
    VGT_GS_MAX_VERT_OUT as vgt_gs_max_vert_out,
    DB_ALPHA_TO_MASK as db_alpha_to_mask,
    PA_SU_POLY_OFFSET_DB_FMT_CNTL as pa_su_poly_offset_db_fmt_cntl,
    PA_SC_LINE_CNTL as pa_sc_line_cntl,
    PA_SC_AA_CONFIG as pa_sc_aa_config,
    PA_SU_VTX_CNTL as pa_su_vtx_cntl,
    CB_COLOR0_VIEW as cb_color0_view,
    CB_COLOR8_VIEW as cb_color0_view,
    CB_COLOR9_VIEW as cb_color0_view,
    CB_COLOR10_VIEW as cb_color0_view,
    CB_COLOR11_VIEW as cb_color0_view,
    SQ_GS_VERT_ITEMSIZE_1 as sq_gs_vert_itemsize,
    SQ_GS_VERT_ITEMSIZE_2 as sq_gs_vert_itemsize,
    SQ_GS_VERT_ITEMSIZE_3 as sq_gs_vert_itemsize,
};
