// SPDX-License-Identifier: MIT
//! Replacements (`LD_PRELOAD`) of functions of libc and libdrm: the dynamic linker
//! finds them before the originals. A call that does not concern the device is
//! passed on to the next library's function of that name.
//!
//! - libc: `open` and its variants, for the device's nodes; `ioctl`; `fstat`, as
//!   GBM wants a character device; `mmap`, for BOs that have a file of their own.
//! - libdrm: the functions that look for devices in sysfs, which has no entry for
//!   this one. libdrm's other functions work through `ioctl`.
//!
//! The device's file descriptors are descriptors of the memory file, so `dup` and `close` are not
//! replaced, and `mmap` of most BOs does what libc's does.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void, CStr};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use crate::ioctl::{duplicate, is_same_file, Device, DRM_TYPE};
use crate::memory::RESERVED;
use crate::settings::Settings;
use crate::share;

const NODES: [&CStr; 2] = [c"/dev/dri/renderD128", c"/dev/dri/card0"];
const RENDER_NODE: usize = 2;
const DRM_MAJOR: u32 = 226;
const RENDER_MINOR: u32 = 128;

/// Exit status of a program whose device cannot be started: that of other programs that run a
/// program and fail themselves (env, timeout).
const FAILED: c_int = 125;

/// The device, started at its first use. If it cannot be started, prints the reason and ends the
/// program: a GL program without a device would render in software, and succeed.
fn device() -> Option<(&'static Device, &'static File)> {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let device = DEVICE.get_or_init(|| {
        let started = Settings::from_environment().and_then(Device::start);
        started.unwrap_or_else(|e| {
            eprintln!("r7xx-shim: {e}");
            eprintln!("r7xx-shim: the program ends, as it would not be drawn by the emulated chip");
            // SAFETY: ends the process. Not exit(): Mesa or the dynamic linker may hold locks
            // that the program's exit handlers wait for.
            unsafe { libc::_exit(FAILED) }
        })
    });
    Some((device, device.file()?))
}

/// The next library's function of a name.
macro_rules! next {
    ($name:literal, $type:ty) => {{
        fn find() -> Option<$type> {
            // SAFETY: the name ends with NUL; RTLD_NEXT is a valid handle.
            let symbol = unsafe { libc::dlsym(libc::RTLD_NEXT, $name.as_ptr()) };
            if symbol.is_null() {
                return None;
            }
            // SAFETY: the function of that name has this type, see its header.
            Some(unsafe { std::mem::transmute::<*mut c_void, $type>(symbol) })
        }
        static NEXT: OnceLock<Option<$type>> = OnceLock::new();
        *NEXT.get_or_init(find)
    }};
}

fn set_errno(value: c_int) {
    // SAFETY: the address is this thread's errno.
    unsafe { *libc::__errno_location() = value };
}

/// Whether `fd` is the device's. Does not start the device.
fn is_ours(fd: c_int) -> bool {
    let Some(file) = started() else { return false };
    // SAFETY: stat is plain data, and the kernel writes it. The system call is
    // made directly, as fstat() is one of the functions here.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::syscall(libc::SYS_fstat, fd, &mut stat) == 0
            && is_same_file(stat.st_dev, stat.st_ino, file)
    }
}

/// The memory file; `None` until the program has opened the device.
fn started() -> Option<&'static File> {
    OPENED.get().copied()
}
static OPENED: OnceLock<&'static File> = OnceLock::new();

/// Opens the device if `path` is one of its nodes.
///
/// # Safety
/// `path` must be a C string.
unsafe fn open_node(path: *const c_char) -> Option<c_int> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for the string.
    let path = unsafe { CStr::from_ptr(path) };
    if !NODES.contains(&path) {
        return None;
    }
    let Some((_, file)) = device() else {
        set_errno(libc::ENODEV);
        return Some(-1);
    };
    let _ = OPENED.set(file);
    match duplicate(file) {
        Ok(fd) => Some(fd),
        Err(e) => {
            set_errno(e.raw_os_error().unwrap_or(libc::EMFILE));
            Some(-1)
        }
    }
}

type Open = unsafe extern "C" fn(*const c_char, c_int, libc::mode_t) -> c_int;
type OpenAt = unsafe extern "C" fn(c_int, *const c_char, c_int, libc::mode_t) -> c_int;

