// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The queue of a listener: connections that wait for raccept, and requests that were answered and
//! not yet confirmed by the client. Pure data.
//!
//! A listener that answers on demand (`ON_DEMAND`) also has requests that wait for raccept, which
//! answers one at a time.
//!
//! While there is no room for more the listener leaves requests in the kernel. An honest client confirms
//! within a round trip, or some seconds on a busy machine; one that has not at its `end_of_grace` may
//! be evicted, but only where a request waits for its place: clients that never confirm delay others by
//! that time at most.

use crate::rsocket::owned_id::SoleId;
use crate::rsocket::wire::ConnectionData;
use alloc::collections::VecDeque;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::time::Instant;
use core::ptr;
use core::time::Duration;

/// Before a pending connection may be evicted. Where one that was answered later has confirmed:
/// `GRACE_FACTOR` times what clients have needed lately, and `USUAL_GRACE` at least; each such eviction
/// halves the least, down to `LEAST_GRACE`, and each confirmation doubles it again. Where none has, all
/// may be slow: `SLOW_GRACE` after the last confirmation.
const USUAL_GRACE: Duration = Duration::from_secs(5);
const SLOW_GRACE: Duration = Duration::from_secs(10);
const LEAST_GRACE: Duration = Duration::from_secs(1);
const GRACE_FACTOR: u32 = 3;
/// How long a client may take between our answer and its confirmation.
pub(super) const CONFIRM_TIMEOUT: Duration = Duration::from_secs(20);
/// Pending connections that there may be beside the backlog, of which no more than `COUNTED` counts: each
/// has registered memory and two descriptors.
const MIN_PENDING: usize = 64;
const COUNTED: usize = 256;
/// No more where clients that do confirm have needed longer than `SLOW` lately: what waits in the kernel has
/// all the time that its client gives it.
const FEW_PENDING: usize = 32;
const SLOW: Duration = Duration::from_secs(2);
/// Bytes that may be registered for pending connections, where there are more than `FEW`.
const MAX_REGISTERED: usize = 128 << 20;
const FEW: usize = 16;
/// How long a raccept that does not block waits for the confirmation of a request that it has
/// answered: some round trips. It waits only while clients confirm within that time.
pub(super) const CONFIRM_WAIT: Duration = Duration::from_millis(20);

/// See the module text.
pub(super) struct AcceptQueue<S> {
    connected: VecDeque<Arc<S>>,
    /// Not answered yet.
    requests: VecDeque<Arc<S>>,
    /// In the order of their answers.
    pending: VecDeque<(Arc<S>, Instant)>,
    /// A request for which there were no descriptors or no memory, and since when.
    pub(super) short: Option<(Request<S>, Instant)>,
    pub(super) backlog: usize,
    /// Requests are left in the kernel.
    pub(super) is_paused: bool,
    /// raccept answers the requests.
    pub(super) on_demand: bool,
    /// The last client confirmed within `CONFIRM_WAIT`.
    pub(super) is_prompt: bool,
    /// What the last raccept wanted of its descriptor: the next will want the same.
    pub(super) close_on_exec: bool,
    /// How long the slowest of the last clients took to confirm.
    slowest: Duration,
    /// When the last of those that have confirmed was answered, and when the last confirmation came.
    confirmed: Option<(Instant, Instant)>,
    /// Of those that were answered before.
    least_grace: Duration,
    /// What raccept has had to take until now.
    arrived: u64,
}

/// A request that is not answered and in no queue.
pub(super) enum Request<S> {
    /// With the peer's data, responder resources and initiator depth.
    Id(SoleId, ConnectionData, (u8, u8)),
    Child(Arc<S>),
}

/// Whether a listener answers one more request.
pub(super) enum Room<S> {
    Free,
    /// In the place of the oldest pending connection.
    Evict(Arc<S>),
    /// Not before raccept, a confirmation, or the time when one may be evicted.
    Full(Option<Instant>),
}

impl<S> Default for AcceptQueue<S> {
    fn default() -> AcceptQueue<S> {
        AcceptQueue {
            connected: VecDeque::new(),
            requests: VecDeque::new(),
            pending: VecDeque::new(),
            short: None,
            backlog: 0,
            is_paused: false,
            on_demand: false,
            is_prompt: true,
            close_on_exec: true,
            slowest: Duration::ZERO,
            confirmed: None,
            least_grace: USUAL_GRACE,
            arrived: 0,
        }
    }
}

