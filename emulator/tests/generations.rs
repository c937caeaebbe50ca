// SPDX-License-Identifier: MIT
//! What other generations than R700 do differently, used as their driver does
//! (`evergreen.c`, `evergreen_dma.c`, `ni.c`, `r600.c`).

use crate::rig::*;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::Draw;
use r7xx_board::chip::display::DCE4;
use r7xx_board::chip::dma::evergreen::{header, BROADCAST, BYTES};
use r7xx_board::chip::dma::packet;
use r7xx_board::chip::family::MODELS;
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, GfxStatistics, NullGfx};
use r7xx_board::chip::regs::{cg, cp, dce, evergreen as eg, gb, mc, r600, srbm, uvd};
use r7xx_board::chip::tiling::{MacroTile, TilingConfig};
use r7xx_board::chip::{ChipConfig, Family};

fn rig(family: Family) -> Rig {
    Rig::with(ChipConfig {
        family,
        ..config(None)
    })
}

/// Header of a type-3 packet.
fn type3(opcode: u32, body: u32) -> u32 {
    3 << 30 | (body - 1) << 16 | opcode << 8
}

/// The end of a fence: writes `value` and raises the interrupt.
fn fence(value: u32) -> [u32; 6] {
    let (event, select) = (0x14 | 5 << 8, 1 << 29 | 2 << 24);
    [type3(0x47, 5), event, FENCE as u32, select, value, 0]
}

#[test]
fn every_chip_executes_its_rings_and_raises_interrupts() {
    for model in &MODELS {
        let mut rig = rig(model.family);
        rig.cp(&fence(77));
        rig.until_mem(FENCE, 77);
        rig.until("the CP's interrupt", |rig| rig.irq_count() == 1);
        rig.dma(&[header(packet::TRAP, 0, 0)]);
        rig.until("the DMA engine's interrupt", |rig| rig.irq_count() == 2);
        assert_eq!(rig.vectors(), [(181, 0), (224, 0)], "{}", model.name);
    }
}

#[test]
fn straps_say_what_the_driver_of_the_generation_reads() {
    let cold = |family| {
        let config = ChipConfig {
            family,
            ..config(None)
        };
        Rig::cold(config, Box::<NullGfx>::default())
    };
    let memory = |family| cold(family).read(srbm::CONFIG_MEMSIZE);
    assert_eq!(memory(Family::Rv710), VRAM_SIZE as u32);
    assert_eq!(memory(Family::Rv670), VRAM_SIZE as u32);
    // MiB, but bytes on an APU.
    assert_eq!(memory(Family::Cedar), (VRAM_SIZE >> 20) as u32);
    assert_eq!(memory(Family::Turks), (VRAM_SIZE >> 20) as u32);
    assert_eq!(memory(Family::Palm), VRAM_SIZE as u32);
    assert_eq!(memory(Family::Aruba), (VRAM_SIZE >> 20) as u32);
    let geometry = |family, register| cold(family).read(register);
    assert_eq!(geometry(Family::Rv670, r600::RAMCFG), 1 | 1 << 7);
    assert_eq!(geometry(Family::Rv670, mc::MC_ARB_RAMCFG), 0);
    assert_eq!(geometry(Family::Cedar, mc::MC_ARB_RAMCFG), 1 | 1 << 8);
    assert_eq!(geometry(Family::Palm, eg::FUS_MC_ARB_RAMCFG), 1 | 1 << 8);
    assert_eq!(geometry(Family::Aruba, mc::MC_ARB_RAMCFG), 1 | 1 << 8);
    // Idle: GRBM_STATUS and GRBM_STATUS_SE0 of radeon's log after a reset.
    assert_eq!(geometry(Family::Cedar, 0x8010), 0x0000_3828);
    assert_eq!(geometry(Family::Cedar, 0x8014), 0x0000_0007);
    assert_eq!(geometry(Family::Rv710, 0x8010), 0x0000_3028);
}