/// A variant of `open()`; `$before` are its arguments before the path.
macro_rules! open_hook {
    ($name:ident, $text:literal, $type:ty $(, $before:ident: $before_type:ty)*) => {
        /// libc's function of that name. `mode` is passed on even if the caller has
        /// not set it: the calling convention has it in a register.
        ///
        /// # Safety
        /// As libc's.
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            $($before: $before_type,)*
            path: *const c_char,
            flags: c_int,
            mode: libc::mode_t,
        ) -> c_int {
            // SAFETY: the caller vouches for the arguments.
            unsafe {
                if let Some(fd) = open_node(path) {
                    return fd;
                }
                match next!($text, $type) {
                    Some(next) => next($($before,)* path, flags, mode),
                    None => -1,
                }
            }
        }
    };
}
open_hook!(open, c"open", Open);
open_hook!(open64, c"open64", Open);
open_hook!(openat, c"openat", OpenAt, directory: c_int);
open_hook!(openat64, c"openat64", OpenAt, directory: c_int);

/// libc's `ioctl`; DRM's ioctls on the device are answered here.
///
/// # Safety
/// As libc's.
#[no_mangle]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    if request >> 8 & 0xFF == DRM_TYPE && is_ours(fd) {
        let answer = match device() {
            // SAFETY: the caller vouches for the argument of the request.
            Some((device, _)) => unsafe { device.ioctl(request, arg as u64) },
            None => Err(libc::ENODEV),
        };
        return match answer {
            Ok(()) => 0,
            Err(errno) => {
                set_errno(errno);
                -1
            }
        };
    }
    if request == DMA_BUF_IOCTL_SYNC && is_bo(fd) {
        // The CPU's accesses need no preparation.
        return 0;
    }
    type Ioctl = unsafe extern "C" fn(c_int, c_ulong, *mut c_void) -> c_int;
    match next!(c"ioctl", Ioctl) {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(fd, request, arg) },
        None => -1,
    }
}

/// `_IOW('b', 0, struct dma_buf_sync)` (`dma-buf.h`)
const DMA_BUF_IOCTL_SYNC: c_ulong = 0x4008_6200;

/// Whether `fd` is an exported BO.
fn is_bo(fd: c_int) -> bool {
    // SAFETY: only a number is taken from it; the caller keeps the descriptor open during its call.
    fd >= 0 && share::label(unsafe { BorrowedFd::borrow_raw(fd) }).is_some()
}

macro_rules! mmap_hook {
    ($name:ident) => {
        /// libc's function of that name. A BO that has a file of its own is mapped from there.
        ///
        /// # Safety
        /// As libc's.
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            address: *mut c_void,
            len: usize,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: libc::off64_t,
        ) -> *mut c_void {
            let device = match fd >= 0 && offset >= RESERVED as i64 && is_ours(fd) {
                true => device(),
                false => None,
            };
            let shared = device.and_then(|(device, _)| device.file_at(offset as u64));
            let (fd, offset) = match &shared {
                Some((file, offset)) => (file.as_raw_fd(), *offset as i64),
                None => (fd, offset),
            };
            // The system call takes all of these as longs.
            let [protection, flags, fd] = [protection, flags, fd].map(c_long::from);
            // SAFETY: the caller vouches for the arguments; a file that takes the place of the
            // device has the same bytes. libc's function does the same system call.
            unsafe {
                libc::syscall(libc::SYS_mmap, address, len, protection, flags, fd, offset)
                    as *mut c_void
            }
        }
    };
}
mmap_hook!(mmap);
mmap_hook!(mmap64);

macro_rules! fstat_hook {
    ($name:ident) => {
        /// libc's function of that name; the device looks like a character
        /// device.
        ///
        /// # Safety
        /// As libc's.
        #[no_mangle]
        pub unsafe extern "C" fn $name(fd: c_int, stat: *mut libc::stat) -> c_int {
            // SAFETY: the caller vouches for the arguments; on x86-64 both
            // functions use the kernel's structure.
            unsafe {
                if libc::syscall(libc::SYS_fstat, fd, stat) != 0 {
                    return -1;
                }
                if is_ours(fd) {
                    (*stat).st_mode = libc::S_IFCHR | 0o666;
                    (*stat).st_rdev = libc::makedev(DRM_MAJOR, RENDER_MINOR);
                }
            }
            0
        }
    };
}
fstat_hook!(fstat);
fstat_hook!(fstat64);

/// `drmPciBusInfo`
#[repr(C)]
struct BusInfo {
    domain: u16,
    bus: u8,
    dev: u8,
    func: u8,
}

/// `drmPciDeviceInfo`
#[repr(C)]
struct DeviceInfo {
    vendor: u16,
    device: u16,
    subvendor: u16,
    subdevice: u16,
    revision: u8,
}

