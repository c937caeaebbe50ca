// SPDX-License-Identifier: MIT
//! Malformed accesses and messages: the board answers each with an error or
//! ignores it, and keeps serving.

use std::io::Write;

use crate::common::*;
use proptest::prelude::*;

const EINVAL: u32 = 22;

/// Checks that the board still answers.
fn alive(client: &mut RawClient) {
    let (error, payload) = client.read(CONFIG, 0, 4);
    assert_eq!(error, 0);
    assert_eq!(payload[16..], 0x9540_1002_u32.to_le_bytes());
}

#[test]
fn region_accesses_out_of_range_are_refused() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    let sizes = [(BAR0, 256u64 << 20), (BAR2, 0x10000), (BAR4, 0x100)];
    for (region, size) in sizes
        .into_iter()
        .chain([(ROM, 0x10000), (CONFIG, 4096), (1, 0)])
    {
        for offset in [size, size.wrapping_sub(1), u64::MAX, u64::MAX - 3, 1 << 63] {
            assert_eq!(
                client.read(region, offset, 4).0,
                EINVAL,
                "{region} {offset:#x}"
            );
            assert_eq!(client.write(region, offset, &[0; 4]).0, EINVAL);
        }
    }
    for region in [8, 9, 100, u32::MAX] {
        assert_eq!(client.read(region, 0, 4).0, EINVAL);
        assert_eq!(client.write(region, 0, &[0; 4]).0, EINVAL);
    }
    alive(&mut client);
}

#[test]
fn odd_sizes_are_carried_out() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    for region in [BAR0, BAR2, BAR4, ROM, CONFIG] {
        for (offset, len) in [(0, 0), (1, 1), (3, 2), (5, 7), (0, 64), (0x31, 0x4f)] {
            let (error, payload) = client.read(region, offset, len);
            assert_eq!(error, 0, "{region} {offset} {len}");
            assert_eq!(payload.len(), 16 + len as usize);
        }
    }
    // A count beyond the negotiated maximum must not allocate anything.
    assert_eq!(client.read(BAR0, 0, u32::MAX).0, EINVAL);
    assert_eq!(client.read(BAR0, 0, (1 << 20) + 1).0, EINVAL);
    assert_eq!(client.read(BAR0, 0, 1 << 20).0, 0);
    alive(&mut client);
}

#[test]
fn short_messages_are_refused() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    for command in [1, 2, 3, 5, 7, 8, 9, 10] {
        for len in [0, 1, 3] {
            assert_eq!(
                client.call(command, &vec![0; len]).0,
                EINVAL,
                "{command} {len}"
            );
        }
    }
    // A write that announces more or fewer bytes than it has.
    for count in [0u32, 3, 5, u32::MAX] {
        let mut p = vec![0; 8];
        p.extend_from_slice(&BAR2.to_ne_bytes());
        p.extend_from_slice(&count.to_ne_bytes());
        p.extend_from_slice(&[0; 4]);
        assert_eq!(client.call(10, &p).0, EINVAL);
    }
    alive(&mut client);
}

#[test]
fn unknown_commands_are_refused() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    for command in [0, 6, 11, 12, 14, 15, 16, 0xffff] {
        assert_ne!(client.call(command, &[0; 64]).0, 0, "{command}");
    }
    alive(&mut client);
}

