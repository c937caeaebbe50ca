// SPDX-License-Identifier: MIT
//! Host data path: the write buffer and read cache between BAR0 and VRAM.
//!
//! CPU writes wait in a buffer of lines. A line leaves it when the driver
//! flushes, when the buffer is full (a random line goes), or after a random
//! time. CPU reads come from a cache until a flush, or until a line's random
//! time is over. So a driver may poll VRAM without flushing (radeon does, for the
//! fences of the UVD ring), but sees the GPU's writes late. CPU writes update the
//! cache at once. The GPU accesses VRAM directly.
//!
//! A flush is a write of `HDP_MEM_COHERENCY_FLUSH_CNTL`, or radeon's sequence for
//! this family (`r600_mmio_hdp_flush()`): an access of `HDP_DEBUG1`, then a read
//! of VRAM through BAR0. Without the read nothing is flushed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::cache::{pieces, ReadCache, LINE};
use crate::chip::counters::{Counter, Counters};
use crate::chip::memory::{MemoryError, Vram};

/// Lines of the write buffer.
const BUFFER_LINES: usize = 256;
/// Lines of the read cache.
const CACHE_LINES: usize = 4096;
/// Longest time that a line stays in the buffer or cache, in milliseconds.
const LATEST_MS: u64 = 200;

/// A line of the write buffer.
#[derive(Debug)]
struct Pending {
    bytes: [u8; LINE as usize],
    /// Bit n: byte n has been written.
    mask: u64,
    due: Instant,
}

#[derive(Debug)]
struct State {
    pending: BTreeMap<u64, Pending>,
    /// No pending line is due earlier.
    next_due: Instant,
    cache: ReadCache,
    /// For each line of the cache, the time until which it is valid.
    kept_until: HashMap<u64, Instant>,
    /// The next CPU read completes a flush.
    armed: bool,
    rng: fastrand::Rng,
}

/// The host data path.
#[derive(Debug)]
pub struct Hdp {
    vram: Arc<Vram>,
    counters: Arc<Counters>,
    /// Number of pending lines. At 0, GPU reads need not take the lock.
    waiting: AtomicUsize,
    state: Mutex<State>,
}

impl Hdp {
    pub(super) fn new(vram: Arc<Vram>, counters: Arc<Counters>, rng: fastrand::Rng) -> Self {
        Self {
            vram,
            counters,
            waiting: AtomicUsize::new(0),
            state: Mutex::new(State {
                pending: BTreeMap::new(),
                next_due: Instant::now(),
                cache: ReadCache::new(CACHE_LINES),
                kept_until: HashMap::new(),
                armed: false,
                rng,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, offset: u64, len: usize) -> Result<(), MemoryError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.vram.size() => Ok(()),
            _ => Err(MemoryError::OutOfBounds { offset, len }),
        }
    }

    /// The CPU writes `data` at byte `offset` of VRAM.
    ///
    /// # Errors
    /// The range is not inside VRAM.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.check(offset, data.len())?;
        let mut state = self.lock();
        let now = Instant::now();
        for (line, first, piece) in pieces(offset, data.len()) {
            if !state.pending.contains_key(&line) {
                self.make_room(&mut state);
                let due = now + Duration::from_millis(state.rng.u64(1..=LATEST_MS));
                state.next_due = match state.pending.is_empty() {
                    true => due,
                    false => state.next_due.min(due),
                };
                let empty = Pending {
                    bytes: [0; LINE as usize],
                    mask: 0,
                    due,
                };
                state.pending.insert(line, empty);
            }
            let bytes = &data[piece];
            if let Some(pending) = state.pending.get_mut(&line) {
                pending.bytes[first..first + bytes.len()].copy_from_slice(bytes);
                let ones = u64::MAX >> (LINE as usize - bytes.len());
                pending.mask |= ones << first;
            }
            if let Some(kept) = state.cache.kept(line) {
                kept[first..first + bytes.len()].copy_from_slice(bytes);
            }
        }
        self.deliver_due(&mut state, now);
        Ok(())
    }

