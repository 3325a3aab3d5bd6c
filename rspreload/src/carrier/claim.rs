// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Inherited sockets before they are used in a fork's child, and connections that are handed over.

use super::datagram;
use crate::fork::{self, detach};
use crate::sys::process;
use crate::table::counts::Direction;
use crate::table::descriptors::SOCKETS;
use crate::table::socket::Socket;
use base::errno::Result;
use libc::c_int;

/// Makes an inherited socket usable in this process, or fails it, for a call that reads no
/// datagrams.
pub(crate) fn claim(socket: &Socket) {
    claim_for(socket, Direction::Out);
}

/// As `claim`. For datagrams the direction matters: the latest reader receives them.
#[inline]
pub(crate) fn claim_for(socket: &Socket, direction: Direction) {
    if socket.is_inherited() && process::is_own_memory() {
        claim_inherited(socket, direction);
    }
}

#[cold]
fn claim_inherited(socket: &Socket, direction: Direction) {
    if socket.is_stream() {
        fork::claim::claim(socket);
    } else {
        datagram::inherit(socket, direction);
    }
}

/// Makes the descriptor of a connection independent of this library.
pub(crate) fn detach(fd: c_int) -> Result<()> {
    let Some(socket) = SOCKETS.get(fd) else { return Ok(()) };
    claim(&socket);
    detach::detach(&socket)
}
