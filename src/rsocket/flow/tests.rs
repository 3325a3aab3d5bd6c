// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

use super::super::wire::{ConnectionData, Segment, StreamMessage};
use super::*;
use alloc::collections::VecDeque;
use base::random::Random;

fn sizes(receive_buffer: u32, send_buffer: u32, queue: u32, split: bool) -> Sizes {
    Sizes { receive_buffer, send_buffer, send_queue: queue, receive_queue: queue, iomap: 4, split }
}

/// One side of a model connection: flow control, the memory, and what the network holds for it.
struct Side {
    flow: Flow,
    receive: Vec<u8>,
    /// The small and the large ring.
    send: [Vec<u8>; 2],
    remote_sgl: [Segment; 2],
    inbox: VecDeque<StreamMessage>,
    posted: VecDeque<WrId>,
    written: u64,
    read: u64,
}

impl Side {
    fn new(sizes: Sizes) -> Side {
        Side {
            flow: Flow::new(sizes),
            receive: vec![0; sizes.receive_buffer as usize],
            send: [small_ring(sizes.send_buffer), sizes.send_buffer]
                .map(|size| vec![0; size as usize]),
            remote_sgl: [Segment::default(); 2],
            inbox: VecDeque::new(),
            posted: VecDeque::new(),
            written: 0,
            read: 0,
        }
    }

    fn data(&self) -> ConnectionData {
        ConnectionData {
            big_endian: false,
            credits: self.flow.sizes.receive_queue as u16,
            iomap_size: 0,
            remote_sgl: Segment { address: 0, key: 0, length: REMOTE_SGL_ENTRIES },
            first: Segment { address: 0, key: 0, length: self.flow.sizes.receive_buffer },
        }
    }

    fn check(&self) {
        let flow = &self.flow;
        assert_eq!(flow.unread + flow.granted + flow.free, flow.sizes.receive_buffer);
        assert!(flow.send_free <= flow.send_size && flow.send_before <= flow.sizes.send_buffer);
        assert!(self.inbox.len() <= flow.sizes.receive_queue as usize + CONTROL as usize);
    }
}

/// As a connection would, at random.
fn change_rings(flow: &mut Flow, random: &mut Random) {
    if flow.would_send_more(random.below(30_000)) {
        flow.grow();
    }
    if random.below(20) == 0 {
        flow.shrink();
    }
}

fn byte(position: u64) -> u8 {
    (position ^ (position >> 8)) as u8
}

fn progress(side: &mut Side, other: &mut Side, random: &mut Random) {
    for _ in 0..random.below(4) {
        let Some(message) = side.inbox.pop_front() else { break };
        assert_eq!(side.flow.message(message), Ok(Effect::Nothing));
    }
    while let Some(index) = side.flow.awaited_index() {
        let entry = core::mem::take(&mut side.remote_sgl[index as usize]);
        if entry.length == 0 {
            break;
        }
        side.flow.add_segment(entry);
    }
    for _ in 0..random.below(4) {
        let Some(wr_id) = side.posted.pop_front() else { break };
        side.flow.completed(wr_id);
    }
    if let Some(grant) = side.flow.take_grant() {
        if let Some((offset, index)) = grant.half {
            let entry = &mut other.remote_sgl[index as usize];
            assert_eq!(entry.length, 0, "an entry in use was overwritten");
            *entry = Segment { address: u64::from(offset), key: 0, length: side.flow.half() };
            if side.flow.sizes.split {
                side.posted.push_back(WrId::Control(Share::default()));
            }
        }
        side.posted.push_back(grant.wr_id);
        other.inbox.push_back(StreamMessage::Credit(grant.limit));
    }
    side.check();
}

