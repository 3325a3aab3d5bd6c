// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What follows when the carrier of a socket is decided: its mode changes, and observers hear of
//! it.

use super::rsocket;
use crate::fork::hooks;
use crate::sys::{config, librdmacm};
use crate::table::decision::{Decision, Place};
use crate::table::descriptors::SOCKETS;
use crate::table::socket::{Mode, Socket};
use libc::c_int;

/// The kernel's socket carries it from now on. Unless that is reported it leaves the table.
pub(crate) fn to_plain(socket: &Socket) {
    socket.set_mode(Mode::Plain);
    socket.carrier_changed();
    if !config::get().reports() {
        socket.left_to_kernel();
        // The list stays: nobody looks for the socket by a number any more.
        for index in 0.. {
            let Some(fd) = socket.state.lock().fds.get(index).copied() else { break };
            SOCKETS.remove(fd);
        }
    }
}

/// Of a socket that was left to the kernel before it had an address: notes the address.
pub(super) fn note_place(socket: &Socket, place: Place) {
    let decision = socket.state.lock().decision;
    if let Some(Decision { way, place: Place::Unknown }) = decision {
        socket.decided(way, place);
    }
}

/// The rsocket carries its connection or its datagrams from now on.
pub(super) fn to_rdma(socket: &Socket) {
    if let Some(rsocket) = socket.rsocket() {
        librdmacm::set_non_blocking(rsocket, socket.is_non_blocking());
        connected(socket, rsocket);
    }
    socket.set_mode(Mode::Rdma);
    socket.carrier_changed();
}

/// If it is a stream: counts the connection, and keeps its addresses for a fork's child.
pub(super) fn connected(socket: &Socket, rsocket: c_int) {
    if socket.is_stream() {
        hooks::connected();
        let own = rsocket::own_address(rsocket);
        let addresses = own.and_then(|own| Some((own, rsocket::peer_address(rsocket)?)));
        socket.state.lock().addresses = addresses;
    }
}