#[test]
fn bad_dma_maps_are_refused() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    let map = |offset: u64, address: u64, size: u64| {
        let mut p = [32u32, 3]
            .iter()
            .flat_map(|v| v.to_ne_bytes())
            .collect::<Vec<_>>();
        for v in [offset, address, size] {
            p.extend_from_slice(&v.to_ne_bytes());
        }
        p
    };
    // A range without a descriptor is reserved, and cannot be mapped again.
    assert_eq!(client.call(2, &map(0, 0x1000, 0x1000)).0, 0);
    assert_ne!(client.call(2, &map(0, 0x1000, 0x1000)).0, 0);
    for (address, size) in [(0, 0), (1, 0x1000), (0x8000, 1), (u64::MAX - 0xfff, 0x2000)] {
        assert_eq!(client.call(2, &map(0, address, size)).0, EINVAL);
    }
    let unmap = |address: u64, size: u64| {
        let mut p = vec![0; 8];
        p.extend_from_slice(&address.to_ne_bytes());
        p.extend_from_slice(&size.to_ne_bytes());
        p
    };
    for (address, size) in [(0, 0), (0x9000, 0x1000), (u64::MAX, 2), (0x1800, 0x800)] {
        assert_ne!(client.call(3, &unmap(address, size)).0, 0);
    }
    assert_eq!(client.call(3, &unmap(0x1000, 0x1000)).0, 0);
    alive(&mut client);
}

#[test]
fn message_with_lost_descriptors_is_refused() {
    use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
    use std::os::fd::AsFd;
    let served = Served::start(&[]);
    let mut client = served.raw();
    let file = memory(4096);
    // More than the server has room for: the kernel drops some of them.
    let fds = [file.as_fd(); 40];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(40))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    let mut message = vec![1, 0, 2, 0, 16 + 32, 0, 0, 0];
    message.extend_from_slice(&[0; 8]);
    for v in [32u32, 3] {
        message.extend_from_slice(&v.to_ne_bytes());
    }
    for v in [0u64, 0x1000, 0x1000] {
        message.extend_from_slice(&v.to_ne_bytes());
    }
    let slices = [std::io::IoSlice::new(&message)];
    sendmsg(&client.stream, &slices, &mut control, SendFlags::empty()).unwrap();
    const EMFILE: u32 = 24;
    assert_eq!(client.receive().0, EMFILE);
    alive(&mut client);
    drop(client);
}

#[test]
fn header_without_end_ends_the_connection() {
    for size in [0u32, 15, u32::MAX] {
        let served = Served::start(&[]);
        let mut client = served.raw();
        let mut header = vec![0; 4];
        header.extend_from_slice(&size.to_ne_bytes());
        header.extend_from_slice(&[0; 8]);
        client.stream.write_all(&header).unwrap();
        assert!(served.ended().is_err());
    }
}

#[test]
fn client_that_dies_inside_a_message_is_a_disconnect() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    let mut header = vec![0, 0, 9, 0, 32, 0, 0, 0];
    header.extend_from_slice(&[0; 12]);
    client.stream.write_all(&header).unwrap();
    drop(client);
    assert!(served.ended().is_ok());
}

#[test]
fn client_that_does_not_read_answers_is_a_disconnect() {
    let served = Served::start(&[]);
    let mut client = served.raw();
    for _ in 0..100 {
        client.send(4, &[0; 16]);
    }
    drop(client);
    assert!(served.ended().is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// After random messages with valid headers, the board still answers.
    #[test]
    fn random_messages_are_survived(messages in prop::collection::vec(
        (0u16..20, prop::collection::vec(any::<u8>(), 0..80)), 1..60)
    ) {
        let served = Served::start(&[]);
        let mut client = served.raw();
        for (command, payload) in messages {
            client.call(command, &payload);
        }
        alive(&mut client);
    }

    /// Random register and I/O accesses of any width and alignment.
    #[test]
    fn random_register_accesses_are_survived(accesses in prop::collection::vec(
        (any::<bool>(), any::<bool>(), 0u64..0x10000, prop::collection::vec(any::<u8>(), 0..12)),
        1..300)
    ) {
        let served = Served::start(&[]);
        let mut client = served.raw();
        for (io, write, offset, data) in accesses {
            let (region, offset) = if io { (BAR4, offset & 0xff) } else { (BAR2, offset) };
            if write {
                client.write(region, offset, &data);
            } else {
                client.read(region, offset, data.len() as u32);
            }
        }
        alive(&mut client);
    }
}