fn write(side: &mut Side, other: &mut Side, left: u64, at_most: u32) -> u64 {
    let bytes = side.flow.transfer_size(left, at_most);
    if bytes == 0 {
        return 0;
    }
    let transfer = side.flow.take_transfer(bytes, bytes);
    for step in 0..bytes {
        let from = ((transfer.from + step) % side.flow.send_size) as usize;
        let ring = &mut side.send[usize::from(side.flow.is_large())];
        ring[from] = byte(side.written);
        side.written += 1;
        other.receive[(transfer.address + u64::from(step)) as usize] = ring[from];
    }
    side.posted.extend(transfer.wr_id);
    other.inbox.push_back(StreamMessage::Data(bytes));
    u64::from(bytes)
}

fn read(side: &mut Side, at_most: u32) {
    for (at, length) in side.flow.readable(at_most) {
        for offset in at..at + length {
            assert_eq!(side.receive[offset as usize], byte(side.read));
            side.read += 1;
        }
    }
    side.flow.consume(at_most);
}

fn transfer(sizes: Sizes, seed: u64, total: u64) {
    let mut random = Random::new(seed);
    let (mut a, mut b) = (Side::new(sizes), Side::new(sizes));
    let (data_a, data_b) = (a.data(), b.data());
    a.flow.connect(&data_b);
    b.flow.connect(&data_a);
    let mut idle = 0;
    while a.read < total || b.read < total {
        let before = (a.read, b.read, a.written, b.written);
        for _ in 0..8 {
            progress(&mut a, &mut b, &mut random);
            progress(&mut b, &mut a, &mut random);
        }
        change_rings(&mut a.flow, &mut random);
        change_rings(&mut b.flow, &mut random);
        let sizes = [1, 3, 100, 2048, MAX_TRANSFER];
        let size = sizes[random.below(5) as usize];
        let left = total - a.written;
        write(&mut a, &mut b, left, size);
        let left = total - b.written;
        write(&mut b, &mut a, left, size);
        read(&mut a, sizes[random.below(5) as usize]);
        read(&mut b, sizes[random.below(5) as usize]);
        idle = if before == (a.read, b.read, a.written, b.written) { idle + 1 } else { 0 };
        assert!(idle < 1000, "stuck: {:?} {:?}", a.flow, b.flow);
    }
}

#[test]
fn bytes_arrive_whole_whatever_the_order_of_steps() {
    for seed in 0..30 {
        transfer(sizes(8192, 8192, 16, false), seed, 100_000);
        transfer(sizes(4096, 12_288, 20, true), seed, 50_000);
        transfer(sizes(131_072, 4096, 384, seed % 2 == 0), seed, 400_000);
        transfer(sizes(40_000, 131_072, 64, seed % 2 == 0), seed, 300_000);
    }
}

#[test]
fn sequence_numbers_wrap() {
    // More messages than sixteen bits count.
    transfer(sizes(4096, 4096, 0xFFFE, false), 3, 70_000);
    let mut random = Random::new(1);
    let (mut a, mut b) =
        (Side::new(sizes(4096, 4096, 16, false)), Side::new(sizes(4096, 4096, 16, false)));
    let (data_a, data_b) = (a.data(), b.data());
    a.flow.connect(&data_b);
    b.flow.connect(&data_a);
    while b.read < 200_000 {
        write(&mut a, &mut b, 1, 1);
        progress(&mut a, &mut b, &mut random);
        progress(&mut b, &mut a, &mut random);
        read(&mut b, 10);
    }
    assert!(a.written >= 200_000);
}

#[test]
fn a_peer_that_writes_too_much_is_caught() {
    let mut flow = Flow::new(sizes(8192, 8192, 16, false));
    assert_eq!(flow.message(StreamMessage::Data(8193)), Err(Errno::EPROTO));
    assert_eq!(flow.message(StreamMessage::Data(8192)), Ok(Effect::Nothing));
    assert_eq!(flow.message(StreamMessage::Data(1)), Err(Errno::EPROTO));
    assert_eq!(flow.message(StreamMessage::Data(0)), Ok(Effect::Nothing));
    assert_eq!(flow.message(StreamMessage::Iomap(4)), Err(Errno::EPROTO));
    assert_eq!(flow.message(StreamMessage::Iomap(3)), Ok(Effect::Nothing));
    assert_eq!(flow.unread(), 8192);
}

