// SPDX-License-Identifier: MIT
//! Message layouts of the vfio-user protocol. All integers are in the
//! byte order of the host, which both ends share.

use serde::Deserialize;

/// Bytes of a message header.
pub const HEADER: usize = 16;
/// Largest payload of a REGION_READ or REGION_WRITE.
pub const MAX_DATA: usize = 1 << 20;
/// Largest message that is accepted: data, its header and some room.
pub const MAX_MESSAGE: usize = MAX_DATA + 4096;
/// Most file descriptors in one message.
pub const MAX_FDS: usize = 16;

/// Message types that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named and numbered as in the protocol
pub enum Command {
    Version = 1,
    DmaMap = 2,
    DmaUnmap = 3,
    DeviceGetInfo = 4,
    DeviceGetRegionInfo = 5,
    DeviceGetIrqInfo = 7,
    DeviceSetIrqs = 8,
    RegionRead = 9,
    RegionWrite = 10,
    DeviceReset = 13,
}

impl Command {
    /// The command with this number, if it is one the server knows.
    pub fn from_number(n: u16) -> Option<Self> {
        Some(match n {
            1 => Self::Version,
            2 => Self::DmaMap,
            3 => Self::DmaUnmap,
            4 => Self::DeviceGetInfo,
            5 => Self::DeviceGetRegionInfo,
            7 => Self::DeviceGetIrqInfo,
            8 => Self::DeviceSetIrqs,
            9 => Self::RegionRead,
            10 => Self::RegionWrite,
            13 => Self::DeviceReset,
            _ => return None,
        })
    }
}

/// Header flags: the message is a reply.
pub const FLAG_REPLY: u32 = 1;
/// Header flags: mask of the message type.
pub const FLAG_TYPE: u32 = 0xf;
/// Header flags: the sender wants no reply.
pub const FLAG_NO_REPLY: u32 = 1 << 4;
/// Header flags: the reply carries an errno.
pub const FLAG_ERROR: u32 = 1 << 5;

/// Device flags: can be reset.
pub const DEVICE_RESET: u32 = 1 << 0;
/// Device flags: is a PCI device.
pub const DEVICE_PCI: u32 = 1 << 1;

/// Region flags: readable.
pub const REGION_READ: u32 = 1 << 0;
/// Region flags: writable.
pub const REGION_WRITE: u32 = 1 << 1;
/// Region flags: can be mapped.
pub const REGION_MMAP: u32 = 1 << 2;
/// Region flags: a capability list follows.
pub const REGION_CAPS: u32 = 1 << 3;
/// Bytes of a region description without capabilities.
pub const REGION_INFO: usize = 32;
/// Capability: list of the mappable parts of a region.
pub const CAP_SPARSE_MMAP: u16 = 1;

/// Interrupt flags: signalled by eventfd.
pub const IRQ_EVENTFD: u32 = 1 << 0;
/// Interrupt flags: can be masked.
pub const IRQ_MASKABLE: u32 = 1 << 1;
/// Interrupt flags: masks itself when it fires.
pub const IRQ_AUTOMASKED: u32 = 1 << 2;
/// Interrupt flags: number of vectors is fixed once set up.
pub const IRQ_NORESIZE: u32 = 1 << 3;

/// SET_IRQS flags: no data.
pub const SET_DATA_NONE: u32 = 1 << 0;
/// SET_IRQS flags: one byte per interrupt.
pub const SET_DATA_BOOL: u32 = 1 << 1;
/// SET_IRQS flags: one eventfd per interrupt.
pub const SET_DATA_EVENTFD: u32 = 1 << 2;
/// SET_IRQS flags: mask.
pub const SET_ACTION_MASK: u32 = 1 << 3;
/// SET_IRQS flags: unmask.
pub const SET_ACTION_UNMASK: u32 = 1 << 4;
/// SET_IRQS flags: trigger, or set up the trigger.
pub const SET_ACTION_TRIGGER: u32 = 1 << 5;

/// DMA_MAP flags: the device may write.
pub const DMA_WRITE: u32 = 1 << 1;
/// DMA_UNMAP flags: report dirty pages.
pub const UNMAP_DIRTY: u32 = 1 << 0;
/// DMA_UNMAP flags: unmap everything.
pub const UNMAP_ALL: u32 = 1 << 1;

