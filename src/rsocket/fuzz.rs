// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! See `crate::fuzz`.

use super::datagram::packet::{self, SLOT};
use super::flow::{Flow, MAX_TRANSFER, Sizes, WrId};
use super::wire::{
    CONNECTION_DATA_SIZE, ConnectionData, IOMAP_ENTRY_SIZE, IomapEntry, SEGMENT_SIZE, Segment,
    StreamMessage,
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
    assert!(bytes.len() >= CONNECTION_DATA_SIZE && bytes[0] == 1);
    // The list, and the iomap table behind it, end within the address space.
    let list = u64::from(data.remote_sgl.length) * SEGMENT_SIZE as u64
        + u64::from(data.iomap_size) * IOMAP_ENTRY_SIZE as u64;
    assert!(data.remote_sgl.length >= 2 && data.remote_sgl.address.checked_add(list).is_some());
    assert!(data.first.address.checked_add(u64::from(data.first.length)).is_some());
    assert_eq!(ConnectionData::decode(&data.encode()), Ok(data));
    let mut flow = Flow::new(sizes(bytes[3]));
    flow.connect(&data);
    drive(&mut flow, &bytes[CONNECTION_DATA_SIZE..], sizes(bytes[3]));
}

/// A size, then steps of five bytes: what this side does, and what the peer sends meanwhile.
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
                if flow.message(StreamMessage::decode(raw)).is_err() {
                    return;
                }
            }
            1 => flow.consume(raw),
            2 => flow.add_segment(Segment {
                address: u64::MAX - u64::from(raw),
                key: raw,
                length: raw,
            }),
            _ => flow.completed(WrId::decode(u64::from(raw) << (step[4] >> 3))),
        }
        while let Some(grant) = flow.take_grant() {
            let half = grant.half.map_or(0, |(offset, _)| offset);
            assert!(half == 0 || half == sizes.receive_buffer / 2);
        }
        assert!(flow.unread() <= sizes.receive_buffer);
        for (at, length) in flow.readable(raw & 0xFFFF) {
            assert!(at.checked_add(length).is_some_and(|end| end <= sizes.receive_buffer));
        }
        change_ring(flow, step[4]);
        let size = flow.transfer_size(raw.into(), MAX_TRANSFER);
        if size > 0 {
            assert!(size <= sizes.send_buffer && size <= MAX_TRANSFER);
            let transfer = flow.take_transfer(size, size);
            assert!(transfer.from < sizes.send_buffer);
        }
        if let Some((from, _)) = flow.take_iomap(IOMAP_ENTRY_SIZE as u32) {
            assert!(from < sizes.send_buffer);
        }
    }
}

/// What a connection does at its own time.
fn change_ring(flow: &mut Flow, when: u8) {
    if when & 0xC0 == 0xC0 {
        flow.shrink();
    }
    if when & 0x20 != 0 && flow.would_send_more(u64::MAX) {
        flow.grow();
    }
}

pub fn sgl_entry(bytes: &[u8]) {
    let Some(raw) = bytes.first_chunk::<SEGMENT_SIZE>() else { return };
    let segment = Segment::from_bytes(*raw);
    assert_eq!(segment.to_bytes(false), *raw);
    assert_eq!(Segment::from_bytes(segment.to_bytes(true)).to_bytes(true), *raw);
    let sizes = sizes(0);
    let mut flow = Flow::new(sizes);
    // Credit, so that only the entry decides.
    assert!(flow.message(StreamMessage::Credit(0x7FFF)).is_ok());
    flow.add_segment(segment);
    let mut sent = 0_u64;
    while flow.transfer_size(u64::MAX, MAX_TRANSFER) > 0 {
        let size = flow.transfer_size(u64::MAX, MAX_TRANSFER);
        let transfer = flow.take_transfer(size, size);
        assert_eq!(transfer.address, segment.address.wrapping_add(sent));
        sent += u64::from(size);
    }
    assert!(sent <= u64::from(segment.length));
}

/// An entry, then the offset and the length of a lookup.
pub fn iomap_entry(bytes: &[u8]) {
    let Some((raw, rest)) = bytes.split_first_chunk::<IOMAP_ENTRY_SIZE>() else { return };
    let entry = IomapEntry::from_bytes(*raw);
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
