// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What can be set on a stream, as values.

use crate::rsocket::config;
use base::errno::Result;
use base::fail;
use core::ops::RangeInclusive;
use core::time::Duration;
use libc::{
    IPPROTO_TCP, SO_BROADCAST, SO_PRIORITY, SO_REUSEPORT, SOL_SOCKET, TCP_CORK, TCP_SYNCNT,
    TCP_USER_TIMEOUT, c_int,
};

/// An option of the kernel without an effect here, whose value is kept for whoever asks.
struct Kept {
    level: c_int,
    name: c_int,
    first: i32,
    /// What it may be; none: it is on or off.
    values: Option<RangeInclusive<i32>>,
}

const fn kept(level: c_int, name: c_int, first: i32, values: Option<RangeInclusive<i32>>) -> Kept {
    Kept { level, name, first, values }
}

const KEPT: [Kept; 6] = [
    kept(SOL_SOCKET, SO_REUSEPORT, 0, None),
    kept(SOL_SOCKET, SO_BROADCAST, 0, None),
    kept(SOL_SOCKET, SO_PRIORITY, 0, Some(i32::MIN..=i32::MAX)),
    kept(IPPROTO_TCP, TCP_CORK, 0, None),
    kept(IPPROTO_TCP, TCP_SYNCNT, 6, Some(1..=127)),
    // The transport has a limit of its own for what is not acknowledged.
    kept(IPPROTO_TCP, TCP_USER_TIMEOUT, 0, Some(0..=i32::MAX)),
];

/// The values of options without an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptOptions([i32; KEPT.len()]);

impl KeptOptions {
    fn new() -> KeptOptions {
        KeptOptions(KEPT.map(|option| option.first))
    }

    fn index(level: c_int, name: c_int) -> Option<usize> {
        KEPT.iter().position(|option| (option.level, option.name) == (level, name))
    }

    pub(crate) fn get(&self, level: c_int, name: c_int) -> Option<i32> {
        self.0.get(KeptOptions::index(level, name)?).copied()
    }

    /// None for another option.
    pub(crate) fn set(&mut self, level: c_int, name: c_int, value: i32) -> Option<Result<()>> {
        let index = KeptOptions::index(level, name)?;
        let value = match &KEPT.get(index)?.values {
            None => i32::from(value != 0),
            Some(values) if values.contains(&value) => value,
            Some(_) => {
                return Some(Err(fail!(
                    EINVAL,
                    "rsetsockopt: {value} is no value of option {name} of level {level}"
                )));
            }
        };
        *self.0.get_mut(index)? = value;
        Some(Ok(()))
    }
}

/// See the module text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    pub(crate) kept: KeptOptions,
    /// Bytes that make it readable (SO_RCVLOWAT), and that a receive waits for.
    pub(crate) low_water: u32,
    pub(crate) receive_buffer: u32,
    pub(crate) send_buffer: u32,
    pub(crate) send_queue: u32,
    pub(crate) receive_queue: u32,
    pub(crate) inline: u32,
    pub(crate) iomap_size: u16,
    pub(crate) reuse_address: bool,
    pub(crate) only_ipv6: bool,
    pub(crate) type_of_service: u8,
    pub(crate) no_delay: bool,
    pub(crate) out_of_band_inline: bool,
    pub(crate) max_segment: u32,
    pub(crate) linger: Option<Duration>,
    pub(crate) keep_alive: bool,
    pub(crate) keep_idle: u32,
    pub(crate) keep_interval: u32,
    pub(crate) keep_count: u32,
    pub(crate) receive_timeout: Option<Duration>,
    pub(crate) send_timeout: Option<Duration>,
}

impl StreamOptions {
    /// What a new socket starts with.
    pub(crate) fn new() -> StreamOptions {
        let config = config::get();
        StreamOptions {
            kept: KeptOptions::new(),
            low_water: 1,
            receive_buffer: config.receive_buffer,
            send_buffer: config.send_buffer,
            send_queue: config.send_queue,
            receive_queue: config.receive_queue,
            inline: config.inline,
            iomap_size: config.iomap_size,
            reuse_address: false,
            only_ipv6: false,
            type_of_service: 0,
            // Nothing here ever waits for more data to send.
            no_delay: true,
            out_of_band_inline: false,
            max_segment: 0,
            linger: None,
            keep_alive: false,
            keep_idle: 7200,
            keep_interval: 75,
            keep_count: 9,
            receive_timeout: None,
            send_timeout: None,
        }
    }

    /// Bytes that are registered for a connection, about.
    pub(crate) fn registered(&self) -> usize {
        self.receive_buffer as usize + self.send_buffer as usize
    }
}
