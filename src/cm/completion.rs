// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rdma_get_send_comp and rdma_get_recv_comp. Nobody reads the events of a synchronous id while
//! its thread waits for a completion, so the wait does: where the peer is gone, the queue pair is
//! moved to error, and the requests that are posted complete as flushed.
//!
//! # Safety
//! Works on the public part of a valid id, whose fields name live objects, as the C helpers do.
#![allow(unsafe_code)]

use crate::cm::event;
use crate::cm::id::Id;
use crate::cm::sync_mode;
use crate::cm::sync_timeout::sync_timeout;
use crate::lane;
use crate::types::rdma_cm_id;
use crate::verbs::{self, Waited, invalid};
use base::deadline::{Deadline, poll_until};
use base::errno::{Errno, Result};
use base::{fail, time};
use core::time::Duration;
use libc::{POLLIN, c_int, pollfd};
use rdma_sys::{ibv_comp_channel, ibv_cq, ibv_wc};

/// How long a queue pair in error may take to flush. Later nothing is posted that could complete.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);
const OTHER_READER: Duration = Duration::from_millis(1);

/// # Safety
/// `id` is a valid id or NULL; `completion` is NULL or writable.
#[inline(always)]
pub(crate) unsafe fn of_send(id: *mut rdma_cm_id, completion: *mut ibv_wc) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(|| invalid("the id is NULL"))?;
        verbs::next_completion(SendQueue(id), completion)
    }
}

/// # Safety
/// As `of_send`.
#[inline(always)]
pub(crate) unsafe fn of_receive(id: *mut rdma_cm_id, completion: *mut ibv_wc) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(|| invalid("the id is NULL"))?;
        verbs::next_completion(ReceiveQueue(id), completion)
    }
}

#[derive(Clone, Copy)]
struct SendQueue<'a>(&'a rdma_cm_id);

impl Waited for SendQueue<'_> {
    #[inline(always)]
    fn queue(self) -> (*mut ibv_cq, *mut ibv_comp_channel) {
        (self.0.send_cq, self.0.send_cq_channel)
    }

    fn sleeper(self) -> impl FnMut(&ibv_comp_channel) -> Result<bool> {
        sleeper(self.0)
    }
}

#[derive(Clone, Copy)]
struct ReceiveQueue<'a>(&'a rdma_cm_id);

impl Waited for ReceiveQueue<'_> {
    #[inline(always)]
    fn queue(self) -> (*mut ibv_cq, *mut ibv_comp_channel) {
        (self.0.recv_cq, self.0.recv_cq_channel)
    }

    fn sleeper(self) -> impl FnMut(&ibv_comp_channel) -> Result<bool> {
        sleeper(self.0)
    }
}

fn sleeper(id: &rdma_cm_id) -> impl FnMut(&ibv_comp_channel) -> Result<bool> + use<> {
    let id = core::ptr::from_ref(id).cast_mut();
    let mut watch = Watch { id, deadline: None, flushed: None };
    move |channel| watch.has_event(channel)
}

struct Watch {
    id: *mut rdma_cm_id,
    deadline: Option<Deadline>,
    /// When a queue pair that was moved to error must have flushed.
    flushed: Option<Deadline>,
}

impl Watch {
    /// Sleeps until the completion channel has an event (true), or the id had one.
    #[cold]
    #[inline(never)]
    fn has_event(&mut self, channel: &ibv_comp_channel) -> Result<bool> {
        // SAFETY: a valid id, by the contract of the two functions above.
        let id = unsafe { Id::from_c(self.id) }?;
        // Others read the id's events themselves, and a descriptor that does not block is not waited for.
        if !id.is_synchronous() || !blocks(channel.fd) {
            return Ok(true);
        }
        if self.flushed.is_none() && id.has_early_event() {
            self.flushed = Some(Deadline::after(FLUSH_LIMIT));
        }
        let events = if self.flushed.is_some() { -1 } else { id.fd()? };
        let of = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut fds = [of(channel.fd), of(events)];
        let until = *self.deadline.get_or_insert_with(|| sync_timeout().begin());
        let begin = lane::wait_begins();
        let ready = poll_until(&mut fds, self.flushed.map_or(until, |end| end.earlier(until)));
        if let Some(begin) = begin {
            id.lane().waited(begin, "wait for a completion", None);
        }
        let ready = ready?;
        if fds[0].revents != 0 {
            return Ok(true);
        }
        match (ready, self.flushed) {
            (0, Some(_)) => Err(fail!(ECONNRESET, *id, "the peer is gone, and nothing is posted")),
            (0, None) => Err(Errno::ETIMEDOUT),
            _ => self.look(id).map(|()| false),
        }
    }

    /// Takes an event of the id, if it is still there.
    fn look(&mut self, id: &Id) -> Result<()> {
        let Some(reading) = id.try_read_early() else {
            // A verb in another thread waits for its event, or another wait is here.
            time::sleep(OTHER_READER);
            return Ok(());
        };
        match event::next(&id.file(), Deadline::Now) {
            Ok(event) if sync_mode::ends_connection(&event) => {
                reading.keep(event);
                self.flushed = Some(Deadline::after(FLUSH_LIMIT));
                id.fail_queue_pair()
            }
            Ok(event) => {
                sync_mode::discard(event);
                Ok(())
            }
            Err(Errno::ETIMEDOUT | Errno::EAGAIN) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn blocks(fd: c_int) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::fcntl(fd, libc::F_GETFL) & libc::O_NONBLOCK == 0 }
}
