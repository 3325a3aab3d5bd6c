// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A device goes, and the queue pairs on it at once, because the kernel waits for them. Datagrams go by
//! UDP until the device is back, which is looked for from time to time.

use super::port::Port;
use super::state::{Datagram, DatagramState, Queued};
use crate::rsocket::epoll::Epoll;
use crate::rsocket::service;
use base::memory::try_push;
use base::time::Instant;
use core::time::Duration;

/// Between two looks for a device that went.
const PAUSE: Duration = Duration::from_secs(1);

impl Datagram {
    /// Lets go of the queue pair whose id has that name.
    pub(super) fn lose_port(&self, id: usize) {
        let (gone, observers) = {
            let mut state = self.state.lock();
            let Some(index) = state.ports.iter().position(|port| port.is_of(id)) else { return };
            // Without memory a set that hears of it late may watch a descriptor of another's.
            let observers = state.waiters.observers().unwrap_or_default();
            let gone = state.take_port(index);
            state.wake();
            (gone, observers)
        };
        observers.iter().for_each(|observer| observer.detach());
        drop(gone);
        self.look_later();
    }

    /// Makes the queue pairs again whose device is back.
    pub(super) fn look_for_devices(&self) {
        let lost = {
            let mut state = self.state.lock();
            if state.closed {
                return;
            }
            core::mem::take(&mut state.lost)
        };
        for local in lost {
            self.state.lock().without_port.retain(|other| !other.is_same_host(&local));
            if !self.open_port(&local) {
                // Without memory it is not looked for any more.
                let _ = try_push(&mut self.state.lock().lost, local);
            }
        }
        if !self.state.lock().lost.is_empty() {
            self.look_later();
        }
    }

    fn look_later(&self) {
        if let Ok(service) = service::get() {
            // Without a timer datagrams go on by UDP.
            let _ = service.call_at(Instant::now() + PAUSE, self.fd());
        }
    }
}

impl DatagramState {
    /// Datagrams in its slots are lost, as in a network. What is given back is dropped without the
    /// lock.
    fn take_port(&mut self, index: usize) -> (Port, Option<Epoll>) {
        // Handles before their domain.
        self.peers.forget_routes();
        self.queue.retain_mut(|queued| match queued {
            Queued::InSlot { port, .. } if *port == index => false,
            Queued::InSlot { port, .. } => {
                *port -= usize::from(*port > index);
                true
            }
            Queued::Packet { .. } => true,
        });
        let port = self.ports.remove(index);
        let group = self.group.take();
        self.make_group();
        let _ = try_push(&mut self.lost, *port.local());
        (port, group)
    }
}
