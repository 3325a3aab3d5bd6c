//! Defaults, from the files of /etc/rdma/rsocket, read once.

use crate::once::Once;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

const FOLDER: &str = "/etc/rdma/rsocket";

pub(crate) const MIN_QUEUE: u32 = 16;
pub(crate) const MAX_QUEUE: u32 = 0xFFFE;
pub(crate) const MIN_BUFFER: u32 = 4096;
pub(crate) const MAX_BUFFER: u32 = 1 << 30;
/// Inline data beyond this is no gain on any device.
pub(crate) const MAX_INLINE: u32 = 4096;
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
    /// How long a wait looks for completions before it sleeps.
    pub(crate) polling_time: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            receive_buffer: 1 << 17,
            send_buffer: 1 << 17,
            send_queue: 384,
            receive_queue: 384,
            inline: 64,
            iomap_size: 0,
            polling_time: Duration::from_micros(10),
        }
    }
}

impl Config {
    /// Takes the files' values; what is missing, no number or senseless keeps the default. (There is
    /// no wake-up interval here: nothing sleeps past its event.)
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
        config
    }
}

/// The configuration of this process.
pub(crate) fn get() -> Config {
    static CONFIG: Once<Config> = Once::new();
    CONFIG.get_or_init(|| {
        if !Path::new(FOLDER).is_dir() {
            return Config::default();
        }
        Config::read(number_in)
    })
}

/// The number in a file of the folder. Needs no memory.
fn number_in(name: &str) -> Option<u64> {
    let (mut path, mut text) = ([0; 64], [0; 64]);
    let mut rest = &mut path[..];
    write!(rest, "{FOLDER}/{name}").ok()?;
    let left = rest.len();
    let path = OsStr::from_bytes(&path[..path.len() - left]);
    let length = File::open(path).ok()?.read(&mut text).ok()?;
    parse(text.get(..length)?)
}

/// The first word of a file as a number; negative ones and nonsense are none.
fn parse(text: &[u8]) -> Option<u64> {
    let word = text.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    std::str::from_utf8(word).ok()?.parse().ok()
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
    }
}
