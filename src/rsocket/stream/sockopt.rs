//! Socket options of a stream. Values come and go as the bytes that C has.

use super::link::Peer;
use super::{Inner, Phase, Stream};
use crate::error::{Errno, Result};
use crate::memory::try_copy;
use crate::option;
use crate::rsocket::config::{MAX_BUFFER, MAX_INLINE, MAX_QUEUE, MIN_BUFFER, MIN_QUEUE, within};
use crate::rsocket::value;
use crate::rsocket::wire;
use crate::types::{
    RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_TOS,
};
use libc::{
    IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPV6_TCLASS, IPV6_V6ONLY, SO_ACCEPTCONN,
    SO_BROADCAST, SO_DOMAIN, SO_ERROR, SO_KEEPALIVE, SO_LINGER, SO_OOBINLINE, SO_PRIORITY,
    SO_PROTOCOL, SO_RCVBUF, SO_RCVLOWAT, SO_RCVTIMEO, SO_REUSEADDR, SO_REUSEPORT, SO_SNDBUF,
    SO_SNDLOWAT, SO_SNDTIMEO, SO_TYPE, SOCK_STREAM, SOL_SOCKET, TCP_CORK, TCP_DEFER_ACCEPT,
    TCP_FASTOPEN, TCP_INFO, TCP_KEEPCNT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_LINGER2, TCP_MAXSEG,
    TCP_NODELAY, TCP_QUICKACK, TCP_SYNCNT, TCP_USER_TIMEOUT, TCP_WINDOW_CLAMP, c_int,
};

pub(crate) const SOL_RDMA: c_int = 0x10000;
pub(crate) const RDMA_SQSIZE: c_int = 0;
pub(crate) const RDMA_RQSIZE: c_int = 1;
pub(crate) const RDMA_INLINE: c_int = 2;
pub(crate) const RDMA_IOMAPSIZE: c_int = 3;
pub(crate) const RDMA_ROUTE: c_int = 4;