/// Head of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Chosen by the client, repeated in the reply.
    pub id: u16,
    /// See [`Command`].
    pub command: u16,
    /// Bytes of the message, header included.
    pub size: u32,
    /// `FLAG_*`.
    pub flags: u32,
    /// Errno of a failed reply.
    pub error: u32,
}

impl Header {
    /// Decodes a header.
    pub fn decode(b: &[u8; HEADER]) -> Self {
        let mut r = Reader::new(b);
        Self {
            id: r.u16().unwrap_or(0),
            command: r.u16().unwrap_or(0),
            size: r.u32().unwrap_or(0),
            flags: r.u32().unwrap_or(0),
            error: r.u32().unwrap_or(0),
        }
    }

    /// Encodes the header of a reply with `len` bytes of payload; nonzero
    /// `error` makes it a failure.
    pub fn reply(&self, len: usize, error: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + len);
        out.extend_from_slice(&self.id.to_ne_bytes());
        out.extend_from_slice(&self.command.to_ne_bytes());
        out.extend_from_slice(&((HEADER + len) as u32).to_ne_bytes());
        let failed = if error != 0 { FLAG_ERROR } else { 0 };
        out.extend_from_slice(&(FLAG_REPLY | failed).to_ne_bytes());
        out.extend_from_slice(&error.to_ne_bytes());
        out
    }
}

/// Reads integers from the start of a message on.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    /// Next 16 bits, or `None` at the end.
    pub fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    /// Next 32 bits, or `None` at the end.
    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    /// Next 64 bits, or `None` at the end.
    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    /// The bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// The one capability of a client that matters here.
#[derive(Debug, Deserialize)]
struct ClientCapabilities {
    max_data_xfer_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct ClientVersion {
    capabilities: Option<ClientCapabilities>,
}

/// Checks a client's VERSION payload (major, minor, JSON text) and returns
/// the payload of the answer, or `None` if client and server are incompatible.
pub fn negotiate(payload: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(payload);
    let (major, _minor) = (r.u16()?, r.u16()?);
    if major != 0 {
        return None;
    }
    let text = r.rest();
    let text = text.strip_suffix(&[0]).unwrap_or(text);
    if !text.is_empty() {
        let version: ClientVersion = serde_json::from_slice(text).ok()?;
        // A client has to accept at least 8 bytes of data in a reply.
        let max = version.capabilities.and_then(|c| c.max_data_xfer_size);
        if max.is_some_and(|m| m < 8) {
            return None;
        }
    }
    let ours = serde_json::json!({"capabilities": {
        "max_msg_fds": MAX_FDS,
        "max_data_xfer_size": MAX_DATA,
        "pgsizes": crate::chip::memory::PAGE_SIZE,
        "max_dma_maps": crate::chip::memory::guest_ram::MAX_DMA_MAPS,
    }});
    let mut out = vec![0, 0, 0, 0];
    out.extend_from_slice(ours.to_string().as_bytes());
    out.push(0);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip() {
        let h = Header {
            id: 0x1234,
            command: 9,
            size: 20,
            flags: FLAG_REPLY,
            error: 0,
        };
        let bytes = h.reply(4, 0);
        assert_eq!(Header::decode(&bytes.try_into().unwrap()), h);
        let failed = h.reply(0, 22);
        let failed = Header::decode(&failed.try_into().unwrap());
        assert_eq!(failed.flags, FLAG_REPLY | FLAG_ERROR);
        assert_eq!(failed.error, 22);
    }

    #[test]
    fn reader_ends_without_panic() {
        let mut r = Reader::new(&[1, 0, 0, 0, 9]);
        assert_eq!(r.u32(), Some(1));
        assert_eq!(r.u32(), None);
        assert_eq!(r.rest(), [9]);
    }

    #[test]
    fn negotiate_accepts_version_0_only() {
        assert!(negotiate(&[0, 0, 1, 0]).is_some());
        assert!(negotiate(&[1, 0, 0, 0]).is_none());
        assert!(negotiate(&[0, 0]).is_none());
        assert!(negotiate(b"\0\0\0\0not json\0").is_none());
        let client = b"\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}\0";
        let answer = negotiate(client).unwrap();
        assert_eq!(answer.last(), Some(&0));
    }
}