/// `drmDevice` (`xf86drm.h`)
#[repr(C)]
pub struct DrmDevice {
    nodes: *const *const c_char,
    available_nodes: c_int,
    bus_type: c_int,
    bus: *const BusInfo,
    device: *const DeviceInfo,
}

/// The one description of the device, which is never freed.
fn description() -> Option<*mut DrmDevice> {
    static DESCRIPTION: OnceLock<Option<usize>> = OnceLock::new();
    DESCRIPTION
        .get_or_init(|| {
            let (device, _) = device()?;
            // Primary, control (unused), render.
            let nodes = Box::leak(Box::new([
                NODES[1].as_ptr(),
                c"".as_ptr(),
                NODES[0].as_ptr(),
            ]));
            let bus = Box::leak(Box::new(BusInfo {
                domain: 0,
                bus: 1,
                dev: 0,
                func: 0,
            }));
            let info = Box::leak(Box::new(DeviceInfo {
                vendor: 0x1002,
                device: device.device_id(),
                subvendor: 0x1002,
                subdevice: device.device_id(),
                revision: 0,
            }));
            let description = Box::leak(Box::new(DrmDevice {
                nodes: nodes.as_ptr(),
                available_nodes: 1 << RENDER_NODE,
                bus_type: 0,
                bus,
                device: info,
            }));
            Some(std::ptr::from_mut(description) as usize)
        })
        .map(|address| address as *mut DrmDevice)
}

/// libdrm's `drmGetDevices2`: the one device.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmGetDevices2(
    _flags: u32,
    devices: *mut *mut DrmDevice,
    max: c_int,
) -> c_int {
    let Some(description) = description() else {
        return 0;
    };
    if !devices.is_null() {
        if max < 1 {
            return 0;
        }
        // SAFETY: the caller vouches for room for `max` pointers.
        unsafe { *devices = description };
    }
    1
}

/// libdrm's `drmGetDevices`.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmGetDevices(devices: *mut *mut DrmDevice, max: c_int) -> c_int {
    // SAFETY: as there.
    unsafe { drmGetDevices2(0, devices, max) }
}

/// libdrm's `drmGetDevice2`.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmGetDevice2(
    fd: c_int,
    _flags: u32,
    device: *mut *mut DrmDevice,
) -> c_int {
    match description() {
        Some(description) if is_ours(fd) && !device.is_null() => {
            // SAFETY: the caller vouches for the pointer.
            unsafe { *device = description };
            0
        }
        _ => -libc::ENODEV,
    }
}

/// libdrm's `drmGetDevice`.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmGetDevice(fd: c_int, device: *mut *mut DrmDevice) -> c_int {
    // SAFETY: as there.
    unsafe { drmGetDevice2(fd, 0, device) }
}

/// libdrm's `drmGetDeviceFromDevId`.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmGetDeviceFromDevId(
    _id: libc::dev_t,
    _flags: u32,
    device: *mut *mut DrmDevice,
) -> c_int {
    // SAFETY: as there.
    if unsafe { drmGetDevices2(0, device, 1) } == 1 {
        0
    } else {
        -libc::ENODEV
    }
}

/// libdrm's `drmFreeDevice`: the description stays.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmFreeDevice(_device: *mut *mut DrmDevice) {}

/// libdrm's `drmFreeDevices`.
///
/// # Safety
/// As libdrm's.
#[no_mangle]
pub unsafe extern "C" fn drmFreeDevices(_devices: *mut *mut DrmDevice, _count: c_int) {}

/// libdrm's `drmGetNodeTypeFromFd`.
#[no_mangle]
pub extern "C" fn drmGetNodeTypeFromFd(fd: c_int) -> c_int {
    if is_ours(fd) {
        RENDER_NODE as c_int
    } else {
        set_errno(libc::EINVAL);
        -1
    }
}

macro_rules! name_hook {
    ($name:ident, $node:expr) => {
        /// libdrm's function of that name; the caller frees the string.
        #[no_mangle]
        pub extern "C" fn $name(fd: c_int) -> *mut c_char {
            if !is_ours(fd) {
                return std::ptr::null_mut();
            }
            // SAFETY: a C string.
            unsafe { libc::strdup($node.as_ptr()) }
        }
    };
}
name_hook!(drmGetRenderDeviceNameFromFd, NODES[0]);
name_hook!(drmGetDeviceNameFromFd2, NODES[0]);
name_hook!(drmGetDeviceNameFromFd, NODES[0]);
name_hook!(drmGetPrimaryDeviceNameFromFd, NODES[1]);
