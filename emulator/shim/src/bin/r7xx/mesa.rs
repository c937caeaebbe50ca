// SPDX-License-Identifier: MIT
//! Checks that the program's Mesa draws with r600 on the chip, and says what is wrong if not.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::environment::Environment;

/// Where distributions have Mesa's drivers.
const DRIVERS: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/dri",
    "/usr/lib64/dri",
    "/usr/lib/dri",
];

/// Runs this program in the environment of the program to be run, and looks at the GL that it
/// gets.
///
/// # Errors
/// What is wrong with Mesa, and what to do.
pub fn check(environment: &Environment, chip: &str) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|e| format!("this program's own file: {e}"))?;
    let mut command = Command::new(own);
    command.arg("gl-info").stdin(Stdio::null());
    environment.apply_quietly(&mut command);
    let output = command
        .output()
        .map_err(|e| format!("Mesa cannot be checked: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    verdict(
        &lines,
        output.status.success(),
        &complained,
        chip,
        &drivers(),
    )
}

/// The directories that Mesa looks for drivers in, and whether r600 is there.
fn drivers() -> Vec<(PathBuf, bool)> {
    let path = std::env::var_os("LIBGL_DRIVERS_PATH").filter(|path| !path.is_empty());
    let places: Vec<PathBuf> = match path {
        Some(path) => std::env::split_paths(&path).collect(),
        None => DRIVERS.iter().map(PathBuf::from).collect(),
    };
    let has = |place: &PathBuf| place.join("r600_dri.so").exists();
    places
        .into_iter()
        .map(|place| (place.clone(), has(&place)))
        .collect()
}

/// Judges what `r7xx gl-info` said: `lines` are vendor, renderer and version.
fn verdict(
    lines: &[&str],
    succeeded: bool,
    complained: &str,
    chip: &str,
    drivers: &[(PathBuf, bool)],
) -> Result<(), String> {
    const ANYWAY: &str = "--no-probe runs the program anyway";
    let hint = || match drivers.iter().any(|(_, has)| *has) {
        true => String::new(),
        false => {
            let places: Vec<String> = drivers
                .iter()
                .map(|(p, _)| p.display().to_string())
                .collect();
            format!(
                "; there is no r600_dri.so in {}: build Mesa with -Dgallium-drivers=r600, or install \
                 the distribution's drivers (Debian: libgl1-mesa-dri)",
                places.join(", ")
            )
        }
    };
    let complaint = complained.trim().replace('\n', "; ");
    if !succeeded {
        return Err(format!(
            "Mesa does not start on the chip: {complaint}{}; {ANYWAY}",
            hint()
        ));
    }
    let renderer = lines.get(1).copied().unwrap_or_default();
    let is_chip = renderer
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == chip);
    if is_chip {
        return Ok(());
    }
    let vendor = lines.first().copied().unwrap_or_default();
    let version = lines.get(2).copied().unwrap_or_default();
    let cause = match (version.contains("Mesa"), renderer.to_lowercase()) {
        (false, _) => "it is not Mesa's GL".to_string(),
        (true, r) if r.contains("llvmpipe") || r.contains("softpipe") || r.contains("swrast") => {
            "it renders in software".into()
        }
        _ => "it uses another device".into(),
    };
    Err(format!(
        "the program's GL does not draw on the chip, {cause}: vendor '{vendor}', renderer '{renderer}', \
         version '{version}'{}; {ANYWAY}",
        hint()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(lines: &[&str], succeeded: bool, has: bool) -> Result<(), String> {
        let drivers = [(PathBuf::from("/drivers"), has)];
        verdict(
            lines,
            succeeded,
            "r7xx: libEGL.so.1 cannot be loaded\n",
            "rv770",
            &drivers,
        )
    }

    #[test]
    fn the_chips_renderer_is_accepted_and_no_other() {
        let mesa = "4.5 (Compatibility Profile) Mesa 25.0.7";
        let chip = ["X.Org", "AMD RV770 (DRM 2.50.0 / 6.1.0, LLVM 19.1.7)", mesa];
        assert_eq!(judge(&chip, true, true), Ok(()));
        for (lines, cause) in [
            (
                ["Mesa", "llvmpipe (LLVM 19.1.7, 256 bits)", mesa],
                "renders in software",
            ),
            (
                ["Intel", "Mesa Intel(R) UHD Graphics", mesa],
                "another device",
            ),
            (["AMD", "AMD RV730 (DRM 2.50.0)", mesa], "another device"),
            (
                ["NVIDIA Corporation", "GeForce", "4.6.0 NVIDIA 550"],
                "not Mesa's",
            ),
            (["", "", ""], "not Mesa's"),
        ] {
            let error = judge(&lines, true, true).unwrap_err();
            assert!(
                error.contains(cause) && error.contains("--no-probe"),
                "{error}"
            );
            assert!(!error.contains("r600_dri.so"), "{error}");
        }
    }

    #[test]
    fn a_missing_driver_is_named_with_its_cure() {
        let lines = ["Mesa", "llvmpipe", "Mesa 25"];
        for error in [judge(&lines, true, false), judge(&[], false, false)] {
            let error = error.unwrap_err();
            for part in ["/drivers", "r600_dri.so", "-Dgallium-drivers=r600"] {
                assert!(error.contains(part), "{error}");
            }
        }
        let error = judge(&[], false, true).unwrap_err();
        assert!(error.contains("libEGL.so.1 cannot be loaded"), "{error}");
    }
}
