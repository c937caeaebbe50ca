// SPDX-License-Identifier: MIT
//! The pipeline's registers: a shadow that follows the register file, and the
//! fixed-function state decoded from it.
//!
//! Offsets and fields are those of Mesa's `r600d.h`; comments cite the source of
//! a field's meaning where the field is used. The guest can write any value to a
//! register: code that takes an index from one masks or checks it.

use super::front::{self, Front};
use super::{GfxContext, STATE_BASE};
use crate::chip::bus::RegFile;
use crate::chip::regs::fields::r700::{
    pa_cl_clip_cntl, pa_sc_aa_config, pa_sc_cliprect_rule, pa_sc_line_cntl, pa_sc_line_stipple,
    pa_sc_mode_cntl, pa_sc_vport_scissor_0_tl, pa_sc_window_offset, pa_su_line_cntl,
    pa_su_point_minmax, pa_su_point_size, pa_su_sc_mode_cntl, pa_su_vtx_cntl, sq_pgm_resources_fs,
    sq_pgm_resources_vs, vgt_gs_mode,
};
use crate::chip::regs::fields::Field;
use crate::chip::regs::gfx as reg;

/// Bytes of register space that the shadow covers, to the end of the space.
const SHADOW_BYTES: u32 = 0x4_0000 - STATE_BASE;
/// Bytes of a block that [`Control::take_dirty`](super::Control::take_dirty)
/// has one bit for.
const BLOCK_BYTES: u32 = 2048;

/// A copy of the state registers: faster to read than the register file. It has them in R7xx's
/// places; of a generation that has them elsewhere, also in their own.
#[derive(Debug)]
pub struct Shadow {
    words: Vec<u32>,
    /// As the chip has them; empty if that is as in `words`.
    raw: Vec<u32>,
    front: &'static Front,
}

impl Default for Shadow {
    fn default() -> Self {
        Self::new(&front::R700)
    }
}

impl Shadow {
    /// All registers are 0.
    pub fn new(front: &'static Front) -> Self {
        let words = vec![0; SHADOW_BYTES as usize / 4];
        Self {
            raw: match front.translate {
                Some(_) => words.clone(),
                None => Vec::new(),
            },
            words,
            front,
        }
    }

    /// Loads all registers, whichever have been written.
    pub fn load(&mut self, regs: &dyn RegFile) {
        let words = match self.front.translate {
            Some(_) => &mut self.raw,
            None => &mut self.words,
        };
        regs.load_all(STATE_BASE, words);
    }

    /// The generation's decoders.
    pub fn front(&self) -> &'static Front {
        self.front
    }

    /// Reloads the blocks written since the last call.
    pub fn refresh(&mut self, context: &GfxContext<'_>) {
        let dirty = context.control.take_dirty();
        let words = match self.front.translate {
            Some(_) => &mut self.raw,
            None => &mut self.words,
        };
        for (i, block) in words
            .chunks_mut(BLOCK_BYTES as usize / 4)
            .enumerate()
            .filter(|(i, _)| dirty >> i & 1 != 0)
        {
            let base = STATE_BASE + i as u32 * BLOCK_BYTES;
            context.regs.load_all(base, block);
        }
        if let Some(translate) = self.front.translate.filter(|_| dirty != 0) {
            translate(self);
        }
    }

    /// The chip's own register at byte offset `offset`, which lies at or above [`STATE_BASE`]; 0
    /// for others.
    #[inline]
    pub fn raw(&self, offset: u32) -> u32 {
        let words = match self.front.translate {
            Some(_) => &self.raw,
            None => &self.words,
        };
        let at = offset.wrapping_sub(STATE_BASE) / 4;
        words.get(at as usize).copied().unwrap_or(0)
    }

    /// Sets all registers in R7xx's places from those of the chip, for [`Front::translate`] of a
    /// generation that has most of them there.
    pub fn copy_raw(&mut self) {
        self.words.clone_from(&self.raw);
    }

    /// Sets the register in R7xx's place `offset`, for [`Front::translate`].
    pub fn set(&mut self, offset: u32, value: u32) {
        let at = offset.wrapping_sub(STATE_BASE) / 4;
        if let Some(word) = self.words.get_mut(at as usize) {
            *word = value;
        }
    }

    /// The register at byte offset `offset`, which lies at or above
    /// [`STATE_BASE`]; 0 for others.
    #[inline]
    pub fn get(&self, offset: u32) -> u32 {
        let at = offset.wrapping_sub(STATE_BASE) / 4;
        self.words.get(at as usize).copied().unwrap_or(0)
    }

    /// The same register as a float.
    #[inline]
    pub fn float(&self, offset: u32) -> f32 {
        f32::from_bits(self.get(offset))
    }

    /// `N` registers from `offset` on.
    pub fn array<const N: usize>(&self, offset: u32) -> [u32; N] {
        std::array::from_fn(|i| self.get(offset.wrapping_add(4 * i as u32)))
    }
}

