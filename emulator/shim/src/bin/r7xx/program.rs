// SPDX-License-Identifier: MIT
//! The program to run: where it is, and whether the shim can be loaded into it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Refused;

/// Set-user-ID and set-group-ID.
const SET_ID: u32 = 0o6000;
/// `PT_INTERP` of `elf.h`.
const PT_INTERP: u32 = 3;

/// Finds `name` as a shell does, and checks that the shim can be loaded into it.
///
/// # Errors
/// Exit status and reason.
pub fn find(name: &OsStr) -> Result<PathBuf, Refused> {
    let shown = name.to_string_lossy();
    let path = if shown.contains('/') {
        PathBuf::from(name)
    } else {
        let places = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&places)
            .map(|directory| directory.join(name))
            .find(|path| is_program(path));
        found.ok_or_else(|| (127, format!("{shown}: there is no such program in PATH")))?
    };
    let metadata = path
        .metadata()
        .map_err(|e| (127, format!("{shown}: {e}")))?;
    if !is_program(&path) {
        return Err((126, format!("{shown}: not a file that can be executed")));
    }
    if metadata.permissions().mode() & SET_ID != 0 {
        return Err((126, format!("{shown}: the dynamic linker loads no shim into a program with set-user-ID or set-group-ID")));
    }
    let mut head = Vec::new();
    if let Ok(file) = File::open(&path) {
        // Program headers follow the ELF header.
        let _ = file.take(1 << 16).read_to_end(&mut head);
    }
    match unloadable(&head) {
        Some(why) => Err((126, format!("{shown}: {why}"))),
        None => Ok(path),
    }
}

fn is_program(path: &Path) -> bool {
    let metadata = path.metadata();
    metadata.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Why the shim cannot be loaded into the program whose file begins with `head`. Programs that are
/// not ELF files are scripts.
fn unloadable(head: &[u8]) -> Option<&'static str> {
    if head.get(..4)? != b"\x7fELF" {
        return None;
    }
    if *head.get(4)? != 2 {
        return Some("a 32-bit program; the shim has 64 bits");
    }
    let number = |at: usize, len: usize| {
        let bytes = head.get(at..at + len)?;
        Some(
            bytes
                .iter()
                .rev()
                .fold(0usize, |n, b| n << 8 | usize::from(*b)),
        )
    };
    // e_phoff, e_phentsize, e_phnum.
    let (first, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kind = |i: usize| number(first.checked_add(i * size)?, 4);
    match (0..count).any(|i| kind(i) == Some(PT_INTERP as usize)) {
        true => None,
        false => Some("a static program; no shim can be loaded into it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of an ELF file of class `class` with one program header of `kind`.
    fn elf(class: u8, kind: u8) -> Vec<u8> {
        let mut head = vec![0; 64 + 56];
        head[..5].copy_from_slice(&[0x7f, b'E', b'L', b'F', class]);
        (head[32], head[54], head[56], head[64]) = (64, 56, 1, kind);
        head
    }

    #[test]
    fn programs_without_a_64_bit_dynamic_linker_are_refused() {
        assert_eq!(unloadable(&elf(2, 3)), None);
        assert_eq!(unloadable(b"#!/bin/sh\n"), None);
        assert_eq!(unloadable(b""), None);
        assert!(unloadable(&elf(1, 3)).unwrap().contains("32-bit"));
        assert!(unloadable(&elf(2, 1)).unwrap().contains("static"));
        // This program has one.
        let own = std::env::current_exe().unwrap();
        assert_eq!(find(own.as_os_str()), Ok(own));
    }
}
