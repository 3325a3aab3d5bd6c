// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What can become ready, and those that wait for it.
//!
//! A source wakes its waiters at each change. A set is an observer, so that a source knows nothing
//! of sets.

use super::waker::Waker;
use alloc::boxed::Box;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::Result;
use base::fd::RawFd;
use base::memory::try_push;
use base::time::Instant;
use core::ptr;
use libc::c_short;

/// Tells one waiter from another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(*const ());

impl Identity {
    /// No waiter has it.
    pub(crate) const NOBODY: Identity = Identity(ptr::null());

    /// By the address of something that lives as long as the waiter.
    pub(crate) fn of<T>(waiter: &T) -> Identity {
        Identity(ptr::from_ref(waiter).cast())
    }
}

/// What observes a source for longer than one call.
pub(crate) trait Observer: Send + Sync {
    fn identity(&self) -> Identity;

    /// The source has changed.
    fn wake(&self);

    /// The source is closed, and forgets its observers.
    fn closed(&self);

    /// The descriptor of its events may be another source's next.
    fn detach(&self);

    /// Another reference to it.
    fn copy(&self) -> Result<Box<dyn Observer>>;
}

/// Who waits for a source.
pub(crate) enum Waiter {
    /// A thread that sleeps.
    Thread(Arc<Waker>),
    Observer(Box<dyn Observer>),
}

impl Waiter {
    fn identity(&self) -> Identity {
        match self {
            Waiter::Thread(waker) => Identity::of(&**waker),
            Waiter::Observer(observer) => observer.identity(),
        }
    }

    fn wake(&self) {
        match self {
            Waiter::Thread(waker) => waker.wake(),
            Waiter::Observer(observer) => observer.wake(),
        }
    }
}

/// The waiters of a source.
#[derive(Default)]
pub(crate) struct Waiters(Vec<Waiter>);

impl Waiters {
    pub(crate) fn add(&mut self, waiter: Waiter) -> Result<()> {
        try_push(&mut self.0, waiter)
    }

    pub(crate) fn remove(&mut self, waiter: Identity) {
        self.0.retain(|other| other.identity() != waiter);
    }

    pub(crate) fn wake(&self) {
        self.0.iter().for_each(Waiter::wake);
    }

    pub(crate) fn wake_others(&self, own: Identity) {
        self.0.iter().filter(|waiter| waiter.identity() != own).for_each(Waiter::wake);
    }

    /// Those that are to be told outside the source's lock.
    pub(crate) fn observers(&self) -> Result<Vec<Box<dyn Observer>>> {
        let mut observers = Vec::new();
        for waiter in &self.0 {
            if let Waiter::Observer(observer) = waiter {
                try_push(&mut observers, observer.copy()?)?;
            }
        }
        Ok(observers)
    }

    /// The source is closed. Not under its lock: observers let go of it.
    pub(crate) fn close(self) {
        for waiter in self.0 {
            waiter.wake();
            if let Waiter::Observer(observer) = waiter {
                observer.closed();
            }
        }
    }
}

/// Numbers that change with each edge (EPOLLET) of a source: where one is the same as before, nothing
/// has come that was not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// Something more to read, or the end of it.
    pub(crate) reads: u64,
    /// Room again after there was none, or an end.
    pub(crate) writes: u64,
}

impl Edges {
    pub(crate) fn note_arrived(&mut self) {
        self.reads = self.reads.wrapping_add(1);
    }

    /// A connection begins, is made, or ends: whatever is true from then on is an edge.
    pub(crate) fn note_change(&mut self) {
        self.note_idle(true, true);
    }

    /// Somebody has seen that there is nothing to read, or no room: what follows is an edge.
    pub(crate) fn note_idle(&mut self, reads: bool, writes: bool) {
        self.reads = self.reads.wrapping_add(u64::from(reads));
        self.writes = self.writes.wrapping_add(u64::from(writes));
    }
}

/// What a sleeper needs of a socket.
pub(crate) trait Source {
    fn add_waiter(&self, waiter: Waiter) -> Result<()>;

    /// `add_waiter`, `arm` and `readiness` in one: the descriptor to watch, and what is ready. An
    /// event that is taken here wakes also this waiter, where it is registered a second time: what
    /// it saw before is outdated then.
    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)>;

    fn remove_waiter(&self, waiter: Identity);

    /// Requests an event with the next completion; the descriptor that reports it, -1 where there
    /// is none. Completions from before have no event. An event that is due is taken first.
    fn arm(&self, own: Identity) -> Result<RawFd>;

    /// Takes an event and wakes the other waiters: they saw it too, or slept through it.
    fn take_event(&self, own: Identity);

    /// `take_event`, if something has completed since it was requested. Whether there was one.
    fn take_due(&self, own: Identity) -> bool;

    /// The descriptor reports an event, which is left for whoever sleeps next.
    fn expect_event(&self);

    /// A thread has waited for it since then. Called where there is a trace.
    fn note_wait(&self, since: Instant);
}

/// A waiter is woken at each change as long as this lives.
pub(crate) struct Registration<'a> {
    source: &'a dyn Source,
    waiter: Identity,
}

impl<'a> Registration<'a> {
    pub(crate) fn new(source: &'a dyn Source, waiter: Waiter) -> Result<Registration<'a>> {
        let identity = waiter.identity();
        source.add_waiter(waiter)?;
        Ok(Registration { source, waiter: identity })
    }

    /// A registration, the descriptor to watch, and what is ready now.
    pub(crate) fn enlisted(
        source: &'a dyn Source,
        waiter: Waiter,
    ) -> Result<(Registration<'a>, RawFd, c_short)> {
        let identity = waiter.identity();
        let (fd, ready) = source.enlist(waiter)?;
        Ok((Registration { source, waiter: identity }, fd, ready))
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.source.remove_waiter(self.waiter);
    }
}

/// The sockets of the process, as calls that wait by descriptor see them.
pub(crate) trait Pollable: Sized + Send + Sync + 'static {
    /// The socket of a descriptor, if it is a source; also one that is being closed, of which the
    /// kernel would report nothing.
    fn find(fd: RawFd) -> Option<Arc<Self>>;

    /// A descriptor that meant the same at two times means it still when this is the same.
    fn changes() -> u64;

    /// Not being closed.
    fn is_open(&self) -> bool;

    /// The events of poll(2) that are true now.
    fn readiness(&self) -> c_short;

    /// The same, and the edges until now.
    fn look(&self) -> (c_short, Edges);

    fn as_source(&self) -> Result<&dyn Source>;
}
