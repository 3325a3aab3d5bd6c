// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the program has registered in an instance, by descriptor and by key, and the queue of
//! registrations that may have an event.

use super::by_descriptor::ByDescriptor;
use crate::table::socket::Socket;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use base::arc::Weak;
use base::errno::{Errno, Result};
use base::memory::{try_push, try_reserve};
use libc::{EPOLLET, EPOLLONESHOT, c_int};

pub(super) struct Registration {
    pub(super) fd: c_int,
    pub(super) socket: Weak<Socket>,
    /// As the program has given them.
    pub(super) events: u32,
    pub(super) data: u64,
    pub(super) in_kernel: bool,
    /// The rsocket under which it is in the set.
    pub(super) rsocket: Option<c_int>,
    /// An EPOLLONESHOT event was reported.
    pub(super) is_disabled: bool,
    /// The program has removed it. Many programs add it again at once, so it stays in the set until
    /// its next spurious wake-up.
    pub(super) is_removed: bool,
    is_queued: bool,
    /// How often the program has changed it: what was seen before a change is not reported after it.
    pub(super) changes: u32,
    /// The round that reported it last, and the index of the event.
    pub(super) reported: (u64, usize),
}

impl Registration {
    fn new(fd: c_int, socket: Weak<Socket>) -> Registration {
        Registration {
            fd,
            socket,
            events: 0,
            data: 0,
            in_kernel: false,
            rsocket: None,
            is_disabled: false,
            is_removed: false,
            is_queued: false,
            changes: 0,
            reported: (0, 0),
        }
    }

    /// The program adds it, or changes it.
    pub(super) fn request(&mut self, events: u32, data: u64) {
        (self.events, self.data) = (events, data);
        self.is_disabled = false;
        self.changes = self.changes.wrapping_add(1);
    }

    /// Told once for each edge, however many threads wait. The set counts the edges, so only it may
    /// enqueue the registration.
    pub(super) fn is_edge_triggered(&self) -> bool {
        self.events & (EPOLLET | EPOLLONESHOT) as u32 == EPOLLET as u32
    }

    pub(super) fn is_level_triggered(&self) -> bool {
        self.events & (EPOLLET | EPOLLONESHOT) as u32 == 0
    }

    pub(super) fn is_active(&self) -> bool {
        !self.is_disabled && !self.is_removed
    }

    pub(super) fn is_queued(&self) -> bool {
        self.is_queued
    }
}

/// A place for a registration.
#[derive(Default)]
struct Place {
    /// The registrations that were here before.
    used: u32,
    registration: Option<Registration>,
}

#[derive(Default)]
pub(super) struct Registrations {
    /// A key is an index here, and in its upper half `Place::used`: no two registrations have the
    /// same.
    places: Vec<Place>,
    /// The indices of empty places, with room for all.
    free: Vec<u32>,
    keys: ByDescriptor<u64>,
    /// Registrations that may have an event, with room for all.
    queue: VecDeque<u64>,
}

impl Registrations {
    fn place(&mut self, key: u64) -> Option<&mut Place> {
        self.places.get_mut(key as u32 as usize).filter(|place| place.used == (key >> 32) as u32)
    }

    pub(super) fn get(&self, key: u64) -> Option<&Registration> {
        let place = self.places.get(key as u32 as usize)?;
        place.registration.as_ref().filter(|_| place.used == (key >> 32) as u32)
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut Registration> {
        self.place(key)?.registration.as_mut()
    }

    /// The key of the latest registration of a descriptor.
    pub(super) fn key_of(&self, fd: c_int) -> Option<u64> {
        self.keys.get(fd).copied()
    }

    /// How many there have been at a time.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn add(&mut self, fd: c_int, socket: Weak<Socket>) -> Result<u64> {
        if self.free.is_empty() {
            let index = u32::try_from(self.places.len()).map_err(|_| Errno::ENOMEM)?;
            let room = self.places.len() + 1;
            try_reserve(&mut self.free, room)?;
            let room = room.saturating_sub(self.queue.len());
            self.queue.try_reserve(room).map_err(|_| Errno::ENOMEM)?;
            try_push(&mut self.places, Place::default())?;
            self.free.push(index);
        }
        let index = self.free.last().copied().ok_or(Errno::ENOMEM)?;
        let place = self.places.get_mut(index as usize).ok_or(Errno::ENOMEM)?;
        let key = u64::from(place.used) << 32 | u64::from(index);
        self.keys.insert(fd, key)?;
        self.free.pop();
        place.registration = Some(Registration::new(fd, socket));
        Ok(key)
    }

