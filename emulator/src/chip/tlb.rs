// SPDX-License-Identifier: MIT
//! Requests to the VM's TLB.
//!
//! A driver writes a request to `VM_CONTEXT0_REQUEST_RESPONSE` and reads the
//! register until a response appears (`rv770d.h`), once for each GTT buffer that
//! it creates or releases. The board caches no translations unless it is strict,
//! so every request is done at once. But a trapped flush is five accesses of
//! about 50 us each, more than the rest of creating a buffer. Therefore the
//! register's page is mapped into the guest, and a thread polls it for requests.
//! On a strict board the register traps.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::chip::bus::{RegFile, Registers};
use crate::chip::context::{clear_if_asked, CONTEXTS};
use crate::chip::hub::Hub;
use crate::chip::regs::{cayman, mc};

/// Sleep between two polls (second), while the last request is less than a limit
/// (first) ago: requests come in bursts, one for each buffer. The first request
/// of a burst waits at most for the longest sleep; a driver's timeout is 100
/// times as long.
const PACE: [(Duration, Duration); 3] = [
    (Duration::from_millis(2), Duration::from_micros(4)),
    (Duration::from_millis(20), Duration::from_micros(50)),
    (Duration::MAX, Duration::from_millis(1)),
];

/// Sleep when the last request was `since` ago.
fn pace(since: Duration) -> Duration {
    let step = PACE.iter().find(|(until, _)| since < *until);
    step.unwrap_or(&PACE[2]).1
}

/// The response to the request in `value`, which is
/// `VM_CONTEXT0_REQUEST_RESPONSE`'s; `None` without a new request.
pub(crate) fn response(value: u32) -> Option<u32> {
    let request = value & mc::REQUEST_TYPE_MASK;
    (request != 0 && value & mc::RESPONSE_TYPE_MASK == 0).then_some(request | mc::RESPONSE_DONE)
}

/// Register interface of the VM for trapped accesses. It answers requests that
/// trap (by `MM_DATA` or a packet, or on a strict board) at once.
#[derive(Debug)]
pub(crate) struct Vm {
    hub: Arc<Hub>,
}

impl Vm {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Effects of registers that Cayman has for its contexts (`cayman_pcie_gart_tlb_flush()`,
    /// `cayman_vm_flush()`).
    fn contexts(&self, offset: u32, value: u32) {
        let strict = self.hub.strict.as_ref();
        match offset {
            cayman::VM_INVALIDATE_REQUEST => {
                if let Some(strict) = strict {
                    strict.tlb.invalidate(value);
                }
                let mask = (1 << CONTEXTS) - 1;
                let response = cayman::VM_INVALIDATE_RESPONSE;
                self.hub.regs.store(response, value & mask);
            }
            cayman::VM_L2_CNTL2 if value & cayman::INVALIDATE_ALL != 0 => {
                if let Some(strict) = strict {
                    strict.tlb.reset();
                }
            }
            cayman::VM_CONTEXT1_CNTL2 => clear_if_asked(&self.hub),
            _ => {}
        }
    }
}

impl Registers for Vm {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        let value = match offset {
            mc::VM_CONTEXT0_REQUEST_RESPONSE => {
                if let Some(strict) = &self.hub.strict {
                    strict.tlb.invalidate(1);
                }
                response(value & mc::REQUEST_TYPE_MASK).unwrap_or(0)
            }
            _ => value,
        };
        self.hub.regs.store(offset, value);
        if self.hub.generation.vm.contexts.is_some() {
            self.contexts(offset, value);
        }
    }
}

/// The thread that answers requests written to the mapped page.
#[derive(Debug, Default)]
pub(crate) struct TlbResponder {
    stop: AtomicBool,
}

impl TlbResponder {
    /// Answers requests until [`TlbResponder::stop`].
    pub(crate) fn run(&self, regs: &dyn RegFile) {
        // The default timer slack, 50 us, is longer than the shortest sleep. If
        // this fails, the thread is only slower.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut last = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            match response(regs.load(mc::VM_CONTEXT0_REQUEST_RESPONSE)) {
                Some(done) => {
                    regs.store(mc::VM_CONTEXT0_REQUEST_RESPONSE, done);
                    last = Instant::now();
                }
                None => std::thread::sleep(pace(last.elapsed())),
            }
        }
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::chip::memory::regfile::RegisterFile;

    #[test]
    fn response_request_without_one_is_done() {
        assert_eq!(response(0), None);
        assert_eq!(response(1), Some(0x11));
        assert_eq!(response(0x11), None);
        assert_eq!(response(0xFFFF_FF0F), Some(0x1F));
    }

    #[test]
    fn pace_slackens_and_never_stops() {
        let sleeps = [0, 3, 30, 3_600_000].map(|ms| pace(Duration::from_millis(ms)));
        assert!(sleeps.is_sorted() && sleeps[0] < sleeps[2]);
        assert_eq!(pace(Duration::MAX), sleeps[3]);
    }

    /// Registers that count their reads.
    #[derive(Debug)]
    struct Watched(RegisterFile, AtomicU64);

    impl RegFile for Watched {
        fn load(&self, offset: u32) -> u32 {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.load(offset)
        }

        fn store(&self, offset: u32, value: u32) {
            self.0.store(offset, value);
        }
    }

    /// A regression test: polling has taken 8 to 63 % of a core all the time.
    #[test]
    fn responder_without_requests_looks_once_a_millisecond() {
        let regs = Watched(RegisterFile::new().unwrap(), AtomicU64::new(0));
        let responder = TlbResponder::default();
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| responder.run(&regs));
            std::thread::sleep(Duration::from_millis(300));
            responder.stop();
        });
        // Fewer on a busy machine: sleeps are never shorter.
        let burst = 2_000 / 4 + 18_000 / 50;
        let most = burst + start.elapsed().as_millis() as u64 + 3;
        let looks = regs.1.load(Ordering::Relaxed);
        assert!((1..=most).contains(&looks), "{looks} looks, at most {most}");
    }

    #[test]
    fn responder_request_in_shared_page_is_answered_and_thread_ends() {
        let regs = RegisterFile::new().unwrap();
        let responder = TlbResponder::default();
        std::thread::scope(|scope| {
            scope.spawn(|| responder.run(&regs));
            for request in 1..=3 {
                regs.store(mc::VM_CONTEXT0_REQUEST_RESPONSE, request);
                while regs.load(mc::VM_CONTEXT0_REQUEST_RESPONSE) & mc::RESPONSE_TYPE_MASK == 0 {
                    std::thread::yield_now();
                }
                assert_eq!(
                    regs.load(mc::VM_CONTEXT0_REQUEST_RESPONSE),
                    request | mc::RESPONSE_DONE
                );
            }
            responder.stop();
        });
    }
}
