//! What can be set on a stream, as values.

use crate::rsocket::config;
use std::time::Duration;

/// See the module text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
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

impl Options {
    /// What a new socket starts with.
    pub(crate) fn new() -> Options {
        let config = config::get();
        Options {
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
}
