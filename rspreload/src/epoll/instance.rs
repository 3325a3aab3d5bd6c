// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! An epoll instance of the program that has, or had, sockets of this library in it.

use super::contents::Contents;
use super::nesting::Relations;
use super::sleepers::{self, Mask};
use crate::sys::librdmacm;
use crate::table::descriptors;
use alloc::vec::Vec;
use base::arc::{Arc, Weak};
use base::descriptor_table::Table;
use base::errno::Result;
use base::lock::Mutex;
use base::memory::try_push;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use libc::c_int;

pub(crate) struct Epoll {
    /// As in `Watch::instance`.
    pub(super) number: u64,
    pub(super) contents: Mutex<Contents>,
    /// `Contents::undecided` is not empty.
    pub(super) has_undecided: AtomicBool,
    /// Something else may wait for the instance: poll, select, or another instance.
    is_watched: AtomicBool,
    /// Rsockets filled the whole array in the last round.
    pub(super) rsockets_filled: AtomicBool,
    pub(super) rounds: AtomicU64,
    /// Threads in epoll_wait, or about to enter it.
    pub(super) waiters: AtomicUsize,
    /// A `Mask`: threads that may have slept in it since before it was entered.
    sleepers: AtomicU64,
}

/// By descriptor.
pub(crate) static EPOLLS: Table<Epoll> = Table::new();
/// By number, in ascending order.
static INSTANCES: Mutex<Vec<(u64, Weak<Epoll>)>> = Mutex::new(Vec::new());
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
/// Whether there ever was one.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether there ever was one: without, no descriptor needs a look-up.
#[inline]
pub(crate) fn is_any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// A descriptor is polled, or added to an instance: it may be an instance itself.
#[inline]
pub(crate) fn note_polled(fd: c_int) {
    if is_any() {
        note_watched(fd);
    }
}

#[inline(never)]
fn note_watched(fd: c_int) {
    if let Some(epoll) = EPOLLS.get(fd) {
        epoll.set_watched();
    }
}

/// In a fork's child, before anything else.
pub(crate) fn in_child() {
    sleepers::in_child();
    if !descriptors::is_unused() {
        descriptors::forget_closed(&EPOLLS);
    }
}

/// The instance of a `Watch`.
pub(super) fn find(number: u64) -> Option<Arc<Epoll>> {
    let instances = INSTANCES.lock();
    let index = instances.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    instances.get(index)?.1.upgrade()
}

/// The instance of a descriptor, entered when the first socket of this library is added to it.
pub(super) fn of(fd: c_int) -> Result<Arc<Epoll>> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock();
    if let Some(epoll) = EPOLLS.get(fd) {
        return Ok(epoll);
    }
    let relations = Relations::of(fd);
    if let Some(epoll) = relations.copies.iter().find_map(|copy| EPOLLS.get(*copy)) {
        Epoll::enter(&epoll, fd)?;
        return Ok(epoll);
    }
    let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
    let epoll = Arc::try_new(Epoll {
        number,
        contents: Mutex::default(),
        has_undecided: AtomicBool::new(false),
        is_watched: AtomicBool::new(relations.may_be_nested),
        rsockets_filled: AtomicBool::new(false),
        rounds: AtomicU64::new(1),
        waiters: AtomicUsize::new(0),
        sleepers: AtomicU64::new(0),
    })?;
    try_push(&mut INSTANCES.lock(), (number, Arc::downgrade(&epoll)))?;
    ANY.store(true, Ordering::Relaxed);
    Epoll::enter(&epoll, fd)?;
    for copy in relations.copies {
        // Without memory what is waited for by that number stays the kernel's.
        let _ = Epoll::enter(&epoll, copy);
    }
    // They may poll the instance. From then on they are noted.
    if sleepers::is_any_in_poll() {
        epoll.contents.lock().notify();
    }
    Ok(epoll)
}

impl Epoll {
    /// Enters the instance under another number.
    pub(crate) fn enter(epoll: &Arc<Epoll>, fd: c_int) -> Result<()> {
        try_push(&mut epoll.contents.lock().fds, fd)?;
        if let Err(error) = EPOLLS.insert(fd, Arc::clone(epoll)) {
            epoll.contents.lock().fds.retain(|other| *other != fd);
            return Err(error);
        }
        descriptors::entered(fd);
        epoll.sleepers.fetch_or(Mask::of(fd).0, Ordering::SeqCst);
        Ok(())
    }

    /// A number was closed. With the last one the instance ends.
    pub(super) fn leave(&self, fd: c_int) {
        let (set, wakeups) = {
            let mut contents = self.contents.lock();
            contents.fds.retain(|other| *other != fd);
            if !contents.fds.is_empty() {
                return;
            }
            contents.clear()
        };
        set.close();
        drop(wakeups);
    }

    /// The carrier of a socket has changed: its registration moves.
    pub(super) fn place(&self, key: u64) {
        let mut contents = self.contents.lock();
        let Some(registration) = contents.registrations.get(key) else { return };
        let Some(socket) = registration.socket.upgrade() else { return };
        let _ = contents.place(key, &socket);
        self.wake_for(&mut contents, key);
    }

    /// The kernel alone carries a socket from now on: its registration stays in the kernel's
    /// instance.
    pub(super) fn release(&self, key: u64) {
        self.contents.lock().release(key);
    }

    /// The last descriptor of a socket was closed.
    pub(super) fn forget(&self, key: u64) {
        self.contents.lock().forget(key);
    }

    /// Wakes a thread that waits already, if a registration that was placed has something for it.
    pub(super) fn wake_for(&self, contents: &mut Contents, key: u64) {
        let is_undecided = !contents.undecided.is_empty();
        self.has_undecided.store(is_undecided, Ordering::SeqCst);
        if !self.has_waiters() {
            return;
        }
        let queued = contents.registrations.get(key).filter(|found| found.is_queued());
        let member = queued.and_then(|queued| Some((queued.rsocket?, queued.events)));
        let is_ready = member
            .is_some_and(|(rsocket, events)| librdmacm::readiness(rsocket, events as i16) != 0);
        if is_undecided || is_ready {
            contents.notify();
        }
    }

    /// Whether anything waits in the instance, or may wait for the instance.
    pub(super) fn has_waiters(&self) -> bool {
        self.waiters.load(Ordering::SeqCst) > 0
            || self.is_watched.load(Ordering::SeqCst)
            || self.sleepers.load(Ordering::SeqCst) != 0 && self.has_sleepers()
    }

    #[cold]
    fn has_sleepers(&self) -> bool {
        let before = Mask(self.sleepers.load(Ordering::SeqCst));
        let now = before.still_asleep();
        if now != before {
            self.sleepers.fetch_and(now.0 | !before.0, Ordering::SeqCst);
        }
        now != Mask::default()
    }

    /// Something else waits for the instance from now on.
    fn set_watched(&self) {
        if !self.is_watched.swap(true, Ordering::SeqCst) {
            let mut contents = self.contents.lock();
            if contents.registrations.queued() > 0 {
                contents.notify();
            }
        }
    }
}

impl Drop for Epoll {
    fn drop(&mut self) {
        let mut instances = INSTANCES.lock();
        let index = instances.binary_search_by_key(&self.number, |(number, _)| *number);
        // Dropped without the lock: a last holder frees the memory.
        let removed = index.ok().map(|index| instances.remove(index));
        drop(instances);
        drop(removed);
    }
}