/// evergreen_gpu_init() of CEDAR to HEMLOCK.
#[test]
fn fuses_tell_the_backends_that_are_off() {
    let rcu = |rig: &Rig, register: u32| {
        rig.write(eg::RCU_IND_INDEX, register);
        rig.read(eg::RCU_IND_DATA)
    };
    for (family, off) in [
        (Family::Cedar, 0xFE),
        (Family::Redwood, 0xFC),
        (Family::Cypress, 0),
    ] {
        let rig = rig(family);
        let (high, low) = (rcu(&rig, 0x204), rcu(&rig, 0x203));
        assert_eq!((high & 0xF) << 4 | low >> 28, off, "{family}");
        rig.write(eg::RCU_IND_INDEX, 0x300);
        rig.write(eg::RCU_IND_DATA, 7);
        assert_eq!((rcu(&rig, 0x300), rcu(&rig, 0x301)), (7, 0));
    }
    let turks = rig(Family::Turks).read(gb::CC_RB_BACKEND_DISABLE);
    assert_eq!(turks >> 16 & 0xFF, 0xFC);
}

/// ni_mc_load_microcode().
#[test]
fn memory_trains_with_a_whole_program_only() {
    let rig = rig(Family::Turks);
    assert_eq!(rig.read(eg::MC_SEQ_MISC0) >> 28, 5, "GDDR5");
    let trained = || rig.read(eg::MC_IO_PAD_CNTL_D0) & eg::MEM_FALL_OUT_CMD != 0;
    for (dwords, expected) in [(6023, false), (6025, false), (6024, true), (0, false)] {
        for control in [0x8, 0x10] {
            rig.write(eg::MC_SEQ_SUP_CNTL, control);
        }
        for _ in 0..dwords {
            rig.write(eg::MC_SEQ_SUP_PGM, 0);
        }
        assert!(!trained(), "not before it runs");
        for control in [0x8, 0x4, 0x1] {
            rig.write(eg::MC_SEQ_SUP_CNTL, control);
        }
        assert_eq!(trained(), expected, "{dwords}");
    }
    // The bit is the sequencer's.
    rig.write(eg::MC_IO_PAD_CNTL_D0, u32::MAX);
    assert!(!trained());
}

#[test]
fn plls_of_the_video_decoder_answer_where_each_generation_has_them() {
    for (family, register, other) in [
        (
            Family::Rv670,
            r600::CG_UPLL_FUNC_CNTL,
            cg::CG_UPLL_FUNC_CNTL,
        ),
        (
            Family::Rv710,
            cg::CG_UPLL_FUNC_CNTL,
            r600::CG_UPLL_FUNC_CNTL,
        ),
        (
            Family::Cedar,
            cg::CG_UPLL_FUNC_CNTL,
            r600::CG_UPLL_FUNC_CNTL,
        ),
    ] {
        let rig = rig(family);
        rig.write(register, cg::UPLL_CTLREQ_MASK);
        rig.write(other, cg::UPLL_CTLREQ_MASK);
        let both = cg::UPLL_CTLACK_MASK | cg::UPLL_CTLACK2_MASK;
        assert_eq!(rig.read(register) & both, both, "{family}");
        assert_eq!(rig.read(other) & both, 0, "{family}");
    }
}

/// evergreen_copy_dma() with more dwords than R7xx has bits for, and the packets that R7xx
/// does not have.
#[test]
fn evergreen_dma_copies_long_bytes_and_twice() {
    let mut rig = rig(Family::Cedar);
    let dwords = 0x1_2345;
    let (src, dst) = (DATA as u32, (DATA + 0x10_0000) as u32);
    let bytes = rig.pattern(DATA, dwords as usize * 4, 1);
    rig.dma(&[header(packet::COPY, 0, dwords), dst, src, 0, 0]);
    rig.dma(&[header(packet::FENCE, 0, 0), FENCE as u32, 0, 1]);
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.bytes(DATA + 0x10_0000, bytes.len()), bytes);

    rig.dma(&[header(packet::COPY, BYTES, 5), dst + 3, src + 1, 0, 0]);
    let twice = header(packet::COPY, BROADCAST, 1);
    rig.dma(&[twice, dst + 64, dst + 128, src, 0, 0, 0]);
    rig.dma(&[header(packet::FENCE, 0, 0), FENCE as u32, 0, 2]);
    rig.until_mem(FENCE, 2);
    let copied = rig.bytes(DATA + 0x10_0000, 132);
    assert_eq!(copied[..3], bytes[..3]);
    assert_eq!(copied[3..8], bytes[1..6]);
    assert_eq!(copied[8], bytes[8], "not one byte more");
    assert_eq!(
        (&copied[64..68], &copied[128..132]),
        (&bytes[..4], &bytes[..4])
    );
}

