// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A connection that the program gives up and keeps the socket of: connect to AF_UNSPEC, and the
//! shutdown of one that is pending. The rsocket stays to say how it ended, as TCP's socket does, until
//! the program begins something new.

use crate::sys::librdmacm;
use crate::table::socket::{Mode, Socket};
use base::deadline::Deadline;
use base::errno::preserve_errno;
use libc::c_int;

/// connect to AF_UNSPEC of a stream.
pub(super) fn dissolve(
    socket: &Socket,
    kernel: impl Fn() -> c_int,
    by_rdma: impl FnOnce(c_int) -> c_int,
) -> c_int {
    match socket.mode() {
        Mode::Connecting | Mode::Rdma => {
            let answer = give_up(socket, by_rdma);
            if answer == Some(0) { 0 } else { kernel() }
        }
        Mode::Listening => {
            let answer = kernel();
            if answer == 0 {
                to_open(socket);
            }
            answer
        }
        _ => kernel(),
    }
}

/// Ends a connection, or an attempt to make one; None without an rsocket of this process.
pub(crate) fn give_up(socket: &Socket, end: impl FnOnce(c_int) -> c_int) -> Option<c_int> {
    let (rsocket, before) = {
        let mut state = socket.state.lock();
        let before = (socket.mode(), state.deadline);
        let rsocket =
            socket.rsocket().filter(|_| matches!(before.0, Mode::Connecting | Mode::Rdma))?;
        // From now on nobody takes its end for a reason to connect by TCP.
        state.dissolved = true;
        state.deadline = Deadline::Never;
        socket.set_mode(Mode::Rdma);
        (rsocket, before)
    };
    let answer = end(rsocket);
    if answer == 0 {
        preserve_errno(|| librdmacm::set_non_blocking(rsocket, socket.is_non_blocking()));
        let mut state = socket.state.lock();
        (state.destination, state.addresses, state.unreported) = (None, None, false);
    } else {
        // The C library has no such thing.
        let mut state = socket.state.lock();
        state.dissolved = false;
        state.deadline = before.1;
        socket.set_mode(before.0);
    }
    preserve_errno(|| socket.carrier_changed());
    Some(answer)
}

/// The next connection is made as the first one was.
pub(super) fn renew(socket: &Socket) {
    if socket.mode() == Mode::Rdma && socket.state.lock().dissolved {
        to_open(socket);
    }
}

fn to_open(socket: &Socket) {
    let rsocket = {
        let mut state = socket.state.lock();
        state.dissolved = false;
        socket.set_mode(Mode::Open);
        socket.take_rsocket()
    };
    preserve_errno(|| {
        socket.carrier_changed();
        if let Some(rsocket) = rsocket {
            librdmacm::close(rsocket);
        }
    });
}
