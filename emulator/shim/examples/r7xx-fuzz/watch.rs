// SPDX-License-Identifier: MIT
//! A wrapper of the 3D engine that records what each draw does to memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use r7xx_board::chip::bus::{Mc, McError, RegFile};
use r7xx_board::chip::cp::pm4::Draw;
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, Limits, Pipeline, PipelineCounter};
use r7xx_board::chip::Family;
use r7xx_board::fnv::fnv1a;

use crate::layout::Layout;

/// What a draw did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawRecord {
    /// The draw was not dropped.
    pub executed: bool,
    /// Invocations of the vertex shader.
    pub vertices: u64,
    /// Invocations of the pixel shader.
    pub pixels: u64,
    /// Threads of compute shaders that have ended, if it is a dispatch.
    pub threads: u64,
    /// Invocations of the domain shader.
    pub domain: u64,
    /// Append counter 0, or the first dword of the global data share, whichever is larger.
    pub counted: u32,
    /// The draw read from the first [`TEXTURE`] bytes of a texture of its pixel shader.
    pub textures: bool,
    /// Bytes written.
    pub written: u64,
    /// Digest of all writes; their order does not matter.
    digest: u64,
}

/// State that the engine shares with the test.
#[derive(Default)]
pub struct Watched {
    drawing: AtomicBool,
    refused: AtomicU64,
    draws: Mutex<Vec<DrawRecord>>,
}

impl Watched {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }
    /// Whether a draw is under way.
    pub fn drawing(&self) -> bool {
        self.drawing.load(Ordering::SeqCst)
    }
    /// Number of draws' writes that failed. (Failed reads prove less: the fetch shader is read
    /// ahead even if it is not called.)
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::SeqCst)
    }
    pub fn take(&self) -> Vec<DrawRecord> {
        std::mem::take(&mut *self.draws.lock().unwrap())
    }
}

/// Bytes from a texture's base on that count as the texture.
const TEXTURE: u64 = 0x1_0000;
/// The event that stops the counters of invocations (`r600d.h`).
const PIPELINESTAT_STOP: u8 = 0x1A;

/// Memory that records the accesses of a draw.
struct Noting<'a> {
    mc: &'a dyn Mc,
    textures: Vec<u64>,
    read: AtomicBool,
    written: AtomicU64,
    digest: AtomicU64,
    refused: &'a AtomicU64,
}

impl Mc for Noting<'_> {
    fn read(&self, address: u64, buf: &mut [u8]) -> Result<(), McError> {
        let of = |base: &u64| (*base..*base + TEXTURE).contains(&address);
        if self.textures.iter().any(of) {
            self.read.store(true, Ordering::Relaxed);
        }
        self.mc.read(address, buf)
    }

    fn write(&self, address: u64, buf: &[u8]) -> Result<(), McError> {
        // The digest is a sum of FNV-1a hashes of address and bytes: threads write in any order.
        let bytes = address.to_le_bytes().into_iter().chain(buf.iter().copied());
        self.digest.fetch_add(fnv1a(bytes), Ordering::Relaxed);
        self.written.fetch_add(buf.len() as u64, Ordering::Relaxed);
        let result = self.mc.write(address, buf);
        if result.is_err() {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        result
    }
}

/// The engine.
pub struct Watch {
    pipeline: Pipeline,
    layout: &'static Layout,
    watched: Arc<Watched>,
}

impl Watch {
    pub fn new(family: Family, limits: Limits, watched: Arc<Watched>) -> Self {
        Self {
            layout: Layout::of(family),
            pipeline: Pipeline::new(2).with_limits(limits),
            watched,
        }
    }
}

impl Watch {
    /// Records what `work` does.
    fn watch(
        &mut self,
        context: &GfxContext<'_>,
        work: impl FnOnce(&mut Pipeline, &GfxContext<'_>) -> Result<bool, Cancelled>,
    ) -> Result<bool, Cancelled> {
        let noting = Noting {
            mc: context.mc,
            textures: textures(context.regs, self.layout),
            read: AtomicBool::new(false),
            written: AtomicU64::new(0),
            digest: AtomicU64::new(0),
            refused: &self.watched.refused,
        };
        let context = GfxContext {
            mc: &noting,
            ..*context
        };
        let before = self.pipeline.statistics();
        self.watched.drawing.store(true, Ordering::SeqCst);
        let result = work(&mut self.pipeline, &context);
        self.watched.drawing.store(false, Ordering::SeqCst);
        let after = self.pipeline.statistics();
        let more = |counter: PipelineCounter| {
            let i = counter as usize;
            after.pipeline[i].wrapping_sub(before.pipeline[i])
        };
        self.watched.draws.lock().unwrap().push(DrawRecord {
            executed: result == Ok(true),
            vertices: more(PipelineCounter::VsInvocations),
            pixels: more(PipelineCounter::PsInvocations),
            threads: more(PipelineCounter::CsInvocations),
            domain: more(PipelineCounter::DsInvocations),
            counted: (self.pipeline.append_counter(0)).max(self.pipeline.global_share(0)),
            textures: noting.read.into_inner(),
            written: noting.written.into_inner(),
            digest: noting.digest.into_inner(),
        });
        result
    }
}

fn textures(regs: &dyn RegFile, layout: &Layout) -> Vec<u64> {
    let (first, dwords, count) = layout.resources;
    (0..count)
        .map(|i| first + 4 * dwords * i)
        // The last word of SQ_TEX_RESOURCE: type 2 is a valid texture.
        .filter(|base| regs.load(base + 4 * (dwords - 1)) >> 30 == 2)
        .map(|base| u64::from(regs.load(base + 8)) << 8)
        .collect()
}

impl Gfx for Watch {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        self.watch(context, |pipeline, context| pipeline.draw(context, draw))
    }

    fn dispatch(&mut self, context: &GfxContext<'_>, groups: [u32; 3]) -> Result<bool, Cancelled> {
        self.watch(context, |pipeline, context| {
            pipeline.dispatch(context, groups)
        })
    }

    fn event(&mut self, context: &GfxContext<'_>, event: u8) {
        // Ignored, so that Mesa's internal draws are counted, too.
        if event == PIPELINESTAT_STOP {
            return;
        }
        self.pipeline.event(context, event);
    }

    fn inner(&self) -> Option<&dyn Gfx> {
        Some(&self.pipeline)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Gfx> {
        Some(&mut self.pipeline)
    }
}