/// evergreen_dma_ring_ib_execute(): the length is in other bits than on R7xx.
#[test]
fn evergreen_dma_ib_writes_registers_and_skips_copies_of_parts() {
    let mut rig = rig(Family::Cedar);
    let mut ib = vec![
        header(packet::SRBM_WRITE, 0, 0),
        0xF << 16 | cp::SCRATCH_REG0 >> 2,
        9,
    ];
    // A part of a tiled surface, to a linear one.
    ib.push(header(packet::COPY, 0x41, 1));
    ib.extend([0; 8]);
    // The two low bytes only.
    ib.extend([
        header(packet::SRBM_WRITE, 0, 0),
        0x3 << 16 | (cp::SCRATCH_REG0 + 4) >> 2,
        0x1234_5678,
    ]);
    ib.extend([header(packet::FENCE, 0, 0), FENCE as u32, 0, 3]);
    rig.write(cp::SCRATCH_REG0 + 4, 0xAAAA_AAAA);
    rig.ib(IB, &ib);
    let length = (ib.len() as u32) << 12;
    rig.dma(&[header(packet::INDIRECT_BUFFER, 0, 0), IB as u32, length]);
    rig.until_mem(FENCE, 3);
    assert_eq!(rig.read(cp::SCRATCH_REG0), 9);
    assert_eq!(rig.read(cp::SCRATCH_REG0 + 4), 0xAAAA_5678);
    assert_eq!(rig.chip.counters().get(Counter::Unmodelled), 1);
    assert_eq!(rig.chip.counters().get(Counter::BadPackets), 0);
}

/// evergreen_cp_start().
#[test]
fn clear_state_restores_what_the_preamble_has_set() {
    let mut rig = rig(Family::Turks);
    let set = |value| [type3(0x69, 2), 0x100, value];
    let register = 0x2_8400;
    rig.cp(&[type3(0x4A, 1), 2 << 28]);
    rig.cp(&set(5));
    rig.cp(&[type3(0x4A, 1), 3 << 28]);
    rig.cp(&set(6));
    rig.cp(&fence(1));
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.read(register), 6);
    rig.cp(&[type3(0x12, 1), 0]);
    rig.cp(&fence(2));
    rig.until_mem(FENCE, 2);
    assert_eq!(rig.read(register), 5);
}

#[test]
fn draws_are_executed_and_what_is_not_modelled_is_counted() {
    for family in [Family::Cedar, Family::Turks, Family::Rv670] {
        let mut rig = rig(family);
        // DRAW_INDEX_AUTO; DISPATCH_DIRECT, which Evergreen executes, and its DRAW_INDEX_OFFSET.
        rig.cp(&[type3(0x2D, 2), 3, 2]);
        let (mut unmodelled, mut dispatches) = (0, 0);
        if family != Family::Rv670 {
            rig.cp(&[type3(0x15, 4), 1, 1, 1, 1]);
            rig.cp(&[type3(0x29, 3), 8, 0, 0]);
            (unmodelled, dispatches) = (1, 1);
        }
        rig.cp(&fence(4));
        rig.until_mem(FENCE, 4);
        let counters = rig.chip.counters().snapshot();
        assert_eq!(counters.unmodelled, unmodelled, "{family}");
        assert_eq!((counters.draws, counters.bad_packets), (1, 0));
        assert_eq!(counters.dispatches, dispatches);
    }
    let mut rv710 = rig(Family::Rv710);
    rv710.cp(&[type3(0x2D, 2), 3, 2]);
    rv710.cp(&fence(4));
    rv710.until_mem(FENCE, 4);
    assert_eq!(rv710.chip.counters().get(Counter::Unmodelled), 0);
}

/// dce4_crtc_do_set_base() for 640x480, 32 bits, linear.
fn set_mode(rig: &Rig, crtc: usize, base: u32) {
    let at = |reg| DCE4.at(crtc, reg);
    rig.write(at(DCE4.primary), base);
    rig.write(at(DCE4.grph_control), 2 | 1 << 20);
    rig.write(at(DCE4.pitch), 704);
    rig.write(at(DCE4.grph_enable), 1);
    rig.write(at(DCE4.viewport_size), 640 << 16 | 480);
    rig.write(at(DCE4.flip_enable), dce::PFLIP_INT_MASK);
    rig.write(at(DCE4.control), dce::CRTC_EN);
}

