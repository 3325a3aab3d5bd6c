// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What is known of the peers of a datagram rsocket. Anybody's packet makes an entry, so their
//! number is limited, also that of each host, and old ones are evicted.
//!
//! Anybody can send a packet with a peer's address. So the number of a queue pair counts only as the
//! answer to a question: a datagram that we sent by UDP, which reaches the peer itself. The protocol
//! has no room for a cookie; instead all answers to a question have to agree:
//!
//! | a packet names | what follows |
//! |---|---|
//! | in an answer, the known number, or the first one | it is confirmed |
//! | in an answer, another number | that one, where no answer says otherwise for `SETTLE` |
//! | in answers, two numbers | datagrams go by UDP for `CONFIRMATION` |
//! | with a datagram, another number | datagrams go by UDP, which are questions, until one is answered |

use crate::types::SocketAddress;
use crate::verbs::AddressHandle;
use base::arc::Arc;
use base::time::Instant;
use core::time::Duration;
use hashbrown::HashMap;
use libc::AF_INET6;

const MOST: usize = 1024;
/// Of one host: an IPv4 address, or 64 bits of an IPv6 address.
const MOST_OF_HOST: usize = 256;
/// Entries that nobody used for so long go first.
const EXPIRY: Duration = Duration::from_secs(600);
/// A peer that has sent nothing for so long has to confirm its queue pair.
const CONFIRMATION: Duration = Duration::from_secs(10);
/// How long what comes from a peer may be the answer to a question.
const ANSWER: Duration = Duration::from_secs(2);
/// How long a new number waits for another answer that denies it.
const SETTLE: Duration = Duration::from_millis(200);
/// Between two doubts that packets raise which nobody asked for.
const DOUBT_PAUSE: Duration = Duration::from_secs(1);
/// Between two searches for a route to the same peer.
const PAUSE: Duration = Duration::from_secs(2);
/// Searches of one socket at the same time.
const SEARCHES: usize = 16;

/// Family, port, address and scope.
pub(super) type PeerKey = [u8; 28];

pub(super) fn key(address: &SocketAddress) -> PeerKey {
    let mut key = [0; 28];
    let raw = address.bytes();
    let length = raw.len().min(28);
    key[..length].copy_from_slice(&raw[..length]);
    // The flow label does not tell peers apart.
    if address.family() == AF_INET6 {
        key[4..8].fill(0);
    }
    key
}

/// The host in a key, and how much of it tells hosts apart.
fn host(key: &PeerKey) -> &[u8] {
    let family = libc::sa_family_t::from_ne_bytes([key[0], key[1]]);
    let is_mapped = key[8..20] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];
    match i32::from(family) {
        AF_INET6 if is_mapped => &key[20..24],
        AF_INET6 => &key[8..16],
        _ => &key[4..8],
    }
}

/// Why the number of a queue pair is not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doubt {
    None,
    /// It has come with a packet that nobody asked for, or another one has.
    Unasked,
    /// An answer names another one, from that time on.
    Changed(u32, Instant),
    /// Answers disagree, until that time.
    Disputed(Instant),
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
    /// When it sent a packet without our header last: it wants none. None for an rsocket, and for a
    /// peer that has sent nothing.
    plain: Option<Instant>,
    /// It has sent a packet with our header.
    pub(super) is_rsocket: bool,
    /// Number of its queue pair, zero while unknown.
    number: u32,
    handle: Option<Arc<AddressHandle>>,
    search: Search,
    used: Instant,
    confirmed: Instant,
    /// The program has sent to it.
    is_target: bool,
    doubt: Doubt,
    doubted: Option<Instant>,
    /// The last question, and the number in the answers to it, zero while there is none.
    asked: Option<Instant>,
    answer: u32,
}

