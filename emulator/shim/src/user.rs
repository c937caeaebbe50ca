// SPDX-License-Identifier: MIT
//! Access to the program's memory by the addresses that it gives to ioctls.
//!
//! A kernel answers a bad address with `EFAULT`. In the program's own process
//! a bad address crashes the program, as in any library.

/// Types for which any bytes are a value.
///
/// # Safety
/// Every pattern of bits must be a valid value, and the type must not contain
/// references.
pub unsafe trait Plain: Copy {}

// SAFETY: integers of any bits are valid.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u32; N] {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u64; N] {}

/// Reads a value at `address`.
///
/// # Safety
/// `address` must be readable for the size of `T`. It need not be aligned.
pub unsafe fn get<T: Plain>(address: u64) -> T {
    // SAFETY: the caller vouches for the address; any bits are a `T`.
    unsafe { (address as *const T).read_unaligned() }
}

/// Writes a value at `address`.
///
/// # Safety
/// `address` must be writable for the size of `T`. It need not be aligned.
pub unsafe fn put<T: Plain>(address: u64, value: T) {
    // SAFETY: the caller vouches for the address.
    unsafe { (address as *mut T).write_unaligned(value) }
}

/// Reads `count` dwords at `address`.
///
/// # Safety
/// As [`get`], for all of them.
pub unsafe fn dwords(address: u64, count: usize) -> Vec<u32> {
    (0..count)
        // SAFETY: the caller vouches for all of the range.
        .map(|i| unsafe { get(address + 4 * i as u64) })
        .collect()
}