#[test]
fn six_crtcs_scan_out_flip_and_interrupt_for_themselves() {
    let mut rig = rig(Family::Turks);
    for crtc in 0..6 {
        assert_eq!(rig.chip.scanout(crtc), None);
        set_mode(&rig, crtc, 0x10_0000 * (crtc as u32 + 1));
    }
    for crtc in 0..6 {
        let scanout = rig.chip.scanout(crtc).unwrap();
        assert_eq!(scanout.mc_addr, 0x10_0000 * (crtc as u64 + 1));
    }
    // evergreen_page_flip() and the vertical blank of the fifth one.
    let at = |reg| DCE4.at(4, reg);
    rig.write(DCE4.vblank_enable[4].0, DCE4.vblank_enable[4].1);
    rig.write(DCE4.primary_high[4], 0);
    rig.write(at(DCE4.primary), 0x70_0000);
    rig.until("a flip and a vertical blank", |rig| {
        let counters = rig.chip.counters();
        counters.get(Counter::Flips) == 1 && counters.get(Counter::Vblanks) > 0
    });
    assert_eq!(rig.chip.scanout(4).unwrap().mc_addr, 0x70_0000);
    rig.until("two vectors", |rig| rig.irq_count() >= 2);
    let vectors = rig.vectors();
    assert!(
        vectors.contains(&(16, 0)) && vectors.contains(&(5, 0)),
        "{vectors:?}"
    );
    assert!(
        vectors.iter().all(|v| [(16, 0), (5, 0)].contains(v)),
        "{vectors:?}"
    );
    // evergreen_irq_ack().
    rig.write(DCE4.vblank_enable[4].0, 0);
    let asserted = rig.read(eg::DISP_INTERRUPT_STATUS_CONTINUE4);
    assert_ne!(asserted & eg::LB_VBLANK_INTERRUPT, 0);
    rig.write(at(DCE4.vblank_status), dce::VBLANK_ACK);
    let asserted = rig.read(eg::DISP_INTERRUPT_STATUS_CONTINUE4);
    assert_eq!(asserted & eg::LB_VBLANK_INTERRUPT, 0);
}

/// evergreen_tiling_fields() and dce4_crtc_do_set_base(): the surface has its geometry in the CRTC's
/// registers, not in one of the chip's.
#[test]
fn a_tiled_surface_of_dce_4_has_a_macro_tile_of_its_own() {
    let rig = rig(Family::Turks);
    rig.write(eg::gfx::GB_ADDR_CONFIG, 2 | 1 << 4);
    let (banks, width, height, split, aspect) = (1, 3, 2, 5, 1);
    let fields = banks << 2 | width << 6 | height << 11 | split << 13 | aspect << 18;
    set_mode(&rig, 1, 0x10_0000);
    rig.write(DCE4.at(1, DCE4.grph_control), 2 | 4 << 20 | fields);
    let scanout = rig.chip.scanout(1).unwrap();
    assert_eq!(
        scanout.tiling,
        TilingConfig {
            log2_pipes: 2,
            log2_banks: 2,
            log2_group: 9,
            log2_split: 11,
            optimal_bank_swap: false,
            macro_tile: Some(MacroTile {
                log2_bank_width: 3,
                log2_bank_height: 2,
                log2_aspect: 1,
            }),
        }
    );
}

#[test]
fn each_crtc_of_dce_4_has_a_table_of_colours() {
    let rig = rig(Family::Cedar);
    for (crtc, value) in [(0, 1), (3, 2)] {
        set_mode(&rig, crtc, 0);
        rig.write(DCE4.at(crtc, DCE4.lut_index), 9);
        rig.write(DCE4.at(crtc, DCE4.lut_colour), value);
    }
    assert_eq!(rig.chip.scanout(0).unwrap().gamma.entry(9), 1);
    assert_eq!(rig.chip.scanout(3).unwrap().gamma.entry(9), 2);
    // CEDAR has four.
    set_mode(&rig, 4, 0);
    assert_eq!(rig.chip.scanout(4), None);
}

