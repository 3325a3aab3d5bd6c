//! An rsocket in a set.

use super::Set;
use super::ready::Entry;
use crate::counted::{Counted, Weak};
use crate::lock::Mutex;
use crate::rsocket::socket::Socket;
use crate::sync::AtomicBool;
use std::os::fd::RawFd;

/// What the program asked for.
#[derive(Clone, Copy)]
pub(super) struct Interest {
    pub(super) events: u32,
    pub(super) data: u64,
}

/// See the module text.
pub(in crate::rsocket) struct Member {
    pub(super) set: Weak<Set>,
    /// Tells it from another that had the same descriptor.
    pub(super) number: u64,
    pub(super) fd: RawFd,
    pub(super) socket: Weak<Socket>,
    /// None when a one-shot event has been told.
    pub(super) interest: Mutex<Option<Interest>>,
    pub(super) listed: AtomicBool,
    /// The descriptor of completion events that the set watches.
    pub(super) watched: Mutex<RawFd>,
}

impl Entry for Member {
    fn listed(&self) -> &AtomicBool {
        &self.listed
    }
}

impl Member {
    pub(in crate::rsocket) fn wake(&self) {
        if let Some(set) = self.set.upgrade() {
            if let Some(own) = set.member(self.fd).filter(|own| own.number == self.number) {
                set.ready.put(own);
            }
        }
    }

    pub(in crate::rsocket) fn closed(&self) {
        if let Some(set) = self.set.upgrade() {
            set.drop_member(self);
        }
    }
}

/// As the program's event, which may have any events.
pub(super) fn event_of_bits(bits: libc::c_short) -> u32 {
    u32::from(bits as u16)
}

/// For sets: the member of a descriptor, if there is one.
pub(super) type Found = Option<Counted<Member>>;
