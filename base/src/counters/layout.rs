// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a reader finds in the page: a header, a table of names, and words of counters. The table says
//! where each counter is and of what kind, so that a reader needs to know no counter: one that is older
//! than the library shows what it has never heard of, and leaves out kinds that it does not know.
//!
//! Later versions may lengthen the header and the entries at their ends, and add kinds. Anything else is
//! another `MAGIC`. Numbers have the byte order of the machine.

use core::ffi::CStr;

/// The name of the memory file, in `/proc/PID/fd` and `/proc/PID/maps`.
pub const FILE: &CStr = c"rdmacm-stats";
pub const MAGIC: [u8; 8] = *b"RDMACMST";
pub const VERSION: u32 = 1;
/// Room for a name, with a zero byte behind it.
pub const NAME: usize = 48;
/// Numbers that a series tells apart. The last place is for all others.
pub const SLOTS: usize = 16;
/// The key of a place that nobody has taken; that of a number has its bits behind `KEY`.
pub const FREE: u64 = 0;
pub const KEY: u64 = 1 << 32;
pub const OTHERS: u64 = 2 << 32;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    pub magic: [u8; 8],
    pub version: u32,
    pub header_size: u32,
    pub entry_size: u32,
    pub entries: u32,
    /// Of the whole page.
    pub page_size: u32,
    /// The process that counts, by its own name for itself.
    pub process: u32,
    /// Nanoseconds since 1970 at the first count.
    pub since: u64,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    pub name: [u8; NAME],
    pub kind: Kind,
    /// Bytes from the start of the page.
    pub offset: u32,
    /// Bytes of the counter.
    pub size: u32,
    pub reserved: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// One word that grows.
    Total = 1,
    /// One word: how many there are now.
    Gauge = 2,
    /// Pairs of a key and a word that grows. Keys are errno values.
    Errnos = 3,
    /// The same for other numbers: statuses of events. Negative ones are errno values.
    Numbers = 4,
}

impl Kind {
    const fn words(self) -> usize {
        match self {
            Kind::Total | Kind::Gauge => 1,
            Kind::Errnos | Kind::Numbers => 2 * SLOTS,
        }
    }
}

/// Counters as the libraries name them: the first word of each.
#[derive(Clone, Copy, Debug)]
pub struct Total(pub(super) u32);
#[derive(Clone, Copy, Debug)]
pub struct Gauge(pub(super) u32);
#[derive(Clone, Copy, Debug)]
pub struct Errnos(pub(super) u32);
#[derive(Clone, Copy, Debug)]
pub struct Numbers(pub(super) u32);

