// SPDX-License-Identifier: MIT
//! What happened to a pixel or a vertex of a captured frame, as text: `r7xx-replay --pixel` and
//! `--vertex`.

use std::collections::BTreeSet;
use std::fmt::Write;

use r7xx_board::chip::gfx::probe::{ColourWrite, DepthTest, Fragment, History, Run, Vertex, Watch};
use r7xx_board::chip::gfx::shader::tape::{Texel, Value};

/// Parses `X,Y`.
///
/// # Errors
/// What is wrong, for the user.
pub fn pixel(text: &str) -> Result<Watch, String> {
    let wrong = || format!("{text}: not a pixel; give column and row as X,Y");
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    // Targets have at most 8192 columns and rows, Evergreen's 16384.
    let number = |text: &str| text.trim().parse::<u16>().map(i32::from);
    match (number(x), number(y)) {
        (Ok(x), Ok(y)) => Ok(Watch::Pixel { x, y }),
        _ => Err(wrong()),
    }
}

/// Parses `DRAW:N`.
///
/// # Errors
/// What is wrong, for the user.
pub fn vertex(text: &str) -> Result<Watch, String> {
    let wrong = || format!("{text}: not a vertex; give draw (from 1) and index as DRAW:N");
    let (draw, index) = text.split_once(':').ok_or_else(wrong)?;
    match (draw.trim().parse(), index.trim().parse()) {
        (Ok(draw), Ok(index)) if draw > 0 => Ok(Watch::Vertex { draw, index }),
        _ => Err(wrong()),
    }
}

/// What `watch` found, for a person.
pub fn text(watch: Watch, history: &History) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = match watch {
        Watch::Pixel { x, y } => pixel_text(&mut out, x, y, history),
        Watch::Vertex { draw, index } => vertex_text(&mut out, draw, index, history),
    };
    if history.truncated {
        let _ = writeln!(out, "more were not recorded");
    }
    out
}

fn pixel_text(out: &mut String, x: i32, y: i32, history: &History) -> std::fmt::Result {
    let draws: BTreeSet<u64> = history.fragments.iter().map(|f| f.draw).collect();
    let counts = &history.counts;
    writeln!(
        out,
        "pixel {x},{y}: {} fragments of {} draws; {} of {} polygons have it within their bounds",
        history.fragments.len(),
        draws.len(),
        counts.near,
        counts.polygons
    )?;
    for fragment in &history.fragments {
        fragment_text(out, fragment)?;
    }
    Ok(())
}

fn vertex_text(out: &mut String, draw: u64, index: u32, history: &History) -> std::fmt::Result {
    let count = history.vertices.len();
    writeln!(out, "vertex {index} of draw {draw}: shaded {count} times")?;
    if count == 0 {
        let draws = history.counts.draws;
        writeln!(
            out,
            "the draw does not use it, is not among the {draws} that were executed, or has a \
             geometry shader"
        )?;
    }
    for Vertex { instance, run, .. } in &history.vertices {
        writeln!(out, "\ninstance {instance}")?;
        run_text(out, run)?;
    }
    Ok(())
}

fn fragment_text(out: &mut String, f: &Fragment) -> std::fmt::Result {
    let face = if f.front { "front" } else { "back" };
    writeln!(
        out,
        "\ndraw {}, polygon {}, {face} face, layer {}: {}",
        f.draw, f.polygon, f.layer, f.fate
    )?;
    writeln!(out, "  vertices in clip space {:?}", f.corners)?;
    let stages: Vec<String> = (f.coverage.iter())
        .map(|(what, left)| format!("{what} {left:#010b}"))
        .collect();
    writeln!(out, "  samples left by {}", stages.join(", "))?;
    for test in &f.tests {
        test_text(out, test)?;
    }
    for run in &f.runs {
        run_text(out, run)?;
    }
    for write in &f.colours {
        colour_text(out, write)?;
    }
    Ok(())
}

