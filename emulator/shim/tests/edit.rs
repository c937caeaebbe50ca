// SPDX-License-Identifier: MIT
//! `r7xx-replay --shaders`, `--shader` and `--edit`: the shaders of captured frames as text, and changed ones in their
//! place.

mod frames;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use frames::{unpacked, FRAMES};
use r7xx_board::chip::gfx::shaders::{Replacement, Shader, Shaders};
use r7xx_board::chip::gfx::Stage;
use r7xx_shim::capture::Reader;
use r7xx_shim::edit;
use r7xx_shim::replay::{replay, Options, Seen};

/// The frame that the program's tests change: lines of text in draws 5 to 8.
const TEXT: &str = "rv770-text";
const TEXT_DRAWS: &str = "draws 5-8";

fn frame(name: &str) -> Vec<u8> {
    let (_, packed) = FRAMES.iter().find(|(known, _)| *known == name).unwrap();
    unpacked(packed)
}

fn run(bytes: &[u8], replacements: Vec<Replacement>) -> (Seen, Arc<Shaders>) {
    let shaders = Arc::new(Shaders::new(replacements));
    let options = Options {
        threads: 1,
        shaders: Some(shaders.clone()),
        ..Options::default()
    };
    let outcome = replay(Reader::new(bytes).unwrap(), options, None).unwrap();
    (outcome.seen, shaders)
}

fn replacements(shaders: &[Shader]) -> Vec<Replacement> {
    let of = |shader: &Shader| {
        let text = edit::text(shader, "a chip").unwrap();
        let replacement = edit::replacement(&text, shader.isa).unwrap();
        assert_eq!(replacement.words.len(), shader.dwords, "{text}");
        assert_eq!(replacement.words, shader.words[..shader.dwords], "{text}");
        replacement
    };
    shaders.iter().map(of).collect()
}

/// Every shader of every frame, written and read again, leaves memory as Mesa's words did.
#[test]
fn shaders_that_are_not_changed_draw_the_same() {
    let mut stages = Vec::new();
    for (name, _) in FRAMES {
        let bytes = frame(name);
        let (_, shaders) = run(&bytes, Vec::new());
        let list = shaders.list();
        assert!(list.len() >= 6, "{name}: {list:?}");
        let (seen, shaders) = run(&bytes, replacements(&list));
        assert_eq!(seen.different, [], "{name}");
        assert!(seen.pages > 50 && seen.dropped.is_empty(), "{name}");
        assert!(shaders.used().iter().all(|used| *used > 0), "{name}");
        assert_eq!(shaders.violations(), [""; 0], "{name}");
        assert_eq!(shaders.list(), list, "{name}: the shaders in memory");
        stages.extend(list.iter().map(|shader| shader.stage));
    }
    for stage in [Stage::Pixel, Stage::Vertex, Stage::Geometry, Stage::Export] {
        assert!(stages.contains(&Some(stage)), "{stage:?}");
    }
    assert!(stages.contains(&None), "fetch shaders");
}

/// Each shader with an instruction more, so that all clauses are elsewhere.
#[test]
fn longer_shaders_draw_the_same() {
    for (name, _) in FRAMES {
        let bytes = frame(name);
        let (_, shaders) = run(&bytes, Vec::new());
        let longer = |shader: &Shader| {
            let text = edit::text(shader, "a chip").unwrap();
            let text = text.replacen("\n0000 ", "\nNOP @0\n0000 ", 1);
            let replacement = edit::replacement(&text, shader.isa).unwrap();
            assert_eq!(replacement.words[..2], [0, 1 << 31], "{text}");
            replacement
        };
        let (seen, shaders) = run(&bytes, shaders.list().iter().map(longer).collect());
        assert_eq!(seen.different, [], "{name}");
        assert!(shaders.used().iter().all(|used| *used > 0), "{name}");
    }
}

