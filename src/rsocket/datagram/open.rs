// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! New datagram rsockets, their addresses, and their end.

use super::port::Port;
use super::state::{Datagram, DatagramState};
use super::udp::UdpSocket;
use crate::device;
use crate::lane::{self, Kind, Lane, Phase};
use crate::rsocket::service;
use crate::rsocket::wait::blocking::sleep_until;
use crate::types::SocketAddress;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::lock::Mutex;
use base::owner::Owner;
use base::trace;
use core::time::Duration;
use libc::c_int;

/// How long a close waits for sends to complete.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

impl Datagram {
    /// A new socket, watched by the service thread; ENODEV where there is no device at all.
    pub(crate) fn open(
        family: c_int,
        protocol: c_int,
        nonblock: bool,
        close_on_exec: bool,
    ) -> Result<Arc<Datagram>> {
        device::require_any()?;
        let udp = UdpSocket::open(family, protocol, close_on_exec)?;
        let fd = udp.fd();
        let socket = Arc::try_new(Datagram {
            owner: Owner::current(),
            udp,
            lane: Lane::default(),
            state: Mutex::new(DatagramState::new(family, nonblock)),
        })?;
        socket.lane.begin(Kind::Datagram, fd, &[]);
        service::get()?.watch(fd, Arc::clone(&socket))?;
        Ok(socket)
    }

    pub(crate) fn bind(&self, address: &SocketAddress) -> Result<()> {
        self.owner.check()?;
        self.udp.bind(address)?;
        if !address.is_wildcard() {
            // So that the first datagram does not wait for it.
            self.open_port(&self.udp.local_name()?);
        }
        Ok(())
    }

    pub(crate) fn connect(&self, address: &SocketAddress) -> Result<()> {
        self.owner.check()?;
        self.udp.connect(address)?;
        self.lane.mark("rconnect", &[("peer", lane::address(address))]);
        self.state.lock().connected = Some(*address);
        // What fails here is tried again with the first datagram, which reports the error.
        let _ = self.local_address_for(address);
        Ok(())
    }

    /// connect(2) to AF_UNSPEC.
    pub(crate) fn disconnect(&self) -> Result<()> {
        self.owner.check()?;
        self.udp.disconnect()?;
        let mut state = self.state.lock();
        state.connected = None;
        // The kernel may give it another port.
        state.peers.forget_sources();
        Ok(())
    }

    pub(crate) fn shutdown(&self, how: c_int) -> Result<()> {
        self.owner.check()?;
        let shut = self.udp.shutdown(how);
        // As with UDP, one without a peer reports that, and is shut all the same.
        if matches!(shut, Ok(()) | Err(Errno::ENOTCONN)) {
            let mut state = self.state.lock();
            state.read_shut |= how != libc::SHUT_WR;
            state.write_shut |= how != libc::SHUT_RD;
            // As with UDP, an edge of both kinds.
            state.edges.note_idle(true, true);
            state.wake();
        }
        shut
    }

    /// Ends the calls of others at once, and waits for what was sent; what is left of the socket
    /// goes with its last user.
    pub(crate) fn close(&self) {
        if self.owner.is_ours() {
            if trace::is_on() {
                let traffic = self.state.lock().traffic;
                traffic.with_fields(|all| self.lane.enter(Phase::Close, all));
            }
            self.end();
        }
        service::forget(self.udp.fd(), self);
    }

    fn end(&self) {
        {
            let mut state = self.state.lock();
            state.closed = true;
            state.wake();
        }
        // Whatever ends the wait, there is nothing more to do about it.
        let _ = sleep_until(self, Deadline::after(CLOSE_TIMEOUT), || {
            let mut state = self.state.lock();
            state.progress();
            state.ports.iter().all(Port::is_idle).then_some(Ok(()))
        });
        let waiters = core::mem::take(&mut self.state.lock().waiters);
        waiters.close();
    }
}