/// The shadow as a register file. Registers below [`STATE_BASE`] come from the
/// chip's register file.
pub struct Registers<'a> {
    /// State registers.
    pub shadow: &'a Shadow,
    /// All registers.
    pub regs: &'a dyn RegFile,
}

impl RegFile for Registers<'_> {
    fn load(&self, offset: u32) -> u32 {
        if offset >= STATE_BASE {
            self.shadow.get(offset)
        } else {
            self.regs.load(offset)
        }
    }

    fn store(&self, _: u32, _: u32) {}
}

/// Bits `shift..shift + width` of `value`.
#[inline]
pub const fn bits(value: u32, shift: u32, width: u32) -> u32 {
    (value >> shift) & (((1u64 << width) - 1) as u32)
}

/// Bit `n` of `value`.
#[inline]
pub const fn bit(value: u32, n: u32) -> bool {
    value >> n & 1 != 0
}

/// A shader stage. The export shader shares the vertex shader's constants,
/// resources and samplers (Mesa uses these slots for the API's vertex shader in
/// both roles).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Pixel shader.
    Pixel,
    /// Vertex shader, the last stage before primitive assembly.
    Vertex,
    /// Geometry shader.
    Geometry,
    /// Export shader: the vertex shader ahead of a geometry shader.
    Export,
    /// Compute shader of R800: it has the program registers of the local shader.
    Compute,
    /// Hull shader of R800.
    Hull,
    /// Local shader of R800: the vertex shader ahead of a hull shader.
    Local,
}

/// `SQ_PGM_START_FS`, `SQ_PGM_RESOURCES_FS`: the program that fetches vertices.
pub const FETCH_PROGRAM_REGISTERS: [u32; 2] = [reg::SQ_PGM_START_FS, reg::SQ_PGM_RESOURCES_FS];

/// `VGT_GS_MODE`.
pub const VGT_GS_MODE: u32 = reg::VGT_GS_MODE;

/// Whether `VGT_GS_MODE` enables the geometry shader and the export shader.
pub const fn has_geometry(gs_mode: u32) -> bool {
    vgt_gs_mode::MODE.of(gs_mode) == 3
}

/// Address and options of a stage's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramState {
    /// MC address of the first instruction.
    pub base: u64,
    /// `SQ_PGM_RESOURCES_x`.
    pub resources: u32,
    /// `DX10_CLAMP` of it.
    pub dx10_clamp: bool,
}

impl Shadow {
    /// Address and options of `stage`'s program.
    pub fn program(&self, stage: Stage) -> ProgramState {
        let [start, resources] = (self.front.stage)(stage).program;
        ProgramState {
            base: u64::from(self.raw(start)) << 8,
            resources: self.raw(resources),
            dx10_clamp: sq_pgm_resources_vs::DX10_CLAMP.is_set(self.raw(resources)),
        }
    }

    /// Address and options of the fetch shader.
    pub fn fetch_program(&self) -> ProgramState {
        let [start, resources] = FETCH_PROGRAM_REGISTERS;
        ProgramState {
            base: u64::from(self.get(start)) << 8,
            resources: self.get(resources),
            dx10_clamp: sq_pgm_resources_fs::DX10_CLAMP.is_set(self.get(resources)),
        }
    }
}

/// A rectangle of pixels, its right and lower edges excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    /// Left.
    pub x0: i32,
    /// Top.
    pub y0: i32,
    /// One past the right edge.
    pub x1: i32,
    /// One past the lower edge.
    pub y1: i32,
}