    pub(super) fn forget(&mut self, key: u64) {
        let Some(place) = self.place(key) else { return };
        let Some(registration) = place.registration.take() else { return };
        place.used = place.used.wrapping_add(1);
        self.free.push(key as u32);
        if self.keys.get(registration.fd) == Some(&key) {
            self.keys.remove(registration.fd);
        }
        if registration.is_queued {
            self.queue.retain(|other| *other != key);
        }
    }

    pub(super) fn clear(&mut self) {
        (self.places, self.free) = (Vec::new(), Vec::new());
        self.keys.clear();
        self.queue.clear();
    }

    /// The registration may have an event.
    pub(super) fn enqueue(&mut self, key: u64) {
        if let Some(registration) = self.get_mut(key) {
            if registration.is_active() && !core::mem::replace(&mut registration.is_queued, true) {
                self.queue.push_back(key);
            }
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Takes the first of the queue, with the registration if it still exists. One that is
    /// level-triggered and was reported by this round goes to the end of the queue instead.
    pub(super) fn dequeue(&mut self, round: u64) -> Option<(u64, Option<&mut Registration>)> {
        let key = self.queue.pop_front()?;
        let Some(registration) = self.get(key) else { return Some((key, None)) };
        if registration.is_level_triggered() && registration.reported.0 == round {
            self.queue.push_back(key);
            return Some((key, None));
        }
        let registration = self.get_mut(key)?;
        registration.is_queued = false;
        Some((key, Some(registration)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::socket::Mode;
    use base::arc::Arc;

    fn two() -> (Registrations, u64, u64) {
        let mut all = Registrations::default();
        let [first, second] = [5, 6].map(|fd| {
            let socket = Socket::new(libc::AF_INET, libc::SOCK_STREAM, Mode::Plain);
            let socket = socket.unwrap_or_else(|_| unreachable!("no memory"));
            all.add(fd, Arc::downgrade(&socket)).unwrap_or_else(|_| unreachable!("no memory"))
        });
        (all, first, second)
    }

    #[test]
    fn a_registration_is_queued_once_and_only_while_it_is_active() {
        let (mut all, first, second) = two();
        all.enqueue(first);
        all.enqueue(first);
        assert_eq!(all.queued(), 1);
        all.get_mut(second).into_iter().for_each(|found| found.is_disabled = true);
        all.enqueue(second);
        assert_eq!(all.queued(), 1);
        assert!(all.dequeue(1).is_some_and(|(key, found)| key == first && found.is_some()));
        assert!(all.dequeue(1).is_none());
    }

    #[test]
    fn what_a_round_has_reported_waits_for_the_next_one() {
        let (mut all, first, _) = two();
        all.get_mut(first).into_iter().for_each(|found| found.reported = (7, 0));
        all.enqueue(first);
        assert!(all.dequeue(7).is_some_and(|(key, found)| key == first && found.is_none()));
        assert_eq!(all.queued(), 1);
        assert!(all.dequeue(8).is_some_and(|(_, found)| found.is_some()));
    }

    #[test]
    fn a_later_registration_of_a_number_survives_the_end_of_the_first() {
        let (mut all, first, second) = two();
        all.enqueue(first);
        let weak = all.get(second).map(|found| found.socket.clone());
        let Some(weak) = weak else { unreachable!("it was added") };
        let Ok(third) = all.add(5, weak.clone()) else { unreachable!("no memory") };
        all.forget(first);
        assert_eq!(all.key_of(5), Some(third));
        assert_eq!(all.queued(), 0);
        all.forget(third);
        assert_eq!(all.key_of(5), None);
        // The place is used again, the key is not.
        let Ok(fourth) = all.add(7, weak) else { unreachable!("no memory") };
        assert!(fourth != first && fourth != third && all.get(first).is_none());
        assert_eq!(all.len(), 3);
    }
}
