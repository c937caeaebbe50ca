// SPDX-License-Identifier: MIT
//! Shared by the integration tests: a board served in a thread, and a raw client
//! that can send malformed messages.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use clap::Parser;
use r7xx_board::host::board::Board;
use r7xx_board::host::cli::Options;
use r7xx_board::host::vfio::server::Stop;
use r7xx_board::host::vfio::{ServeError, Server};

/// Region indices, as in the protocol.
pub const BAR0: u32 = 0;
pub const BAR2: u32 = 2;
pub const BAR4: u32 = 4;
pub const ROM: u32 = 6;
pub const CONFIG: u32 = 7;

/// The program under test. `R7XX_BOARD` names it for a copy of the tests
/// (lab/nomap_lab/board_tests.py): cargo's own path may no longer exist.
pub fn board_program() -> OsString {
    std::env::var_os("R7XX_BOARD").unwrap_or_else(|| env!("CARGO_BIN_EXE_r7xx-board").into())
}

/// A board that listens on a socket of its own.
pub struct Served {
    dir: tempfile::TempDir,
    pub board: Arc<Board>,
    thread: Option<JoinHandle<Result<Stop, ServeError>>>,
    wake: UnixStream,
}

impl Served {
    pub fn start(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let name = socket.to_str().unwrap();
        let all = ["r7xx-board", "--socket", name].into_iter();
        let options = Options::parse_from(all.chain(args.iter().copied()));
        options.check().unwrap();
        let board = Arc::new(Board::new(&options, None).unwrap());
        let server = Server::bind(&socket).unwrap();
        let (wake, waked) = UnixStream::pair().unwrap();
        let served = board.clone();
        let thread = thread::spawn(move || server.run(&*served, waked.as_fd(), || false));
        Self {
            dir,
            board,
            thread: Some(thread),
            wake,
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    pub fn client(&self) -> vfio_user::Client {
        vfio_user::Client::new(&self.socket()).unwrap()
    }

    pub fn raw(&self) -> RawClient {
        RawClient::connect(&self.socket())
    }

    /// Waits for the server to end by itself and returns its result.
    pub fn ended(mut self) -> Result<Stop, ServeError> {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.wake.write_all(&[0]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A client that composes the protocol's messages byte by byte.
pub struct RawClient {
    pub stream: UnixStream,
}

/// A reply: errno (0 is success) and payload.
pub type RawReply = (u32, Vec<u8>);

impl RawClient {
    pub fn connect(path: &Path) -> Self {
        Self {
            stream: UnixStream::connect(path).unwrap(),
        }
    }

    pub fn send(&mut self, command: u16, payload: &[u8]) {
        let mut message = 7u16.to_ne_bytes().to_vec();
        message.extend_from_slice(&command.to_ne_bytes());
        message.extend_from_slice(&(16 + payload.len() as u32).to_ne_bytes());
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(payload);
        self.stream.write_all(&message).unwrap();
    }

    pub fn receive(&mut self) -> RawReply {
        let mut header = [0; 16];
        self.stream.read_exact(&mut header).unwrap();
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
        assert_eq!(word(8) & 1, 1, "a reply");
        let mut payload = vec![0; word(4) as usize - 16];
        self.stream.read_exact(&mut payload).unwrap();
        (word(12), payload)
    }

    pub fn call(&mut self, command: u16, payload: &[u8]) -> RawReply {
        self.send(command, payload);
        self.receive()
    }

    fn access(region: u32, offset: u64, count: u32) -> Vec<u8> {
        let mut p = offset.to_ne_bytes().to_vec();
        p.extend_from_slice(&region.to_ne_bytes());
        p.extend_from_slice(&count.to_ne_bytes());
        p
    }

    pub fn read(&mut self, region: u32, offset: u64, count: u32) -> RawReply {
        self.call(9, &Self::access(region, offset, count))
    }

    pub fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> RawReply {
        let mut p = Self::access(region, offset, data.len() as u32);
        p.extend_from_slice(data);
        self.call(10, &p)
    }
}

/// Reads a dword through the client library.
pub fn read32(client: &mut vfio_user::Client, region: u32, offset: u64) -> u32 {
    let mut b = [0; 4];
    client.region_read(region, offset, &mut b).unwrap();
    u32::from_le_bytes(b)
}

/// Writes a dword through the client library.
pub fn write32(client: &mut vfio_user::Client, region: u32, offset: u64, value: u32) {
    client
        .region_write(region, offset, &value.to_le_bytes())
        .unwrap();
}

/// A memory file of `size` bytes for a client to share.
pub fn memory(size: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(size).unwrap();
    file
}