    /// The CPU reads `buf.len()` bytes at byte `offset` of VRAM.
    ///
    /// # Errors
    /// The range is not inside VRAM.
    pub fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.check(offset, buf.len())?;
        let mut guard = self.lock();
        let state = &mut *guard;
        if std::mem::take(&mut state.armed) {
            self.counters.inc(Counter::HdpFlushes);
            self.flush_locked(state);
        }
        let time = Instant::now();
        self.deliver_due(state, time);
        for (line, first, piece) in pieces(offset, buf.len()) {
            if state
                .kept_until
                .get(&line)
                .is_none_or(|until| *until <= time)
            {
                state.cache.drop_line(line);
                let life = Duration::from_millis(state.rng.u64(1..=LATEST_MS));
                if state.kept_until.len() >= 2 * CACHE_LINES {
                    state.kept_until.retain(|_, until| *until > time);
                }
                state.kept_until.insert(line, time + life);
            }
            let now = current(&self.vram, state.pending.get(&line), line);
            let kept = state.cache.line(line, &mut state.rng, || now);
            let out = &mut buf[piece];
            out.copy_from_slice(&kept[first..first + out.len()]);
            if *out != now[first..first + out.len()] {
                self.counters.inc(Counter::HdpStaleReads);
            }
        }
        Ok(())
    }

    /// The GPU reads `len` bytes at byte `offset` of VRAM: counts the read if it
    /// misses a pending CPU write.
    pub fn gpu_reads(&self, offset: u64, len: usize) {
        if len == 0 || self.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        let last = (offset + len as u64 - 1) / LINE;
        let state = self.lock();
        for (line, pending) in state.pending.range(offset / LINE..=last) {
            let mut memory = [0; LINE as usize];
            let _ = self.vram.read(line * LINE, &mut memory);
            let differs = (0..LINE as usize).any(|i| {
                let at = line * LINE + i as u64;
                pending.mask & (1 << i) != 0
                    && pending.bytes[i] != memory[i]
                    && (offset..offset + len as u64).contains(&at)
            });
            if differs {
                self.counters.inc(Counter::HdpUnseenReads);
                return;
            }
        }
    }

    /// `HDP_DEBUG1` was accessed: the CPU's next read of VRAM flushes.
    pub fn arm(&self) {
        self.lock().armed = true;
    }

    /// Writes the buffer out and empties the read cache.
    pub fn flush(&self) {
        self.counters.inc(Counter::HdpFlushes);
        self.flush_locked(&mut self.lock());
    }

    /// As [`Self::flush`], but not counted as one.
    pub fn reset(&self) {
        self.flush_locked(&mut self.lock());
    }

    /// Writes out the lines that are due. Every trapped register access calls this.
    pub fn tick(&self) {
        if self.waiting.load(Ordering::Acquire) != 0 {
            self.deliver_due(&mut self.lock(), Instant::now());
        }
    }

    fn flush_locked(&self, state: &mut State) {
        state.armed = false;
        for (line, pending) in std::mem::take(&mut state.pending) {
            self.write_out(line, &pending);
        }
        self.waiting.store(0, Ordering::Release);
        state.cache.invalidate();
        state.kept_until.clear();
    }

    fn deliver_due(&self, state: &mut State, now: Instant) {
        if !state.pending.is_empty() && now >= state.next_due {
            let due: Vec<u64> = (state.pending.iter())
                .filter(|(_, p)| p.due <= now)
                .map(|(line, _)| *line)
                .collect();
            for line in due {
                self.deliver_late(state, line);
            }
            state.next_due = (state.pending.values()).map(|p| p.due).min().unwrap_or(now);
        }
        self.waiting.store(state.pending.len(), Ordering::Release);
    }

    /// Writes out a random line if the buffer is full.
    fn make_room(&self, state: &mut State) {
        if state.pending.len() >= BUFFER_LINES {
            let nth = state.rng.usize(..state.pending.len());
            if let Some(line) = state.pending.keys().nth(nth).copied() {
                self.deliver_late(state, line);
            }
        }
    }

    fn deliver_late(&self, state: &mut State, line: u64) {
        if let Some(pending) = state.pending.remove(&line) {
            self.write_out(line, &pending);
            self.counters.inc(Counter::HdpLateLines);
        }
    }

    /// Writes the runs of bytes of a line that the CPU has written.
    fn write_out(&self, line: u64, pending: &Pending) {
        let mut at = 0;
        while at < LINE as usize {
            let skip = (pending.mask >> at).trailing_zeros() as usize;
            at += skip;
            if at >= LINE as usize {
                break;
            }
            let run = ((pending.mask >> at).trailing_ones() as usize).min(LINE as usize - at);
            // The CPU's write has checked the range.
            let _ = (self.vram).write(line * LINE + at as u64, &pending.bytes[at..at + run]);
            at += run;
        }
    }
}

