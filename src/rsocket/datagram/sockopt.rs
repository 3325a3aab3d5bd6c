// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Options of a datagram rsocket: the UDP socket's own, but for those of the device.

use super::packet::SLOT;
use super::state::Datagram;
use crate::rsocket::config::{MAX_BUFFER, MAX_QUEUE, MIN_QUEUE, within};
use crate::rsocket::value::{
    self, AS_UDP, BESIDE, RDMA_INLINE, RDMA_IOMAPSIZE, RDMA_RQSIZE, RDMA_SQSIZE, SOL_RDMA,
};
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::fail;
use libc::{SO_ERROR, SO_RCVBUF, SO_RCVTIMEO, SO_SNDBUF, SO_SNDTIMEO, SOL_SOCKET, c_int};

impl Datagram {
    pub(crate) fn set_option(&self, level: c_int, name: c_int, bytes: &[u8]) -> Result<()> {
        self.owner.check()?;
        if level == SOL_RDMA {
            return self.set_device_option(name, bytes);
        }
        self.udp.set_option(level, name, bytes)?;
        if let Ok(on) = value::byte_or_int(bytes) {
            self.state.lock().wanted.set(level, name, on != 0);
        }
        match (level, name) {
            (SOL_SOCKET, SO_RCVTIMEO) => {
                self.state.lock().receive_timeout = value::duration(bytes)?;
            }
            (SOL_SOCKET, SO_SNDTIMEO) => self.state.lock().send_timeout = value::duration(bytes)?,
            _ => {}
        }
        if level == SOL_SOCKET && matches!(name, SO_RCVBUF | SO_SNDBUF) {
            let size = within(value::unsigned(bytes)?.saturating_mul(2), SLOT as u32, MAX_BUFFER);
            let slots = (size / SLOT as u32).clamp(4, MAX_QUEUE);
            let mut state = self.state.lock();
            // For queue pairs that are made from now on.
            if name == SO_RCVBUF {
                state.slots.1 = slots;
                state.most_held = size as usize;
            } else {
                state.slots.0 = slots;
            }
        }
        Ok(())
    }

    fn set_device_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        if name == AS_UDP {
            self.state.lock().as_udp = value::flag(bytes)?;
            return Ok(());
        }
        if name == BESIDE {
            self.lane.is_beside(value::int(bytes)?);
            return Ok(());
        }
        let number = within(value::unsigned(bytes)?, MIN_QUEUE, MAX_QUEUE);
        let mut state = self.state.lock();
        if !state.ports.is_empty() {
            return Err(fail!(
                EINVAL,
                "rsetsockopt: the sizes of queues come before the first datagram"
            ));
        }
        match name {
            RDMA_SQSIZE => state.slots.0 = number,
            RDMA_RQSIZE => state.slots.1 = number,
            // A datagram is never sent inline.
            RDMA_INLINE => {}
            RDMA_IOMAPSIZE => return Err(Errno::EOPNOTSUPP),
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    pub(crate) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        self.owner.check()?;
        let mut state = self.state.lock();
        match (level, name) {
            (SOL_RDMA, RDMA_SQSIZE) => value::of(state.slots.0 as i32),
            (SOL_RDMA, RDMA_RQSIZE) => value::of(state.slots.1 as i32),
            (SOL_RDMA, RDMA_INLINE) => value::of(0),
            (SOL_RDMA, _) => Err(Errno::ENOPROTOOPT),
            (SOL_SOCKET, SO_ERROR) if state.error.is_some() => {
                value::of(state.error.take().map_or(0, Errno::raw))
            }
            _ => self.udp.option(level, name),
        }
    }
}