impl Rect {
    /// The common part; may be empty.
    pub fn intersect(self, other: Rect) -> Rect {
        Rect {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// Whether it holds no pixel.
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// Decodes a pair of TL and BR registers with fields of `width` bits.
    fn decode(tl: u32, br: u32, width: u32) -> Rect {
        Rect {
            x0: bits(tl, 0, width) as i32,
            y0: bits(tl, 16, width) as i32,
            x1: bits(br, 0, width) as i32,
            y1: bits(br, 16, width) as i32,
        }
    }

    fn shifted(self, x: i32, y: i32) -> Rect {
        Rect {
            x0: self.x0 + x,
            y0: self.y0 + y,
            x1: self.x1 + x,
            y1: self.y1 + y,
        }
    }
}

/// One of 16 viewports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Viewport {
    /// Scale of x, y, z.
    pub scale: [f32; 3],
    /// Offset of x, y, z.
    pub offset: [f32; 3],
    /// Depth is clamped to this range.
    pub z_min: f32,
    /// See `z_min`.
    pub z_max: f32,
    /// Intersection of all scissors of the viewport.
    pub scissor: Rect,
}

/// Largest width and height of a render target, in pixels: Evergreen's. R7xx's have 8192.
pub const MAX_SIZE: i32 = 16384;
/// Bits of a scissor's coordinate, Evergreen's: the last one is zero on R7xx.
const SCISSOR_BITS: u32 = 15;
/// Number of viewports and their scissors.
pub const VIEWPORTS: usize = 16;

/// Fill mode of polygons (`POLYMODE_x_PTYPE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    /// Vertices as points.
    Points,
    /// Edges as lines.
    Lines,
    /// Filled.
    #[default]
    Triangles,
}

impl Fill {
    fn decode(value: u32) -> Self {
        match value {
            0 => Fill::Points,
            1 => Fill::Lines,
            _ => Fill::Triangles,
        }
    }
}

/// Polygon offset of one face.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PolygonOffset {
    /// Factor of the slope times 16.
    pub scale: f32,
    /// Constant part, as the register holds it.
    pub units: f32,
}

/// State of clipping, setup and scan conversion.
#[derive(Debug, Clone, Default)]
pub struct SetupState {
    /// `PA_CL_CLIP_CNTL`.
    pub clip_cntl: u32,
    /// `PA_CL_VTE_CNTL`.
    pub vte_cntl: u32,
    /// `PA_CL_VS_OUT_CNTL`.
    pub vs_out_cntl: u32,
    /// User clip planes.
    pub planes: [[f32; 4]; 6],
    /// Guard band: factors of w beyond which x and y are clipped.
    pub guard: [f32; 2],
    /// Factors of w beyond which a point or line is discarded.
    pub discard: [f32; 2],
    /// Viewports with their scissors.
    pub viewports: Vec<Viewport>,
    /// Front faces are culled.
    pub cull_front: bool,
    /// Back faces are culled.
    pub cull_back: bool,
    /// Points, lines and rectangles are culled.
    pub cull_others: bool,
    /// Clockwise is front.
    pub front_cw: bool,
    /// Fill mode of front and back faces.
    pub fill: [Fill; 2],
    /// Offset of front and back faces, where enabled.
    pub offset: [Option<PolygonOffset>; 2],
    /// Offset of points and lines, where enabled.
    pub offset_para: Option<PolygonOffset>,
    /// Limit of the offset; 0 for none.
    pub offset_clamp: f32,
    /// `PA_SU_POLY_OFFSET_DB_FMT_CNTL`.
    pub offset_format: u32,
    /// The last vertex of a primitive is the provoking one.
    pub provoking_last: bool,
    /// No perspective correction at all.
    pub perspective_off: bool,
    /// Half point size in pixels, width and height.
    pub point_half: [f32; 2],
    /// Least and largest half size of points whose size the shader exports.
    pub point_limits: [f32; 2],
    /// Half line width in pixels.
    pub line_half: f32,
    /// Lines are rectangles of the full width (multisampling).
    pub line_rectangular: bool,
    /// Stipple pattern, repeat count minus 1, and reset control.
    pub stipple: Option<(u16, u32, u32)>,
    /// Pixel centres lie at half-integer coordinates.
    pub center_half: bool,
    /// Window offset of vertices; 0 unless `VTX_WINDOW_OFFSET_ENABLE` is set.
    pub window_offset: [i32; 2],
    /// log2 of the number of samples, 0 to 3.
    pub log2_samples: u32,
    /// Positions of the samples in sixteenths of a pixel from its centre.
    pub sample_places: [[i8; 2]; 8],
    /// Samples that are written (`PA_SC_AA_MASK`), by pixel of a 2x2 quad.
    pub sample_mask: [u8; 4],
    /// `CLIPRECT_RULE` and the four rectangles; none if the rule accepts all pixels.
    pub cliprects: Option<(u16, [Rect; 4])>,
    /// Nothing is rasterised.
    pub kill: bool,
    /// The pixel shader runs once for each sample.
    pub per_sample: bool,
}

