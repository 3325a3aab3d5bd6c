// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The configuration: the file preload_config and the environment, read once.
//!
//! # Safety
//! Reads program_invocation_short_name, which libc sets before any code of the program runs;
//! write(2) of live bytes.
#![allow(unsafe_code)]

use super::guard::Inside;
use super::original;
use alloc::vec::Vec;
use base::memory::{try_format, try_push};
use base::once::OnceLock;
use base::settings;
use base::{counters, log};
use core::ffi::CStr;
use core::fmt::Arguments;
use core::time::Duration;
use libc::{
    AF_INET, AF_INET6, IPPROTO_TCP, IPPROTO_UDP, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK,
    SOCK_STREAM, c_int,
};

const RULES: &CStr = c"/etc/rdma/rsocket/preload_config";
const AF_IB: c_int = 27;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(3000);

/// What a line of preload_config says about sockets; None stands for `*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    domain: Option<c_int>,
    kind: Option<c_int>,
    protocol: Option<c_int>,
}

/// The rules of preload_config.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rules {
    /// Whether there is any, also for other programs. Without rules every socket is taken.
    exist: bool,
    /// Those for this program.
    own: Vec<Rule>,
}

pub(crate) struct Config {
    rules: Rules,
    /// RS_SQ_SIZE, RS_RQ_SIZE, RS_INLINE.
    pub(crate) send_queue: Option<c_int>,
    pub(crate) receive_queue: Option<c_int>,
    pub(crate) inline: Option<c_int>,
    /// RS_CONNECT_TIMEOUT_MS: how long a peer may take to answer a connection request over RDMA.
    pub(crate) connect_timeout: Duration,
    /// RS_REQUIRE_RDMA: a connection that a device could carry never falls back to TCP.
    pub(crate) require_rdma: bool,
    /// RS_STATS: one line of byte counts for each socket.
    pub(crate) stats: bool,
    /// RDMACM_TRACE: librdmacm writes one.
    pub(crate) has_trace: bool,
}

/// What the configuration says about a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    /// It is of another kind.
    No,
    /// preload_config leaves it out.
    LeftOut,
}

pub(crate) fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let _inside = Inside::enter();
        Config::read()
    })
}

fn number(name: &CStr) -> Option<c_int> {
    base::environment::read(name, |value| value.trim().parse().ok())
}

/// 1, or another number but 0, yes, true.
fn is_on(value: &str) -> bool {
    let value = value.trim();
    value.parse::<c_int>().is_ok_and(|value| value != 0) || is_yes(value)
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "true"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// RS_REQUIRE_RDMA. A value that is neither yes nor no is said to be ignored: who sets it relies on
/// it.
fn is_required() -> bool {
    let read = |value: &str| {
        let value = value.trim();
        let is_no = ["", "0", "no", "false"].iter().any(|no| value.eq_ignore_ascii_case(no));
        if !is_yes(value) && !is_no {
            warn(format_args!("RS_REQUIRE_RDMA={value} is ignored: it takes 1, yes or true"));
        }
        Some(is_yes(value))
    };
    base::environment::read(settings::REQUIRE_RDMA.name, read).unwrap_or_default()
}

/// A line on standard error, wanted or not.
fn warn(text: Arguments<'_>) {
    if let Ok(line) = try_format(format_args!("rspreload: {text}\n")) {
        // SAFETY: live bytes.
        unsafe { original::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}

fn program_name() -> &'static [u8] {
    // SAFETY: a C string that libc keeps, or NULL.
    unsafe {
        let name = program_invocation_short_name;
        if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() }
    }
}

unsafe extern "C" {
    static program_invocation_short_name: *const libc::c_char;
}

impl Config {
    fn read() -> Config {
        let positive = |name| number(name).filter(|value| *value > 0);
        let timeout = positive(settings::CONNECT_TIMEOUT.name);
        Config {
            rules: base::fd::read_all(RULES)
                .map(|text| Rules::read(&text, program_name()))
                .unwrap_or_default(),
            send_queue: positive(settings::SQ_SIZE.name),
            receive_queue: positive(settings::RQ_SIZE.name),
            inline: positive(settings::INLINE.name),
            connect_timeout: timeout.map_or(CONNECT_TIMEOUT, |value| {
                Duration::from_millis(value.unsigned_abs().into())
            }),
            require_rdma: is_required(),
            has_trace: base::environment::read(settings::TRACE.name, |_| Some(())).is_some(),
            stats: base::environment::read(settings::STATS.name, |value| Some(is_on(value)))
                .unwrap_or_default(),
        }
    }

    /// Whether the ways of sockets are reported, also of those that the kernel carries.
    pub(crate) fn reports(&self) -> bool {
        self.stats || counters::is_on() || log::enabled(log::Part::Preload, log::Level::Warn)
    }

    /// Whether this library handles a socket of that kind.
    pub(crate) fn takes(&self, domain: c_int, kind: c_int, protocol: c_int) -> Taken {
        let kind = kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC);
        let protocol = match (kind, protocol) {
            (SOCK_STREAM, 0 | IPPROTO_TCP) => IPPROTO_TCP,
            (SOCK_DGRAM, 0 | IPPROTO_UDP) => IPPROTO_UDP,
            _ => return Taken::No,
        };
        if !matches!(domain, AF_INET | AF_INET6) {
            return Taken::No;
        }
        let fits = |rule: Option<c_int>, value| rule.is_none_or(|rule| rule == value);
        let mut own = self.rules.own.iter();
        let fits = |rule: &Rule| {
            fits(rule.domain, domain) && fits(rule.kind, kind) && fits(rule.protocol, protocol)
        };
        if !self.rules.exist || own.any(fits) { Taken::Yes } else { Taken::LeftOut }
    }
}

