// SPDX-License-Identifier: MIT
//! The board's interrupt: an MSI message if the client has given an eventfd for
//! MSI, else the INTA# line.
//!
//! MSI is edge: one signal per [`IrqLine::raise`]. INTA# is a level that the
//! protocol models as automasked: it fires once, stays masked until the
//! client unmasks it, and fires again then if the level is still high. The
//! level is read anew each time, since the guest lowers it by a register write
//! that may not trap.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};

use super::wire::{
    SET_ACTION_MASK, SET_ACTION_TRIGGER, SET_ACTION_UNMASK, SET_DATA_BOOL, SET_DATA_EVENTFD,
    SET_DATA_NONE,
};
use super::{Errno, IRQ_INTX, IRQ_MSI};
use crate::chip::bus::IrqLine;

/// Returns whether the chip has an interrupt pending.
type Level = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Debug, Default)]
struct Lines {
    msi: Option<File>,
    intx: Option<File>,
    intx_unmask: Option<File>,
    intx_masked: bool,
}

/// Interrupt lines of the board.
pub struct Interrupts {
    lines: Mutex<Lines>,
    level: Level,
    intx_disabled: AtomicBool,
    /// Whether MSI messages may be sent: they need bus mastering.
    messages: AtomicBool,
}

/// Signals an eventfd. This fails only if its counter is full of unread signals;
/// they wake the client anyway, so the error is ignored.
fn signal(eventfd: &File) {
    let mut f = eventfd;
    let _ = f.write(&1u64.to_ne_bytes());
}

impl Interrupts {
    /// Creates lines without eventfds. `level` returns whether INTA# would be
    /// asserted now; it must not raise an interrupt itself.
    pub fn new(level: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            lines: Mutex::default(),
            level: Box::new(level),
            intx_disabled: AtomicBool::new(false),
            messages: AtomicBool::new(true),
        }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the Interrupt Disable bit of the PCI command register.
    pub fn set_intx_disabled(&self, disabled: bool) {
        let was = self.intx_disabled.swap(disabled, Ordering::AcqRel);
        if was && !disabled {
            self.fire_intx(&mut self.lines());
        }
    }

    /// Follows the Bus Master Enable bit of the PCI command register: while it is
    /// off, no message is sent. None is in flight when this returns.
    pub fn set_bus_master(&self, on: bool) {
        let _lines = self.lines();
        self.messages.store(on, Ordering::Release);
    }

    /// Asserts INTA# if the level is high and INTA# is neither masked nor disabled.
    fn fire_intx(&self, lines: &mut Lines) {
        if lines.intx_masked || self.intx_disabled.load(Ordering::Acquire) || !(self.level)() {
            return;
        }
        if let Some(eventfd) = &lines.intx {
            lines.intx_masked = true;
            signal(eventfd);
        }
    }