fn fixed_12_4(value: u32) -> f32 {
    value as f32 / 16.0
}

/// Decodes the positions of eight samples: two words, four samples in each.
fn places(words: [u32; 2]) -> [[i8; 2]; 8] {
    std::array::from_fn(|i| {
        let at = |nibble: u32| {
            let v = bits(words[i / 4], nibble * 4, 4) as i8;
            (v << 4) >> 4
        };
        let n = (i as u32 % 4) * 2;
        [at(n), at(n + 1)]
    })
}

impl SetupState {
    /// Decodes the state of clipper, setup and scan converter.
    pub fn decode(s: &Shadow) -> Self {
        let mode = s.get(reg::PA_SU_SC_MODE_CNTL);
        let sc_mode = s.get(reg::PA_SC_MODE_CNTL);
        let clip_cntl = s.get(reg::PA_CL_CLIP_CNTL);
        let factor = |scale: u32, offset: u32| PolygonOffset {
            scale: s.float(scale),
            units: s.float(offset),
        };
        let front = factor(
            reg::PA_SU_POLY_OFFSET_FRONT_SCALE,
            reg::PA_SU_POLY_OFFSET_FRONT_OFFSET,
        );
        let back = factor(
            reg::PA_SU_POLY_OFFSET_BACK_SCALE,
            reg::PA_SU_POLY_OFFSET_BACK_OFFSET,
        );
        let poly_mode = pa_su_sc_mode_cntl::POLY_MODE.of(mode) == 1;
        let fill = |field: Field| {
            if poly_mode {
                Fill::decode(field.of(mode))
            } else {
                Fill::Triangles
            }
        };
        let point = s.get(reg::PA_SU_POINT_SIZE);
        let limits = s.get(reg::PA_SU_POINT_MINMAX);
        let stipple = s.get(reg::PA_SC_LINE_STIPPLE);
        let window = s.get(reg::PA_SC_WINDOW_OFFSET);
        let signed15 = |v: u32| ((v << 17) as i32) >> 17;
        let window_offset = [
            signed15(pa_sc_window_offset::WINDOW_X_OFFSET.of(window)),
            signed15(pa_sc_window_offset::WINDOW_Y_OFFSET.of(window)),
        ];
        let multisample = pa_sc_mode_cntl::MSAA_ENABLE.is_set(sc_mode);
        let aa_config = s.get(reg::PA_SC_AA_CONFIG);
        let log2_samples = pa_sc_aa_config::MSAA_NUM_SAMPLES.of(aa_config);
        let aa_mask = s.get(reg::PA_SC_AA_MASK).to_le_bytes();
        Self {
            clip_cntl,
            vte_cntl: s.get(reg::PA_CL_VTE_CNTL),
            vs_out_cntl: s.get(reg::PA_CL_VS_OUT_CNTL),
            planes: std::array::from_fn(|i| {
                let at = reg::PA_CL_UCP_0_X + 16 * i as u32;
                std::array::from_fn(|j| s.float(at + 4 * j as u32))
            }),
            guard: [
                s.float(reg::PA_CL_GB_HORZ_CLIP_ADJ),
                s.float(reg::PA_CL_GB_VERT_CLIP_ADJ),
            ],
            discard: [
                s.float(reg::PA_CL_GB_HORZ_DISC_ADJ),
                s.float(reg::PA_CL_GB_VERT_DISC_ADJ),
            ],
            viewports: viewports(
                s,
                window_offset,
                pa_sc_mode_cntl::VPORT_SCISSOR_ENABLE.is_set(sc_mode),
            ),
            cull_front: pa_su_sc_mode_cntl::CULL_FRONT.is_set(mode),
            cull_back: pa_su_sc_mode_cntl::CULL_BACK.is_set(mode),
            cull_others: s.front().front_cull_takes_all
                && pa_su_sc_mode_cntl::CULL_FRONT.is_set(mode),
            front_cw: pa_su_sc_mode_cntl::FACE.is_set(mode),
            fill: [
                fill(pa_su_sc_mode_cntl::POLYMODE_FRONT_PTYPE),
                fill(pa_su_sc_mode_cntl::POLYMODE_BACK_PTYPE),
            ],
            offset: [
                pa_su_sc_mode_cntl::POLY_OFFSET_FRONT_ENABLE
                    .is_set(mode)
                    .then_some(front),
                pa_su_sc_mode_cntl::POLY_OFFSET_BACK_ENABLE
                    .is_set(mode)
                    .then_some(back),
            ],
            offset_para: pa_su_sc_mode_cntl::POLY_OFFSET_PARA_ENABLE
                .is_set(mode)
                .then_some(front),
            offset_clamp: s.float(reg::PA_SU_POLY_OFFSET_CLAMP),
            offset_format: s.get(reg::PA_SU_POLY_OFFSET_DB_FMT_CNTL),
            provoking_last: pa_su_sc_mode_cntl::PROVOKING_VTX_LAST.is_set(mode),
            perspective_off: pa_su_sc_mode_cntl::PERSP_CORR_DIS.is_set(mode),
            point_half: [
                fixed_12_4(pa_su_point_size::WIDTH.of(point)),
                fixed_12_4(pa_su_point_size::HEIGHT.of(point)),
            ],
            point_limits: [
                fixed_12_4(pa_su_point_minmax::MIN_SIZE.of(limits)),
                fixed_12_4(pa_su_point_minmax::MAX_SIZE.of(limits)),
            ],
            line_half: fixed_12_4(pa_su_line_cntl::WIDTH.of(s.get(reg::PA_SU_LINE_CNTL))),
            line_rectangular: multisample
                && log2_samples > 0
                && pa_sc_line_cntl::EXPAND_LINE_WIDTH.is_set(s.get(reg::PA_SC_LINE_CNTL)),
            stipple: pa_sc_mode_cntl::LINE_STIPPLE_ENABLE
                .is_set(sc_mode)
                .then(|| {
                    let pattern = pa_sc_line_stipple::LINE_PATTERN.of(stipple) as u16;
                    // PATTERN_BIT_ORDER: 0 begins with the lowest bit.
                    let pattern = if pa_sc_line_stipple::PATTERN_BIT_ORDER.is_set(stipple) {
                        pattern.reverse_bits()
                    } else {
                        pattern
                    };
                    (
                        pattern,
                        pa_sc_line_stipple::REPEAT_COUNT.of(stipple),
                        pa_sc_line_stipple::AUTO_RESET_CNTL.of(stipple),
                    )
                }),
            center_half: pa_su_vtx_cntl::PIX_CENTER_HALF.is_set(s.get(reg::PA_SU_VTX_CNTL)),
            window_offset: if pa_su_sc_mode_cntl::VTX_WINDOW_OFFSET_ENABLE.is_set(mode) {
                window_offset
            } else {
                [0; 2]
            },
            log2_samples,
            sample_places: if multisample && log2_samples > 0 {
                places([
                    s.get(reg::PA_SC_AA_SAMPLE_LOCS_MCTX),
                    s.get(reg::PA_SC_AA_SAMPLE_LOCS_8S_WD1_MCTX),
                ])
            } else {
                [[0; 2]; 8]
            },
            sample_mask: aa_mask,
            cliprects: {
                let rule =
                    pa_sc_cliprect_rule::CLIP_RULE.of(s.get(reg::PA_SC_CLIPRECT_RULE)) as u16;
                (rule != 0xFFFF).then(|| {
                    let rect = |i: usize| {
                        let [tl, br] = [reg::PA_SC_CLIPRECT_0_TL, reg::PA_SC_CLIPRECT_0_BR]
                            .map(|first| s.get(first + 8 * i as u32));
                        Rect::decode(tl, br, SCISSOR_BITS)
                    };
                    (rule, std::array::from_fn(rect))
                })
            },
            kill: pa_cl_clip_cntl::DX_RASTERIZATION_KILL.is_set(clip_cntl),
            per_sample: pa_sc_mode_cntl::PS_ITER_SAMPLE.is_set(sc_mode) && log2_samples > 0,
        }
    }

