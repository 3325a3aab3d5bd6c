// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Defaults, from the files of /etc/rdma/rsocket, read once.

use base::fd::{OwnedFd, read_start};
use base::once::Once;
use base::settings;
use base::variable;
use core::ffi::CStr;
use core::time::Duration;

const FOLDER: &CStr = c"/etc/rdma/rsocket";

pub(crate) const MIN_QUEUE: u32 = 16;
pub(crate) const MAX_QUEUE: u32 = 0xFFFE;
pub(crate) const MIN_BUFFER: u32 = 4096;
pub(crate) const MAX_BUFFER: u32 = 1 << 30;
/// Providers round a queue up to a power of two, soft-RoCE with one entry more: this is all of 256. A
/// longer one sends no faster, and takes twice the memory.
const SEND_QUEUE: u32 = 255;
/// Inline data beyond this is no gain on any device.
pub(crate) const MAX_INLINE: u32 = 4096;
const MAX_POOL_SIZE: u32 = 4096;
const MAX_POLLING_MICROSECONDS: u64 = 1_000_000;

/// What a new rsocket starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) receive_buffer: u32,
    pub(crate) send_buffer: u32,
    pub(crate) send_queue: u32,
    pub(crate) receive_queue: u32,
    pub(crate) inline: u32,
    pub(crate) iomap_size: u16,
    /// How long a wait busy-polls before it sleeps.
    pub(crate) polling_time: Duration,
    /// How many parts of ended connections are kept for new ones, of each kind.
    pub(crate) pool_size: u32,
    /// Each connection has a protection domain of its own.
    pub(crate) own_domains: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            receive_buffer: 1 << 17,
            send_buffer: 1 << 17,
            send_queue: SEND_QUEUE,
            receive_queue: 384,
            inline: 64,
            iomap_size: 0,
            polling_time: Duration::from_micros(10),
            pool_size: 64,
            own_domains: false,
        }
    }
}

impl Config {
    /// Takes the files' values; what is missing, no number or senseless keeps the default. (There
    /// is no wake-up interval here: nothing sleeps past its event.)
    fn read(number: impl Fn(&str) -> Option<u64>) -> Config {
        let mut config = Config::default();
        if let Some(value) = number("mem_default") {
            config.receive_buffer = within(value, MIN_BUFFER, MAX_BUFFER);
        }
        if let Some(value) = number("wmem_default") {
            config.send_buffer = within(value, MIN_BUFFER, MAX_BUFFER);
        }
        if let Some(value) = number("sqsize_default") {
            config.send_queue = within(value, MIN_QUEUE, MAX_QUEUE);
        }
        if let Some(value) = number("rqsize_default") {
            config.receive_queue = within(value, MIN_QUEUE, MAX_QUEUE);
        }
        if let Some(value) = number("inline_default") {
            config.inline = within(value, 0, MAX_INLINE);
        }
        if let Some(value) = number("iomap_size") {
            let size = within(value, 0, u32::from(u16::MAX)) as u16;
            config.iomap_size = super::wire::from_scale(super::wire::to_scale(size));
        }
        if let Some(value) = number("polling_time") {
            config.polling_time = Duration::from_micros(value.min(MAX_POLLING_MICROSECONDS));
        }
        if let Some(value) = number("pool_size") {
            config.pool_size = within(value, 0, MAX_POOL_SIZE);
        }
        if let Some(value) = number("own_domains") {
            config.own_domains = value != 0;
        }
        config
    }
}

/// The configuration of this process.
pub(crate) fn get() -> Config {
    static CONFIG: Once<Config> = Once::new();
    CONFIG.get_or_init(|| {
        // Most machines have no such folder: one system call instead of one for each file.
        let has_folder = OwnedFd::open(FOLDER, libc::O_PATH | libc::O_DIRECTORY).is_ok();
        Config::read(|name| {
            let of_process = match name {
                "pool_size" => variable::number(settings::POOL_SIZE.name, Some),
                "own_domains" => variable::number(settings::OWN_DOMAINS.name, Some),
                _ => None,
            };
            of_process.or_else(|| if has_folder { number_in(name) } else { None })
        })
    })
}

/// The number in a file of the folder. Needs no memory.
fn number_in(name: &str) -> Option<u64> {
    let (mut path, mut text) = ([0; 64], [0; 64]);
    let parts = [FOLDER.to_bytes(), b"/", name.as_bytes()];
    let bytes = parts.iter().copied().flatten();
    // The last byte stays zero.
    let room = path.len() - 1;
    path.iter_mut().take(room).zip(bytes).for_each(|(slot, byte)| *slot = *byte);
    parse(read_start(CStr::from_bytes_until_nul(&path).ok()?, &mut text).ok()?)
}

/// The first word of a file as a number; negative ones and nonsense are none.
fn parse(text: &[u8]) -> Option<u64> {
    let word = text.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    core::str::from_utf8(word).ok()?.parse().ok()
}

pub(crate) fn within(value: u64, low: u32, high: u32) -> u32 {
    value.clamp(u64::from(low), u64::from(high)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, text: &'static str) -> Config {
        Config::read(|asked| parse(text.as_bytes()).filter(|_| asked == name))
    }

    #[test]
    fn missing_and_senseless_files_change_nothing() {
        assert_eq!(Config::read(|_| None), Config::default());
        for text in ["", "\n", "abc", "-1", "0x10", "99999999999999999999999"] {
            assert_eq!(Config::read(|_| parse(text.as_bytes())), Config::default());
        }
    }

    #[test]
    fn values_are_kept_in_range() {
        assert_eq!(read("mem_default", "1").receive_buffer, MIN_BUFFER);
        assert_eq!(read("mem_default", "1000000\n").receive_buffer, 1_000_000);
        assert_eq!(read("wmem_default", "18446744073709551615").send_buffer, MAX_BUFFER);
        assert_eq!(read("sqsize_default", "70000").send_queue, MAX_QUEUE);
        assert_eq!(read("rqsize_default", "0").receive_queue, MIN_QUEUE);
        assert_eq!(read("inline_default", "0 trailing").inline, 0);
        assert_eq!(read("iomap_size", "300").iomap_size, 256);
        assert_eq!(read("polling_time", "25").polling_time, Duration::from_micros(25));
        assert_eq!(read("pool_size", "0").pool_size, 0);
        assert_eq!(read("pool_size", "1000000").pool_size, MAX_POOL_SIZE);
    }
}