macro_rules! counters {
    ($($constant:ident $kind:ident $name:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Order { $($constant,)* }
        const KINDS: &[Kind] = &[$(Kind::$kind),*];
        $(pub const $constant: $kind = $kind(first_word(Order::$constant as usize));)*
        pub static ENTRIES: [Entry; KINDS.len()] =
            [$(entry($name, Order::$constant as usize)),*];
    };
}

const fn first_word(index: usize) -> u32 {
    let (mut word, mut at) = (0, 0);
    while at < index {
        word += KINDS[at].words();
        at += 1;
    }
    word as u32
}

const fn entry(text: &str, index: usize) -> Entry {
    let (mut name, text) = ([0; NAME], text.as_bytes());
    assert!(text.len() < NAME);
    let mut at = 0;
    while at < text.len() {
        name[at] = text[at];
        at += 1;
    }
    let offset = (WORDS_AT + first_word(index) as usize * size_of::<u64>()) as u32;
    let size = (KINDS[index].words() * size_of::<u64>()) as u32;
    Entry { name, kind: KINDS[index], offset, size, reserved: 0 }
}

/// All words of the counters.
pub(super) const WORDS: usize = first_word(KINDS.len()) as usize;
/// Where they begin.
pub(super) const WORDS_AT: usize =
    (size_of::<Header>() + KINDS.len() * size_of::<Entry>()).next_multiple_of(64);
pub(super) const PAGE_SIZE: usize = WORDS_AT + WORDS * size_of::<u64>();

// What comes before the first dot is the group that a reader shows it in.
counters! {
    IDS_NOW Gauge "ids.now";
    IDS_MADE Total "ids.made";
    QUEUE_PAIRS_NOW Gauge "queue pairs.now";
    QUEUE_PAIRS_MADE Total "queue pairs.made";
    CONNECTIONS_MADE Total "connections.made";
    CONNECTIONS_ACCEPTED Total "connections.accepted";
    CONNECTIONS_REJECTED Numbers "connections.rejected, status";
    CONNECTIONS_FAILED Errnos "connections.failed";
    RESOLUTIONS_FAILED Errnos "resolutions.failed";
    COMMANDS_FAILED Errnos "commands.refused by the kernel";
    EVENTS Total "events.ADDR_RESOLVED";
    EVENT_1 Total "events.ADDR_ERROR";
    EVENT_2 Total "events.ROUTE_RESOLVED";
    EVENT_3 Total "events.ROUTE_ERROR";
    EVENT_4 Total "events.CONNECT_REQUEST";
    EVENT_5 Total "events.CONNECT_RESPONSE";
    EVENT_6 Total "events.CONNECT_ERROR";
    EVENT_7 Total "events.UNREACHABLE";
    EVENT_8 Total "events.REJECTED";
    EVENT_9 Total "events.ESTABLISHED";
    EVENT_10 Total "events.DISCONNECTED";
    EVENT_11 Total "events.DEVICE_REMOVAL";
    EVENT_12 Total "events.MULTICAST_JOIN";
    EVENT_13 Total "events.MULTICAST_ERROR";
    EVENT_14 Total "events.ADDR_CHANGE";
    EVENT_15 Total "events.TIMEWAIT_EXIT";
    EVENT_16 Total "events.ADDRINFO_RESOLVED";
    EVENT_17 Total "events.ADDRINFO_ERROR";
    EVENT_18 Total "events.USER";
    RSOCKETS_NOW Gauge "rsockets.now";
    RSOCKETS_OPENED Total "rsockets.opened";
    RSOCKETS_CONNECTED Total "rsockets.connected";
    RSOCKETS_ACCEPTED Total "rsockets.accepted";
    RSOCKETS_FAILED Errnos "rsockets.not connected";
    RSOCKETS_LOST Errnos "rsockets.lost";
    BYTES_IN Total "rsockets.bytes in";
    BYTES_OUT Total "rsockets.bytes out";
    MESSAGES_IN Total "rsockets.messages in";
    MESSAGES_OUT Total "rsockets.messages out";
    COMPLETIONS Total "rsockets.completions";
    WAITS Total "rsockets.waits";
    SLEEPS Total "rsockets.sleeps";
    POOLED Gauge "pool.parts";
    POOLED_BYTES Gauge "pool.bytes";
    PRELOAD_RDMA Total "preload.by RDMA";
    PRELOAD_FAILED Total "preload.failed, RDMA is required";
    PRELOAD_KERNEL Total "preload.by the kernel";
    PRELOAD_NO_DEVICE Total "preload.why: no RDMA device leads there";
    PRELOAD_LOOPBACK Total "preload.why: loopback";
    PRELOAD_MULTICAST Total "preload.why: multicast or broadcast";
    PRELOAD_SILENT_HOST Total "preload.why: silent within the last minute";
    PRELOAD_REFUSED Errnos "preload.why: refused over RDMA";
    PRELOAD_NO_ANSWER Total "preload.why: no answer over RDMA in time";
    PRELOAD_CONFIGURATION Total "preload.why: left out by preload_config";
    PRELOAD_OPTION Total "preload.why: an option of the kernel's sockets";
    PRELOAD_SERVICE Total "preload.why: the port of a service on UDP";
    PRELOAD_UNAVAILABLE Errnos "preload.why: RDMA is not available";
    PRELOAD_CLIENT Total "preload.why: the client connected by TCP";
    PRELOAD_HANDED_OVER Total "preload.why: sent to another process";
    PRELOAD_PORT_IN_USE Total "preload.why: the port is taken over RDMA";
    PRELOAD_NOT_ACCEPTED Total "preload.why: not accepted in time";
    PRELOAD_RDMA_IN Total "preload.bytes in by RDMA";
    PRELOAD_RDMA_OUT Total "preload.bytes out by RDMA";
    PRELOAD_KERNEL_IN Total "preload.bytes in by the kernel";
    PRELOAD_KERNEL_OUT Total "preload.bytes out by the kernel";
}

/// The counter of an event's kind, by its number in `enum rdma_cm_event_type`. None for the library's
/// own.
#[must_use]
pub fn of_event(kind: u32) -> Option<Total> {
    let word = EVENTS.0.checked_add(kind)?;
    (word <= EVENT_18.0).then_some(Total(word))
}

impl Header {
    pub(super) fn of(process: u32, since: u64) -> Header {
        Header {
            magic: MAGIC,
            version: VERSION,
            header_size: size_of::<Header>() as u32,
            entry_size: size_of::<Entry>() as u32,
            entries: ENTRIES.len() as u32,
            page_size: PAGE_SIZE as u32,
            process,
            since,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_lie_one_behind_the_other_with_names_of_their_own() {
        let mut end = WORDS_AT as u32;
        let mut names = std::collections::BTreeSet::new();
        for entry in &ENTRIES {
            assert_eq!(entry.offset, end);
            assert!(entry.name.contains(&b'.') && names.insert(entry.name));
            end += entry.size;
        }
        assert_eq!(end, PAGE_SIZE as u32);
        assert_eq!((size_of::<Header>(), size_of::<Entry>()), (40, 64));
    }

    #[test]
    fn events_have_the_counters_of_their_numbers() {
        let name = |kind| {
            let word = of_event(kind).map_or(0, |counter| counter.0);
            let offset = (WORDS_AT + word as usize * 8) as u32;
            let entry = ENTRIES.iter().find(|entry| entry.offset == offset);
            entry
                .map(|entry| String::from_utf8_lossy(&entry.name).trim_end_matches('\0').to_owned())
        };
        assert_eq!(name(0).as_deref(), Some("events.ADDR_RESOLVED"));
        assert_eq!(name(8).as_deref(), Some("events.REJECTED"));
        assert_eq!(name(18).as_deref(), Some("events.USER"));
        assert!(of_event(19).is_none() && of_event(u32::MAX).is_none());
    }
}
