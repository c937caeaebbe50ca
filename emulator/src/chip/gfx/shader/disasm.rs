// SPDX-License-Identifier: MIT
//! Text of shaders.