fn test_text(out: &mut String, test: &DepthTest) -> std::fmt::Result {
    let when = if test.updates { "" } else { " (early)" };
    write!(out, "  sample {}{when}:", test.sample)?;
    let verdict = |passes: bool| if passes { "passes" } else { "fails" };
    if let Some(passes) = test.depth_passes {
        write!(out, " depth {} against {}", test.depth, test.before.0)?;
        write!(out, " {}", verdict(passes))?;
    }
    if let Some(passes) = test.stencil_passes {
        write!(out, " stencil {:#x} {}", test.before.1, verdict(passes))?;
    }
    match test.after == test.before {
        true => writeln!(out, "; the buffer keeps its value"),
        false => {
            write!(out, "; the buffer becomes {}", test.after.0)?;
            if test.stencil_passes.is_some() || test.after.1 != test.before.1 {
                write!(out, " stencil {:#x}", test.after.1)?;
            }
            writeln!(out)
        }
    }
}

/// Bits, and the number that they most likely stand for.
fn number(bits: u32) -> String {
    let float = f32::from_bits(bits);
    let likely = bits == 0 || (1e-12..1e12).contains(&float.abs());
    match likely {
        true => format!("{bits:#010x} {float}"),
        false if float.is_infinite() => format!("{bits:#010x} {float}"),
        false => format!("{bits:#010x} {}", bits as i32),
    }
}

fn values(values: &[Value]) -> String {
    let one = |value: &Value| format!("{} = {}", value.name, number(value.bits));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn run_text(out: &mut String, run: &Run) -> std::fmt::Result {
    let sample = run
        .sample
        .map_or(String::new(), |s| format!(" of sample {s}"));
    let inputs = match run.inputs.is_empty() {
        true => "no inputs".into(),
        false => values(&run.inputs),
    };
    writeln!(out, "  shader{sample}: {inputs}")?;
    for line in &run.lines {
        let step = &line.step;
        let program = if step.fetch_shader { "FS " } else { "" };
        let mut result = values(&step.values);
        if let Some(note) = step.note {
            result += note;
        }
        if !step.active {
            result += "not executed here";
        }
        if let Some(address) = step.address {
            result = format!("at {address:#x}: {result}");
        }
        writeln!(
            out,
            "    {program}{:04} {:<48} {result}",
            step.at, line.text
        )?;
        for texel in &step.texels {
            texel_text(out, texel)?;
        }
    }
    if run.truncated {
        writeln!(out, "    more instructions were not recorded")?;
    }
    Ok(())
}

fn texel_text(out: &mut String, t: &Texel) -> std::fmt::Result {
    let value = t.value.map(number).join(", ");
    writeln!(
        out,
        "         texel {},{} level {} slice {} sample {} at {:#x}: {value}",
        t.x, t.y, t.level, t.slice, t.sample, t.address
    )
}

fn colour_text(out: &mut String, write: &ColourWrite) -> std::fmt::Result {
    let colour = |bits: [u32; 4]| bits.map(number).join(", ");
    let (target, sample) = (write.target, write.sample);
    writeln!(out, "  target {target} sample {sample} at {}", write.state)?;
    if let Some(source) = write.source {
        writeln!(out, "    source {}", colour(source))?;
    }
    if let Some(second) = write.second {
        writeln!(out, "    second {}", colour(second))?;
    }
    writeln!(out, "    before {}", colour(write.before))?;
    writeln!(out, "    after  {}", colour(write.after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_parsed_and_nonsense_is_refused() {
        assert_eq!(pixel("3,40"), Ok(Watch::Pixel { x: 3, y: 40 }));
        let watch = Watch::Vertex { draw: 7, index: 0 };
        assert_eq!(vertex("7:0"), Ok(watch));
        for wrong in ["", "3", "3,", "-1,2", "3,x", "70000,1"] {
            let error = pixel(wrong).unwrap_err();
            assert!(error.contains("X,Y"), "{wrong}: {error}");
        }
        for wrong in ["", "7", "0:1", "1:-1", "a:1"] {
            let error = vertex(wrong).unwrap_err();
            assert!(error.contains("DRAW:N"), "{wrong}: {error}");
        }
    }

    #[test]
    fn numbers_are_shown_as_what_they_likely_are() {
        assert_eq!(number(0x3f80_0000), "0x3f800000 1");
        assert_eq!(number(3), "0x00000003 3");
        assert_eq!(number(u32::MAX), "0xffffffff -1");
        assert_eq!(number(0), "0x00000000 0");
    }
}
