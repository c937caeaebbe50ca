// SPDX-License-Identifier: MIT
//! Command line of `r7xx-board`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueEnum};

use crate::chip::family::{Family, MODELS};
use crate::chip::queue::Hang;
use crate::host::rom::tables::MAX_MONITORS;

/// Interrupts the board offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InterruptMode {
    /// MSI, and INTA# for guests that do not use it.
    Msi,
    /// INTA# only: the MSI capability is hidden.
    Intx,
}

/// An emulated AMD Radeon board (R600 to Northern Islands), served over vfio-user.
///
/// Serves one client (QEMU's vfio-user-pci), then exits. SIGTERM and SIGINT
/// end it, SIGUSR1 writes the screenshot; counters and screenshot are
/// written at exit.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub struct Options {
    /// Socket to listen on; must not exist yet
    #[arg(long, value_name = "PATH", required_unless_present = "coverage")]
    pub socket: Option<PathBuf>,
    /// Print what the board models (docs/emulator-coverage.md), and end
    #[arg(long)]
    pub coverage: bool,
    /// Chip on the board
    #[arg(long, value_name = "NAME", default_value_t = Family::Rv710, value_parser = chips())]
    pub chip: Family,
    /// Video memory in MiB
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub vram_mib: u64,
    /// Video memory the CPU can reach (BAR0) in MiB: a power of two
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub bar_mib: u64,
    /// Have the CPU's accesses to BAR0 trap, and count N nanoseconds for each read
    #[arg(long, value_name = "N")]
    pub bar_read_ns: Option<u32>,
    /// The same, and count N nanoseconds for each line of 64 bytes that is written
    #[arg(long, value_name = "N")]
    pub bar_write_ns: Option<u32>,
    /// Delay before an engine starts submitted work, in microseconds
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub latency_us: u64,
    /// Rate of copies in MB/s; 0 is unlimited
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub rate_mbps: u64,
    /// Write a packet and register trace to FILE
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write counters as JSON to FILE at exit
    #[arg(long, value_name = "FILE")]
    pub counters: Option<PathBuf>,
    /// Monitors, each on a VGA connector of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=MAX_MONITORS as i64))]
    pub monitors: u8,
    /// Write what the first active CRTC shows as PNG to FILE at exit and on SIGUSR1,
    /// and what the second shows to FILE with -2 before its extension
    #[arg(long, value_name = "FILE")]
    pub screenshot: Option<PathBuf>,
    /// Interrupts to offer
    #[arg(long, value_enum, default_value = "msi")]
    pub interrupt: InterruptMode,
    /// Be as incoherent as hardware may: what a driver does not flush, comes
    /// late. SEED repeats the choices of an earlier run
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    pub strict: Option<u64>,
    /// Hang a ring (gfx, dma or uvd) after N packets
    #[arg(long, value_name = "RING@N")]
    pub hang: Option<Hang>,
}

/// Accepts the names in [`MODELS`].
fn chips() -> impl TypedValueParser<Value = Family> {
    let names = MODELS.map(|m| PossibleValue::new(m.name).help(m.sold_as));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Family>())
}

/// Largest video memory: the driver's GTT needs the rest of the 32-bit part of
/// the MC address space.
const MAX_VRAM_MIB: u64 = 2048;
/// MC_VM_FB_LOCATION has VRAM's range in units of 16 MiB.
const VRAM_STEP_MIB: u64 = 16;

impl Options {
    /// Does every access to BAR0 have to reach the board?
    pub fn bar_traps(&self) -> bool {
        self.strict.is_some() || self.bar_read_ns.is_some() || self.bar_write_ns.is_some()
    }

    /// Checks that the sizes fit the hardware and each other, which the parser
    /// cannot do. The error is a message for the user.
    pub fn check(&self) -> Result<(), String> {
        let vram = self.vram_mib;
        if !(VRAM_STEP_MIB..=MAX_VRAM_MIB).contains(&vram) || vram % VRAM_STEP_MIB != 0 {
            return Err(format!(
                "--vram-mib {vram}: must be a multiple of {VRAM_STEP_MIB} up to {MAX_VRAM_MIB}"
            ));
        }
        let bar = self.bar_mib;
        if !bar.is_power_of_two() || bar < VRAM_STEP_MIB {
            return Err(format!(
                "--bar-mib {bar}: must be a power of two from {VRAM_STEP_MIB} on"
            ));
        }
        if bar > vram {
            return Err(format!("--bar-mib {bar}: larger than --vram-mib {vram}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(args: &[&str]) -> Options {
        let all = ["r7xx-board", "--socket", "s"].iter().chain(args);
        Options::try_parse_from(all).unwrap()
    }

    #[test]
    fn definition_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn defaults_are_an_rv710_with_invisible_vram() {
        let o = parse(&[]);
        assert_eq!(o.chip, Family::Rv710);
        assert!(o.bar_mib < o.vram_mib);
        assert!(o.check().is_ok());
    }

    #[test]
    fn impossible_sizes_are_named() {
        for (args, word) in [
            (["--vram-mib", "0"], "--vram-mib"),
            (["--vram-mib", "100"], "--vram-mib"),
            (["--vram-mib", "128"], "--bar-mib"),
            (["--bar-mib", "100"], "--bar-mib"),
            (["--bar-mib", "8"], "--bar-mib"),
            (["--vram-mib", "18446744073709551615"], "--vram-mib"),
        ] {
            let message = parse(&args).check().unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn all_options_parse() {
        let o = parse(&[
            "--chip",
            "rv770",
            "--interrupt",
            "intx",
            "--hang",
            "gfx@100",
            "--latency-us",
            "5",
        ]);
        assert_eq!(o.chip, Family::Rv770);
        assert_eq!(o.interrupt, InterruptMode::Intx);
        assert!(o.hang.is_some());
    }
}