/// As in the C library a rule may give the beginning of a program's name, in upper or lower case.
fn is_prefix(start: &[u8], name: &[u8]) -> bool {
    name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

impl Rules {
    fn read(text: &[u8], program: &[u8]) -> Rules {
        let mut rules = Rules::default();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#")) {
            let Some((name, rule)) = rule(line) else { continue };
            rules.exist = true;
            if name == b"*" || is_prefix(name, program) {
                // Without memory the rule is lost.
                let _ = try_push(&mut rules.own, rule);
            }
        }
        rules
    }
}

/// A rule and the program that it is for; None for a line that is no rule.
fn rule(line: &[u8]) -> Option<(&[u8], Rule)> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let program = words.next()?;
    let domain = word(
        words.next()?,
        &["AF_", "PF_"],
        &[("INET", AF_INET), ("INET6", AF_INET6), ("IB", AF_IB)],
    )?;
    let kind = word(words.next()?, &["SOCK_"], &[("STREAM", SOCK_STREAM), ("DGRAM", SOCK_DGRAM)])?;
    let protocol =
        word(words.next()?, &["IPPROTO_"], &[("TCP", IPPROTO_TCP), ("UDP", IPPROTO_UDP)])?;
    Some((program, Rule { domain, kind, protocol }))
}

/// The value of a word, with or without a prefix, in upper or lower case; None for an unknown word.
fn word(text: &[u8], prefixes: &[&str], known: &[(&str, c_int)]) -> Option<Option<c_int>> {
    if text == b"*" {
        return Some(None);
    }
    let prefix = prefixes.iter().find(|prefix| is_prefix(prefix.as_bytes(), text));
    let bare = text.get(prefix.map_or(0, |prefix| prefix.len())..)?;
    let found = known.iter().find(|(name, _)| bare.eq_ignore_ascii_case(name.as_bytes()))?;
    Some(Some(found.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str, program: &str) -> Config {
        let rules = Rules::read(text.as_bytes(), program.as_bytes());
        Config { rules, ..Config::read() }
    }

    #[test]
    fn without_rules_every_internet_socket_is_taken() {
        let none = config("", "any");
        assert_eq!(none.takes(AF_INET, SOCK_STREAM, 0), Taken::Yes);
        assert_eq!(none.takes(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP), Taken::Yes);
        assert_ne!(none.takes(AF_INET, SOCK_STREAM, IPPROTO_UDP), Taken::Yes);
        assert_ne!(none.takes(AF_INET, SOCK_STREAM, 262), Taken::Yes);
        assert_ne!(none.takes(libc::AF_UNIX, SOCK_STREAM, 0), Taken::Yes);
    }

    #[test]
    fn every_word_of_a_rule_counts() {
        let text = "# comment\nredis inet stream tcp\n* AF_INET6 SOCK_DGRAM *\nbad INET nothing\n";
        assert_eq!(Rules::read(text.as_bytes(), b"redis").own.len(), 2);
        let redis = config(text, "Redis-server");
        assert_eq!(redis.takes(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), Taken::Yes);
        assert_ne!(redis.takes(AF_INET, SOCK_DGRAM, 0), Taken::Yes);
        assert_eq!(redis.takes(AF_INET6, SOCK_DGRAM, 0), Taken::Yes);
        assert_ne!(config(text, "red").takes(AF_INET, SOCK_STREAM, 0), Taken::Yes);
        // Rules for other programs alone: nothing of this one is taken.
        assert_ne!(
            config("other inet stream tcp", "redis").takes(AF_INET, SOCK_STREAM, 0),
            Taken::Yes
        );
    }

    #[test]
    fn rules_leave_out_what_would_be_taken() {
        let rules = config("redis inet stream tcp\n", "redis");
        assert_eq!(rules.takes(AF_INET, SOCK_DGRAM, 0), Taken::LeftOut);
        assert_eq!(rules.takes(libc::AF_UNIX, SOCK_STREAM, 0), Taken::No);
    }

    #[test]
    fn switches_take_words_and_numbers() {
        assert!(["1", "yes", " TRUE\n", "2"].into_iter().all(is_on));
        assert!(!["", "0", "no", "on", "-"].into_iter().any(is_on));
        assert!(["1", "Yes", "true"].into_iter().all(is_yes));
        assert!(!["", "2", "01", "on"].into_iter().any(is_yes));
    }

    #[test]
    fn long_and_malformed_lines_are_harmless() {
        for length in 60..200 {
            let line = format!("{} INET STREAM TCP", "x".repeat(length));
            assert_eq!(Rules::read(line.as_bytes(), &[b'x'; 200]).own.len(), 1);
            assert_eq!(Rules::read(&vec![b'y'; length], b"y"), Rules::default());
        }
    }
}
