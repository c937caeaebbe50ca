// SPDX-License-Identifier: MIT
//! Output files that are either complete or absent.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that could not be written, and why.
#[derive(Debug)]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for OutputError {}

/// Creates `path` and writes to it directly, as a log needs.
pub fn create(path: &Path) -> Result<BufWriter<File>, OutputError> {
    File::create(path)
        .map(BufWriter::new)
        .map_err(|source| OutputError {
            path: path.to_path_buf(),
            source,
        })
}

/// Writes a temporary file with `fill` and renames it to `path` when it is
/// complete, so that a reader never sees half of it. On failure the temporary
/// file is removed and an older `path` stays as it was.
///
/// A `path` that is no regular file (a pipe, a device) is written directly.
pub fn replace<F>(path: &Path, fill: F) -> Result<(), OutputError>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    let failed = |source| OutputError {
        path: path.to_path_buf(),
        source,
    };
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let direct = || -> io::Result<()> {
            let mut out = BufWriter::new(File::options().write(true).open(path)?);
            fill(&mut out)?;
            out.flush()
        };
        return direct().map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let aside = path.with_file_name(name);
    let write = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(&aside)?);
        fill(&mut out)?;
        out.into_inner()?.sync_data()?;
        fs::rename(&aside, path)
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&aside);
        failed(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replace_leaves_only_the_complete_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        replace(&path, |w| w.write_all(b"one")).unwrap();
        replace(&path, |w| w.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn failed_fill_keeps_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        replace(&path, |w| w.write_all(b"old")).unwrap();
        let e = replace(&path, |w| {
            w.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(e.unwrap_err().to_string().contains("out.json"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn device_is_written_and_stays_one() {
        let full = Path::new("/dev/full");
        let e = replace(full, |w| w.write_all(b"x")).unwrap_err();
        assert!(e.to_string().contains("/dev/full"));
        assert!(!fs::metadata(full).unwrap().is_file());
        replace(Path::new("/dev/null"), |w| w.write_all(b"x")).unwrap();
    }

    #[test]
    fn missing_folder_is_named() {
        let e = create(Path::new("/nonexistent/x")).unwrap_err();
        assert!(e.to_string().contains("/nonexistent/x"));
    }
}
