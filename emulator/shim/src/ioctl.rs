// SPDX-License-Identifier: MIT
//! radeon's ioctls, and those of DRM's core that user space makes on a render
//! node.
//!
//! Numbers and structures: `drm.h` and `radeon_drm.h` of Linux 6.12; answers:
//! `radeon_info_ioctl()` and `radeon_gem.c`.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r7xx_board::chip::gfx::lint::Lint;
use r7xx_board::chip::gfx::Pipeline;

use crate::bo::{Bo, Bos, Place};
use crate::capture::Writer;
use crate::checker::{relocate_dma, relocate_gfx, CheckError, Reloc};
use crate::checker_evergreen as evergreen;
use crate::checker_r600 as r600;
use crate::checker_vm as vm;
use crate::gpu::{has_spaces, is_evergreen, is_r600, setup, tiling, Gpu, Ring};
use crate::memory::{Memory, GTT, PAGE, VRAM};
use crate::settings::Settings;
use crate::share;
use crate::space;
use crate::user;

/// `_IOC_TYPE` of DRM's ioctls.
pub const DRM_TYPE: u64 = b'd' as u64;

const DRM_COMMAND_BASE: u64 = 0x40;
/// Reference clock in kHz, as in FirmwareInfo of the board's ROM.
const CRYSTAL_KHZ: u32 = 27_000;
/// Most dwords of an IB in an address space (`RADEON_IB_VM_MAX_SIZE`).
const IB_VM_MAX: u32 = 64 << 10;
/// `RADEON_CS_USE_VM`.
const USE_VM: u32 = 2;
const DOMAIN_GTT: u32 = 2;
const DOMAIN_VRAM: u32 = 4;

/// The device that the process sees.
pub struct Device {
    memory: Arc<Memory>,
    bos: Bos,
    gpu: Gpu,
    capture: Option<Mutex<Writer>>,
    /// `R7XX_CHECK` has reported something.
    reported: Arc<AtomicBool>,
}

/// Result of an ioctl: 0 or a positive errno.
type Answer = Result<(), i32>;

impl Device {
    /// Starts the device.
    ///
    /// # Errors
    /// A message for the user.
    pub fn start(settings: Settings) -> Result<Self, String> {
        let create = |name: &str, path: &Path| {
            File::create(path).map_err(|e| {
                let given = format!("{name}={}", path.display());
                format!("{given}: cannot be written: {e}; name another file")
            })
        };
        let Settings {
            family,
            strict,
            check,
            lint,
            trace,
            capture,
        } = settings;
        let trace = match trace {
            None => None,
            Some(path) => {
                let file = io::BufWriter::new(create("R7XX_TRACE", &path)?);
                Some(Box::new(file) as Box<dyn io::Write + Send>)
            }
        };
        let memory = Memory::of_program(capture.is_some());
        let memory = Arc::new(memory.map_err(|e| format!("memory: {e:?}"))?);
        let capture = match capture {
            None => None,
            Some((path, which)) => {
                let file = create("R7XX_CAPTURE", &path)?;
                let writer = Writer::new(file, family, memory.clone(), which);
                let failed = |e| format!("R7XX_CAPTURE={}: {e}", path.display());
                Some(Mutex::new(writer.map_err(failed)?))
            }
        };
        let mut gfx = Pipeline::default();
        let reported = Arc::new(AtomicBool::new(false));
        if check {
            let reported = reported.clone();
            gfx = gfx.with_report(Box::new(move |line| {
                reported.store(true, Ordering::Release);
                eprintln!("r7xx-shim: {line}");
            }));
        }
        if lint {
            let report = Box::new(|line: &str| eprintln!("r7xx-lint: {line}"));
            gfx = gfx.with_lint(Lint::new(report));
        }
        let gpu = Gpu::start_strict(family, memory.clone(), Box::new(gfx), trace, strict)
            .map_err(|e| format!("chip: {e:?}"))?;
        Ok(Self {
            capture,
            bos: Bos::new(memory.clone()),
            memory,
            gpu,
            reported,
        })
    }

    /// The memory file; the device's file descriptors are descriptors of it.
    pub fn file(&self) -> Option<&File> {
        self.memory.file()
    }

    /// PCI device ID.
    pub fn device_id(&self) -> u16 {
        self.gpu.family().model().device_id
    }