    /// Number of samples of a pixel, 1 to 8.
    pub fn samples(&self) -> usize {
        1 << self.log2_samples
    }
}

fn viewports(s: &Shadow, window_offset: [i32; 2], vport_scissor: bool) -> Vec<Viewport> {
    let scissor = |tl: u32, br: u32| {
        let tl = s.get(tl);
        let rect = Rect::decode(tl, s.get(br), SCISSOR_BITS);
        if pa_sc_vport_scissor_0_tl::WINDOW_OFFSET_DISABLE.is_set(tl) {
            rect
        } else {
            rect.shifted(window_offset[0], window_offset[1])
        }
    };
    let all = Rect {
        x0: 0,
        y0: 0,
        x1: MAX_SIZE,
        y1: MAX_SIZE,
    };
    let common = all
        .intersect(Rect::decode(
            s.get(reg::PA_SC_SCREEN_SCISSOR_TL),
            s.get(reg::PA_SC_SCREEN_SCISSOR_BR),
            15,
        ))
        .intersect(scissor(
            reg::PA_SC_WINDOW_SCISSOR_TL,
            reg::PA_SC_WINDOW_SCISSOR_BR,
        ))
        .intersect(scissor(
            reg::PA_SC_GENERIC_SCISSOR_TL,
            reg::PA_SC_GENERIC_SCISSOR_BR,
        ));
    (0..VIEWPORTS as u32)
        .map(|i| {
            let transform = |first: u32| s.float(first + 24 * i);
            Viewport {
                scale: [
                    reg::PA_CL_VPORT_XSCALE_0,
                    reg::PA_CL_VPORT_YSCALE_0,
                    reg::PA_CL_VPORT_ZSCALE_0,
                ]
                .map(transform),
                offset: [
                    reg::PA_CL_VPORT_XOFFSET_0,
                    reg::PA_CL_VPORT_YOFFSET_0,
                    reg::PA_CL_VPORT_ZOFFSET_0,
                ]
                .map(transform),
                z_min: s.float(reg::PA_SC_VPORT_ZMIN_0 + 8 * i),
                z_max: s.float(reg::PA_SC_VPORT_ZMAX_0 + 8 * i),
                scissor: if vport_scissor {
                    common.intersect(scissor(
                        reg::PA_SC_VPORT_SCISSOR_0_TL + 8 * i,
                        reg::PA_SC_VPORT_SCISSOR_0_BR + 8 * i,
                    ))
                } else {
                    common
                },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_places_are_signed_nibbles() {
        // Mesa's table for four samples: (-2,-2) (2,2) (-6,6) (6,-6).
        let word = [-2i32, -2, 2, 2, -6, 6, 6, -6]
            .iter()
            .enumerate()
            .fold(0, |w, (i, v)| w | ((*v as u32 & 15) << (4 * i)));
        let found = places([word, 0]);
        assert_eq!(found[..4], [[-2, -2], [2, 2], [-6, 6], [6, -6]]);
    }

    #[test]
    fn scissors_intersect_and_follow_window_offset() {
        let mut s = Shadow::default();
        let mut set = |offset: u32, value: u32| {
            s.words[(offset - STATE_BASE) as usize / 4] = value;
        };
        set(0x2_8034, 100 | 90 << 16);
        set(0x2_8200, 5 | 7 << 16);
        set(0x2_8204, 1 << 31);
        set(0x2_8208, 80 | 95 << 16);
        set(0x2_8240, 1 | 1 << 16);
        set(0x2_8244, 60 | 60 << 16);
        let v = viewports(&s, [5, 7], false);
        let rect = Rect {
            x0: 6,
            y0: 8,
            x1: 65,
            y1: 67,
        };
        assert_eq!(v[0].scissor, rect);
        assert!(viewports(&s, [5, 7], true)[3].scissor.is_empty());
    }
}