#[test]
fn no_sequence_of_messages_breaks_the_accounting() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let size = if random.below(2) == 0 { 8192 } else { 65_536 };
        let mut flow = Flow::new(sizes(8192, size, 16, random.below(2) == 0));
        for _ in 0..100 {
            let raw = match random.below(3) {
                0 => random.draw() as u32,
                1 => StreamMessage::Data(random.below(5000) as u32).encode(),
                _ => StreamMessage::Credit(random.draw() as u16).encode(),
            };
            if flow.message(StreamMessage::decode(raw)).is_err() {
                break;
            }
            flow.take_grant();
            flow.completed(WrId::decode(random.draw() >> random.below(33)));
            flow.consume(random.below(9000) as u32);
            let pieces = flow.readable(random.below(9000) as u32);
            assert!(pieces.iter().all(|(at, length)| at + length <= 8192));
            assert!(pieces[0].1 + pieces[1].1 <= flow.unread);
            assert_eq!(flow.unread + flow.granted + flow.free, 8192);
            change_rings(&mut flow, &mut random);
            let bytes = flow.transfer_size(random.draw(), MAX_TRANSFER);
            if bytes > 0 {
                flow.take_transfer(bytes, bytes);
            }
            assert!(flow.send_at < flow.send_size && flow.send_free <= flow.send_size);
        }
    }
}

#[test]
fn work_request_ids_keep_their_meaning() {
    for share in [Share::default(), Share { slots: u16::MAX, bytes: u32::MAX }] {
        for wr_id in [WrId::Data(share), WrId::Control(share), WrId::Receive(share.bytes)] {
            assert_eq!(WrId::decode(wr_id.encode()), wr_id);
        }
    }
}

/// Few completions, but whoever has to wait for room has one to wait for, and it brings all of it.
#[test]
fn a_sender_that_waits_has_a_completion_to_wait_for() {
    for split in [false, true] {
        for bytes in [0, 1, 700, 5000] {
            let mut flow = Flow::new(sizes(1 << 17, 1 << 15, 64, split));
            flow.limit = 1000;
            flow.remote_sgl[0] = Segment { address: 0, key: 0, length: u32::MAX };
            flow.grow();
            let (mut wr_ids, mut sent) = (Vec::new(), 0);
            while flow.transfer_size(bytes.max(1).into(), MAX_TRANSFER) >= bytes.max(1) {
                wr_ids.extend(flow.take_transfer(bytes.max(1), bytes).wr_id);
                sent += 1;
            }
            assert!(sent >= 4 && wr_ids.len() <= 5, "{sent} {wr_ids:?}");
            let ended_by_room = !flow.may_write_directly();
            assert!(!ended_by_room || flow.unsignaled == Share::default());
            wr_ids.extend(flow.take_control());
            wr_ids.into_iter().for_each(|wr_id| flow.completed(wr_id));
            assert!(flow.is_drained() && flow.send_free == 1 << 15);
        }
    }
}

/// A sender that only sends polls for completions before the queue is full.
#[test]
fn a_poll_is_due_once_in_a_quarter_of_the_queue() {
    let mut flow = Flow::new(sizes(1 << 17, 1 << 15, 64, false));
    flow.limit = 1000;
    flow.remote_sgl[0] = Segment { address: 0, key: 0, length: u32::MAX };
    assert!(flow.is_poll_due());
    let (mut due, mut sent) = (0, 0);
    while flow.transfer_size(1, 1) == 1 {
        flow.take_transfer(1, 0);
        sent += 1;
        due += u32::from(flow.is_poll_due());
        assert!(due >= sent / 16, "{due} of {sent}");
    }
    assert!(sent == 60 && flow.is_poll_due());
}