    /// Executes an ioctl with its argument at `arg`.
    ///
    /// # Safety
    /// `arg` must be the address of the structure that belongs to `request`, and
    /// addresses in it must be valid as the ioctl's interface demands.
    pub unsafe fn ioctl(&self, request: u64, arg: u64) -> Answer {
        let nr = request & 0xFF;
        // SAFETY: the caller vouches for the memory that each reads and writes.
        unsafe {
            match nr {
                0x00 => self.version(arg),
                0x09 => self.gem_close(arg),
                0x0C => self.get_cap(arg),
                0x2D => self.prime_export(arg),
                0x2E => self.prime_import(arg),
                DRM_COMMAND_BASE.. => self.radeon(nr - DRM_COMMAND_BASE, arg),
                _ => Err(libc::EINVAL),
            }
        }
    }

    unsafe fn radeon(&self, nr: u64, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        unsafe {
            match nr {
                0x1C => self.gem_info(arg),
                0x1D => self.gem_create(arg),
                0x1E => self.gem_mmap(arg),
                // GEM_SET_DOMAIN: BOs never move.
                0x23 => self.bo(user::get(arg)).map(|_| ()),
                // GEM_WAIT_IDLE: BOs are never busy.
                0x24 => self.bo(user::get(arg)).map(|_| ()),
                0x26 => self.cs(arg),
                0x27 => self.info(arg),
                0x28 => {
                    let [handle, flags, pitch] = user::get::<[u32; 3]>(arg);
                    let known = self.bos.set_tiling(handle, flags, pitch);
                    known.then_some(()).ok_or(libc::ENOENT)
                }
                0x29 => {
                    let bo = self.bo(user::get(arg))?;
                    user::put(arg + 4, [bo.tiling_flags, bo.pitch]);
                    Ok(())
                }
                0x2A => {
                    let bo = self.bo(user::get(arg))?;
                    user::put(arg + 4, bo.domain);
                    Ok(())
                }
                0x2B => self.virtual_address(arg),
                0x2D => self.gem_userptr(arg),
                0x2C => {
                    let [handle, op] = user::get::<[u32; 2]>(arg);
                    let bo = self.bo(handle)?;
                    // GET_INITIAL_DOMAIN; setting it changes nothing here.
                    if op == 0 {
                        user::put(arg + 8, u64::from(bo.domain));
                    }
                    Ok(())
                }
                _ => Err(libc::EINVAL),
            }
        }
    }

    fn bo(&self, handle: u32) -> Result<Bo, i32> {
        self.bos.get(handle).ok_or(libc::ENOENT)
    }

    unsafe fn version(&self, arg: u64) -> Answer {
        // struct drm_version: three ints, then length and pointer of name, date, description.
        let texts = [(16, "radeon"), (32, "20080528"), (48, "ATI Radeon")];
        // SAFETY: as ioctl().
        unsafe {
            user::put(arg, [2u32, 50, 0]);
            for (offset, text) in texts {
                let room = user::get::<u64>(arg + offset);
                let address = user::get::<u64>(arg + offset + 8);
                user::put(arg + offset, text.len() as u64);
                if address != 0 {
                    let n = text.len().min(usize::try_from(room).unwrap_or(usize::MAX));
                    std::ptr::copy_nonoverlapping(text.as_ptr(), address as *mut u8, n);
                }
            }
        }
        Ok(())
    }

    unsafe fn gem_close(&self, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        let handle = unsafe { user::get(arg) };
        let closed = self.bos.close(handle);
        closed.then_some(()).ok_or(libc::EINVAL)
    }

    unsafe fn get_cap(&self, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        unsafe {
            let value = match user::get::<u64>(arg) {
                // PRIME: import and export.
                0x5 => 3u64,
                // TIMESTAMP_MONOTONIC
                0x6 => 1,
                _ => 0,
            };
            user::put(arg + 8, value);
        }
        Ok(())
    }

