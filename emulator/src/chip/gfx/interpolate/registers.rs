// SPDX-License-Identifier: MIT
//! Which registers a pixel shader starts with, for [`lint`](super::super::lint).

use super::Interpolator;

impl Interpolator {
    /// Numbers of the registers that are filled before the shader runs.
    pub fn registers(&self) -> Vec<usize> {
        self.filled().collect()
    }

    /// The same. A register may come twice.
    pub(super) fn filled(&self) -> impl Iterator<Item = usize> {
        let inputs = match &self.barycentric {
            // Two pairs of weights a register.
            Some(pairs) => pairs.len().div_ceil(2),
            None => self.inputs.len(),
        };
        let position = self.position.map(|(gpr, _)| gpr);
        let face = self.face.map(|(gpr, _)| gpr);
        let extra = [position, face, self.sample_id];
        (0..inputs).chain(extra.into_iter().flatten())
    }

    /// Numbers of the vertex shader's parameters that inputs of the pixel shader take.
    pub fn parameters(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().filter_map(|input| input.param)
    }
}
