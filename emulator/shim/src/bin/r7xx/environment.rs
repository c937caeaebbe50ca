// SPDX-License-Identifier: MIT
//! The environment of a program that runs on the chip.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use r7xx_board::chip::family::{Family, MODELS};

const SHIM: &str = "libr7xx_shim.so";

/// Variables by which Mesa would render in software, or by another driver, and those that choose what a
/// capture has.
const HARMFUL: [&str; 6] = [
    "LIBGL_ALWAYS_SOFTWARE",
    "GALLIUM_DRIVER",
    "R7XX_CAPTURE_SUBMISSIONS",
    "R7XX_CAPTURE_ON",
    "R7XX_CAPTURE_DRAW",
    "R7XX_CAPTURE_LAST",
];

/// What the user wants.
pub struct Settings<'a> {
    /// Name of the chip.
    pub chip: &'a str,
    /// The shim's file.
    pub shim: &'a Path,
    /// The file for the submissions.
    pub capture: Option<&'a Path>,
    /// Which of them: a range.
    pub submissions: Option<&'a str>,
    /// Which of them: the last ones until that event.
    pub capture_on: Option<&'a str>,
    /// Which of them: the last ones until that draw.
    pub capture_draw: Option<u64>,
    /// How many are the last ones.
    pub capture_last: Option<u64>,
    /// Report shaders that hardware would not execute.
    pub check: bool,
    /// Report the driver's mistakes.
    pub lint: bool,
    /// Seed of a strict board.
    pub strict: Option<u64>,
    /// The file for packets and register accesses.
    pub trace: Option<&'a Path>,
}

/// Changes to the environment of this process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables to set.
    pub set: Vec<(&'static str, OsString)>,
    /// Variables to remove.
    pub remove: Vec<&'static str>,
}

