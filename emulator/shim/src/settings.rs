// SPDX-License-Identifier: MIT
//! The shim's settings, from the program's environment. A value that cannot be obeyed is an
//! error: without the device, GL programs silently render in software.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use r7xx_board::chip::family::{Family, MODELS};

use crate::capture::{Until, Which};

/// How many submissions are kept for [`Which::Last`] if the user names no number.
const LAST: u64 = 4;
/// Most of them: each takes the memory that it and the program have changed.
const LAST_MAX: u64 = 1000;

/// What the user has set. An empty variable counts as not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `R7XX_CHIP`: the chip, without it an RV770.
    pub family: Family,
    /// `R7XX_STRICT`: the seed of a strict board.
    pub strict: Option<u64>,
    /// `R7XX_CHECK=1`: reports shaders that hardware would not execute.
    pub check: bool,
    /// `R7XX_LINT=1`: reports mistakes of the driver that hardware does not tell.
    pub lint: bool,
    /// `R7XX_TRACE`: the file for the chip's trace.
    pub trace: Option<PathBuf>,
    /// `R7XX_CAPTURE`: the file for submissions; and which of them, by `R7XX_CAPTURE_SUBMISSIONS`,
    /// `R7XX_CAPTURE_ON`, `R7XX_CAPTURE_DRAW` and `R7XX_CAPTURE_LAST`.
    pub capture: Option<(PathBuf, Which)>,
}

impl Settings {
    /// The settings of this process.
    ///
    /// # Errors
    /// A message for the user, with what to set instead.
    pub fn from_environment() -> Result<Self, String> {
        Self::new(&|name| std::env::var_os(name))
    }

    /// The settings of an environment whose variable `name` is `get(name)`.
    fn new(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let text = |name: &'static str| {
            get(name)
                .map(|value| value.to_string_lossy().into_owned())
                .map(|value| (value.clone(), format!("{name}={value}")))
        };
        let family = match text("R7XX_CHIP") {
            None => Family::Rv770,
            Some((name, given)) => {
                let drawing = MODELS
                    .iter()
                    .filter(|model| model.generation.draws.is_some());
                let names: Vec<&str> = drawing.map(|model| model.name).collect();
                let names = names.join(", ");
                let family: Family = name
                    .parse()
                    .map_err(|_| format!("{given}: there is no such chip; name one of {names}"))?;
                if family.model().generation.draws.is_none() {
                    return Err(format!(
                        "{given}: the board has no 3D engine for it; name one of {names}"
                    ));
                }
                family
            }
        };
        let strict = match text("R7XX_STRICT") {
            None => None,
            Some((seed, given)) => Some(seed.parse().map_err(|_| {
                format!("{given}: not a seed; a seed is a number, as in R7XX_STRICT=1")
            })?),
        };
        let switch = |name: &'static str| match text(name) {
            None => Ok(false),
            Some((value, given)) => match value.as_str() {
                "0" => Ok(false),
                "1" => Ok(true),
                _ => Err(format!("{given}: set {name}=1, or 0 for no checks")),
            },
        };
        let check = switch("R7XX_CHECK")?;
        let lint = switch("R7XX_LINT")?;
        let range = match text("R7XX_CAPTURE_SUBMISSIONS") {
            None => None,
            Some((range, given)) => Some(submissions(&range).ok_or_else(|| {
                format!("{given}: not a range; give N or FIRST-LAST, counted from 1")
            })?),
        };
        let number = |name: &'static str, max: u64| match text(name) {
            None => Ok(None),
            Some((number, given)) => match number.parse() {
                Ok(number) if (1..=max).contains(&number) => Ok(Some(number)),
                _ => Err(format!("{given}: not a number from 1 to {max}")),
            },
        };
        let hang = match text("R7XX_CAPTURE_ON") {
            None => None,
            Some((event, _)) if event == "hang" => Some(Until::Hang),
            Some((_, given)) => {
                return Err(format!("{given}: not an event; set R7XX_CAPTURE_ON=hang"))
            }
        };
        let draw = number("R7XX_CAPTURE_DRAW", u64::MAX)?.map(Until::Draw);
        let count = number("R7XX_CAPTURE_LAST", LAST_MAX)?;
        let last = |until| Which::Last {
            count: count.unwrap_or(LAST) as usize,
            until,
        };
        if count.is_some() && hang.is_none() && draw.is_none() {
            return Err("R7XX_CAPTURE_LAST needs R7XX_CAPTURE_ON=hang or R7XX_CAPTURE_DRAW".into());
        }
        let chosen = [
            range.map(|range| ("R7XX_CAPTURE_SUBMISSIONS", Which::Range(range))),
            hang.map(|until| ("R7XX_CAPTURE_ON", last(until))),
            draw.map(|until| ("R7XX_CAPTURE_DRAW", last(until))),
        ];
        let chosen: Vec<_> = chosen.into_iter().flatten().collect();
        if let [(first, _), (second, _), ..] = &chosen[..] {
            return Err(format!(
                "{first} and {second} exclude each other; set one of them"
            ));
        }
        let which = chosen.into_iter().next();
        let capture = match (get("R7XX_CAPTURE"), which) {
            (None, None) => None,
            (None, Some((name, _))) => {
                return Err(format!("{name} needs a file; name it by R7XX_CAPTURE"))
            }
            (Some(path), None) => Some((path.into(), Which::Range(1..=u64::MAX))),
            (Some(path), Some((_, which))) => Some((path.into(), which)),
        };
        Ok(Self {
            family,
            strict,
            check,
            lint,
            trace: get("R7XX_TRACE").map(PathBuf::from),
            capture,
        })
    }
}