/// `struct ibv_path_data`, one record.
const PATH_DATA: usize = 72;
/// `struct tcp_info` as far as this library has anything to say.
const TCP_INFO_SIZE: usize = 104;
const DEFAULT_SEGMENT: i32 = 2048;
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
                let service = value::byte_or_int(bytes)? as u8;
                self.set_id_option(RDMA_OPTION_ID_TOS, &[service])?;
                self.inner.lock().options.type_of_service = service;
                Ok(())
            }
            (IPPROTO_IPV6, IPV6_V6ONLY) => {
                let on = value::flag(bytes)?;
                self.set_id_option(RDMA_OPTION_ID_AFONLY, &i32::from(on).to_ne_bytes())?;
                self.inner.lock().options.only_ipv6 = on;
                Ok(())
            }
            (SOL_RDMA, _) => self.set_rdma_option(name, bytes),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    pub(super) fn set_id_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        option::set(&self.id(), RDMA_OPTION_ID, name, bytes.as_ptr().cast(), bytes.len())
    }

    fn set_socket_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        match name {
            SO_REUSEADDR => {
                let on = value::flag(bytes)?;
                let set =
                    self.set_id_option(RDMA_OPTION_ID_REUSEADDR, &i32::from(on).to_ne_bytes());
                // Too late for the kernel is no error with TCP.
                if self.inner.lock().phase == Phase::Idle {
                    set?;
                }
                self.inner.lock().options.reuse_address = on;
            }
            SO_KEEPALIVE => {
                self.inner.lock().options.keep_alive = value::flag(bytes)?;
                self.start_keep_alive();
            }
            SO_RCVBUF => self.inner.lock().options.receive_buffer = buffer_size(bytes)?,
            SO_SNDBUF => self.inner.lock().options.send_buffer = buffer_size(bytes)?,
            SO_LINGER => self.inner.lock().options.linger = value::linger(bytes)?,
            SO_OOBINLINE => self.inner.lock().options.out_of_band_inline = value::flag(bytes)?,
            SO_RCVTIMEO => self.inner.lock().options.receive_timeout = value::duration(bytes)?,
            SO_SNDTIMEO => self.inner.lock().options.send_timeout = value::duration(bytes)?,
            // No effect on a connection of its own, as on most of TCP's.
            SO_REUSEPORT | SO_PRIORITY | SO_BROADCAST | SO_RCVLOWAT => {
                value::int(bytes)?;
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn set_tcp_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        let value = value::int(bytes)?;
        let within = |most: i32| {
            if (1..=most).contains(&value) { Ok(value as u32) } else { Err(Errno::EINVAL) }
        };
        match name {
            TCP_NODELAY => self.inner.lock().options.no_delay = value != 0,
            TCP_MAXSEG => self.inner.lock().options.max_segment = value.max(0) as u32,
            TCP_KEEPIDLE => {
                self.inner.lock().options.keep_idle = within(MAX_KEEP_TIME)?;
                self.start_keep_alive();
            }
            TCP_KEEPINTVL => self.inner.lock().options.keep_interval = within(MAX_KEEP_TIME)?,
            TCP_KEEPCNT => self.inner.lock().options.keep_count = within(MAX_KEEP_COUNT)?,
            // Hints about segments, which there are none of here.
            TCP_CORK | TCP_QUICKACK | TCP_DEFER_ACCEPT | TCP_USER_TIMEOUT | TCP_SYNCNT
            | TCP_FASTOPEN | TCP_LINGER2 | TCP_WINDOW_CLAMP => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// All of these shape the connection, so they come before it.
    fn set_rdma_option(&self, name: c_int, bytes: &[u8]) -> Result<()> {
        let mut inner = self.inner.lock();
        if matches!(inner.phase, Phase::Connecting | Phase::Accepting | Phase::Connected) {
            return Err(Errno::EINVAL);
        }
        let number = |low, high| -> Result<u32> { Ok(within(value::unsigned(bytes)?, low, high)) };
        match name {
            RDMA_SQSIZE => inner.options.send_queue = number(MIN_QUEUE, MAX_QUEUE)?,
            RDMA_RQSIZE => inner.options.receive_queue = number(MIN_QUEUE, MAX_QUEUE)?,
            RDMA_INLINE => inner.options.inline = number(0, MAX_INLINE)?,
            RDMA_IOMAPSIZE => {
                let size = number(0, u32::from(u16::MAX))? as u16;
                inner.options.iomap_size = wire::from_scale(wire::to_scale(size));
            }
            RDMA_ROUTE => {
                if bytes.is_empty() || !bytes.len().is_multiple_of(PATH_DATA) {
                    return Err(Errno::EINVAL);
                }
                inner.route = try_copy(bytes)?;
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// The value of an option, in C's bytes.
    pub(crate) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        self.check()?;
        let mut inner = self.inner.lock();
        if (level, name) == (SOL_SOCKET, SO_ERROR) {
            inner.progress();
            return value::of(inner.error.take().map_or(0, Errno::raw));
        }
        let options = &inner.options;
        let number = |value: u32| value::of(value as i32);
        match (level, name) {
            (SOL_SOCKET, SO_TYPE) => value::of(SOCK_STREAM),
            (SOL_SOCKET, SO_DOMAIN) => value::of(self.family),
            (SOL_SOCKET, SO_PROTOCOL) => value::of(IPPROTO_TCP),
            (SOL_SOCKET, SO_ACCEPTCONN) => value::of(i32::from(inner.phase == Phase::Listening)),
            (SOL_SOCKET, SO_REUSEADDR) => value::of(i32::from(options.reuse_address)),
            (SOL_SOCKET, SO_KEEPALIVE) => value::of(i32::from(options.keep_alive)),
            (SOL_SOCKET, SO_OOBINLINE) => value::of(i32::from(options.out_of_band_inline)),
            (SOL_SOCKET, SO_RCVBUF) => number(options.receive_buffer),
            (SOL_SOCKET, SO_SNDBUF) => number(options.send_buffer),
            (SOL_SOCKET, SO_RCVLOWAT | SO_SNDLOWAT) => value::of(1),
            (SOL_SOCKET, SO_REUSEPORT | SO_PRIORITY | SO_BROADCAST) => value::of(0),
            (SOL_SOCKET, SO_LINGER) => value::of_linger(options.linger),
            (SOL_SOCKET, SO_RCVTIMEO) => value::of_duration(options.receive_timeout),
            (SOL_SOCKET, SO_SNDTIMEO) => value::of_duration(options.send_timeout),
            (IPPROTO_TCP, TCP_NODELAY) => value::of(i32::from(options.no_delay)),
            (IPPROTO_TCP, TCP_KEEPIDLE) => number(options.keep_idle),
            (IPPROTO_TCP, TCP_KEEPINTVL) => number(options.keep_interval),
            (IPPROTO_TCP, TCP_KEEPCNT) => number(options.keep_count),
            (IPPROTO_TCP, TCP_MAXSEG) => value::of(DEFAULT_SEGMENT),
            (IPPROTO_TCP, TCP_INFO) => try_copy(&inner.tcp_info()),
            (IPPROTO_TCP, TCP_CORK | TCP_QUICKACK) => value::of(0),
            (IPPROTO_IP, IP_TOS) | (IPPROTO_IPV6, IPV6_TCLASS) => {
                number(options.type_of_service.into())
            }
            (IPPROTO_IPV6, IPV6_V6ONLY) => value::of(i32::from(options.only_ipv6)),
            (SOL_RDMA, RDMA_SQSIZE) => number(options.send_queue),
            (SOL_RDMA, RDMA_RQSIZE) => number(options.receive_queue),
            (SOL_RDMA, RDMA_INLINE) => number(options.inline),
            (SOL_RDMA, RDMA_IOMAPSIZE) => number(options.iomap_size.into()),
            (SOL_RDMA, RDMA_ROUTE) => try_copy(&inner.route),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }
}

impl Inner {
    /// `struct tcp_info` with the state, and what is on its way.
    fn tcp_info(&self) -> [u8; TCP_INFO_SIZE] {
        const ESTABLISHED: u8 = 1;
        const SYN_SENT: u8 = 2;
        const FIN_WAIT: u8 = 5;
        const CLOSE: u8 = 7;
        const CLOSE_WAIT: u8 = 8;
        const LISTEN: u8 = 10;
        let mut info = [0; TCP_INFO_SIZE];
        info[0] = match (self.phase, &self.link) {
            (Phase::Listening, _) => LISTEN,
            (Phase::Connecting | Phase::Accepting, _) => SYN_SENT,
            (Phase::Connected, Some(link)) if link.failure.is_some() => CLOSE,
            (Phase::Connected, Some(link)) if link.peer > Peer::Open => {
                if self.write_shut {
                    CLOSE
                } else {
                    CLOSE_WAIT
                }
            }
            (Phase::Connected, _) if self.write_shut => FIN_WAIT,
            (Phase::Connected, _) => ESTABLISHED,
            _ => CLOSE,
        };
        info
    }
}

/// Doubled, as the kernel does for its own books.
fn buffer_size(bytes: &[u8]) -> Result<u32> {
    Ok(within(value::unsigned(bytes)?.saturating_mul(2), MIN_BUFFER, MAX_BUFFER))
}
