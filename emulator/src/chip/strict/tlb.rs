// SPDX-License-Identifier: MIT
//! The TLB: caches translations until the driver requests their invalidation.
//!
//! The key is the context, the page and the direction of the access, because an entry may
//! permit reads and not writes. Faults are not cached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::chip::counters::{Counter, Counters};
use crate::chip::memory::gart::{Access, Target, Translation};

/// Capacity. It is larger than the chip's, so that any translation that the chip
/// could still have is still cached here.
const ENTRIES: usize = 16_384;

/// Context, page, and whether the access is a write.
type Key = (u8, u64, bool);

#[derive(Debug, Default)]
struct State {
    kept: HashMap<Key, Target>,
    order: Vec<Key>,
    rng: fastrand::Rng,
}

/// The VM's TLB.
#[derive(Debug)]
pub struct Tlb {
    counters: Arc<Counters>,
    state: Mutex<State>,
}

impl Tlb {
    pub(super) fn new(counters: Arc<Counters>, rng: fastrand::Rng) -> Self {
        Self {
            counters,
            state: Mutex::new(State {
                rng,
                ..State::default()
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The translation for an access to byte `within` of `context`'s `page`: the cached one,
    /// or else `now`, which is the page table's and is then cached.
    pub fn translate<E>(
        &self,
        context: u8,
        page: u64,
        within: u64,
        access: Access,
        now: Result<Translation, E>,
    ) -> Result<Translation, E> {
        let key = (context, page, access == Access::Write);
        let mut state = self.lock();
        if let Some(kept) = state.kept.get(&key) {
            let target = forward(*kept, within);
            let len = crate::chip::memory::PAGE_SIZE - within;
            if !matches!(&now, Ok(n) if n.target == target) {
                self.counters.inc(Counter::TlbStaleHits);
            }
            return Ok(Translation { target, len });
        }
        let found = now?;
        if state.order.len() >= ENTRIES {
            let index = state.rng.usize(..ENTRIES);
            let victim = state.order.swap_remove(index);
            state.kept.remove(&victim);
        }
        state.order.push(key);
        state.kept.insert(key, backward(found.target, within));
        Ok(found)
    }

    /// Drops the translations of the contexts in a mask, for a request in
    /// `VM_CONTEXT0_REQUEST_RESPONSE` or `VM_INVALIDATE_REQUEST`.
    pub fn invalidate(&self, contexts: u32) {
        self.counters.inc(Counter::TlbInvalidates);
        let mut state = self.lock();
        let State { kept, order, .. } = &mut *state;
        order.retain(|key| contexts >> key.0 & 1 == 0);
        kept.retain(|key, _| contexts >> key.0 & 1 == 0);
    }

    /// Drops all translations without counting a request.
    pub fn reset(&self) {
        let mut state = self.lock();
        state.kept.clear();
        state.order.clear();
    }
}

fn forward(page: Target, within: u64) -> Target {
    match page {
        Target::Vram(offset) => Target::Vram(offset + within),
        Target::Bus(address) => Target::Bus(address + within),
    }
}

fn backward(byte: Target, within: u64) -> Target {
    match byte {
        Target::Vram(offset) => Target::Vram(offset - within),
        Target::Bus(address) => Target::Bus(address - within),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlb() -> (Tlb, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        let rng = fastrand::Rng::with_seed(1);
        (Tlb::new(counters.clone(), rng), counters)
    }

    fn to(address: u64, within: u64) -> Result<Translation, ()> {
        Ok(Translation {
            target: Target::Bus(address + within),
            len: 4096 - within,
        })
    }

    #[test]
    fn changed_entry_hits_the_old_page_until_invalidated() {
        let (tlb, counters) = tlb();
        tlb.translate(0, 5, 0x10, Access::Read, to(0x1000, 0x10))
            .unwrap();
        let stale = tlb.translate(0, 5, 8, Access::Read, to(0x2000, 8)).unwrap();
        assert_eq!(stale.target, Target::Bus(0x1008));
        assert_eq!(stale.len, 4096 - 8);
        let gone = tlb.translate(0, 5, 8, Access::Read, Err(()));
        assert_eq!(gone.unwrap().target, Target::Bus(0x1008));
        assert_eq!(counters.get(Counter::TlbStaleHits), 2);
        tlb.invalidate(1);
        assert!(tlb.translate(0, 5, 8, Access::Read, Err(())).is_err());
        let new = tlb.translate(0, 5, 8, Access::Read, to(0x2000, 8)).unwrap();
        assert_eq!(new.target, Target::Bus(0x2008));
        assert_eq!(counters.get(Counter::TlbStaleHits), 2);
    }

    #[test]
    fn contexts_are_apart_and_invalidated_by_their_bits() {
        let (tlb, counters) = tlb();
        for context in 0..3 {
            let address = 0x1000 * u64::from(context + 1);
            tlb.translate(context, 5, 0, Access::Read, to(address, 0))
                .unwrap();
        }
        tlb.invalidate(1 << 1);
        let now = |context| tlb.translate(context, 5, 0, Access::Read, to(0x9000, 0));
        let found = [0, 1, 2].map(|context| now(context).unwrap().target);
        assert_eq!(found, [0x1000, 0x9000, 0x3000].map(Target::Bus));
        assert_eq!(counters.get(Counter::TlbStaleHits), 2);
        let state = tlb.lock();
        assert_eq!(state.order.len(), state.kept.len());
    }

    #[test]
    fn reading_and_writing_are_kept_apart_and_faults_not_at_all() {
        let (tlb, _) = tlb();
        tlb.translate(0, 1, 0, Access::Read, to(0x1000, 0)).unwrap();
        assert!(tlb.translate(0, 1, 0, Access::Write, Err(())).is_err());
        assert!(tlb.translate(0, 1, 0, Access::Write, to(0x3000, 0)).is_ok());
    }

    #[test]
    fn number_of_entries_is_bounded() {
        let (tlb, _) = tlb();
        for page in 0..ENTRIES as u64 + 100 {
            tlb.translate(0, page, 0, Access::Read, to(page << 12, 0))
                .unwrap();
        }
        assert_eq!(tlb.lock().kept.len(), ENTRIES);
    }
}