/// Parses `N` or `FIRST-LAST`, counted from 1.
fn submissions(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok()?..=last.parse().ok()?;
    (*range.start() > 0 && !range.is_empty()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::new(&|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn nothing_is_needed_and_all_can_be_set() {
        let none = settings(&[]).unwrap();
        assert_eq!((none.family, none.strict), (Family::Rv770, None));
        assert!(!none.check && settings(&[("R7XX_CHECK", "1")]).unwrap().check);
        assert!(!none.lint && settings(&[("R7XX_LINT", "1")]).unwrap().lint);
        assert_eq!((&none.trace, &none.capture), (&None, &None));
        let empty = [("R7XX_CHIP", ""), ("R7XX_STRICT", ""), ("R7XX_CAPTURE", "")];
        assert_eq!(settings(&empty), Ok(none));
        let all = [
            ("R7XX_CHIP", "rv710"),
            ("R7XX_STRICT", "7"),
            ("R7XX_TRACE", "t"),
            ("R7XX_CAPTURE", "c"),
            ("R7XX_CAPTURE_SUBMISSIONS", "2-5"),
        ];
        let all = settings(&all).unwrap();
        assert_eq!((all.family, all.strict), (Family::Rv710, Some(7)));
        assert_eq!(all.trace, Some("t".into()));
        assert_eq!(all.capture, Some(("c".into(), Which::Range(2..=5))));
        let all = settings(&[("R7XX_CAPTURE", "c")]).unwrap().capture;
        assert_eq!(all, Some(("c".into(), Which::Range(1..=u64::MAX))));
    }

    #[test]
    fn the_last_submissions_can_be_captured() {
        let which = |variables: &[(&str, &str)]| {
            let all = [&[("R7XX_CAPTURE", "c")], variables].concat();
            settings(&all).unwrap().capture.unwrap().1
        };
        let last = |count, until| Which::Last { count, until };
        assert_eq!(which(&[("R7XX_CAPTURE_ON", "hang")]), last(4, Until::Hang));
        let both = [("R7XX_CAPTURE_DRAW", "12"), ("R7XX_CAPTURE_LAST", "1")];
        assert_eq!(which(&both), last(1, Until::Draw(12)));
    }

    #[test]
    fn errors_name_variable_and_cure() {
        let capture = ("R7XX_CAPTURE", "c");
        let hang = ("R7XX_CAPTURE_ON", "hang");
        let which = |range| ("R7XX_CAPTURE_SUBMISSIONS", range);
        for (variables, parts) in [
            (
                &[("R7XX_CHIP", "rv999")][..],
                ["R7XX_CHIP=rv999", "rv710, rv730"],
            ),
            (
                &[("R7XX_STRICT", "often")],
                ["R7XX_STRICT=often", "R7XX_STRICT=1"],
            ),
            (&[("R7XX_CHECK", "yes")], ["R7XX_CHECK=yes", "R7XX_CHECK=1"]),
            (&[("R7XX_LINT", "2")], ["R7XX_LINT=2", "R7XX_LINT=1"]),
            (
                &[("R7XX_STRICT", "-1")],
                ["R7XX_STRICT=-1", "R7XX_STRICT=1"],
            ),
            (&[capture, which("0")], ["SUBMISSIONS=0", "FIRST-LAST"]),
            (&[capture, which("3-2")], ["SUBMISSIONS=3-2", "FIRST-LAST"]),
            (
                &[capture, ("R7XX_CAPTURE_ON", "end")],
                ["ON=end", "R7XX_CAPTURE_ON=hang"],
            ),
            (&[capture, ("R7XX_CAPTURE_DRAW", "0")], ["DRAW=0", "from 1"]),
            (
                &[capture, hang, ("R7XX_CAPTURE_LAST", "1001")],
                ["LAST=1001", "to 1000"],
            ),
            (
                &[capture, ("R7XX_CAPTURE_LAST", "2")],
                ["LAST needs", "R7XX_CAPTURE_ON=hang"],
            ),
            (&[hang], ["R7XX_CAPTURE_ON needs", "R7XX_CAPTURE"]),
            (
                &[capture, hang, which("3")],
                ["SUBMISSIONS and R7XX_CAPTURE_ON", "set one"],
            ),
            (
                &[capture, hang, ("R7XX_CAPTURE_DRAW", "3")],
                ["ON and R7XX_CAPTURE_DRAW", "set one"],
            ),
            (&[which("3")], ["SUBMISSIONS needs", "R7XX_CAPTURE"]),
        ] {
            let error = settings(variables).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{variables:?}: {error}");
            }
        }
    }

    #[test]
    fn values_that_are_no_text_are_errors_or_paths() {
        let raw = |of: &'static str| {
            Settings::new(&move |name| (name == of).then(|| OsString::from_vec(vec![0xFF])))
        };
        assert!(raw("R7XX_CHIP").is_err() && raw("R7XX_STRICT").is_err());
        assert_eq!(
            raw("R7XX_TRACE").unwrap().trace.unwrap().as_os_str().len(),
            1
        );
    }
}
