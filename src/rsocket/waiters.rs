//! Those who want to know when a socket changes.

use super::wait::Waiter;
use super::waiting::identity;
use crate::error::Result;
use crate::memory::try_push;

/// See the module text.
#[derive(Default)]
pub(super) struct Waiters(Vec<Waiter>);

impl Waiters {
    pub(super) fn add(&mut self, waiter: Waiter) -> Result<()> {
        try_push(&mut self.0, waiter)
    }

    pub(super) fn remove(&mut self, waiter: &Waiter) {
        self.0.retain(|other| identity(other) != identity(waiter));
    }

    pub(super) fn wake(&self) {
        self.0.iter().for_each(Waiter::wake);
    }

    /// Wakes all but the one of this identity.
    pub(super) fn wake_others(&self, own: *const ()) {
        self.0.iter().filter(|waiter| identity(waiter) != own).for_each(Waiter::wake);
    }

    /// The socket is gone. Not under its lock: a set lets go of it.
    pub(super) fn close(self) {
        for waiter in self.0 {
            waiter.wake();
            waiter.closed();
        }
    }
}