    /// `drm_prime_handle_to_fd_ioctl()`: the file is the BO's memory ([`share`]).
    unsafe fn prime_export(&self, arg: u64) -> Answer {
        // DRM_CLOEXEC, DRM_RDWR
        const FLAGS: u32 = (libc::O_CLOEXEC | libc::O_RDWR) as u32;
        // SAFETY: as ioctl().
        let [handle, flags, _] = unsafe { user::get::<[u32; 3]>(arg) };
        if flags & !FLAGS != 0 {
            return Err(libc::EINVAL);
        }
        // The BO's bytes move: nobody may look meanwhile.
        let capture = self.capture();
        let exported = self.gpu.while_idle(|| self.bos.export(handle));
        drop(capture);
        let fd = exported?.try_clone().map_err(|e| errno(&e))?;
        // SAFETY: as ioctl().
        unsafe { user::put(arg + 8, fd.into_raw_fd() as u32) };
        Ok(())
    }

    /// `drm_gem_prime_fd_to_handle()`. A file that is no BO of this or another process with the shim is
    /// refused, other devices' dma-bufs among them: with the answer to what is no dma-buf.
    unsafe fn prime_import(&self, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        let fd = unsafe { user::get::<[u32; 3]>(arg)[2] as i32 };
        // SAFETY: fcntl() with any number; it tells whether the descriptor is open.
        if fd < 0 || unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err(libc::EBADF);
        }
        // SAFETY: it is open, and the caller keeps it open until the ioctl returns.
        let handle = self.bos.import(unsafe { BorrowedFd::borrow_raw(fd) })?;
        // SAFETY: as ioctl().
        unsafe { user::put(arg, handle) };
        Ok(())
    }

    /// `radeon_gem_userptr_ioctl()`.
    unsafe fn gem_userptr(&self, arg: u64) -> Answer {
        // RADEON_GEM_USERPTR_*
        const READONLY: u32 = 1 << 0;
        const ANONONLY: u32 = 1 << 1;
        const VALIDATE: u32 = 1 << 2;
        const REGISTER: u32 = 1 << 3;
        // SAFETY: as ioctl().
        let ([address, size], flags) =
            unsafe { (user::get::<[u64; 2]>(arg), user::get::<u32>(arg + 16)) };
        let end = address.checked_add(size).ok_or(libc::EINVAL)?;
        let unknown = flags & !(READONLY | ANONONLY | VALIDATE | REGISTER) != 0;
        if (address | size) % PAGE != 0 || unknown {
            return Err(libc::EINVAL);
        }
        let readonly = flags & READONLY != 0;
        if !readonly && flags & (ANONONLY | REGISTER) != ANONONLY | REGISTER {
            // Mesa knows by this answer to no flags that the ioctl exists.
            return Err(libc::EACCES);
        }
        if size == 0 {
            return Err(libc::EINVAL);
        }
        // The kernel looks when it pins the pages: at once if VALIDATE is set, else at the first use.
        if flags & ANONONLY != 0 && !share::is_anonymous(&(address..end)) {
            return Err(libc::EPERM);
        }
        let handle = self.bos.borrow(address, size, !readonly)?;
        // SAFETY: as ioctl().
        unsafe { user::put(arg + 20, handle) };
        Ok(())
    }

    unsafe fn gem_info(&self, arg: u64) -> Answer {
        for (i, value) in [GTT, VRAM, VRAM].into_iter().enumerate() {
            // SAFETY: as ioctl().
            unsafe { user::put(arg + 8 * i as u64, value) };
        }
        Ok(())
    }

    unsafe fn gem_create(&self, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        unsafe {
            let (size, alignment) = (user::get(arg), user::get(arg + 8));
            let domain = user::get(arg + 20);
            let handle = self
                .bos
                .create(size, alignment, domain)
                .map_err(|e| errno(&e))?;
            user::put(arg + 16, handle);
        }
        Ok(())
    }

    unsafe fn gem_mmap(&self, arg: u64) -> Answer {
        // SAFETY: as ioctl().
        unsafe {
            let bo = self.bo(user::get(arg))?;
            if bo.place == Place::User {
                // radeon_mode_dumb_mmap()
                return Err(libc::EPERM);
            }
            user::put(arg + 24, bo.address);
        }
        Ok(())
    }

    /// `DRM_RADEON_GEM_VA`, as `radeon_gem_va_ioctl()`.
    unsafe fn virtual_address(&self, arg: u64) -> Answer {
        if !has_spaces(self.gpu.family()) {
            return Err(libc::ENOTTY);
        }
        // SAFETY: as ioctl().
        let ([handle, operation, id, flags], offset) =
            unsafe { (user::get::<[u32; 4]>(arg), user::get::<u64>(arg + 16)) };
        const MAP: u32 = 1;
        const UNMAP: u32 = 2;
        // RADEON_VM_PAGE_VALID and SYSTEM are the kernel's.
        let valid = id == 0 && offset >= space::START && flags & (1 << 0 | 1 << 3) == 0;
        let answer = match operation {
            MAP | UNMAP if !valid => Err(libc::EINVAL),
            MAP => {
                let bit = |bit: u32, access: u32| if flags >> bit & 1 != 0 { access } else { 0 };
                let access = bit(1, space::READABLE) | bit(2, space::WRITEABLE);
                self.bos.map(handle, offset, access)
            }
            UNMAP if self.bos.unmap(handle) => Ok(offset),
            UNMAP => Err(libc::ENOENT),
            _ => Err(libc::EINVAL),
        };
        // RADEON_VA_RESULT_OK, ERROR, VA_EXIST.
        let result: u32 = match answer {
            Err(_) => 1,
            Ok(there) if there != offset => 2,
            Ok(_) => 0,
        };
        // SAFETY: as ioctl().
        unsafe {
            user::put(arg + 4, result);
            user::put(arg + 16, answer.unwrap_or(offset));
        }
        answer.map(|_| ())
    }

    unsafe fn info(&self, arg: u64) -> Answer {
        let setup = setup(self.gpu.family());
        // SAFETY: as ioctl().
        let (request, address, input) = unsafe {
            let request: u32 = user::get(arg);
            let address: u64 = user::get(arg + 8);
            (request, address, user::get::<u32>(address))
        };
        let wide = match request {
            // TIMESTAMP, the clock of the CP's timestamps.
            0x11 => Some(self.gpu.chip().gpu_clock()),
            // NUM_BYTES_MOVED, VRAM_USAGE, GTT_USAGE
            0x1D => Some(0),
            0x1E => Some(self.bos.usage(DOMAIN_VRAM)),
            0x1F => Some(self.bos.usage(DOMAIN_GTT)),
            _ => None,
        };
        if let Some(value) = wide {
            // SAFETY: as ioctl(); these requests have 64-bit values.
            unsafe { user::put(address, value) };
            return Ok(());
        }
        let value = match request {
            0x00 => u32::from(self.device_id()),
            // NUM_GB_PIPES, NUM_Z_PIPES: R300's.
            0x01 | 0x02 => 0,
            // ACCEL_WORKING, ACCEL_WORKING2
            0x03 | 0x05 => 1,
            0x06 => setup.tiling_config,
            // WANT_HYPERZ, WANT_CMASK: granted.
            0x07 | 0x08 => input,
            0x09 => CRYSTAL_KHZ,
            0x0A => setup.backends,
            0x0B => setup.tile_pipes,
            0x0D => setup.backend_map,
            0x10 => setup.pipes,
            // VA_START, IB_VM_MAX_SIZE
            0x0E if has_spaces(self.gpu.family()) => space::START as u32,
            0x0F if has_spaces(self.gpu.family()) => IB_VM_MAX,
            // MAX_SE
            0x12 => setup.engines,
            // FASTFB_WORKING
            0x14 => 0,
            // RING_WORKING: graphics, compute, DMA; no UVD, no VCE.
            0x15 => u32::from(input <= 2),
            // MAX_SCLK in kHz
            0x1A => self.gpu.family().model().engine_clock * 10,
            0x20 => setup.simds,
            // VA_UNMAP_WORKING, GPU_RESET_COUNTER
            0x25 => 1,
            0x26 => 0,
            // Address spaces where there are none, and requests for later chips.
            _ => return Err(libc::EINVAL),
        };
        // SAFETY: as ioctl(); these requests have 32-bit values.
        unsafe { user::put(address, value) };
        Ok(())
    }

    unsafe fn cs(&self, arg: u64) -> Answer {
        let (mut ib, mut relocs, mut ring, mut flags) = (Vec::new(), Vec::new(), 0, 0);
        // SAFETY: as ioctl(); struct drm_radeon_cs and its chunks.
        unsafe {
            let count: u32 = user::get(arg);
            let chunks: u64 = user::get(arg + 8);
            for i in 0..u64::from(count) {
                let chunk: u64 = user::get(chunks + 8 * i);
                let [id, dwords] = user::get::<[u32; 2]>(chunk);
                let data = user::dwords(user::get(chunk + 8), dwords as usize);
                match id {
                    1 => relocs = data,
                    2 => ib = data,
                    3 => {
                        flags = data.first().copied().unwrap_or(0);
                        ring = data.get(1).copied().unwrap_or(0);
                    }
                    _ => return Err(libc::EINVAL),
                }
            }
        }
        let relocs = relocs
            .chunks_exact(4)
            .map(|reloc| {
                let bo = self.bo(reloc[0])?;
                Ok(Reloc {
                    address: bo.address,
                    size: bo.size,
                })
            })
            .collect::<Result<Vec<_>, i32>>()?;
        let in_space = flags & USE_VM != 0;
        if in_space && (!has_spaces(self.gpu.family()) || ib.len() > IB_VM_MAX as usize) {
            return Err(libc::EINVAL);
        }
        let own = is_evergreen(self.gpu.family());
        let tiling = tiling(self.gpu.family());
        let checked = match (ring, own) {
            (0 | 1, _) if in_space => vm::check_gfx(&ib),
            (2, _) if in_space => vm::check_dma(&ib),
            (0 | 1, false) if is_r600(self.gpu.family()) => {
                r600::relocate_gfx(&mut ib, &relocs, tiling)
            }
            (0 | 1, false) => relocate_gfx(&mut ib, &relocs, tiling),
            (2, false) => relocate_dma(&mut ib, &relocs),
            (0 | 1, true) if has_spaces(self.gpu.family()) => {
                evergreen::relocate_cayman(&mut ib, &relocs, tiling)
            }
            (0 | 1, true) => evergreen::relocate_gfx(&mut ib, &relocs, tiling),
            (2, true) => evergreen::relocate_dma(&mut ib, &relocs),
            _ => return Err(libc::EINVAL),
        };
        checked.map_err(|e| {
            // The kernel names the reason in its log.
            let header = match e {
                CheckError::Packet(at) => ib.get(at).copied(),
                _ => None,
            };
            let header = header.map_or(String::new(), |header| format!(" with header {header:#x}"));
            eprintln!("r7xx-shim: command stream refused: {e:?}{header}");
            if let Some(mut capture) = self.capture() {
                capture.refused("a command stream was refused");
            }
            libc::EINVAL
        })?;
        let ring = Ring {
            dma: ring == 2,
            vm: in_space,
        };
        self.submit(ring, &ib)
    }

    fn capture(&self) -> Option<MutexGuard<'_, Writer>> {
        let capture = self.capture.as_ref()?;
        Some(capture.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn submit(&self, ring: Ring, ib: &[u32]) -> Answer {
        let mut capture = self.capture();
        if let Some(capture) = &mut capture {
            capture.before(&self.gpu, ring, ib);
        }
        let answer = self.gpu.submit(ring, ib).map_err(|e| {
            log::error!("command stream not executed: {e:?}");
            libc::EIO
        });
        let fault = self.gpu.take_fault();
        if let Some((page, status)) = fault {
            // The kernel's message, in its log.
            eprintln!("r7xx-shim: GPU fault: VM page {page:#x}, status {status:#010x}");
        }
        if let Some(capture) = &mut capture {
            let troubles = [
                (answer.is_err(), "a ring does not end"),
                (fault.is_some(), "there was a fault of the address space"),
                (
                    self.reported.swap(false, Ordering::AcqRel),
                    "R7XX_CHECK has reported something",
                ),
            ];
            let trouble = troubles.into_iter().find(|(happened, _)| *happened);
            capture.after(&self.gpu, trouble.map(|(_, why)| why));
        }
        answer
    }

    /// The file and the offset that `mmap()` of the device at `offset` has to map, if that is not the
    /// device's own file.
    pub fn file_at(&self, offset: u64) -> Option<(Arc<File>, u64)> {
        self.bos.file_at(offset)
    }
}

fn errno(e: &io::Error) -> i32 {
    match e.kind() {
        io::ErrorKind::OutOfMemory => libc::ENOMEM,
        _ => e.raw_os_error().unwrap_or(libc::EINVAL),
    }
}

/// Whether a file descriptor's file is `file`.
pub fn is_same_file(device: u64, inode: u64, file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (device, inode))
}

/// A new file descriptor of the device, close-on-exec.
pub fn duplicate(file: &File) -> io::Result<i32> {
    Ok(file.try_clone()?.into_raw_fd())
}
