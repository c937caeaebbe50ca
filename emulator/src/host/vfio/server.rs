// SPDX-License-Identifier: MIT
//! One vfio-user connection.
//!
//! Everything a client sends is checked before use. The server answers a message
//! that it cannot carry out with an errno, and the connection goes on. Only a
//! truncated header or an invalid message size ends the connection.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::event::{poll, PollFd, PollFlags};
use rustix::fs::{renameat_with, RenameFlags, CWD};
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use super::wire::{self, Command, Header, Reader, HEADER, MAX_DATA, MAX_FDS, MAX_MESSAGE};
use super::{Device, DmaMap, Errno, IRQS, IRQ_INTX, IRQ_MSI, REGIONS};

/// Why a server could not start or had to stop.
#[derive(Debug)]
pub enum ServeError {
    /// The socket's path already exists.
    SocketExists(PathBuf),
    /// The socket could not be bound.
    Bind(PathBuf, io::Error),
    /// Waiting for or accepting the client failed.
    Accept(io::Error),
    /// The connection broke.
    Connection(io::Error),
    /// The client sent a header that makes no sense.
    Protocol(&'static str),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SocketExists(p) => write!(
                f,
                "{} exists: another board may be running; remove it if not",
                p.display()
            ),
            Self::Bind(p, e) => write!(f, "cannot listen on {}: {e}", p.display()),
            Self::Accept(e) => write!(f, "cannot accept a client: {e}"),
            Self::Connection(e) => write!(f, "connection to the client broke: {e}"),
            Self::Protocol(e) => write!(f, "client breaks the protocol: {e}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Why [`Server::run`] returned without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The client closed the connection.
    Disconnected,
    /// The `wake` callback asked for it.
    Asked,
}

/// A listening socket, removed from the file system when dropped.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
}

/// Content of a successful reply: payload and descriptor.
struct Reply<'a> {
    payload: Vec<u8>,
    file: Option<&'a File>,
}

impl Reply<'_> {
    fn bytes(payload: Vec<u8>) -> Self {
        Self {
            payload,
            file: None,
        }
    }

    fn empty() -> Self {
        Self::bytes(Vec::new())
    }
}

