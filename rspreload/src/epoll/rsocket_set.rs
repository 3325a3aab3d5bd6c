// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The rsockets of one instance: members of a set, which is itself in the instance.
//!
//! The set only has to wake a thread, so its members are edge-triggered if librdmacm can do that,
//! with all events that the program has ever registered: a change of the registration does not
//! change the member. Where all registrations are edge-triggered, the member has their events alone
//! and changes with them: its edges are theirs.

use super::by_descriptor::ByDescriptor;
use super::kernel::{self, SET};
use super::registration::{Registration, Registrations};
use crate::sys::{librdmacm, repoll};
use alloc::vec::Vec;
use base::errno::Result;
use base::memory::try_push;
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLIN, EPOLLRDHUP, c_int, epoll_event,
};

/// Bits of a registration that are no events.
const FLAGS: u32 =
    (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLEXCLUSIVE | libc::EPOLLWAKEUP) as u32;

/// An rsocket in the set.
#[derive(Default)]
struct Member {
    /// The events in the set; None while it is not in the set.
    interest: Option<u32>,
    /// Of its registrations: several if copies of a descriptor are registered.
    keys: Vec<u64>,
}

#[derive(Default)]
pub(super) struct RsocketSet {
    fd: Option<c_int>,
    members: ByDescriptor<Member>,
}

impl RsocketSet {
    /// Puts a registration in the set under `wanted`, the rsocket that its socket has now. Whether
    /// the set tells of the events that there are now.
    pub(super) fn place(
        &mut self,
        registrations: &mut Registrations,
        key: u64,
        wanted: Option<c_int>,
        instance: c_int,
    ) -> Result<bool> {
        let Some(registration) = registrations.get(key) else { return Ok(false) };
        if registration.rsocket.is_some() && registration.rsocket != wanted {
            self.remove(registrations, key);
        }
        let Some(rsocket) = wanted else { return Ok(false) };
        let Some(registration) = registrations.get_mut(key) else { return Ok(false) };
        let is_told = librdmacm::is_own() && registration.is_edge_triggered();
        if registration.rsocket.is_none() {
            if registration.is_removed {
                return Ok(false);
            }
            registration.rsocket = Some(rsocket);
            // A member without keys is none.
            let added = self
                .members
                .get_or_default(rsocket)
                .and_then(|member| try_push(&mut member.keys, key));
            if added.is_err() {
                registration.rsocket = None;
                return added.map(|()| false);
            }
        }
        let updated = self.update(registrations, rsocket, instance, is_told);
        if updated.is_err() {
            self.remove(registrations, key);
        }
        updated.map(|()| is_told)
    }

    /// Removes a registration, and the rsocket with its last one.
    pub(super) fn remove(&mut self, registrations: &mut Registrations, key: u64) {
        let Some(registration) = registrations.get_mut(key) else { return };
        let Some(rsocket) = registration.rsocket.take() else { return };
        let Some(member) = self.members.get_mut(rsocket) else { return };
        member.keys.retain(|other| *other != key);
        if member.keys.is_empty() {
            let interest = member.interest;
            self.members.remove(rsocket);
            if let (Some(_), Some(set)) = (interest, self.fd) {
                let _ = repoll::control(set, EPOLL_CTL_DEL, rsocket, 0, 0);
            }
        }
    }

    /// Adds an rsocket to the set, or changes its events, if its registrations need that, or it is
    /// to tell again.
    fn update(
        &mut self,
        registrations: &Registrations,
        rsocket: c_int,
        instance: c_int,
        tells_again: bool,
    ) -> Result<()> {
        let set = self.make(instance)?;
        let Some(member) = self.members.get_mut(rsocket) else { return Ok(()) };
        let known = member.keys.iter().filter_map(|key| registrations.get(*key));
        let active = known.filter(|found| found.is_active());
        let wanted = active.clone().fold(0, |all, one| all | one.events) & !FLAGS;
        let has_edges_alone = wanted != 0 && active.clone().all(Registration::is_edge_triggered);
        let interest = match librdmacm::is_own() {
            true if has_edges_alone => wanted | EPOLLET as u32,
            true => wanted | member.interest.unwrap_or(0) | (EPOLLIN | EPOLLRDHUP | EPOLLET) as u32,
            false => wanted,
        };
        let operation = match member.interest {
            Some(events) if events == interest && !tells_again => return Ok(()),
            Some(_) => EPOLL_CTL_MOD,
            None => EPOLL_CTL_ADD,
        };
        let data = u64::from(rsocket.unsigned_abs());
        repoll::control(set, operation, rsocket, interest, data)?;
        member.interest = Some(interest);
        Ok(())
    }

    fn make(&mut self, instance: c_int) -> Result<c_int> {
        if let Some(set) = self.fd {
            return Ok(set);
        }
        let set = repoll::create()?;
        if let Err(error) = kernel::control(instance, EPOLL_CTL_ADD, set, EPOLLIN as u32, SET) {
            librdmacm::close(set);
            return Err(error);
        }
        self.fd = Some(set);
        Ok(set)
    }

    /// Takes events of the set.
    pub(super) fn wait<'a>(&self, events: &'a mut [epoll_event]) -> &'a [epoll_event] {
        let Some(set) = self.fd else { return &[] };
        let count = repoll::wait(set, events).unwrap_or(0);
        events.get(..count).unwrap_or_default()
    }

    /// An rsocket has an event: its registrations may have one. Those that were removed leave the
    /// set.
    pub(super) fn has_event(&mut self, registrations: &mut Registrations, rsocket: c_int) {
        let count = self.members.get(rsocket).map_or(0, |member| member.keys.len());
        // From the last to the first: the list shrinks.
        for index in (0..count).rev() {
            let member = self.members.get(rsocket);
            let Some(&key) = member.and_then(|member| member.keys.get(index)) else { continue };
            match registrations.get(key) {
                Some(registration) if registration.is_removed => self.remove(registrations, key),
                _ => registrations.enqueue(key),
            }
        }
    }

    pub(super) fn close(self) {
        if let Some(set) = self.fd {
            librdmacm::close(set);
        }
    }
}