impl Environment {
    /// The changes that `settings` need. `get` returns this process's variables.
    ///
    /// # Errors
    /// What cannot be obeyed, for the user.
    pub fn new(
        settings: &Settings<'_>,
        get: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, String> {
        let drawing = (MODELS.iter()).filter(|model| model.generation.draws.is_some());
        let names: Vec<&str> = drawing.map(|model| model.name).collect();
        let family: Result<Family, _> = settings.chip.parse();
        if !family.is_ok_and(|family| names.contains(&family.model().name)) {
            let (chip, names) = (settings.chip, names.join(", "));
            return Err(format!(
                "--chip {chip}: the board does not draw as this chip; name one of {names}"
            ));
        }
        let held = |name: &str| get(name).filter(|value| !value.is_empty());
        let mut preload = settings.shim.as_os_str().to_owned();
        if let Some(others) = held("LD_PRELOAD") {
            preload.push(":");
            preload.push(others);
        }
        let mut set: Vec<(&str, OsString)> = vec![
            ("LD_PRELOAD", preload),
            ("R7XX_CHIP", settings.chip.into()),
            ("MESA_LOADER_DRIVER_OVERRIDE", "r600".into()),
            // There is no display whose refresh could be waited for.
            ("vblank_mode", "0".into()),
        ];
        if held("EGL_PLATFORM").is_none() {
            set.push(("EGL_PLATFORM", "surfaceless".into()));
        }
        if let Some(file) = settings.capture {
            set.push(("R7XX_CAPTURE", file.into()));
            let number = |number: u64| number.to_string().into();
            let which = [
                (
                    "R7XX_CAPTURE_SUBMISSIONS",
                    settings.submissions.map(OsString::from),
                ),
                ("R7XX_CAPTURE_ON", settings.capture_on.map(OsString::from)),
                ("R7XX_CAPTURE_DRAW", settings.capture_draw.map(number)),
                ("R7XX_CAPTURE_LAST", settings.capture_last.map(number)),
            ];
            let given = |(name, value): (_, Option<OsString>)| Some((name, value?));
            set.extend(which.into_iter().filter_map(given));
        }
        if settings.check {
            set.push(("R7XX_CHECK", "1".into()));
        }
        if settings.lint {
            set.push(("R7XX_LINT", "1".into()));
        }
        if let Some(seed) = settings.strict {
            set.push(("R7XX_STRICT", seed.to_string().into()));
        }
        if let Some(file) = settings.trace {
            set.push(("R7XX_TRACE", file.into()));
        }
        let unwanted = |name: &&str| held(name).is_some() && !set.iter().any(|(n, _)| n == name);
        let remove = HARMFUL.into_iter().filter(unwanted).collect();
        Ok(Self { set, remove })
    }

    /// Applies the changes to a child process.
    pub fn apply(&self, command: &mut Command) {
        for name in &self.remove {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }

    /// As [`Self::apply`], for a process whose submissions nobody wants.
    pub fn apply_quietly(&self, command: &mut Command) {
        self.apply(command);
        for name in [
            "R7XX_CAPTURE",
            "R7XX_CAPTURE_SUBMISSIONS",
            "R7XX_CAPTURE_ON",
            "R7XX_CAPTURE_DRAW",
            "R7XX_CAPTURE_LAST",
            "R7XX_TRACE",
            "R7XX_CHECK",
            "R7XX_LINT",
        ] {
            command.env_remove(name);
        }
    }
}

/// The shim: the file that the user names, or the one beside this program or in `../lib`.
///
/// # Errors
/// There is none, and what to do.
pub fn shim(named: Option<&Path>) -> Result<PathBuf, String> {
    let absolute = |path: &Path| {
        let found = path.canonicalize().ok().filter(|path| path.is_file())?;
        // LD_PRELOAD separates files by these, and has no escape for them.
        let text = found.as_os_str().as_encoded_bytes();
        (!text.iter().any(|b| b" :".contains(b))).then_some(found)
    };
    if let Some(path) = named {
        let wrong = || {
            format!(
                "--shim {}: no such file, or its path has a blank or colon",
                path.display()
            )
        };
        return absolute(path).ok_or_else(wrong);
    }
    let own = std::env::current_exe().map_err(|e| format!("this program's own file: {e}"))?;
    let here = own.parent().unwrap_or(Path::new("."));
    let places = [
        here.join(SHIM),
        here.join("../lib").join(SHIM),
        here.join("../lib/r7xx").join(SHIM),
    ];
    (places.iter())
        .find_map(|path| absolute(path))
        .ok_or_else(|| {
            format!(
            "{SHIM} is not in {} or its ../lib, or the path has a blank or colon; build it with \
             'cargo build --release --workspace', or name it with --shim",
            here.display()
        )
        })
}

/// A file in `directory`, which is made, for the submissions of `program`: not one that exists.
///
/// # Errors
/// The directory cannot be made or written.
pub fn capture_file(directory: &Path, program: &Path) -> Result<PathBuf, String> {
    let wrong = |e: std::io::Error| format!("--capture {}: {e}", directory.display());
    std::fs::create_dir_all(directory).map_err(wrong)?;
    let directory = directory.canonicalize().map_err(wrong)?;
    let name = program.file_name().unwrap_or(OsStr::new("program"));
    for number in 1..10_000 {
        let mut file = name.to_owned();
        if number > 1 {
            file.push(format!("-{number}"));
        }
        file.push(".r7xx");
        let path = directory.join(file);
        match std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
        {
            Ok(_) => return Ok(path),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(wrong(e)),
        }
    }
    Err(format!(
        "--capture {}: it has 9,999 captures of this program",
        directory.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings<'static> {
        Settings {
            chip: "rv730",
            shim: Path::new("/lib/shim.so"),
            capture: None,
            submissions: None,
            capture_on: None,
            capture_draw: None,
            capture_last: None,
            check: false,
            lint: false,
            strict: None,
            trace: None,
        }
    }

    fn changes(settings: &Settings<'_>, variables: &[(&str, &str)]) -> Environment {
        let get = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Environment::new(settings, &get).unwrap()
    }

    fn value<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
        let found = environment
            .set
            .iter()
            .find(|(variable, _)| *variable == name);
        found.and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn a_program_gets_the_shim_and_the_driver() {
        let plain = changes(&settings(), &[]);
        assert_eq!(value(&plain, "LD_PRELOAD"), Some("/lib/shim.so"));
        assert_eq!(value(&plain, "R7XX_CHIP"), Some("rv730"));
        assert_eq!(value(&plain, "MESA_LOADER_DRIVER_OVERRIDE"), Some("r600"));
        assert_eq!(value(&plain, "vblank_mode"), Some("0"));
        assert_eq!(value(&plain, "EGL_PLATFORM"), Some("surfaceless"));
        for unset in [
            "RADEON_THREAD",
            "R7XX_CAPTURE",
            "R7XX_CHECK",
            "R7XX_STRICT",
            "R7XX_TRACE",
        ] {
            assert_eq!(value(&plain, unset), None, "{unset}");
        }
        assert!(plain.remove.is_empty());
    }

    #[test]
    fn what_the_user_has_set_is_kept_unless_it_does_harm() {
        let variables = [
            ("LD_PRELOAD", "other.so"),
            ("EGL_PLATFORM", "gbm"),
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
            ("GALLIUM_DRIVER", "llvmpipe"),
            ("R7XX_CAPTURE_SUBMISSIONS", "3"),
            ("R7XX_CAPTURE_ON", "hang"),
            ("R7XX_CAPTURE_DRAW", "1"),
            ("R7XX_CAPTURE_LAST", "1"),
        ];
        let changed = changes(&settings(), &variables);
        assert_eq!(value(&changed, "LD_PRELOAD"), Some("/lib/shim.so:other.so"));
        assert_eq!(value(&changed, "EGL_PLATFORM"), None);
        assert_eq!(changed.remove, HARMFUL);
    }

    #[test]
    fn what_is_wanted_is_in_the_environment() {
        let all = Settings {
            capture: Some(Path::new("/c")),
            submissions: Some("2-3"),
            check: true,
            lint: true,
            strict: Some(7),
            trace: Some(Path::new("/t")),
            ..settings()
        };
        let all = changes(&all, &[("R7XX_CAPTURE_SUBMISSIONS", "9")]);
        for (name, expected) in [
            ("R7XX_CAPTURE", "/c"),
            ("R7XX_CAPTURE_SUBMISSIONS", "2-3"),
            ("R7XX_CHECK", "1"),
            ("R7XX_LINT", "1"),
            ("R7XX_STRICT", "7"),
            ("R7XX_TRACE", "/t"),
        ] {
            assert_eq!(value(&all, name), Some(expected), "{name}");
        }
        assert!(all.remove.is_empty());
        assert_eq!(value(&all, "RADEON_THREAD"), None);
        let hang = Settings {
            capture: Some(Path::new("/c")),
            capture_on: Some("hang"),
            capture_last: Some(2),
            ..settings()
        };
        let hang = changes(&hang, &[("R7XX_CAPTURE_DRAW", "9")]);
        assert_eq!(value(&hang, "R7XX_CAPTURE_ON"), Some("hang"));
        assert_eq!(value(&hang, "R7XX_CAPTURE_LAST"), Some("2"));
        assert_eq!(hang.remove, ["R7XX_CAPTURE_DRAW"]);
    }
}