impl Server {
    /// Listens on a new socket at `path`.
    ///
    /// The socket is created under another name and renamed when it listens, so a
    /// client that sees `path` can connect.
    pub fn bind(path: &Path) -> Result<Self, ServeError> {
        let failed = |e| ServeError::Bind(path.to_path_buf(), e);
        // Short: a socket's path has to fit in 107 bytes.
        let aside = path.with_file_name(format!(".{}", std::process::id()));
        // A dead process with the same id may have left it behind.
        let _ = std::fs::remove_file(&aside);
        let listener = UnixListener::bind(&aside).map_err(failed)?;
        match renameat_with(CWD, &aside, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Self {
                listener,
                path: path.to_path_buf(),
            }),
            Err(e) => {
                let _ = std::fs::remove_file(&aside);
                Err(match e {
                    Errno::EXIST => ServeError::SocketExists(path.to_path_buf()),
                    e => failed(e.into()),
                })
            }
        }
    }

    /// Serves one client until it disconnects or `wake` says to stop.
    ///
    /// Whenever `wake_fd` is readable, `wake` is called to drain it and act;
    /// when it returns false the server stops.
    pub fn run<D: Device>(
        &self,
        device: &D,
        wake_fd: BorrowedFd<'_>,
        mut wake: impl FnMut() -> bool,
    ) -> Result<Stop, ServeError> {
        if !wait(self.listener.as_fd(), wake_fd, &mut wake).map_err(ServeError::Accept)? {
            return Ok(Stop::Asked);
        }
        let (stream, _) = self.listener.accept().map_err(ServeError::Accept)?;
        loop {
            if !wait(stream.as_fd(), wake_fd, &mut wake).map_err(ServeError::Connection)? {
                return Ok(Stop::Asked);
            }
            if !serve_one(&stream, device)? {
                return Ok(Stop::Disconnected);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Waits until `fd` is readable; returns false if `wake` asked to stop before.
fn wait(
    fd: BorrowedFd<'_>,
    wake_fd: BorrowedFd<'_>,
    wake: &mut impl FnMut() -> bool,
) -> io::Result<bool> {
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(fd, PollFlags::IN),
            PollFd::from_borrowed_fd(wake_fd, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        if !fds[1].revents().is_empty() && !wake() {
            return Ok(false);
        }
        if !fds[0].revents().is_empty() {
            return Ok(true);
        }
    }
}

/// Descriptors that came with a message.
enum Files {
    All(Vec<File>),
    /// Some were lost: more than fit, or more than this process may open.
    Truncated,
}

/// Reads a header and the descriptors that came with it; `None` at the end
/// of the stream.
fn receive(stream: &UnixStream) -> Result<Option<(Header, Files)>, ServeError> {
    let mut bytes = [0; HEADER];
    let mut files = Vec::new();
    let mut truncated = false;
    let mut have = 0;
    while have < HEADER {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = match recvmsg(
            stream,
            &mut [IoSliceMut::new(&mut bytes[have..])],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Ok(got) => {
                truncated |= got.flags.contains(ReturnFlags::CTRUNC);
                got.bytes
            }
            Err(Errno::INTR) => continue,
            // A client that exits with messages unread resets the stream.
            Err(Errno::CONNRESET) => 0,
            Err(e) => return Err(ServeError::Connection(e.into())),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                files.extend(fds.map(File::from));
            }
        }
        if got == 0 {
            if have == 0 {
                return Ok(None);
            }
            return Err(ServeError::Protocol("message ends inside its header"));
        }
        have += got;
    }
    // If some are lost, the others are useless and are closed.
    truncated |= files.len() > MAX_FDS;
    let files = if truncated {
        Files::Truncated
    } else {
        Files::All(files)
    };
    Ok(Some((Header::decode(&bytes), files)))
}

fn send(stream: &UnixStream, bytes: &[u8], file: Option<&File>) -> Result<(), ServeError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds;
    if let Some(file) = file {
        fds = [file.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    let mut sent = 0;
    while sent < bytes.len() {
        let slice = [IoSlice::new(&bytes[sent..])];
        let result = if sent == 0 {
            sendmsg(stream, &slice, &mut control, SendFlags::NOSIGNAL)
        } else {
            let mut none = SendAncillaryBuffer::default();
            sendmsg(stream, &slice, &mut none, SendFlags::NOSIGNAL)
        };
        match result {
            Ok(n) => sent += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(ServeError::Connection(e.into())),
        }
    }
    Ok(())
}

/// Handles one message; false when the client is gone.
fn serve_one<D: Device>(stream: &UnixStream, device: &D) -> Result<bool, ServeError> {
    let Some((header, files)) = receive(stream)? else {
        return Ok(false);
    };
    let size = header.size as usize;
    if !(HEADER..=MAX_MESSAGE).contains(&size) {
        return Err(ServeError::Protocol("message size out of range"));
    }
    let mut payload = vec![0; size - HEADER];
    let mut reader = stream;
    match reader.read_exact(&mut payload) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
        Err(e) => return Err(ServeError::Connection(e)),
    }
    if header.flags & wire::FLAG_TYPE == wire::FLAG_REPLY {
        // The server sends no requests, so this replies to none.
        log::warn!("ignored a reply to nothing (command {})", header.command);
        return Ok(true);
    }
    let reply = match files {
        Files::All(files) => dispatch(device, &header, &payload, files),
        Files::Truncated => {
            log::warn!("descriptors of command {} were lost", header.command);
            Err(Errno::MFILE)
        }
    };
    if let Err(e) = &reply {
        log::debug!("command {} failed: {e}", header.command);
    }
    if header.flags & wire::FLAG_NO_REPLY != 0 {
        return Ok(true);
    }
    let sent = match reply {
        Ok(reply) => {
            let mut bytes = header.reply(reply.payload.len(), 0);
            bytes.extend_from_slice(&reply.payload);
            send(stream, &bytes, reply.file)
        }
        Err(e) => send(stream, &header.reply(0, e.raw_os_error() as u32), None),
    };
    match sent {
        Ok(()) => Ok(true),
        // The client has left before it read the reply: not an error.
        Err(ServeError::Connection(e))
            if matches!(
                e.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

fn dispatch<'d, D: Device>(
    device: &'d D,
    header: &Header,
    payload: &[u8],
    files: Vec<File>,
) -> Result<Reply<'d>, Errno> {
    let command = Command::from_number(header.command).ok_or(Errno::NOTSUP)?;
    let mut r = Reader::new(payload);
    match command {
        Command::Version => wire::negotiate(payload)
            .map(Reply::bytes)
            .ok_or(Errno::INVAL),
        Command::DmaMap => dma_map(device, &mut r, files).ok_or(Errno::INVAL)?,
        Command::DmaUnmap => dma_unmap(device, &mut r, payload).ok_or(Errno::INVAL)?,
        Command::DeviceGetInfo => Ok(Reply::bytes(words(&[
            16,
            wire::DEVICE_RESET | wire::DEVICE_PCI,
            REGIONS,
            IRQS,
        ]))),
        Command::DeviceGetRegionInfo => region_info(device, &mut r).ok_or(Errno::INVAL),
        Command::DeviceGetIrqInfo => irq_info(&mut r).ok_or(Errno::INVAL),
        Command::DeviceSetIrqs => set_irqs(device, &mut r, files).ok_or(Errno::INVAL)?,
        Command::RegionRead => region_read(device, &mut r).ok_or(Errno::INVAL)?,
        Command::RegionWrite => region_write(device, &mut r).ok_or(Errno::INVAL)?,
        Command::DeviceReset => {
            device.reset();
            Ok(Reply::empty())
        }
    }
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

// The functions below return `None` for a message that is too short or malformed.

fn dma_map<D: Device>(
    device: &D,
    r: &mut Reader<'_>,
    mut files: Vec<File>,
) -> Option<Result<Reply<'static>, Errno>> {
    let (_argsz, flags) = (r.u32()?, r.u32()?);
    let (offset, address, size) = (r.u64()?, r.u64()?, r.u64()?);
    if files.len() > 1 {
        return None;
    }
    let result = device.dma_map(DmaMap {
        address,
        size,
        offset,
        file: files.pop(),
        writable: flags & wire::DMA_WRITE != 0,
    });
    Some(result.map(|()| Reply::empty()))
}

fn dma_unmap<D: Device>(
    device: &D,
    r: &mut Reader<'_>,
    payload: &[u8],
) -> Option<Result<Reply<'static>, Errno>> {
    let (_argsz, flags) = (r.u32()?, r.u32()?);
    let (address, size) = (r.u64()?, r.u64()?);
    if flags & wire::UNMAP_DIRTY != 0 {
        return Some(Err(Errno::NOTSUP));
    }
    let range = match flags & wire::UNMAP_ALL {
        0 => Some((address, size)),
        _ if address != 0 || size != 0 => return None,
        _ => None,
    };
    let done = device.dma_unmap(range);
    Some(done.map(|()| Reply::bytes(payload[..24].to_vec())))
}

fn region_info<'d, D: Device>(device: &'d D, r: &mut Reader<'_>) -> Option<Reply<'d>> {
    let (argsz, _flags, index) = (r.u32()? as usize, r.u32()?, r.u32()?);
    if index >= REGIONS || argsz < wire::REGION_INFO {
        return None;
    }
    let info = device.region_info(index);
    let mut flags = 0;
    if info.size != 0 {
        flags |= wire::REGION_READ;
        if info.writable {
            flags |= wire::REGION_WRITE;
        }
    }
    let file = info.file.filter(|_| !info.mappable.is_empty());
    let mut caps = Vec::new();
    if file.is_some() {
        flags |= wire::REGION_MMAP | wire::REGION_CAPS;
        caps.extend_from_slice(&wire::CAP_SPARSE_MMAP.to_ne_bytes());
        caps.extend_from_slice(&1u16.to_ne_bytes()); // version
        caps.extend_from_slice(&words(&[0, info.mappable.len() as u32, 0]));
        for (offset, size) in info.mappable {
            caps.extend_from_slice(&offset.to_ne_bytes());
            caps.extend_from_slice(&size.to_ne_bytes());
        }
    }
    let full = wire::REGION_INFO + caps.len();
    let cap_offset = if caps.is_empty() {
        0
    } else {
        wire::REGION_INFO as u32
    };
    let mut payload = words(&[full as u32, flags, index, cap_offset]);
    payload.extend_from_slice(&info.size.to_ne_bytes());
    payload.extend_from_slice(&0u64.to_ne_bytes()); // offset into the file
    if argsz < full {
        // The client asks again with room for the capabilities.
        return Some(Reply::bytes(payload));
    }
    payload.extend_from_slice(&caps);
    Some(Reply { payload, file })
}

fn irq_info(r: &mut Reader<'_>) -> Option<Reply<'static>> {
    let (_argsz, _flags, index) = (r.u32()?, r.u32()?, r.u32()?);
    let (flags, count) = match index {
        IRQ_INTX => (
            wire::IRQ_EVENTFD | wire::IRQ_MASKABLE | wire::IRQ_AUTOMASKED,
            1,
        ),
        IRQ_MSI => (wire::IRQ_EVENTFD | wire::IRQ_NORESIZE, 1),
        i if i < IRQS => (0, 0),
        _ => return None,
    };
    Some(Reply::bytes(words(&[16, flags, index, count])))
}

fn set_irqs<D: Device>(
    device: &D,
    r: &mut Reader<'_>,
    files: Vec<File>,
) -> Option<Result<Reply<'static>, Errno>> {
    let (_argsz, flags, index) = (r.u32()?, r.u32()?, r.u32()?);
    let (start, count) = (r.u32()?, r.u32()?);
    let irqs = device.interrupts();
    let result = irqs.set(index, flags, start, count, r.rest(), files);
    Some(result.map(|()| Reply::empty()))
}

fn region_read<D: Device>(device: &D, r: &mut Reader<'_>) -> Option<Result<Reply<'static>, Errno>> {
    let (offset, region, count) = (r.u64()?, r.u32()?, r.u32()?);
    let len = count as usize;
    if len > MAX_DATA {
        return None;
    }
    // The reply repeats the request's head before the data.
    let mut payload = offset.to_ne_bytes().to_vec();
    payload.extend_from_slice(&words(&[region, count]));
    let head = payload.len();
    payload.resize(head + len, 0);
    let result = device.region_read(region, offset, &mut payload[head..]);
    Some(result.map(|()| Reply::bytes(payload)))
}

fn region_write<D: Device>(
    device: &D,
    r: &mut Reader<'_>,
) -> Option<Result<Reply<'static>, Errno>> {
    let (offset, region, count) = (r.u64()?, r.u32()?, r.u32()?);
    let data = r.rest();
    if data.len() != count as usize || data.len() > MAX_DATA {
        return None;
    }
    let result = device.region_write(region, offset, data);
    let mut payload = offset.to_ne_bytes().to_vec();
    payload.extend_from_slice(&words(&[region, count]));
    Some(result.map(|()| Reply::bytes(payload)))
}