/// evergreen_line_buffer_adjust() waits for it on DCE 4.1 and 5.
#[test]
fn buffers_of_a_crtc_are_allocated_at_once() {
    let rig = rig(Family::Palm);
    for crtc in 0..2 {
        let register = eg::PIPE0_DMIF_BUFFER_CONTROL + 32 * crtc;
        rig.write(register, 2);
        let done = eg::DMIF_BUFFERS_ALLOCATED_COMPLETED;
        assert_eq!(rig.read(register), 2 | done);
    }
    rig.write(eg::PIPE0_DMIF_BUFFER_CONTROL + 4, 2);
    assert_eq!(rig.read(eg::PIPE0_DMIF_BUFFER_CONTROL + 4), 2);
}

/// r600_gpu_soft_reset() and evergreen_gpu_soft_reset().
#[test]
fn soft_reset_of_the_dma_engine_has_the_generations_bit() {
    for (family, bit, other) in [
        (
            Family::Rv670,
            r600::SOFT_RESET_DMA,
            srbm::RV770_SOFT_RESET_DMA,
        ),
        (
            Family::Cedar,
            srbm::RV770_SOFT_RESET_DMA,
            r600::SOFT_RESET_DMA,
        ),
    ] {
        let rig = rig(family);
        let resets = || rig.chip.counters().get(Counter::SoftResets);
        let before = resets();
        rig.write(srbm::SRBM_SOFT_RESET, other);
        assert_eq!(resets(), before, "{family}");
        rig.write(srbm::SRBM_SOFT_RESET, bit);
        assert_eq!(resets(), before + 1, "{family}");
    }
}

/// uvd_v1_0_fence_emit(): the value is where later decoders have address bits.
#[test]
fn fences_of_the_first_video_decoder_have_their_value_in_the_data() {
    let mut rig = rig(Family::Rv670);
    rig.set_mem(FENCE, 0);
    for (register, value) in [
        (uvd::UVD_GPCOM_VCPU_DATA0, FENCE as u32),
        (uvd::UVD_GPCOM_VCPU_DATA1, 123),
        (uvd::UVD_GPCOM_VCPU_CMD, 0),
        (uvd::UVD_GPCOM_VCPU_CMD, 2),
    ] {
        rig.uvd(&[register >> 2, value]);
    }
    rig.until_mem(FENCE, 123);
    rig.until("the interrupt", |rig| rig.irq_count() == 1);
    assert_eq!(rig.vectors(), [(124, 0)]);
}

/// Has counters of its own.
struct Counting;

impl Gfx for Counting {
    fn draw(&mut self, _: &GfxContext<'_>, _: &Draw) -> Result<bool, Cancelled> {
        Ok(true)
    }

    fn statistics(&self) -> GfxStatistics {
        GfxStatistics {
            pipeline: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            streamout: [[10, 11], [12, 13], [14, 15], [16, 17]],
            ..GfxStatistics::default()
        }
    }
}

/// `event_type_for_stream()` and `r600_query_init()` in Mesa: events 1 to 3 sample streams 1 to 3, and
/// there are eleven pipeline counters, of which R7xx has eight.
#[test]
fn queries_have_the_counters_of_the_generation() {
    for (family, streams, counters) in [(Family::Turks, 4, 11), (Family::Rv770, 1, 8)] {
        let config = ChipConfig {
            family,
            ..config(None)
        };
        let mut rig = Rig::with_gfx(config, Box::new(Counting));
        let at = |slot: u64| DATA + 256 * slot;
        let mut sample = |slot: u64, event: u32, index: u32| {
            let body = [event | index << 8, at(slot) as u32, 0];
            rig.cp_fill(&[type3(0x46, 3)]);
            rig.cp_fill(&body);
        };
        for (stream, event) in [0x20, 1, 2, 3].into_iter().enumerate().take(streams) {
            sample(stream as u64, event, 3);
        }
        sample(4, 0x1E, 2);
        // What is not written stays.
        for slot in 0..5 {
            (0..32).for_each(|i| rig.set_mem(at(slot) + 4 * i, 0xEE));
        }
        rig.cp(&fence(77));
        rig.until_mem(FENCE, 77);
        for slot in 0..streams as u64 {
            let found = [0, 8].map(|offset| rig.mem(at(slot) + offset));
            assert_eq!(found, [10 + 2 * slot as u32, 11 + 2 * slot as u32]);
        }
        for i in 0..12 {
            let value = match i {
                _ if i < counters => i + 1,
                _ => 0xEE,
            };
            assert_eq!(rig.mem(at(4) + 8 * u64::from(i)), value, "{family}: {i}");
        }
    }
}
