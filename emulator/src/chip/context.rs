// SPDX-License-Identifier: MIT
//! VM contexts: address spaces in which indirect buffers are executed (Cayman).
//!
//! A ring's own packets use context 0. A packet that calls an indirect buffer names the buffer's
//! context (`cayman_ring_ib_execute()`, `cayman_dma_ring_ib_execute()`). Each engine has views of its
//! own, so that a fault in one is reported as that engine's.

use std::sync::Arc;

use crate::chip::bus::{Mc, VmFault};
use crate::chip::counters::Counter;
use crate::chip::engine::Job;
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::Source;

/// Number of contexts, with 0 (`cayman_vm_init()`).
pub const CONTEXTS: u8 = 8;

/// An engine's views of memory.
#[derive(Default)]
pub(crate) struct Contexts {
    views: Vec<Arc<dyn Mc>>,
}

impl Contexts {
    /// The views that `mc` has; none before Cayman.
    pub fn new(mc: &dyn Mc) -> Self {
        let views = (1..CONTEXTS).map_while(|context| mc.context(context));
        Self {
            views: views.collect(),
        }
    }

    /// Enters `context`. All are context 0 if there are no others.
    pub fn enter(&self, context: u8) -> Entered {
        let context = context % CONTEXTS;
        let index = context.checked_sub(1).map(usize::from);
        Entered {
            context,
            view: index.and_then(|index| self.views.get(index)).cloned(),
        }
    }
}

/// A context that an engine has entered.
pub(crate) struct Entered {
    context: u8,
    /// Memory as the context sees it; `None` for context 0.
    view: Option<Arc<dyn Mc>>,
}

impl Entered {
    /// `job` in this context.
    pub fn job<'a>(&'a self, job: &Job<'a>) -> Job<'a> {
        match &self.view {
            Some(mc) => job.within(self.context, &**mc),
            None => *job,
        }
    }

    /// Has `act` done in this context, and reports the fault that it has met there, if any.
    pub fn run<T>(&self, job: &Job<'_>, client: Client, act: impl FnOnce(&Job<'_>) -> T) -> T {
        let job = &self.job(job);
        let result = act(job);
        report(job, client);
        result
    }
}

/// Reports the fault that `job` has met in its context since the last call, if any.
pub(crate) fn report(job: &Job<'_>, client: Client) {
    if job.context == 0 {
        return;
    }
    if let Some(fault) = job.mc.take_fault() {
        latch(job, client, fault);
    }
}

/// `MEMORY_CLIENT_ID` of an engine (`cayman_vm_decode_fault()`).
fn client_id(client: Client) -> u32 {
    match client {
        Client::Cp => 112,
        Client::Dma => 55,
        // TC_TFETCH.
        Client::Gfx => 40,
        Client::Ih => 178,
        // It has no name for the video decoder, which uses context 0 only.
        Client::Uvd => 0,
    }
}

/// Puts a fault into the fault registers, unless they hold one that the driver has not cleared, and
/// raises its interrupt, if that is enabled.
///
/// The driver clears them by bit 0 of `VM_CONTEXT1_CNTL2` (`evergreen_irq_process()`). Their page is
/// mapped into the guest, so that its write may be seen only here.
fn latch(job: &Job<'_>, client: Client, fault: VmFault) {
    let hub = job.hub;
    hub.counters.inc(Counter::VmFaults);
    let Some(vm) = hub.generation.vm.contexts else {
        return;
    };
    let regs = &*hub.regs;
    clear_if_asked(hub);
    hub.trace.line(
        "vm",
        format_args!("FAULT context {}, {fault:x?}", job.context),
    );
    if regs.load(vm.fault_status) != 0 {
        return;
    }
    let status = fault.protections
        | client_id(client) << 12
        | u32::from(fault.write) << 24
        | u32::from(job.context) << 25;
    regs.store(vm.fault_addr, fault.page as u32);
    regs.store(vm.fault_status, status);
    if regs.load(vm.cntl) & fault.interrupt_enable() != 0 {
        let source = match fault.protections & VmFault::FORBIDDEN {
            0 => Source::VmInvalid,
            _ => Source::VmForbidden,
        };
        job.ih.post(hub, source, 0);
    }
}

/// Clears the fault registers if bit 0 of `VM_CONTEXT1_CNTL2` asks for it.
pub(crate) fn clear_if_asked(hub: &Hub) {
    let Some(vm) = hub.generation.vm.contexts else {
        return;
    };
    let asked = hub.regs.load(vm.cntl2);
    if asked & 1 != 0 {
        hub.regs.store(vm.cntl2, asked & !1);
        hub.regs.store(vm.fault_status, 0);
        hub.regs.store(vm.fault_addr, 0);
    }
}
