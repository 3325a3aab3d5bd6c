//! What is known of the other ends of a datagram rsocket. Any stranger can make an entry, so their
//! number is limited and old ones go.

use crate::counted::Counted;
use crate::types::SocketAddress;
use crate::verbs::AddressHandle;
use libc::AF_INET6;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const MOST: usize = 1024;
/// Entries that nobody used for so long go first.
const EXPIRY: Duration = Duration::from_secs(600);
/// A peer that was not heard of for so long is asked again for its queue pair.
const CONFIRMATION: Duration = Duration::from_secs(10);
/// Between two searches for a way to the same peer.
const PAUSE: Duration = Duration::from_secs(2);
/// Searches of one socket at the same time.
const SEARCHES: usize = 16;

/// Family, port, address and scope.
pub(super) type Key = [u8; 28];

pub(super) fn key(address: &SocketAddress) -> Key {
    let mut key = [0; 28];
    let raw = address.bytes();
    let length = raw.len().min(28);
    key[..length].copy_from_slice(&raw[..length]);
    // The flow label is no part of who somebody is.
    if address.family() == AF_INET6 {
        key[4..8].fill(0);
    }
    key
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    None,
    Running,
    Failed(Instant),
}

/// One peer.
pub(super) struct Peer {
    /// The local address that packets to it leave from.
    pub(super) local: Option<SocketAddress>,
    /// It sends packets without our header, and wants none.
    pub(super) is_plain: bool,
    /// Number of its queue pair, zero while unknown.
    number: u32,
    handle: Option<Counted<AddressHandle>>,
    search: Search,
    used: Instant,
    confirmed: Instant,
}

impl Peer {
    fn new(now: Instant) -> Peer {
        Peer {
            local: None,
            is_plain: false,
            number: 0,
            handle: None,
            search: Search::None,
            used: now,
            confirmed: now,
        }
    }

    /// The way over the device, if it is known and fresh.
    pub(super) fn way(&mut self, now: Instant) -> Option<(Counted<AddressHandle>, u32)> {
        let handle = self.handle.as_ref().filter(|_| self.number != 0)?;
        if now.duration_since(self.confirmed) > CONFIRMATION {
            // One datagram goes by UDP, which the peer answers; not each until it does.
            self.confirmed = now;
            return None;
        }
        Some((Counted::clone(handle), self.number))
    }

    /// The peer told its queue pair; true when the way to it is still to be found.
    fn tell(&mut self, number: u32, now: Instant) -> bool {
        self.number = number;
        self.confirmed = now;
        let idle = match self.search {
            Search::None => true,
            Search::Running => false,
            Search::Failed(then) => now.duration_since(then) > PAUSE,
        };
        number != 0 && self.handle.is_none() && idle
    }
}

/// All peers of a socket.
#[derive(Default)]
pub(super) struct Peers {
    known: HashMap<Key, Peer>,
    searches: usize,
}

impl Peers {
    /// The entry of a peer that we send to, made where there is none.
    pub(super) fn entry(&mut self, key: Key, now: Instant) -> Option<&mut Peer> {
        if !self.known.contains_key(&key) {
            self.make_room(now);
            self.known.try_reserve(1).ok()?;
        }
        let peer = self.known.entry(key).or_insert_with(|| Peer::new(now));
        peer.used = now;
        Some(peer)
    }

    /// Local addresses are asked for anew.
    pub(super) fn forget_sources(&mut self) {
        for peer in self.known.values_mut() {
            peer.local = None;
        }
    }

    pub(super) fn knows(&self, key: &Key) -> bool {
        self.known.contains_key(key)
    }

    /// A packet told a queue pair; true when a search is to start now, which is then counted.
    pub(super) fn told(&mut self, key: Key, number: u32, now: Instant) -> bool {
        let may_search = self.searches < SEARCHES;
        let Some(peer) = self.entry(key, now) else { return false };
        let start = peer.tell(number, now) && may_search;
        if start {
            peer.search = Search::Running;
            self.searches += 1;
        }
        start
    }

    /// A search has ended, with or without a way.
    pub(super) fn found(
        &mut self,
        key: &Key,
        handle: Option<Counted<AddressHandle>>,
        now: Instant,
    ) {
        self.searches = self.searches.saturating_sub(1);
        if let Some(peer) = self.known.get_mut(key) {
            peer.search = if handle.is_some() { Search::None } else { Search::Failed(now) };
            peer.handle = handle;
        }
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    fn make_room(&mut self, now: Instant) {
        if self.known.len() < MOST {
            return;
        }
        self.known.retain(|_, peer| now.duration_since(peer.used) < EXPIRY);
        if self.known.len() < MOST {
            return;
        }
        let oldest = self.known.iter().min_by_key(|(_, peer)| peer.used).map(|(key, _)| *key);
        if let Some(oldest) = oldest {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: u32) -> Key {
        let mut key = [0; 28];
        key[..4].copy_from_slice(&number.to_ne_bytes());
        key
    }

    #[test]
    fn strangers_do_not_fill_the_memory() {
        let mut peers = Peers::default();
        let start = Instant::now();
        for number in 0..5_000 {
            let now = start + Duration::from_micros(number.into());
            assert!(peers.entry(numbered(number), now).is_some());
            assert!(peers.known.len() <= MOST);
        }
        // The latest are kept.
        assert!(peers.knows(&numbered(4_999)));
        assert!(!peers.knows(&numbered(0)));
    }

    #[test]
    fn searches_are_limited_and_not_repeated_at_once() {
        let mut peers = Peers::default();
        let now = Instant::now();
        let started = (0..100).filter(|number| peers.told(numbered(*number), 5, now)).count();
        assert_eq!(started, SEARCHES);
        assert!(!peers.told(numbered(0), 5, now));
        peers.found(&numbered(0), None, now);
        assert!(!peers.told(numbered(0), 5, now + Duration::from_secs(1)));
        assert!(peers.told(numbered(0), 5, now + Duration::from_secs(3)));
        // Without a queue pair there is nothing to find.
        peers.found(&numbered(1), None, now);
        assert!(!peers.told(numbered(200), 0, now));
    }
}