impl Peer {
    fn new(now: Instant) -> Peer {
        Peer {
            local: None,
            plain: None,
            is_rsocket: false,
            number: 0,
            handle: None,
            search: Search::None,
            used: now,
            confirmed: now,
            is_target: false,
            doubt: Doubt::None,
            doubted: None,
            asked: None,
            answer: 0,
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    pub(super) fn sent_plain(&mut self, now: Instant) {
        (self.plain, self.is_rsocket) = (Some(now), false);
    }

    /// Whether what begins like our header is the program's own data. Another program may have the
    /// peer's address some time later.
    pub(super) fn is_surely_plain(&self, now: Instant) -> bool {
        self.plain.is_some_and(|last| now.duration_since(last) < CONFIRMATION)
    }

    /// The route over the device, if it is known, undoubted and fresh.
    pub(super) fn route(&mut self, now: Instant) -> Option<(Arc<AddressHandle>, u32)> {
        self.is_target = true;
        let handle = Arc::clone(self.handle.as_ref()?);
        Some((handle, self.number_for_datagram(now)?))
    }

    /// The number that a datagram may go to; None where it goes by UDP.
    fn number_for_datagram(&mut self, now: Instant) -> Option<u32> {
        match self.doubt {
            Doubt::Changed(number, since) if now.duration_since(since) > SETTLE => {
                (self.number, self.doubt, self.confirmed) = (number, Doubt::None, now);
            }
            Doubt::Disputed(until) if until <= now => self.doubt = Doubt::Unasked,
            _ => {}
        }
        if self.number == 0 || self.doubt != Doubt::None {
            return None;
        }
        if now.duration_since(self.confirmed) > CONFIRMATION {
            // One datagram goes by UDP, which the peer answers; not each until it does.
            self.confirmed = now;
            return None;
        }
        Some(self.number)
    }

    /// A datagram goes by UDP, which an rsocket answers.
    pub(super) fn asks(&mut self, now: Instant) {
        if !self.is_asked(now) {
            (self.asked, self.answer) = (Some(now), 0);
        }
    }

    fn is_asked(&self, now: Instant) -> bool {
        self.asked.is_some_and(|asked| now.duration_since(asked) < ANSWER)
    }

    /// A packet names the peer's queue pair; true when the route to it is still to be found.
    fn named(&mut self, number: u32, is_answer: bool, now: Instant) -> bool {
        (self.plain, self.is_rsocket) = (None, true);
        if is_answer {
            self.answered(number, now);
        } else if self.number == 0 {
            (self.number, self.doubt) = (number, Doubt::Unasked);
        } else if number != self.number && self.doubt == Doubt::None {
            let is_soon = |doubted| now.duration_since(doubted) < DOUBT_PAUSE;
            if !self.doubted.is_some_and(is_soon) {
                (self.doubt, self.doubted) = (Doubt::Unasked, Some(now));
            }
        }
        let idle = match self.search {
            Search::None => true,
            Search::Running => false,
            Search::Failed(then) => now.duration_since(then) > PAUSE,
        };
        number != 0 && self.handle.is_none() && idle
    }

    fn answered(&mut self, number: u32, now: Instant) {
        if self.answer != 0 && self.answer != number {
            self.doubt = Doubt::Disputed(now + CONFIRMATION);
            return;
        }
        self.answer = number;
        match self.doubt {
            Doubt::Disputed(_) | Doubt::Changed(..) => {}
            _ if number == self.number || self.number == 0 => {
                (self.number, self.doubt, self.confirmed) = (number, Doubt::None, now);
            }
            _ => self.doubt = Doubt::Changed(number, now),
        }
    }
}

/// All peers of a socket.
#[derive(Default)]
pub(super) struct Peers {
    known: HashMap<PeerKey, Peer>,
    searches: usize,
}

impl Peers {
    /// The entry of a peer that we send to, made where there is none.
    pub(super) fn entry(&mut self, key: PeerKey, now: Instant) -> Option<&mut Peer> {
        if !self.known.contains_key(&key) {
            self.make_room(&key, now);
            self.known.try_reserve(1).ok()?;
        }
        let peer = self.known.entry(key).or_insert_with(|| Peer::new(now));
        peer.used = now;
        Some(peer)
    }

    /// Local addresses are looked up again.
    pub(super) fn forget_sources(&mut self) {
        for peer in self.known.values_mut() {
            peer.local = None;
        }
    }

    /// Their handles are of no use any more; the next packet to each goes by UDP.
    pub(super) fn forget_routes(&mut self) {
        for peer in self.known.values_mut() {
            (peer.number, peer.doubt, peer.handle) = (0, Doubt::None, None);
        }
    }

    pub(super) fn get(&self, key: &PeerKey) -> Option<&Peer> {
        self.known.get(key)
    }

    /// Nobody is there: the next packet goes by UDP.
    pub(super) fn forget_route(&mut self, key: &PeerKey) {
        if let Some(peer) = self.known.get_mut(key) {
            (peer.number, peer.doubt) = (0, Doubt::None);
        }
    }

    /// A datagram has named its sender's queue pair; true when a search is to start now, which is
    /// then counted.
    pub(super) fn named_in_datagram(&mut self, key: PeerKey, number: u32, now: Instant) -> bool {
        self.named(key, number, false, now)
    }

    /// An answer names a queue pair, if there was a question; else it means nothing. As above.
    pub(super) fn named_in_answer(&mut self, key: PeerKey, number: u32, now: Instant) -> bool {
        let is_asked = self.known.get(&key).is_some_and(|peer| peer.is_asked(now));
        is_asked && number != 0 && self.named(key, number, true, now)
    }

    fn named(&mut self, key: PeerKey, number: u32, is_answer: bool, now: Instant) -> bool {
        let may_search = self.searches < SEARCHES;
        let Some(peer) = self.entry(key, now) else { return false };
        let start = peer.named(number, is_answer, now) && may_search;
        if start {
            peer.search = Search::Running;
            self.searches += 1;
        }
        start
    }

    /// A search has ended, with or without a route.
    pub(super) fn found(
        &mut self,
        key: &PeerKey,
        handle: Option<Arc<AddressHandle>>,
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

    /// Evicts what nobody has used for long; else the oldest of a host that has many, else the oldest
    /// that the program never sent to, else the oldest.
    fn make_room(&mut self, new: &PeerKey, now: Instant) {
        let of_host = |key: &PeerKey| host(key) == host(new);
        let is_crowded = self.known.keys().filter(|key| of_host(key)).count() >= MOST_OF_HOST;
        if !is_crowded && self.known.len() < MOST {
            return;
        }
        self.known.retain(|_, peer| now.duration_since(peer.used) < EXPIRY);
        let candidates = self.known.iter().filter(|(key, _)| !is_crowded || of_host(key));
        let oldest = candidates.min_by_key(|(_, peer)| (peer.is_target, peer.used));
        let oldest = oldest.map(|(key, _)| *key);
        if let (true, Some(oldest)) = (is_crowded || self.known.len() >= MOST, oldest) {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: u32) -> PeerKey {
        let mut key = [0; 28];
        key[4..8].copy_from_slice(&number.to_ne_bytes());
        key
    }

    fn at_port(port: u16) -> PeerKey {
        let mut key = [9; 28];
        key[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        key[2..4].copy_from_slice(&port.to_ne_bytes());
        key
    }

    fn knows(peers: &Peers, key: &PeerKey) -> bool {
        peers.get(key).is_some()
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
        assert!(knows(&peers, &numbered(4_999)));
        assert!(!knows(&peers, &numbered(0)));
    }

    #[test]
    fn a_peer_is_what_it_sent_last() {
        let mut peers = Peers::default();
        let now = Instant::now();
        let later = now + CONFIRMATION;
        let Some(peer) = peers.entry(numbered(1), now) else { unreachable!("there is room") };
        assert!(!peer.is_plain() && !peer.is_rsocket);
        peer.sent_plain(now);
        assert!(peer.is_plain() && peer.is_surely_plain(now) && !peer.is_surely_plain(later));
        assert!(peers.named_in_datagram(numbered(1), 5, later));
        assert!(peers.get(&numbered(1)).is_some_and(|peer| peer.is_rsocket && !peer.is_plain()));
        peers.forget_route(&numbered(1));
        assert!(peers.get(&numbered(1)).is_some_and(|peer| peer.number == 0));
    }

    #[test]
    fn searches_are_limited_and_not_repeated_at_once() {
        let mut peers = Peers::default();
        let now = Instant::now();
        let started =
            (0..100).filter(|number| peers.named_in_datagram(numbered(*number), 5, now)).count();
        assert_eq!(started, SEARCHES);
        assert!(!peers.named_in_datagram(numbered(0), 5, now));
        peers.found(&numbered(0), None, now);
        assert!(!peers.named_in_datagram(numbered(0), 5, now + Duration::from_secs(1)));
        assert!(peers.named_in_datagram(numbered(0), 5, now + Duration::from_secs(3)));
        // Without a queue pair there is nothing to find.
        peers.found(&numbered(1), None, now);
        assert!(!peers.named_in_datagram(numbered(200), 0, now));
    }

    #[test]
    fn a_host_with_many_ports_evicts_its_own() {
        let mut peers = Peers::default();
        let now = Instant::now();
        let others = 600;
        for number in 0..others {
            assert!(peers.entry(numbered(number), now).is_some());
        }
        for port in 0..5_000 {
            let later = now + Duration::from_micros(1 + u64::from(port));
            assert!(peers.entry(at_port(port), later).is_some());
        }
        assert!((0..others).all(|number| knows(&peers, &numbered(number))));
        assert_eq!(peers.known.len(), others as usize + MOST_OF_HOST);
        assert!(knows(&peers, &at_port(4_999)) && !knows(&peers, &at_port(0)));
    }

    #[test]
    fn strangers_evict_no_target_of_the_program() {
        let mut peers = Peers::default();
        let now = Instant::now();
        let Some(peer) = peers.entry(numbered(0), now) else { unreachable!("there is room") };
        assert!(peer.route(now).is_none());
        for number in 1..5_000 {
            let later = now + Duration::from_micros(number.into());
            assert!(peers.entry(numbered(number), later).is_some());
        }
        assert!(knows(&peers, &numbered(0)) && peers.known.len() == MOST);
    }

    /// A peer whose number 5 an answer has confirmed.
    fn confirmed(now: Instant) -> Peers {
        let mut peers = Peers::default();
        assert!(peers.entry(numbered(1), now).map(|peer| peer.asks(now)).is_some());
        peers.named_in_answer(numbered(1), 5, now);
        assert_eq!(number(&mut peers, now), Some(5));
        peers
    }

    fn number(peers: &mut Peers, now: Instant) -> Option<u32> {
        peers.entry(numbered(1), now)?.number_for_datagram(now)
    }

    fn ask(peers: &mut Peers, now: Instant) {
        peers.known.values_mut().for_each(|peer| peer.asks(now));
    }

    #[test]
    fn an_answer_that_nobody_asked_for_means_nothing() {
        let now = Instant::now();
        let mut peers = confirmed(now);
        let later = now + ANSWER;
        peers.named_in_answer(numbered(1), 6, later);
        assert_eq!(number(&mut peers, later), Some(5));
        // Nor does it keep the known number fresh.
        peers.named_in_answer(numbered(1), 5, later);
        assert_eq!(number(&mut peers, now + CONFIRMATION + SETTLE), None);
    }

    #[test]
    fn a_datagram_with_another_number_raises_a_question() {
        let now = Instant::now();
        let mut peers = confirmed(now);
        let then = now + ANSWER;
        peers.named_in_datagram(numbered(1), 6, then);
        assert_eq!(number(&mut peers, then), None);
        ask(&mut peers, then);
        peers.named_in_answer(numbered(1), 5, then);
        assert_eq!(number(&mut peers, then), Some(5));
        // Not by each datagram.
        peers.named_in_datagram(numbered(1), 6, then + SETTLE);
        assert_eq!(number(&mut peers, then + SETTLE), Some(5));
    }

    #[test]
    fn a_new_number_counts_when_no_answer_denies_it() {
        let now = Instant::now();
        let then = now + ANSWER;
        let mut peers = confirmed(now);
        ask(&mut peers, then);
        peers.named_in_answer(numbered(1), 6, then);
        assert_eq!(number(&mut peers, then + SETTLE), None);
        assert_eq!(number(&mut peers, then + 2 * SETTLE), Some(6));
        let mut peers = confirmed(now);
        ask(&mut peers, then);
        peers.named_in_answer(numbered(1), 6, then);
        peers.named_in_answer(numbered(1), 5, then + SETTLE / 2);
        assert_eq!(number(&mut peers, then + 2 * SETTLE), None);
        // The dispute ends with another question.
        let end = then + 2 * CONFIRMATION;
        assert_eq!(number(&mut peers, end), None);
        ask(&mut peers, end);
        peers.named_in_answer(numbered(1), 5, end);
        assert_eq!(number(&mut peers, end), Some(5));
    }

    #[test]
    fn a_strangers_number_waits_for_an_answer() {
        let now = Instant::now();
        let mut peers = Peers::default();
        peers.named_in_datagram(numbered(1), 6, now);
        assert_eq!(number(&mut peers, now), None);
        ask(&mut peers, now);
        peers.named_in_answer(numbered(1), 6, now);
        assert_eq!(number(&mut peers, now), Some(6));
    }
}
