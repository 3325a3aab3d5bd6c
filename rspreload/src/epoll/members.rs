//! The rsockets of one instance: members of a set that is waited for in the instance.
//!
//! The set has only to tell that something has come, so its members are edge-triggered where the library has
//! that, and asked for all that the program ever asked for: what the program wants now changes nothing there.

use super::state::State;
use super::{OWN, kernel};
use crate::error::Result;
use crate::rsockets;
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLIN, EPOLLRDHUP, c_int};
use std::collections::BTreeMap;

/// Bits that say how to tell, not what.
const MANNERS: u32 =
    (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLEXCLUSIVE | libc::EPOLLWAKEUP) as u32;

/// An rsocket in the set.
#[derive(Default)]
struct Member {
    /// What the set was asked for; None while it is not in there.
    interest: Option<u32>,
    /// More than one where copies of a descriptor are registered.
    keys: Vec<u64>,
}

/// See the module text.
#[derive(Default)]
pub(super) struct Members {
    pub(super) set: Option<c_int>,
    by_rsocket: BTreeMap<c_int, Member>,
}

impl State {
    /// Puts a registration in the set, under the rsocket that its socket has now.
    pub(super) fn place_in_set(&mut self, key: u64, wanted: Option<c_int>) -> Result<()> {
        let Some(registration) = self.registrations.get_mut(&key) else { return Ok(()) };
        if registration.member.is_some() && registration.member != wanted {
            self.leave_set(key);
        }
        let Some(rsocket) = wanted else { return Ok(()) };
        let Some(registration) = self.registrations.get_mut(&key) else { return Ok(()) };
        if registration.member.is_none() {
            if registration.rests {
                return Ok(());
            }
            registration.member = Some(rsocket);
            self.members.by_rsocket.entry(rsocket).or_default().keys.push(key);
        }
        let asked = self.ask_set(rsocket);
        if asked.is_err() {
            self.leave_set(key);
        }
        asked
    }

    pub(super) fn leave_set(&mut self, key: u64) {
        let Some(registration) = self.registrations.get_mut(&key) else { return };
        let Some(rsocket) = registration.member.take() else { return };
        let Some(member) = self.members.by_rsocket.get_mut(&rsocket) else { return };
        member.keys.retain(|other| *other != key);
        if member.keys.is_empty() {
            let asked = member.interest;
            self.members.by_rsocket.remove(&rsocket);
            if let (Some(_), Some(set)) = (asked, self.members.set) {
                let _ = rsockets::control_set(set, EPOLL_CTL_DEL, rsocket, 0, 0);
            }
        }
    }

    /// Asks the set for what an rsocket's registrations want, if that is not known there.
    fn ask_set(&mut self, rsocket: c_int) -> Result<()> {
        let set = self.make_set()?;
        let Some(member) = self.members.by_rsocket.get_mut(&rsocket) else { return Ok(()) };
        let active = member.keys.iter().filter_map(|key| self.registrations.get(key));
        let wanted = active.filter(|found| found.is_active()).fold(0, |all, one| all | one.events);
        let wanted = wanted & !MANNERS;
        let interest = if rsockets::are_ours() {
            wanted | member.interest.unwrap_or(0) | (EPOLLIN | EPOLLRDHUP | EPOLLET) as u32
        } else {
            wanted
        };
        let operation = match member.interest {
            Some(asked) if asked == interest => return Ok(()),
            Some(_) => EPOLL_CTL_MOD,
            None => EPOLL_CTL_ADD,
        };
        rsockets::control_set(
            set,
            operation,
            rsocket,
            interest,
            u64::from(rsocket.unsigned_abs()),
        )?;
        member.interest = Some(interest);
        Ok(())
    }

    fn make_set(&mut self) -> Result<c_int> {
        if let Some(set) = self.members.set {
            return Ok(set);
        }
        let set = rsockets::create_set()?;
        if let Err(error) = kernel(self.instance()?, EPOLL_CTL_ADD, set, EPOLLIN as u32, OWN) {
            rsockets::close(set);
            return Err(error);
        }
        self.members.set = Some(set);
        Ok(set)
    }

    /// Something has come to an rsocket.
    pub(super) fn changed(&mut self, rsocket: c_int) {
        let Some(member) = self.members.by_rsocket.get(&rsocket) else { return };
        for key in member.keys.clone() {
            match self.registrations.get(&key) {
                Some(registration) if registration.rests => self.leave_set(key),
                _ => self.make_due(key),
            }
        }
    }
}
