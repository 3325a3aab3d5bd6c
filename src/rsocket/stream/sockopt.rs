// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Socket options of a stream. Values come and go as the bytes that C has.

use super::link::PeerState;
use super::state::{IdState, Phase, Stream, StreamState};
use crate::rsocket::config::{MAX_BUFFER, MAX_INLINE, MAX_QUEUE, MIN_BUFFER, MIN_QUEUE, within};
use crate::rsocket::value::{
    self, BESIDE, ON_DEMAND, RDMA_INLINE, RDMA_IOMAPSIZE, RDMA_ROUTE, RDMA_RQSIZE, RDMA_SQSIZE,
    SOL_RDMA,
};
use crate::rsocket::wire;
use crate::types::{RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS};
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::fail;
use base::memory::try_copy;
use libc::{
    IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPV6_TCLASS, IPV6_V6ONLY, SO_ACCEPTCONN,
    SO_DOMAIN, SO_ERROR, SO_KEEPALIVE, SO_LINGER, SO_OOBINLINE, SO_PROTOCOL, SO_RCVBUF,
    SO_RCVLOWAT, SO_RCVTIMEO, SO_REUSEADDR, SO_SNDBUF, SO_SNDLOWAT, SO_SNDTIMEO, SO_TYPE,
    SOCK_STREAM, SOL_SOCKET, TCP_DEFER_ACCEPT, TCP_FASTOPEN, TCP_INFO, TCP_KEEPCNT, TCP_KEEPIDLE,
    TCP_KEEPINTVL, TCP_LINGER2, TCP_MAXSEG, TCP_NODELAY, TCP_QUICKACK, TCP_WINDOW_CLAMP, c_int,
};

/// `struct ibv_path_data`, one record.
const PATH_DATA: usize = 72;
/// `struct tcp_info` as far as this library fills it in.
const TCP_INFO_SIZE: usize = 104;
const DEFAULT_SEGMENT: i32 = 2048;
/// What the kernel takes for TCP_MAXSEG (TCP_MIN_MSS, MAX_TCP_WINDOW).
const SEGMENTS: core::ops::RangeInclusive<i32> = 88..=32767;
/// As the kernel limits keep-alive times (MAX_TCP_KEEPIDLE, MAX_TCP_KEEPCNT).
const MAX_KEEP_TIME: i32 = 32767;
const MAX_KEEP_COUNT: i32 = 127;

impl Stream {
    pub(crate) fn set_option(&self, level: c_int, name: c_int, bytes: &[u8]) -> Result<()> {
        self.check()?;
        match (level, name) {
            (SOL_SOCKET, _) => self.set_socket_option(name, bytes),
            (IPPROTO_TCP, _) => self.set_tcp_option(name, bytes),
            (IPPROTO_IP, IP_TOS) | (IPPROTO_IPV6, IPV6_TCLASS) => {
                // The bits of congestion control are the transport's, as with TCP.
                let service = value::byte_or_int(bytes)? as u8 & !3;
                self.set_id_option(RDMA_OPTION_ID_TOS, &[service])?;
                self.state.lock().options.type_of_service = service;
                Ok(())
            }
            (IPPROTO_IPV6, IPV6_V6ONLY) => {
                let on = value::flag(bytes)?;
                self.set_id_option(RDMA_OPTION_ID_AFONLY, &i32::from(on).to_ne_bytes())?;
                self.state.lock().options.only_ipv6 = on;
                Ok(())
            }
            (SOL_RDMA, _) => self.set_rdma_option(name, bytes),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    fn set_socket_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        match name {
            SO_REUSEADDR => {
                let on = value::flag(bytes)?;
                let set =
                    self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &i32::from(on).to_ne_bytes());
                // Too late for the kernel is no error with TCP.
                if self.state.lock().id == IdState::Fresh {
                    set?;
                }
                self.state.lock().options.reuse_address = on;
            }
            SO_KEEPALIVE => {
                self.state.lock().options.keep_alive = value::flag(bytes)?;
                self.start_keep_alive();
            }
            SO_RCVBUF => self.state.lock().options.receive_buffer = buffer_size(bytes)?,
            SO_SNDBUF => self.state.lock().options.send_buffer = buffer_size(bytes)?,
            SO_LINGER => self.state.lock().options.linger = value::linger(bytes)?,
            SO_OOBINLINE => self.state.lock().options.out_of_band_inline = value::flag(bytes)?,
            SO_RCVTIMEO => self.state.lock().options.receive_timeout = value::duration(bytes)?,
            SO_SNDTIMEO => self.state.lock().options.send_timeout = value::duration(bytes)?,
            SO_RCVLOWAT => {
                let value = value::int(bytes)?;
                let mut state = self.state.lock();
                // What does not fit would never be there.
                let ring = state.link.as_ref().map(|link| link.endpoint.sizes().receive_buffer);
                let most = ring.unwrap_or(state.options.receive_buffer) / 2;
                let value = u32::try_from(value).unwrap_or(u32::MAX);
                state.options.low_water = value.clamp(1, most.max(1));
                state.wake();
            }
            _ => {
                let value = value::int(bytes)?;
                let kept = &mut self.state.lock().options.kept;
                return kept.set(SOL_SOCKET, name, value).unwrap_or(Err(Errno::ENOPROTOOPT));
            }
        }
        Ok(())
    }