    /// Handles a SET_IRQS message; `data` holds the booleans of a
    /// `SET_DATA_BOOL` message.
    pub fn set(
        &self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        data: &[u8],
        fds: Vec<File>,
    ) -> Result<(), Errno> {
        let action = flags & (SET_ACTION_MASK | SET_ACTION_UNMASK | SET_ACTION_TRIGGER);
        let kind = flags & (SET_DATA_NONE | SET_DATA_BOOL | SET_DATA_EVENTFD);
        if action.count_ones() != 1 || kind.count_ones() != 1 || start != 0 || count > 1 {
            return Err(Errno::INVAL);
        }
        if kind == SET_DATA_BOOL && data.len() != count as usize {
            return Err(Errno::INVAL);
        }
        if fds.len() > count as usize {
            return Err(Errno::INVAL);
        }
        // A count of 0 removes all eventfds of the index. One vector of kind
        // eventfd without a descriptor removes that eventfd.
        let teardown = count == 0 && kind == SET_DATA_NONE && action == SET_ACTION_TRIGGER;
        let on = kind == SET_DATA_NONE || data.first().is_some_and(|&b| b != 0);
        let eventfd = fds.into_iter().next();
        if let Some(eventfd) = &eventfd {
            // A full eventfd must not block the thread that raises an interrupt.
            fcntl_setfl(eventfd, fcntl_getfl(eventfd)? | OFlags::NONBLOCK)?;
        }
        let mut lines = self.lines();
        match (index, action) {
            (IRQ_INTX, _) if teardown => {
                lines.intx = None;
                lines.intx_unmask = None;
                lines.intx_masked = false;
            }
            (IRQ_MSI, _) if teardown => lines.msi = None,
            (_, _) if count == 0 => return Err(Errno::INVAL),
            (IRQ_INTX, SET_ACTION_TRIGGER) if kind == SET_DATA_EVENTFD => {
                lines.intx = eventfd;
                lines.intx_masked = false;
                self.fire_intx(&mut lines);
            }
            (IRQ_MSI, SET_ACTION_TRIGGER) if kind == SET_DATA_EVENTFD => lines.msi = eventfd,
            (IRQ_INTX, SET_ACTION_TRIGGER) => {
                if let Some(eventfd) = lines.intx.as_ref().filter(|_| on) {
                    signal(eventfd);
                }
            }
            (IRQ_MSI, SET_ACTION_TRIGGER) => {
                if let Some(eventfd) = lines.msi.as_ref().filter(|_| on) {
                    signal(eventfd);
                }
            }
            // The server does not watch eventfds of the client, which has to
            // send messages to unmask.
            (IRQ_INTX, SET_ACTION_UNMASK) if kind == SET_DATA_EVENTFD => {
                if eventfd.is_some() {
                    return Err(Errno::NOTSUP);
                }
            }
            (IRQ_INTX, SET_ACTION_MASK) if kind != SET_DATA_EVENTFD => lines.intx_masked |= on,
            (IRQ_INTX, SET_ACTION_UNMASK) if on => {
                lines.intx_masked = false;
                self.fire_intx(&mut lines);
            }
            (IRQ_INTX, SET_ACTION_UNMASK) => {}
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }
}

impl IrqLine for Interrupts {
    fn raise(&self) {
        let mut lines = self.lines();
        if let Some(eventfd) = &lines.msi {
            if self.messages.load(Ordering::Acquire) {
                signal(eventfd);
            }
        } else {
            self.fire_intx(&mut lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{eventfd, EventfdFlags};
    use std::io::Read;
    use std::sync::Arc;

    fn event() -> (File, File) {
        let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        let f = File::from(fd);
        (f.try_clone().unwrap(), f)
    }

    /// Signals since the last call.
    fn count(mut f: &File) -> u64 {
        let mut b = [0; 8];
        match f.read_exact(&mut b) {
            Ok(()) => u64::from_ne_bytes(b),
            Err(_) => 0,
        }
    }

    const SETUP: u32 = SET_DATA_EVENTFD | SET_ACTION_TRIGGER;
    const UNMASK: u32 = SET_DATA_NONE | SET_ACTION_UNMASK;
    const DISABLE: u32 = SET_DATA_NONE | SET_ACTION_TRIGGER;

    #[test]
    fn msi_signals_every_raise() {
        let irq = Interrupts::new(|| true);
        let (ours, theirs) = event();
        irq.set(IRQ_MSI, SETUP, 0, 1, &[], vec![theirs]).unwrap();
        irq.raise();
        irq.raise();
        assert_eq!(count(&ours), 2);
        irq.set(IRQ_MSI, DISABLE, 0, 0, &[], vec![]).unwrap();
        irq.raise();
        assert_eq!(count(&ours), 0);
    }

    #[test]
    fn message_is_a_bus_masters_write() {
        let irq = Interrupts::new(|| true);
        let (ours, theirs) = event();
        irq.set(IRQ_MSI, SETUP, 0, 1, &[], vec![theirs]).unwrap();
        irq.set_bus_master(false);
        irq.raise();
        assert_eq!(count(&ours), 0);
        irq.set_bus_master(true);
        irq.raise();
        assert_eq!(count(&ours), 1);
    }

    #[test]
    fn full_blocking_eventfd_does_not_stop_the_board() {
        let irq = Interrupts::new(|| true);
        let fd = File::from(eventfd(0, EventfdFlags::empty()).unwrap());
        (&fd).write_all(&(u64::MAX - 1).to_ne_bytes()).unwrap();
        irq.set(IRQ_MSI, SETUP, 0, 1, &[], vec![fd]).unwrap();
        // Blocks for ever if the descriptor does.
        irq.raise();
    }

    #[test]
    fn intx_masks_itself_and_fires_again_while_high() {
        let high = Arc::new(AtomicBool::new(true));
        let level = high.clone();
        let irq = Interrupts::new(move || level.load(Ordering::Relaxed));
        let (ours, theirs) = event();
        irq.set(IRQ_INTX, SETUP, 0, 1, &[], vec![theirs]).unwrap();
        assert_eq!(count(&ours), 1, "was high before the set-up");
        irq.raise();
        assert_eq!(count(&ours), 0, "masked");
        irq.set(IRQ_INTX, UNMASK, 0, 1, &[], vec![]).unwrap();
        assert_eq!(count(&ours), 1);
        high.store(false, Ordering::Relaxed);
        irq.set(IRQ_INTX, UNMASK, 0, 1, &[], vec![]).unwrap();
        assert_eq!(count(&ours), 0);
    }

    #[test]
    fn intx_respects_command_register() {
        let irq = Interrupts::new(|| true);
        irq.set_intx_disabled(true);
        let (ours, theirs) = event();
        irq.set(IRQ_INTX, SETUP, 0, 1, &[], vec![theirs]).unwrap();
        irq.raise();
        assert_eq!(count(&ours), 0);
        irq.set_intx_disabled(false);
        assert_eq!(count(&ours), 1);
    }

    #[test]
    fn nonsense_is_refused() {
        let irq = Interrupts::new(|| false);
        for (index, flags, start, n) in [
            (IRQ_MSI, SETUP, 1, 1),
            (IRQ_MSI, SETUP, 0, u32::MAX),
            (IRQ_MSI, 0, 0, 1),
            (IRQ_MSI, u32::MAX, 0, 1),
            (IRQ_MSI, UNMASK, 0, 1),
            (2, SETUP, 0, 1),
            (u32::MAX, SETUP, 0, 1),
            (IRQ_INTX, SET_DATA_BOOL | SET_ACTION_TRIGGER, 0, 1),
        ] {
            assert!(
                irq.set(index, flags, start, n, &[], vec![]).is_err(),
                "{index} {flags:#x} {start} {n}"
            );
        }
    }
}
