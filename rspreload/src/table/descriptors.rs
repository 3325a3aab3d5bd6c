// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Which descriptor numbers mean sockets of the program.
//!
//! # Safety
//! fcntl(2) without pointers.
#![allow(unsafe_code)]

use super::socket::{Socket, observers};
use crate::sys::original;
use alloc::vec::Vec;
use base::arc::Arc;
use base::descriptor_table::Table;
use base::errno::{Result, preserve_errno};
use base::memory::try_push;
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use libc::{F_GETFD, c_int};

pub(crate) static SOCKETS: Table<Socket> = Table::new();

/// How many numbers were ever entered, here and for epoll instances.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicI32 = AtomicI32::new(0);

/// One more than the highest number that was ever entered.
pub(crate) fn highest() -> c_int {
    HIGHEST.load(Ordering::Relaxed)
}

/// No number was ever entered: no descriptor needs a look-up.
pub(crate) fn is_unused() -> bool {
    ENTRIES.load(Ordering::Relaxed) == 0
}

/// Counts a number that was entered in a table, here or for epoll instances.
pub(crate) fn entered(fd: c_int) {
    ENTRIES.fetch_add(1, Ordering::Relaxed);
    HIGHEST.fetch_max(fd.saturating_add(1), Ordering::Relaxed);
}

/// The socket of a number; None for an ordinary descriptor.
#[inline]
pub(crate) fn known(fd: c_int) -> Option<Arc<Socket>> {
    if is_unused() { None } else { SOCKETS.get(fd) }
}

/// All sockets, once for each of their numbers.
pub(crate) fn all() -> impl Iterator<Item = (c_int, Arc<Socket>)> {
    (0..highest()).filter_map(|fd| Some((fd, SOCKETS.get(fd)?)))
}

/// Enters a socket under a new number, which the program does not know yet.
pub(crate) fn enter(fd: c_int, socket: &Arc<Socket>) -> Result<()> {
    leave(fd);
    add_number(fd, Arc::clone(socket))
}

/// Enters a socket under one more number.
pub(crate) fn add_number(fd: c_int, socket: Arc<Socket>) -> Result<()> {
    try_push(&mut socket.state.lock().fds, fd)?;
    if let Err(error) = SOCKETS.insert(fd, Arc::clone(&socket)) {
        socket.state.lock().fds.retain(|other| *other != fd);
        return Err(error);
    }
    entered(fd);
    Ok(())
}

/// Removes a number that was closed. With its last number a socket ends.
pub(crate) fn leave(fd: c_int) {
    if let Some(socket) = SOCKETS.remove(fd) {
        let watches = {
            let mut state = socket.state.lock();
            state.fds.retain(|other| *other != fd);
            state.closed_fd = fd;
            if state.fds.is_empty() { core::mem::take(&mut state.watches) } else { Vec::new() }
        };
        if !watches.is_empty() {
            observers().for_each(|observer| observer.closed(&watches));
        }
        preserve_errno(|| drop(socket));
    }
    observers().for_each(|observer| observer.number_closed(fd));
}

/// In a fork's child, before anything else. The kernel copies the descriptors before the memory: a
/// number that another thread entered between the two is in the table, but not open, and will be
/// reused.
pub(crate) fn in_child() {
    if !is_unused() {
        forget_closed(&SOCKETS);
        all()
            .filter_map(|(_, socket)| socket.listener_in_child())
            .for_each(original::close_but_keep_number);
    }
}

/// In a child that cannot use this library: its sockets are the kernel's alone. The parent ends what
/// stands beside them.
pub(crate) fn forget_all() {
    for (fd, _) in all() {
        core::mem::forget(SOCKETS.remove(fd));
    }
}

/// Removes what stands in a table under numbers that are not open.
pub(crate) fn forget_closed<T>(table: &Table<T>) {
    for fd in 0..highest() {
        // SAFETY: no pointers.
        if table.get(fd).is_some() && unsafe { original::fcntl(fd, F_GETFD, 0) } < 0 {
            // The process that made it ends it.
            core::mem::forget(table.remove(fd));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::socket::{Mode, Observer, Watch, observe};
    use core::sync::atomic::AtomicU64;

    /// What the observer has heard of the socket under test: one bit for each event.
    static HEARD: AtomicU64 = AtomicU64::new(0);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    const WATCH: Watch = Watch { instance: 4000, key: 7 };
    const FIRST: c_int = 9001;
    const SECOND: c_int = 9002;

    struct Listener;

    impl Listener {
        fn hear(watches: &[Watch], bit: u64) {
            if watches == [WATCH] {
                HEARD.fetch_or(bit, Ordering::SeqCst);
            }
        }
    }

    impl Observer for Listener {
        fn carrier_changed(&self, watches: &[Watch]) {
            Listener::hear(watches, 1);
        }

        fn left_to_kernel(&self, watches: &[Watch]) {
            Listener::hear(watches, 2);
        }

        fn closed(&self, watches: &[Watch]) {
            Listener::hear(watches, 4);
        }

        fn number_closed(&self, fd: c_int) {
            if fd == FIRST {
                HEARD.fetch_or(8, Ordering::SeqCst);
            }
        }

        fn dropped(&self, socket: &Socket) {
            if socket.number() == NUMBER.load(Ordering::SeqCst) {
                HEARD.fetch_or(16, Ordering::SeqCst);
            }
        }
    }

    #[test]
    fn observers_hear_of_each_change_and_of_the_last_number() {
        observe(&[&Listener]);
        let heard = || HEARD.swap(0, Ordering::SeqCst);
        let Ok(socket) = Socket::new(libc::AF_INET, libc::SOCK_STREAM, Mode::Open) else { return };
        NUMBER.store(socket.number(), Ordering::SeqCst);
        assert_eq!(enter(FIRST, &socket), Ok(()));
        assert_eq!(add_number(SECOND, Arc::clone(&socket)), Ok(()));
        heard();
        // Without a registration nobody is told.
        socket.carrier_changed();
        assert_eq!(heard(), 0);
        socket.state.lock().watches.push(WATCH);
        socket.carrier_changed();
        assert_eq!(heard(), 1);
        drop(socket);
        leave(FIRST);
        assert_eq!(heard(), 8);
        leave(SECOND);
        assert_eq!(heard(), 4 | 16);
        assert!(SOCKETS.get(FIRST).is_none() && SOCKETS.get(SECOND).is_none());
    }
}
