// SPDX-License-Identifier: MIT
//! The state of a draw under way: what its batches share, and the lists of one batch.

use std::sync::{Arc, OnceLock};

use rayon_core::ThreadPool;

use super::front::VertexStreams;
use super::memory::View;
use super::pixel::{PixelCounts, PixelState};
use super::primitive::Primitive;
use super::setup::{Builder, Setup, Vertices};
use super::shader::{Program, Stop};
use super::stage::DrawShared;
use super::state::SetupState;
use super::streamout::StreamOut;
use super::tessellation::Tessellation;
use super::vertex::{Request, StreamData};
use super::Cancelled;

/// Worker threads; none if the host cannot create them.
pub(super) type Pool = OnceLock<Option<ThreadPool>>;

/// Shaded vertices of a batch, their primitives and setups.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) vertices: Vertices,
    pub(super) streams: StreamData,
    pub(super) primitives: Vec<Primitive>,
    pub(super) requests: Vec<Request>,
    /// Of each thread, in the primitives' order.
    pub(super) setups: Vec<Vec<Setup>>,
    /// Vertices that have been requested, by their index; all unused between batches.
    pub(super) reuse: Vec<(u64, u32)>,
}

/// Why a draw ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// A reset.
    Cancelled,
    /// The geometry shader's rings cannot hold this many primitives.
    TooMany,
    /// The rest of the draw is dropped; the text says why.
    Dropped(&'static str),
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Failed::Cancelled,
            Stop::Budget => Failed::Dropped("a shader does not end"),
            Stop::Fault(what) => Failed::Dropped(what),
        }
    }
}

impl From<Cancelled> for Failed {
    fn from(_: Cancelled) -> Self {
        Failed::Cancelled
    }
}

/// State of a draw, decoded.
pub(super) struct DrawState<'a, 'b> {
    pub(super) shared: &'b DrawShared<'a>,
    pub(super) pool: &'b Pool,
    pub(super) view: &'b View<'a>,
    pub(super) vertex: Arc<Program>,
    /// The export and the geometry shader, if there is one; the vertex shader then copies.
    pub(super) geometry: Option<(Arc<Program>, Arc<Program>)>,
    pub(super) setup: &'b SetupState,
    pub(super) pixel: Option<&'b PixelState>,
    pub(super) params: usize,
    pub(super) streams: &'b VertexStreams,
    pub(super) primitive_ids: bool,
    pub(super) tessellation: Option<&'b Tessellation>,
}

/// State that changes in the course of a draw.
pub(super) struct Progress<'b> {
    pub(super) streamout: Option<StreamOut>,
    pub(super) builder: Builder<'b>,
    pub(super) pixels: PixelCounts,
    /// Tiles and squares of its polygons, as [`Limits::tiles`](super::stage::Limits) counts them.
    pub(super) tiles: u64,
    pub(super) vertices: u64,
    pub(super) geometry: [u64; 2],
    /// Patches, and points of the domain shader.
    pub(super) patches: u64,
    pub(super) domain: u64,
}