impl<S> AcceptQueue<S> {
    /// raccept has something to take.
    pub(super) fn is_ready(&self) -> bool {
        !self.connected.is_empty() || !self.requests.is_empty()
    }

    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// `registered`: the bytes that are registered for a connection.
    pub(super) fn room(&self, now: Instant, registered: usize) -> Room<S> {
        if self.connected.len() + self.requests.len() >= self.backlog {
            return Room::Full(None);
        }
        let most = (MAX_REGISTERED / registered.max(1)).max(FEW);
        let most = if self.slowest > SLOW { most.min(FEW_PENDING) } else { most };
        if self.pending.len() < most.min(self.backlog.min(COUNTED) + MIN_PENDING) {
            return Room::Free;
        }
        self.room_of_late(now)
    }

    /// Whether a pending connection gives way: the oldest that others have overtaken. Where all may be
    /// slow the oldest will confirm next; then it is the last of those whose time is over.
    pub(super) fn room_of_late(&self, now: Instant) -> Room<S> {
        let Some((oldest, answered)) = self.pending.front() else { return Room::Full(None) };
        let end = self.end_of_grace(*answered);
        if end > now {
            return Room::Full(Some(end));
        }
        let is_late = |(_, answered): &(Arc<S>, Instant)| self.end_of_grace(*answered) <= now;
        let last = self.pending.partition_point(is_late).saturating_sub(1);
        let last = self.pending.get(last).map_or(oldest, |(child, _)| child);
        Room::Evict(Arc::clone(if self.is_overtaken(*answered) { oldest } else { last }))
    }

    /// A client that was answered later has confirmed.
    fn is_overtaken(&self, answered: Instant) -> bool {
        self.confirmed.is_some_and(|(confirmed, _)| confirmed > answered)
    }

    fn end_of_grace(&self, answered: Instant) -> Instant {
        match self.confirmed {
            Some((confirmed, _)) if confirmed > answered => {
                answered + (self.slowest * GRACE_FACTOR).clamp(self.least_grace, CONFIRM_TIMEOUT)
            }
            Some((_, last)) => (last.max(answered) + SLOW_GRACE).min(answered + CONFIRM_TIMEOUT),
            None => answered + SLOW_GRACE,
        }
    }

    /// The next connection, for raccept.
    pub(super) fn first(&self) -> Option<&Arc<S>> {
        self.connected.front()
    }

    pub(super) fn take_first(&mut self) -> Option<Arc<S>> {
        self.connected.pop_front()
    }

    pub(super) fn add_request(&mut self, child: Arc<S>) -> Result<()> {
        self.requests.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.requests.push_back(child);
        self.arrived += 1;
        Ok(())
    }

    /// The next request that raccept answers.
    pub(super) fn take_request(&mut self) -> Option<Arc<S>> {
        self.requests.pop_front()
    }

    /// Connections that raccept has answered and not taken.
    pub(super) fn answered(&self) -> usize {
        self.connected.len() + self.pending.len()
    }

    /// Before the client is answered: reserves what its confirmation will need.
    pub(super) fn add_pending(&mut self, child: Arc<S>, now: Instant) -> Result<()> {
        self.pending.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.connected.try_reserve(self.pending.len() + 1).map_err(|_| Errno::ENOMEM)?;
        self.pending.push_back((child, now));
        Ok(())
    }

    fn pending_index(&self, child: &S) -> Option<usize> {
        self.pending.iter().position(|(other, _)| ptr::eq(&raw const **other, child))
    }

    pub(super) fn is_pending(&self, child: &S) -> bool {
        self.pending_index(child).is_some()
    }

    pub(super) fn remove_pending(&mut self, child: &S) -> Option<Arc<S>> {
        let index = self.pending_index(child)?;
        self.pending.remove(index).map(|(child, _)| child)
    }

    pub(super) fn remove_request(&mut self, child: &S) -> Option<Arc<S>> {
        let index = self.requests.iter().position(|other| ptr::eq(&raw const **other, child))?;
        self.requests.remove(index)
    }

    /// The client has confirmed; false for a child that is not pending any more.
    pub(super) fn confirm(&mut self, child: &S, now: Instant) -> bool {
        let pending = self.pending_index(child).and_then(|index| self.pending.remove(index));
        let Some((child, answered)) = pending else { return false };
        let needed = now.duration_since(answered);
        self.is_prompt = needed < CONFIRM_WAIT;
        self.slowest = needed.max(self.slowest * 7 / 8);
        let latest = self.confirmed.map_or(answered, |(latest, _)| latest.max(answered));
        self.confirmed = Some((latest, now));
        self.least_grace = (self.least_grace * 2).min(USUAL_GRACE);
        // `add_pending` has made room.
        self.connected.push_back(child);
        // A request has counted; its raccept counts again if it does not wait for this.
        self.arrived += u64::from(!self.on_demand);
        true
    }

