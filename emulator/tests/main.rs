// SPDX-License-Identifier: MIT
//! The board's integration tests. They are one program, because each test program links all
//! of the board.

mod attributes;
mod common;
mod rig;

mod contexts;
mod coverage;
mod display;
mod draws;
mod fuzz_chip;
mod fuzz_draws;
mod fuzz_targets;
mod gather;
mod generations;
mod geometry;
mod history;
mod hostile_client;
mod indirect;
mod lint;
mod packets;
mod process;
mod rings;
mod robust;
mod rules;
mod samples;
mod shader_corpus;
mod share;
mod short;
mod short_r800;
mod streamout;
mod strict;
mod strict_gfx;
mod strict_pipe;
mod surfaces;
mod textures;
mod threads;
mod tiling;
mod vfio_user;
mod whole_blocks;
mod whole_r800;
mod whole_tiles;
