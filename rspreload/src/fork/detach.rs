// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Hands a connection of this process over. Calls made inside glibc, by a program that inherits the
//! connection as standard input or output, or by a process that gets the descriptor (SCM_RIGHTS)
//! cannot be intercepted. So the program's descriptor becomes one end of a Unix socket, and a relay
//! moves the bytes.
//!
//! # Safety
//! shutdown(2) on descriptors that are owned here.
#![allow(unsafe_code)]

use super::relay::{self, RelayObserver};
use super::{claim, request};
use crate::sys::{original, process};
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Result, preserve_errno};
use base::lock::Mutex;
use base::memory::try_reserve;
use base::per_process::PerProcess;
use core::time::Duration;
use libc::{SHUT_RD, c_int};

const FLUSH_STEP: Duration = Duration::from_millis(1);

struct Detached {
    /// This process's end of the Unix socket.
    end: c_int,
    /// Has the rsocket.
    socket: Arc<Socket>,
    /// The program may still write.
    is_open: bool,
}

/// The connections whose relays are in this process.
static ALL: PerProcess<Mutex<Vec<Detached>>> = PerProcess::new();

/// Makes the descriptors of a connection independent of this library. On failure they stay as they
/// were.
pub(crate) fn detach(socket: &Socket) -> Result<()> {
    let is_connection = || socket.mode() == Mode::Rdma && socket.is_stream();
    if !is_connection() || !process::is_own_memory() {
        return Ok(());
    }
    preserve_errno(|| {
        let mut all = ALL.get_or_try_init(|| Ok(Mutex::default()))?.lock();
        try_reserve(&mut all, 1)?;
        let Some(rsocket) = socket.rsocket().filter(|_| is_connection()) else { return Ok(()) };
        let carrier = Socket::new(socket.family, socket.kind, Mode::Rdma)?;
        let [end, other] = request::stream_pair(socket)?;
        carrier.set_rsocket(rsocket);
        let observer = RelayObserver { flushed, ended };
        let replaced = relay::start(Arc::clone(&carrier), end, observer).and_then(|()| {
            all.push(Detached { end, socket: Arc::clone(&carrier), is_open: true });
            claim::replace(socket, other)
        });
        if replaced.is_err() {
            carrier.set_mode(Mode::Plain);
            carrier.take_rsocket();
            original::close_own(other);
            return replaced;
        }
        socket.counts.hand_over(&carrier.counts);
        {
            let (mut to, from) = (carrier.state.lock(), socket.state.lock());
            (to.addresses, to.decision) = (from.addresses, from.decision);
            to.closed_fd = from.fds.first().copied().unwrap_or(-1);
        }
        socket.set_mode(Mode::Relayed);
        socket.take_rsocket();
        socket.carrier_changed();
        Ok(())
    })
}

/// The program's side is closed for writing, and all it wrote is with the peer.
fn flushed(end: c_int) {
    let Some(all) = ALL.get() else { return };
    for detached in all.lock().iter_mut().filter(|detached| detached.end == end) {
        detached.is_open = false;
    }
}

/// The relay ends.
fn ended(end: c_int) {
    let Some(all) = ALL.get() else { return };
    let take = || {
        let mut all = all.lock();
        let index = all.iter().position(|detached| detached.end == end)?;
        Some(all.swap_remove(index))
    };
    // Dropped without the lock: closing an rsocket may take a while.
    while let Some(gone) = take() {
        drop(gone);
    }
}

/// When the process ends: waits until what the program has written is with the peers, as the kernel
/// would send it from its buffers, or until the deadline.
pub(crate) fn finish(deadline: Deadline) {
    let Some(all) = ALL.get() else { return };
    for detached in all.lock().iter() {
        // The relay reads what is buffered, and then end-of-file.
        // SAFETY: no pointers.
        unsafe { original::shutdown(detached.end, SHUT_RD) };
    }
    while all.lock().iter().any(|detached| detached.is_open) && !deadline.has_passed() {
        base::time::sleep(FLUSH_STEP);
    }
    for detached in all.lock().iter() {
        detached.socket.report();
    }
}