    /// The client has not confirmed in time.
    pub(super) fn note_eviction(&mut self, child: &S) {
        let answered = self.pending_index(child).and_then(|index| self.pending.get(index));
        if answered.is_some_and(|(_, answered)| self.is_overtaken(*answered)) {
            self.least_grace = (self.least_grace / 2).max(LEAST_GRACE);
        }
    }

    /// A child that nobody will accept any more; `None` when there is no other.
    pub(super) fn take_any(&mut self) -> Option<Arc<S>> {
        self.connected.pop_front().or_else(|| self.pending.pop_front().map(|(child, _)| child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn children(count: u32) -> Vec<Arc<u32>> {
        (0..count).filter_map(|number| Arc::try_new(number).ok()).collect()
    }

    #[test]
    fn children_are_accepted_in_the_order_of_their_confirmations() {
        let mut queue = AcceptQueue { backlog: 2, ..AcceptQueue::default() };
        let (all, now) = (children(3), Instant::now());
        for child in &all {
            assert_eq!(queue.add_pending(child.clone(), now), Ok(()));
        }
        assert!(!queue.is_ready() && matches!(queue.room(now, 1), Room::Free));
        assert!(queue.confirm(&all[2], now) && queue.confirm(&all[0], now));
        // Not even a pending one that is late makes room for a queue that is full.
        assert!(queue.is_ready() && matches!(queue.room(now + USUAL_GRACE, 1), Room::Full(None)));
        assert!(!queue.confirm(&all[0], now));
        assert!(queue.remove_pending(&all[1]).is_some() && !queue.confirm(&all[1], now));
        assert_eq!(queue.first().map(|child| **child), Some(2));
        assert_eq!(queue.take_first().map(|child| *child), Some(2));
        assert!(queue.take_any().is_some() && queue.take_any().is_none() && !queue.is_ready());
    }

    #[test]
    fn a_request_is_ready_and_counts_until_it_is_answered() {
        let mut queue = AcceptQueue { backlog: 1, ..AcceptQueue::default() };
        let (all, now) = (children(2), Instant::now());
        assert_eq!(queue.add_request(all[0].clone()), Ok(()));
        assert!(queue.is_ready() && matches!(queue.room(now, 1), Room::Full(None)));
        assert!(queue.first().is_none() && !queue.is_pending(&all[0]));
        let Some(child) = queue.take_request() else { unreachable!("it was added") };
        assert_eq!(queue.add_pending(child, now), Ok(()));
        assert!(!queue.is_ready() && queue.is_pending(&all[0]) && queue.answered() == 1);
        assert!(queue.confirm(&all[0], now + CONFIRM_WAIT) && !queue.is_prompt);
        assert_eq!(queue.answered(), 1);
        assert_eq!(queue.add_request(all[1].clone()), Ok(()));
        assert!(queue.remove_request(&all[1]).is_some() && queue.take_request().is_none());
    }

    #[test]
    fn the_last_that_is_late_is_evicted_and_not_before_its_time() {
        let mut queue = AcceptQueue { backlog: 1, ..AcceptQueue::default() };
        let (all, now) = (children(65), Instant::now());
        let mut answered = now;
        for child in &all {
            assert!(matches!(queue.room(now + SLOW_GRACE, 1), Room::Free));
            assert_eq!(queue.add_pending(child.clone(), answered), Ok(()));
            answered += Duration::from_millis(1);
        }
        let end = now + SLOW_GRACE;
        let victim = |queue: &AcceptQueue<u32>, end| match queue.room(end, 1) {
            Room::Evict(child) => Some(*child),
            _ => None,
        };
        assert!(matches!(queue.room(now, 1), Room::Full(Some(at)) if at == end));
        assert_eq!(victim(&queue, end), Some(0));
        assert_eq!(victim(&queue, end + Duration::from_millis(5)), Some(5));
        assert_eq!(victim(&queue, end + SECOND), Some(64));
        // One that others have overtaken gives way before.
        assert!(queue.confirm(&all[3], now + Duration::from_millis(4)));
        assert!(queue.take_first().is_some());
        assert_eq!(queue.add_pending(all[3].clone(), answered), Ok(()));
        assert_eq!(victim(&queue, end + SECOND), Some(0));
        queue.remove_pending(&all[0]);
        assert!(matches!(queue.room(end, 1), Room::Free));
    }

    #[test]
    fn memory_bounds_them_and_slow_clients_have_more_time() {
        let mut queue = AcceptQueue { backlog: 500, ..AcceptQueue::default() };
        let (all, now) = (children(40), Instant::now());
        for child in &all[..20] {
            assert_eq!(queue.add_pending(child.clone(), now), Ok(()));
        }
        assert!(matches!(queue.room(now, 1 << 20), Room::Free));
        assert!(matches!(queue.room(now, MAX_REGISTERED / 20), Room::Full(Some(_))));
        // Each may be as large as it likes, but then there are few.
        assert!(matches!(queue.room(now, usize::MAX), Room::Full(Some(_))));
        let late = now + USUAL_GRACE;
        assert!(matches!(queue.room_of_late(now + SLOW_GRACE), Room::Evict(_)));
        assert!(queue.remove_pending(&all[19]).is_some());
        assert_eq!(queue.add_pending(all[19].clone(), now + SECOND), Ok(()));
        // A client that took three seconds: others have nine.
        assert!(queue.confirm(&all[19], now + 4 * SECOND));
        let end = now + 9 * SECOND;
        assert!(matches!(queue.room_of_late(late), Room::Full(Some(at)) if at == end));
        assert!(queue.confirm(&all[6], now + 100 * SECOND));
        assert!(matches!(queue.room_of_late(now + CONFIRM_TIMEOUT), Room::Evict(_)));
    }

    #[test]
    fn slow_clients_are_answered_a_few_at_a_time() {
        let mut queue = AcceptQueue { backlog: 500, ..AcceptQueue::default() };
        let (all, now) = (children(60), Instant::now());
        for child in &all[..40] {
            assert_eq!(queue.add_pending(child.clone(), now), Ok(()));
        }
        assert!(matches!(queue.room(now, 1), Room::Free));
        assert!(queue.confirm(&all[0], now + 3 * SECOND));
        assert!(matches!(queue.room(now, 1), Room::Full(Some(_))));
        // Each confirmation has a part in how long they need.
        for child in &all[40..] {
            assert_eq!(queue.add_pending(child.clone(), now), Ok(()));
            assert!(queue.confirm(child, now));
        }
        assert!(matches!(queue.room(now, 1), Room::Free));
    }

    #[test]
    fn while_clients_confirm_in_their_order_all_may_be_slow() {
        let mut queue = AcceptQueue { backlog: 500, ..AcceptQueue::default() };
        let (all, now) = (children(40), Instant::now());
        for (child, answered) in all.iter().zip(0..) {
            assert_eq!(queue.add_pending(child.clone(), now + answered * SECOND), Ok(()));
        }
        // They take six seconds, and the others have ten after the last of them.
        for (child, answered) in all[..8].iter().zip(0..) {
            assert!(queue.confirm(child, now + (6 + answered) * SECOND));
        }
        let end = now + 13 * SECOND + SLOW_GRACE;
        assert!(matches!(queue.room_of_late(now), Room::Full(Some(at)) if at == end));
        // No client has longer than twenty seconds.
        assert!(queue.confirm(&all[8], now + 26 * SECOND));
        let end = now + 9 * SECOND + CONFIRM_TIMEOUT;
        assert!(matches!(queue.room_of_late(now), Room::Full(Some(at)) if at == end));
    }

    #[test]
    fn evictions_hurry_only_those_that_others_have_overtaken() {
        let mut queue = AcceptQueue { backlog: 500, ..AcceptQueue::default() };
        let (all, now) = (children(20), Instant::now());
        for child in &all[..10] {
            assert_eq!(queue.add_pending(child.clone(), now), Ok(()));
        }
        let end_of_oldest = |queue: &AcceptQueue<u32>| match queue.room_of_late(now) {
            Room::Full(end) => end,
            _ => None,
        };
        // Nobody has confirmed: all may be slow.
        (0..9).for_each(|_| queue.note_eviction(&all[0]));
        assert_eq!(end_of_oldest(&queue), Some(now + SLOW_GRACE));
        // The second one has, answered with the first.
        assert!(queue.confirm(&all[1], now));
        (0..9).for_each(|_| queue.note_eviction(&all[0]));
        assert_eq!(end_of_oldest(&queue), Some(now + SLOW_GRACE));
        // One that came a second later.
        for child in &all[10..] {
            assert_eq!(queue.add_pending(child.clone(), now + SECOND), Ok(()));
        }
        assert!(queue.confirm(&all[10], now + SECOND));
        assert_eq!(end_of_oldest(&queue), Some(now + USUAL_GRACE));
        (0..9).for_each(|_| queue.note_eviction(&all[0]));
        assert_eq!(end_of_oldest(&queue), Some(now + LEAST_GRACE));
        // Those that came with it or after it have longer.
        for child in all[..10].iter().filter(|child| ***child != 1) {
            assert!(queue.remove_pending(child).is_some());
        }
        assert_eq!(end_of_oldest(&queue), Some(now + SECOND + SLOW_GRACE));
        // Confirmations give the time back.
        assert_eq!(queue.add_pending(all[0].clone(), now), Ok(()));
        all[11..17].iter().for_each(|child| assert!(queue.confirm(child, now + SECOND)));
        assert_eq!(queue.least_grace, USUAL_GRACE);
    }
}
