use super::super::random::Random;
use super::super::wire::{ConnectionData, Message, Segment};
use super::*;
use std::collections::VecDeque;

fn sizes(receive_buffer: u32, send_buffer: u32, queue: u32, split: bool) -> Sizes {
    Sizes { receive_buffer, send_buffer, send_queue: queue, receive_queue: queue, iomap: 4, split }
}

/// One side of a model connection: the books, the memory, and what the network holds for it.
struct Side {
    flow: Flow,
    receive: Vec<u8>,
    send: Vec<u8>,
    target_list: [Segment; 2],
    inbox: VecDeque<Message>,
    posted: VecDeque<Tag>,
    written: u64,
    read: u64,
}

impl Side {
    fn new(sizes: Sizes) -> Side {
        Side {
            flow: Flow::new(sizes),
            receive: vec![0; sizes.receive_buffer as usize],
            send: vec![0; sizes.send_buffer as usize],
            target_list: [Segment::default(); 2],
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
            targets: Segment { address: 0, key: 0, length: TARGETS },
            first: Segment { address: 0, key: 0, length: self.flow.half() },
        }
    }

    fn check(&self) {
        let flow = &self.flow;
        assert_eq!(flow.unread + flow.granted + flow.free, flow.sizes.receive_buffer);
        assert!(flow.send_free <= flow.sizes.send_buffer);
        assert!(self.inbox.len() <= flow.sizes.receive_queue as usize + CONTROL as usize);
    }
}

fn byte(position: u64) -> u8 {
    (position ^ (position >> 8)) as u8
}

fn progress(side: &mut Side, other: &mut Side, random: &mut Random) {
    for _ in 0..random.below(4) {
        let Some(message) = side.inbox.pop_front() else { break };
        assert_eq!(side.flow.message(message), Ok(Event::Nothing));
    }
    while let Some(place) = side.flow.awaited_target() {
        let entry = std::mem::take(&mut side.target_list[place as usize]);
        if entry.length == 0 {
            break;
        }
        side.flow.add_target(entry);
    }
    for _ in 0..random.below(4) {
        let Some(tag) = side.posted.pop_front() else { break };
        side.flow.completed(tag);
    }
    if let Some(grant) = side.flow.take_grant() {
        if let Some((offset, place)) = grant.half {
            let entry = &mut other.target_list[place as usize];
            assert_eq!(entry.length, 0, "an entry in use was overwritten");
            *entry = Segment { address: u64::from(offset), key: 0, length: side.flow.half() };
            if side.flow.sizes.split {
                side.posted.push_back(Tag::Control(Share::default()));
            }
        }
        side.posted.push_back(grant.tag);
        other.inbox.push_back(Message::Credit(grant.limit));
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
        let from = ((transfer.from + step) % side.flow.sizes.send_buffer) as usize;
        side.send[from] = byte(side.written);
        side.written += 1;
        other.receive[(transfer.address + u64::from(step)) as usize] = side.send[from];
    }
    side.posted.extend(transfer.tag);
    other.inbox.push_back(Message::Data(bytes));
    u64::from(bytes)
}

fn read(side: &mut Side, at_most: u32) {
    for (at, length) in side.flow.readable(at_most) {
        for place in at..at + length {
            assert_eq!(side.receive[place as usize], byte(side.read));
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
    assert_eq!(flow.message(Message::Data(4097)), Err(Errno::EPROTO));
    assert_eq!(flow.message(Message::Data(4096)), Ok(Event::Nothing));
    assert_eq!(flow.message(Message::Data(1)), Err(Errno::EPROTO));
    assert_eq!(flow.message(Message::Data(0)), Ok(Event::Nothing));
    assert_eq!(flow.message(Message::Iomap(4)), Err(Errno::EPROTO));
    assert_eq!(flow.message(Message::Iomap(3)), Ok(Event::Nothing));
    assert_eq!(flow.unread(), 4096);
}

#[test]
fn no_sequence_of_messages_breaks_the_books() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let mut flow = Flow::new(sizes(8192, 8192, 16, random.below(2) == 0));
        for _ in 0..100 {
            let raw = match random.below(3) {
                0 => random.next() as u32,
                1 => Message::Data(random.below(5000) as u32).encode(),
                _ => Message::Credit(random.next() as u16).encode(),
            };
            if flow.message(Message::decode(raw)).is_err() {
                break;
            }
            flow.take_grant();
            flow.completed(Tag::decode(random.next() >> random.below(33)));
            flow.consume(random.below(9000) as u32);
            let pieces = flow.readable(random.below(9000) as u32);
            assert!(pieces.iter().all(|(at, length)| at + length <= 8192));
            assert!(pieces[0].1 + pieces[1].1 <= flow.unread);
            assert_eq!(flow.unread + flow.granted + flow.free, 8192);
            let bytes = flow.transfer_size(random.next(), MAX_TRANSFER);
            if bytes > 0 {
                flow.take_transfer(bytes, bytes);
            }
            assert!(flow.send_at < 8192);
        }
    }
}

#[test]
fn tags_keep_their_meaning() {
    for share in [Share::default(), Share { slots: u16::MAX, bytes: u32::MAX }] {
        for tag in [Tag::Data(share), Tag::Control(share), Tag::Receive(share.bytes)] {
            assert_eq!(Tag::decode(tag.encode()), tag);
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
            flow.targets[0] = Segment { address: 0, key: 0, length: u32::MAX };
            let (mut tags, mut sent) = (Vec::new(), 0);
            while flow.transfer_size(bytes.max(1).into(), MAX_TRANSFER) >= bytes.max(1) {
                tags.extend(flow.take_transfer(bytes.max(1), bytes).tag);
                sent += 1;
            }
            assert!(sent >= 4 && tags.len() <= 5, "{sent} {tags:?}");
            let ended_by_room = !flow.may_write_directly();
            assert!(!ended_by_room || flow.untold == Share::default());
            tags.extend(flow.take_control());
            tags.into_iter().for_each(|tag| flow.completed(tag));
            assert!(flow.is_drained() && flow.send_free == 1 << 15);
        }
    }
}

/// Who only sends looks at what has completed before the queue is full.
#[test]
fn a_look_is_due_once_in_a_quarter_of_the_queue() {
    let mut flow = Flow::new(sizes(1 << 17, 1 << 15, 64, false));
    flow.limit = 1000;
    flow.targets[0] = Segment { address: 0, key: 0, length: u32::MAX };
    assert!(flow.is_look_due());
    let (mut due, mut sent) = (0, 0);
    while flow.transfer_size(1, 1) == 1 {
        flow.take_transfer(1, 0);
        sent += 1;
        due += u32::from(flow.is_look_due());
        assert!(due >= sent / 16, "{due} of {sent}");
    }
    assert!(sent == 60 && flow.is_look_due());
}