    fn set_tcp_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        let value = value::int(bytes)?;
        let within = |most: i32| {
            if (1..=most).contains(&value) {
                return Ok(value as u32);
            }
            Err(fail!(EINVAL, "rsetsockopt: {value} of TCP option {name} is not in 1 to {most}"))
        };
        match name {
            TCP_NODELAY => self.state.lock().options.no_delay = value != 0,
            TCP_MAXSEG if !(value == 0 || SEGMENTS.contains(&value)) => {
                let (least, most) = (SEGMENTS.start(), SEGMENTS.end());
                return Err(fail!(
                    EINVAL,
                    "rsetsockopt: {value} of TCP_MAXSEG is neither 0 nor in {least} to {most}"
                ));
            }
            TCP_MAXSEG => self.state.lock().options.max_segment = value as u32,
            TCP_KEEPIDLE => {
                self.state.lock().options.keep_idle = within(MAX_KEEP_TIME)?;
                self.start_keep_alive();
            }
            TCP_KEEPINTVL => self.state.lock().options.keep_interval = within(MAX_KEEP_TIME)?,
            TCP_KEEPCNT => self.state.lock().options.keep_count = within(MAX_KEEP_COUNT)?,
            TCP_FASTOPEN if !self.state.lock().is_unconnected() => return Err(Errno::EINVAL),
            // Hints about segments, which there are none of here.
            TCP_QUICKACK | TCP_DEFER_ACCEPT | TCP_FASTOPEN | TCP_LINGER2 | TCP_WINDOW_CLAMP => {}
            _ => {
                let kept = &mut self.state.lock().options.kept;
                return kept.set(IPPROTO_TCP, name, value).unwrap_or(Err(Errno::ENOPROTOOPT));
            }
        }
        Ok(())
    }

    /// All of these shape the connection, so they come before it.
    fn set_rdma_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        if name == BESIDE {
            self.id().lane().is_beside(value::int(bytes)?);
            return Ok(());
        }
        let mut state = self.state.lock();
        if matches!(state.phase, Phase::Connecting | Phase::Accepting | Phase::Connected) {
            return Err(fail!(
                EINVAL,
                "rsetsockopt: options of SOL_RDMA come before the connection, {self:?} is {:?}",
                state.phase
            ));
        }
        let number = |low, high| -> Result<u32> { Ok(within(value::unsigned(bytes)?, low, high)) };
        match name {
            RDMA_SQSIZE => state.options.send_queue = number(MIN_QUEUE, MAX_QUEUE)?,
            RDMA_RQSIZE => state.options.receive_queue = number(MIN_QUEUE, MAX_QUEUE)?,
            RDMA_INLINE => state.options.inline = number(0, MAX_INLINE)?,
            RDMA_IOMAPSIZE => {
                let size = number(0, u32::from(u16::MAX))? as u16;
                state.options.iomap_size = wire::from_scale(wire::to_scale(size));
            }
            RDMA_ROUTE => {
                if bytes.is_empty() || bytes.len() % PATH_DATA != 0 {
                    return Err(fail!(
                        EINVAL,
                        "rsetsockopt: {} bytes are no array of struct ibv_path_data",
                        bytes.len()
                    ));
                }
                state.route = try_copy(bytes)?;
            }
            ON_DEMAND => state.accept_queue.on_demand = value::flag(bytes)?,
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// The value of an option, in C's bytes.
    pub(crate) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        self.check()?;
        let mut state = self.state.lock();
        if (level, name) == (SOL_SOCKET, SO_ERROR) {
            state.progress();
            return value::of(state.error.take().map_or(0, Errno::raw));
        }
        let options = &state.options;
        let number = |value: u32| value::of(value as i32);
        match (level, name) {
            (SOL_SOCKET, SO_TYPE) => value::of(SOCK_STREAM),
            (SOL_SOCKET, SO_DOMAIN) => value::of(self.family),
            (SOL_SOCKET, SO_PROTOCOL) => value::of(IPPROTO_TCP),
            (SOL_SOCKET, SO_ACCEPTCONN) => value::of(i32::from(state.phase == Phase::Listening)),
            (SOL_SOCKET, SO_REUSEADDR) => value::of(i32::from(options.reuse_address)),
            (SOL_SOCKET, SO_KEEPALIVE) => value::of(i32::from(options.keep_alive)),
            (SOL_SOCKET, SO_OOBINLINE) => value::of(i32::from(options.out_of_band_inline)),
            (SOL_SOCKET, SO_RCVBUF) => number(options.receive_buffer),
            (SOL_SOCKET, SO_SNDBUF) => number(options.send_buffer),
            (SOL_SOCKET, SO_RCVLOWAT) => number(options.low_water),
            (SOL_SOCKET, SO_SNDLOWAT) => value::of(1),
            (SOL_SOCKET, SO_LINGER) => value::of_linger(options.linger),
            (SOL_SOCKET, SO_RCVTIMEO) => value::of_duration(options.receive_timeout),
            (SOL_SOCKET, SO_SNDTIMEO) => value::of_duration(options.send_timeout),
            (IPPROTO_TCP, TCP_NODELAY) => value::of(i32::from(options.no_delay)),
            (IPPROTO_TCP, TCP_KEEPIDLE) => number(options.keep_idle),
            (IPPROTO_TCP, TCP_KEEPINTVL) => number(options.keep_interval),
            (IPPROTO_TCP, TCP_KEEPCNT) => number(options.keep_count),
            (IPPROTO_TCP, TCP_MAXSEG) => value::of(DEFAULT_SEGMENT),
            (IPPROTO_TCP, TCP_INFO) => try_copy(&state.tcp_info()),
            (IPPROTO_TCP, TCP_QUICKACK) => value::of(0),
            (IPPROTO_IP, IP_TOS) | (IPPROTO_IPV6, IPV6_TCLASS) => {
                number(options.type_of_service.into())
            }
            (IPPROTO_IPV6, IPV6_V6ONLY) => value::of(i32::from(options.only_ipv6)),
            (SOL_RDMA, RDMA_SQSIZE) => number(options.send_queue),
            (SOL_RDMA, RDMA_RQSIZE) => number(options.receive_queue),
            (SOL_RDMA, RDMA_INLINE) => number(options.inline),
            (SOL_RDMA, RDMA_IOMAPSIZE) => number(options.iomap_size.into()),
            (SOL_RDMA, RDMA_ROUTE) => try_copy(&state.route),
            (SOL_RDMA, ON_DEMAND) => number(state.accept_queue.answered() as u32),
            _ => options.kept.get(level, name).map_or(Err(Errno::ENOPROTOOPT), value::of),
        }
    }
}

