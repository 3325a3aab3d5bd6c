//! See `crate::fuzz`.

use super::datagram::packet::{self, SLOT};
use super::flow::{Flow, MAX_TRANSFER, Sizes, Tag};
use super::wire::{
    CONNECTION_DATA, ConnectionData, IOMAP_ENTRY, IomapEntry, Message, SEGMENT, Segment,
};

fn sizes(selector: u8) -> Sizes {
    Sizes {
        receive_buffer: [4096, 8192, 131_072, 1 << 30][usize::from(selector & 3)],
        send_buffer: [4096, 12_288, 131_072, 1 << 30][usize::from(selector >> 2 & 3)],
        send_queue: 16 + u32::from(selector),
        receive_queue: [16, 384, 0xFFFE, 17][usize::from(selector >> 4 & 3)],
        iomap: u16::from(selector >> 6) * 64,
        split: selector & 0x40 != 0,
    }
}

pub fn connection_data(bytes: &[u8]) {
    let Ok(data) = ConnectionData::decode(bytes) else { return };
    assert!(bytes.len() >= CONNECTION_DATA && bytes[0] == 1);
    // The list, and the iomap table behind it, end within the address space.
    let list = u64::from(data.targets.length) * SEGMENT as u64
        + u64::from(data.iomap_size) * IOMAP_ENTRY as u64;
    assert!(data.targets.length >= 2 && data.targets.address.checked_add(list).is_some());
    assert!(data.first.address.checked_add(u64::from(data.first.length)).is_some());
    assert_eq!(ConnectionData::decode(&data.encode()), Ok(data));
    let mut flow = Flow::new(sizes(bytes[3]));
    flow.connect(&data);
    drive(&mut flow, &bytes[CONNECTION_DATA..], sizes(bytes[3]));
}

/// A size, then steps of five bytes: what this side does, and what the peer says meanwhile.
pub fn stream_messages(bytes: &[u8]) {
    let Some((selector, steps)) = bytes.split_first() else { return };
    let sizes = sizes(*selector);
    drive(&mut Flow::new(sizes), steps, sizes);
}

fn drive(flow: &mut Flow, steps: &[u8], sizes: Sizes) {
    for step in steps.chunks_exact(5) {
        let raw = u32::from_be_bytes([step[0], step[1], step[2], step[3]]);
        match step[4] & 3 {
            0 => {
                if flow.message(Message::decode(raw)).is_err() {
                    return;
                }
            }
            1 => flow.consume(raw),
            2 => flow.add_target(Segment {
                address: u64::MAX - u64::from(raw),
                key: raw,
                length: raw,
            }),
            _ => flow.completed(Tag::decode(u64::from(raw) << (step[4] >> 3))),
        }
        while let Some(grant) = flow.take_grant() {
            let half = grant.half.map_or(0, |(offset, _)| offset);
            assert!(half == 0 || half == sizes.receive_buffer / 2);
        }
        assert!(flow.unread() <= sizes.receive_buffer);
        for (at, length) in flow.readable(raw & 0xFFFF) {
            assert!(at.checked_add(length).is_some_and(|end| end <= sizes.receive_buffer));
        }
        let size = flow.transfer_size(raw.into(), MAX_TRANSFER);
        if size > 0 {
            assert!(size <= sizes.send_buffer && size <= MAX_TRANSFER);
            let transfer = flow.take_transfer(size, size);
            assert!(transfer.from < sizes.send_buffer);
        }
        if let Some((from, _)) = flow.take_iomap(IOMAP_ENTRY as u32) {
            assert!(from < sizes.send_buffer);
        }
    }
}

pub fn target_entry(bytes: &[u8]) {
    let Some(raw) = bytes.first_chunk::<SEGMENT>() else { return };
    let segment = Segment::from_entry(raw);
    assert_eq!(segment.to_entry(false), *raw);
    assert_eq!(Segment::from_entry(&segment.to_entry(true)).to_entry(true), *raw);
    let sizes = sizes(0);
    let mut flow = Flow::new(sizes);
    // Credit, so that only the entry decides.
    assert!(flow.message(Message::Credit(0x7FFF)).is_ok());
    flow.add_target(segment);
    let mut sent = 0_u64;
    while flow.transfer_size(u64::MAX, MAX_TRANSFER) > 0 {
        let size = flow.transfer_size(u64::MAX, MAX_TRANSFER);
        let transfer = flow.take_transfer(size, size);
        assert_eq!(transfer.address, segment.address.wrapping_add(sent));
        sent += u64::from(size);
    }
    assert!(sent <= u64::from(segment.length));
}

/// An entry, then the offset and the length that are asked for.
pub fn iomap_entry(bytes: &[u8]) {
    let Some((raw, rest)) = bytes.split_first_chunk::<IOMAP_ENTRY>() else { return };
    let entry = IomapEntry::from_bytes(raw);
    assert_eq!(entry.to_bytes(false), *raw);
    let word = |at: usize| {
        rest.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |raw| u64::from_ne_bytes(*raw))
    };
    let (offset, wanted) = (word(0), word(8));
    for offset in [offset, entry.offset, entry.offset.wrapping_add(offset & 0xFFFF)] {
        let Some((_, key, length)) = entry.at(offset, wanted) else { continue };
        let inside = offset - entry.offset;
        assert!(key == entry.segment.key && length <= wanted);
        assert!(inside + length <= u64::from(entry.segment.length));
    }
}

pub fn udp_packet(bytes: &[u8]) {
    let Some(header) = packet::decode_udp(bytes) else { return };
    assert!(header.length <= bytes.len() && matches!(header.length, 16 | 28));
    assert!(header.queue_pair < 1 << 24);
}

pub fn datagram_slot(bytes: &[u8]) {
    let Some((from, length)) = packet::decode_slot(bytes) else { return };
    assert!(length <= bytes.len() && matches!(length, 8 | 24) && length < SLOT);
    assert_eq!(packet::encode_slot(&from).bytes().len(), length);
}