/// The line that a coherent CPU read returns: VRAM with the pending writes over it.
fn current(vram: &Vram, pending: Option<&Pending>, line: u64) -> [u8; LINE as usize] {
    let mut bytes = [0; LINE as usize];
    // VRAM is a whole number of lines.
    let _ = vram.read(line * LINE, &mut bytes);
    if let Some(pending) = pending {
        for (i, byte) in bytes.iter_mut().enumerate() {
            if pending.mask & (1 << i) != 0 {
                *byte = pending.bytes[i];
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hdp() -> (Hdp, Arc<Vram>, Arc<Counters>) {
        let vram = Arc::new(Vram::new(1 << 20).unwrap());
        let counters = Arc::new(Counters::default());
        let rng = fastrand::Rng::with_seed(1);
        (
            Hdp::new(vram.clone(), counters.clone(), rng),
            vram,
            counters,
        )
    }

    fn gpu(vram: &Vram, offset: u64) -> u8 {
        let mut byte = [0];
        vram.read(offset, &mut byte).unwrap();
        byte[0]
    }

    fn cpu(hdp: &Hdp, offset: u64) -> u8 {
        let mut byte = [0];
        hdp.read(offset, &mut byte).unwrap();
        byte[0]
    }

    /// Postpones all due times, so that no line expires during a test.
    fn hold(hdp: &Hdp) {
        let mut state = hdp.lock();
        let far = Instant::now() + Duration::from_secs(3600);
        for pending in state.pending.values_mut() {
            pending.due = far;
        }
        state.next_due = far;
        for until in state.kept_until.values_mut() {
            *until = far;
        }
    }

    #[test]
    fn write_is_seen_by_cpu_at_once_and_by_gpu_after_flush() {
        let (hdp, vram, counters) = hdp();
        hdp.write(100, &[7; 3]).unwrap();
        hold(&hdp);
        assert_eq!((cpu(&hdp, 101), gpu(&vram, 101)), (7, 0));
        hdp.gpu_reads(0, 4096);
        assert_eq!(counters.get(Counter::HdpUnseenReads), 1);
        hdp.gpu_reads(103, 4096);
        assert_eq!(counters.get(Counter::HdpUnseenReads), 1, "beside it");
        hdp.flush();
        assert_eq!([99, 100, 102, 103].map(|o| gpu(&vram, o)), [0, 7, 7, 0]);
        hdp.gpu_reads(0, 4096);
        assert_eq!(counters.get(Counter::HdpUnseenReads), 1);
    }

    #[test]
    fn gpu_write_is_seen_by_cpu_after_flush() {
        let (hdp, vram, counters) = hdp();
        assert_eq!(cpu(&hdp, 5), 0);
        hold(&hdp);
        vram.write(5, &[9]).unwrap();
        assert_eq!(cpu(&hdp, 5), 0);
        assert_eq!(counters.get(Counter::HdpStaleReads), 1);
        hdp.flush();
        assert_eq!(cpu(&hdp, 5), 9);
        assert_eq!(counters.get(Counter::HdpStaleReads), 1);
    }

    #[test]
    fn polling_without_a_flush_sees_the_gpus_write_late() {
        let (hdp, vram, counters) = hdp();
        assert_eq!(cpu(&hdp, 5), 0);
        hold(&hdp);
        vram.write(5, &[9]).unwrap();
        assert_eq!(cpu(&hdp, 5), 0);
        for until in hdp.lock().kept_until.values_mut() {
            *until = Instant::now();
        }
        assert_eq!(cpu(&hdp, 5), 9);
        assert_eq!(counters.get(Counter::HdpStaleReads), 1);
    }

    #[test]
    fn debug1_flushes_only_with_the_read_after_it() {
        let (hdp, vram, _) = hdp();
        hdp.write(0, &[1]).unwrap();
        hold(&hdp);
        hdp.arm();
        assert_eq!(gpu(&vram, 0), 0);
        cpu(&hdp, 4096);
        assert_eq!(gpu(&vram, 0), 1);
        hdp.write(0, &[2]).unwrap();
        hold(&hdp);
        cpu(&hdp, 4096);
        assert_eq!(gpu(&vram, 0), 1, "armed once");
    }

    #[test]
    fn full_buffer_delivers_any_line_and_time_the_rest() {
        let (hdp, vram, counters) = hdp();
        for line in 0..BUFFER_LINES as u64 + 50 {
            hdp.write(line * LINE, &[1]).unwrap();
            hold(&hdp);
        }
        assert_eq!(counters.get(Counter::HdpLateLines), 50);
        let arrived: Vec<u64> = (0..BUFFER_LINES as u64 + 50)
            .filter(|l| gpu(&vram, l * LINE) == 1)
            .collect();
        assert_eq!(arrived.len(), 50);
        assert_ne!(arrived, (0..50).collect::<Vec<_>>(), "not in order");
        for pending in hdp.lock().pending.values_mut() {
            pending.due = Instant::now();
        }
        hdp.lock().next_due = Instant::now();
        hdp.tick();
        assert!(hdp.lock().pending.is_empty());
    }

    #[test]
    fn same_seed_chooses_the_same_lines() {
        let run = || {
            let (hdp, vram, _) = hdp();
            for line in 0..1000u64 {
                hdp.write(line * LINE, &[1]).unwrap();
                hold(&hdp);
            }
            (0..1000).map(|l| gpu(&vram, l * LINE)).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
    }

    #[test]
    fn partial_lines_leave_gpu_writes_beside_them_alone() {
        let (hdp, vram, _) = hdp();
        hdp.write(1, &[1]).unwrap();
        hdp.write(63, &[1, 1]).unwrap();
        hold(&hdp);
        vram.write(0, &[5; 128]).unwrap();
        hdp.flush();
        assert_eq!(
            [0, 1, 2, 63, 64, 65].map(|o| gpu(&vram, o)),
            [5, 1, 5, 1, 1, 5]
        );
    }

    #[test]
    fn accesses_beyond_the_end_are_refused() {
        let (hdp, _, _) = hdp();
        assert!(hdp.write((1 << 20) - 1, &[0; 2]).is_err());
        assert!(hdp.read(u64::MAX, &mut [0; 2]).is_err());
        assert!(hdp.write(1 << 20, &[]).is_ok());
    }
}
