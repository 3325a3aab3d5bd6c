// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The RDMA listener beside a kernel socket that listens and decides the port. The process that
//! waits for connections makes it: a call of accept, or poll, select or epoll for reading. While
//! another process has the port over RDMA, this one accepts TCP alone and retries now and then.
//!
//! # Safety
//! rlisten without pointers.
#![allow(unsafe_code)]

use super::{route, rsocket, unaccepted};
use crate::sys::address::Address;
use crate::sys::librdmacm;
use crate::table::decision::{Place, Reason, Way};
use crate::table::setting::Setting;
use crate::table::socket::{Mode, Socket};
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, preserve_errno};
use base::fork::generation;
use core::time::Duration;
use libc::c_int;

/// Between two attempts to get a port that another process has.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Makes the RDMA listener if there is none. Returns when to try again.
pub(crate) fn prepare(socket: &Arc<Socket>, fd: c_int) -> Deadline {
    if socket.rsocket().is_some() {
        return Deadline::Never;
    }
    let backlog = {
        let mut state = socket.state.lock();
        if !state.may_add_rdma_listener() || socket.mode() != Mode::Listening {
            return Deadline::Never;
        }
        if state.deadline != Deadline::Never && !state.deadline.has_passed() {
            return state.deadline;
        }
        state.deadline = Deadline::after(RETRY_INTERVAL);
        state.backlog
    };
    let own = rsocket::kernel_address(fd);
    match preserve_errno(|| make(socket, own, backlog)) {
        Ok(rsocket) => {
            socket.set_rsocket(rsocket);
            decided(socket, own, Way::Rdma);
            socket.state.lock().deadline = Deadline::Never;
            preserve_errno(|| {
                unaccepted::watch(socket);
                socket.carrier_changed();
            });
            Deadline::Never
        }
        Err(reason) => {
            decided(socket, own, Way::Kernel(reason));
            if let Reason::PortInUse | Reason::Unavailable(Errno::EMFILE | Errno::ENOMEM) = reason {
                return socket.state.lock().deadline;
            }
            socket.state.lock().no_rdma_listener = true;
            Deadline::Never
        }
    }
}

fn decided(socket: &Socket, own: Option<Address>, way: Way) {
    socket.decided(way, own.map_or(Place::Unknown, Place::At));
}

fn make(socket: &Socket, own: Option<Address>, backlog: c_int) -> Result<c_int, Reason> {
    let own = own.ok_or(Reason::Unavailable(Errno::EINVAL))?;
    rsocket::check_watched(socket).map_err(Reason::Unavailable)?;
    route::check_local(&own)?;
    open(socket, own, backlog).map_err(|error| match error {
        Errno::EADDRINUSE => Reason::PortInUse,
        error => Reason::Unavailable(error),
    })
}

fn open(socket: &Socket, own: Address, backlog: c_int) -> base::errno::Result<c_int> {
    // The wildcard address stays as it is: that of IPv6 may accept both families.
    let own = if own.is_wildcard() { own } else { own.unmapped() };
    let listener = rsocket::open(socket, own.family())?;
    Setting::answer_on_demand().apply(listener);
    let listens = rsocket::bind(listener, &own).and_then(|()| {
        // SAFETY: no pointers.
        librdmacm::checked(unsafe { librdmacm::rlisten(listener, backlog) })
    });
    if let Err(error) = listens {
        librdmacm::close(listener);
        return Err(error);
    }
    Ok(listener)
}

/// The process calls accept: if it has given the RDMA listener up, it may make another one.
pub(super) fn allow(socket: &Socket) {
    let was_given_up = {
        let mut state = socket.state.lock();
        core::mem::take(&mut state.gave_up) == generation()
    };
    if was_given_up {
        preserve_errno(|| socket.carrier_changed());
    }
}