#[test]
fn other_words_at_the_address_are_another_shader() {
    let bytes = frame(TEXT);
    let (_, shaders) = run(&bytes, Vec::new());
    let mut all = replacements(&shaders.list());
    all.iter_mut().for_each(|replacement| replacement.hash ^= 1);
    // They would draw nothing.
    all.iter_mut()
        .for_each(|replacement| replacement.words = vec![0, 1 << 21]);
    let (seen, shaders) = run(&bytes, all);
    assert_eq!(seen.different, []);
    assert!(shaders.used().iter().all(|used| *used == 0));
}

/// A directory for the test `name`, with the frame [`TEXT`], removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("r7xx-edit-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("frame"), frame(TEXT)).unwrap();
        Self(path)
    }

    fn replay(&self, arguments: &[&str]) -> Output {
        // `R7XX_REPLAY` names it for a copy of the tests, as cargo's path is of where they were compiled.
        let program = std::env::var_os("R7XX_REPLAY");
        let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_r7xx-replay").into());
        let mut command = Command::new(program);
        command.arg("frame").args(arguments).current_dir(&self.0);
        command.output().unwrap()
    }

    /// What a run that succeeds writes to standard output.
    #[track_caller]
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.replay(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a run that fails writes to standard error.
    #[track_caller]
    fn refused(&self, arguments: &[&str], status: i32) -> String {
        let output = self.replay(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The text of the pixel shader of [`TEXT_DRAWS`].
    fn shader(&self) -> String {
        let list = self.said(&["--shaders"]);
        // The last pixel shader.
        let line = list.lines().rfind(|line| line.contains("PS (pixel)"));
        let line = line.filter(|line| line.ends_with(TEXT_DRAWS)).expect(&list);
        let mut words = line.split_whitespace();
        let number = words.next().unwrap();
        let text = self.said(&["--shader", number]);
        let address = words.nth(2).unwrap();
        assert_eq!(self.said(&["--shader", address]), text, "{line}");
        text
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Width, and the picture's pixels, of a replay.
    fn picture(&self, arguments: &[&str]) -> (usize, Vec<[u8; 4]>) {
        self.said(&[arguments, &["--png", "png"]].concat());
        pixels(&self.0.join("png"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn pixels(path: &Path) -> (usize, Vec<[u8; 4]>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let count = bytes.len() / (info.width * info.height) as usize;
    let of = |pixel: &[u8]| {
        [
            pixel[0],
            pixel[1],
            pixel[2],
            pixel.get(3).copied().unwrap_or(255),
        ]
    };
    (
        info.width as usize,
        bytes.chunks_exact(count).map(of).collect(),
    )
}

/// Places of the pixels that differ.
fn changed(before: &[[u8; 4]], after: &[[u8; 4]]) -> Vec<usize> {
    let pairs = before.iter().zip(after).enumerate();
    pairs
        .filter(|(_, (a, b))| a != b)
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn a_changed_constant_is_in_the_picture_and_the_history() {
    let directory = Directory::new("constant");
    let text = directory.shader();
    let (width, before) = directory.picture(&[]);
    directory.write("same", &text);
    assert_eq!(directory.picture(&["--edit", "same"]).1, before);

    // Red, opaque.
    let export = text
        .lines()
        .rfind(|line| line.contains("EXPORT_DONE PIXEL 0"))
        .unwrap();
    let red = export.replace(".xyzw", ".1001");
    assert_ne!(red, export);
    directory.write("red", &text.replace(export, &red));
    let (_, after) = directory.picture(&["--edit", "red"]);
    let changes = changed(&before, &after);
    assert!(changes.len() > 500, "{}", changes.len());
    assert!(changes.iter().all(|at| after[*at][..3] == [255, 0, 0]));

    let said = directory.said(&["--edit", "red"]);
    assert!(
        said.contains("red: executed for 4 draws and dispatches"),
        "{said}"
    );
    assert!(!said.contains("hardware would not"), "{said}");
    // Rows of the picture begin at the highest one in memory.
    let (row, column) = (changes[0] / width, changes[0] % width);
    let place = format!("{column},{}", before.len() / width - 1 - row);
    let history = directory.said(&["--edit", "red", "--pixel", &place]);
    assert!(
        history.contains(red.split_whitespace().nth(6).unwrap()),
        "{history}"
    );
    assert!(history.contains("EXPORT_DONE PIXEL 0 R2.1001"), "{history}");
    let described = directory.said(&["--edit", "red", "--describe", "5"]);
    assert!(described.contains(", replaced:\n"), "{described}");
    assert!(
        described.contains("EXPORT_DONE PIXEL 0 R2.1001"),
        "{described}"
    );
}

#[test]
fn a_longer_shader_fits() {
    let directory = Directory::new("longer");
    let text = directory.shader();
    let (_, before) = directory.picture(&[]);
    let mut more = String::from("ALU\n");
    for _ in 0..40 {
        more += "1 x: MOV R2.x, [0.25]\n  y: MOV R2.y, [2.0]\n";
    }
    more += "1 x: MOV R2.x, 0\n  y: MOV R2.y, 1.0\n  z: MOV R2.z, 0\n  w: MOV R2.w, 1.0\n";
    let at = text.find("0006 C0010000").unwrap();
    let longer = format!("{}{more}{}", &text[..at], &text[at..]);
    directory.write("green", &longer);
    let (_, after) = directory.picture(&["--edit", "green"]);
    let changes = changed(&before, &after);
    assert!(changes.len() > 500);
    assert!(changes.iter().all(|at| after[*at][..3] == [0, 255, 0]));

    // What hardware would not execute so is said.
    directory.write("gpr", &longer.replace("MOV R2.x, 0\n", "MOV R9.x, 0\n"));
    let said = directory.said(&["--edit", "gpr"]);
    let wanted = "it uses R9, but NUM_GPRS is 3";
    assert!(
        said.contains("hardware would not execute it so: pixel shader"),
        "{said}"
    );
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn what_cannot_be_obeyed_is_refused() {
    let directory = Directory::new("refused");
    let text = directory.shader();
    let error = |name: &str, text: &str| {
        directory.write(name, text);
        let said = directory.refused(&["--edit", name], 1);
        assert!(
            said.starts_with(&format!("r7xx-replay: {name}: ")),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    };
    let line = 1 + text
        .lines()
        .position(|line| line.contains("RECIP_IEEE"))
        .unwrap();
    let said = error("name", &text.replace("RECIP_IEEE", "RECIPE"));
    assert!(said.contains(&format!("line {line}, column ")), "{said}");
    assert!(said.contains("found `RECIPE`"), "{said}");
    let said = error("head", &text.replace("shader ", "shaders "));
    assert!(
        said.contains("line 1: expected `shader ADDRESS hash HASH`"),
        "{said}"
    );
    let other = text.replacen("hash ", "hash f", 1);
    let other = other.replacen(other.lines().next().unwrap(), "shader 0x2384000 hash 1", 1);
    let said = error("hash", &other);
    assert!(
        said.contains("no draw or dispatch executes the shader"),
        "{said}"
    );
    let said = directory.refused(&["--edit", "missing"], 1);
    assert!(said.contains("missing: No such file"), "{said}");
    let said = directory.refused(&["--shader", "99"], 1);
    assert!(said.contains("there is no shader 99, only"), "{said}");
    let said = directory.refused(&["--shader", "0x1000"], 1);
    assert!(said.contains("no shader is at 0x1000"), "{said}");
    for arguments in [
        &["--shader", "x"][..],
        &["--edit", "head", "--check"],
        &["--shader", "1", "--edit", "head"],
        &["--shader", "1", "--shaders"],
    ] {
        directory.refused(arguments, 2);
    }
}
