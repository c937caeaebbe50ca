// SPDX-License-Identifier: MIT
//! What a render target does with a colour, as text.

use super::Target;

impl Target {
    /// The target's address, number type, blend equations or logic operation, and write mask.
    pub fn describe(&self) -> String {
        let mut text = format!("{:#x} {:?}", self.surface.base, self.number());
        if let Some(blend) = &self.blend {
            let equation = |name: &str, e: &super::blend::Equation| {
                format!(
                    ", {name} source*{:?} {:?} destination*{:?}",
                    e.src, e.function, e.dst
                )
            };
            text += &equation("rgb", &blend.colour);
            text += &equation("alpha", &blend.alpha);
            let constant = blend.constant;
            if constant != [0.0; 4] {
                text += &format!(", constant {constant:?}");
            }
        } else if let Some(logic) = &self.logic {
            text += &format!(", {logic:?}");
        } else {
            text += ", no blending";
        }
        if self.write_mask != 0xF {
            text += &format!(", write mask {:#x}", self.write_mask);
        }
        text
    }
}