impl StreamState {
    /// As new, or a listener.
    fn is_unconnected(&self) -> bool {
        !matches!(self.phase, Phase::Connecting | Phase::Accepting | Phase::Connected)
    }

    /// `struct tcp_info` with the state.
    fn tcp_info(&self) -> [u8; TCP_INFO_SIZE] {
        const ESTABLISHED: u8 = 1;
        const SYN_SENT: u8 = 2;
        const FIN_WAIT: u8 = 5;
        const CLOSE: u8 = 7;
        const CLOSE_WAIT: u8 = 8;
        const LISTEN: u8 = 10;
        let mut info = [0; TCP_INFO_SIZE];
        info[0] =
            match (self.phase, &self.link) {
                (Phase::Listening, _) => LISTEN,
                (Phase::Connecting | Phase::Accepting, _) => SYN_SENT,
                (Phase::Connected, Some(link)) if link.failure.is_some() => CLOSE,
                (Phase::Connected, Some(link)) if link.peer > PeerState::Open => {
                    if self.write_shut { CLOSE } else { CLOSE_WAIT }
                }
                (Phase::Connected, _) if self.write_shut => FIN_WAIT,
                (Phase::Connected, _) => ESTABLISHED,
                _ => CLOSE,
            };
        info
    }
}

/// Doubled, as the kernel does for its own bookkeeping.
fn buffer_size(bytes: &[u8]) -> Result<u32> {
    Ok(within(value::unsigned(bytes)?.saturating_mul(2), MIN_BUFFER, MAX_BUFFER))
}
