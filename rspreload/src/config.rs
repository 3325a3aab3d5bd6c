//! What the administrator and the environment say, read once.
//!
//! # Safety
//! Reads the program's name, which libc keeps.
#![allow(unsafe_code)]

use crate::guard::Inside;
use libc::{
    AF_INET, AF_INET6, IPPROTO_TCP, IPPROTO_UDP, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK,
    SOCK_STREAM, c_int,
};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::time::Duration;

const RULES: &str = "/etc/rdma/rsocket/preload_config";
const AF_IB: c_int = 27;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(3000);

/// One line of preload_config; None stands for `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    program: Option<String>,
    domain: Option<c_int>,
    kind: Option<c_int>,
    protocol: Option<c_int>,
}

/// See the module text.
pub(crate) struct Config {
    rules: Vec<Rule>,
    program: String,
    /// RS_SQ_SIZE, RS_RQ_SIZE, RS_INLINE.
    pub(crate) send_queue: Option<c_int>,
    pub(crate) receive_queue: Option<c_int>,
    pub(crate) inline: Option<c_int>,
    /// RS_CONNECT_TIMEOUT_MS: how long a peer may take to answer over RDMA.
    pub(crate) connect_timeout: Duration,
    /// RS_REQUIRE_RDMA: what a device could carry is never carried by TCP.
    pub(crate) require_rdma: bool,
    /// RS_STATS: a line for each socket.
    pub(crate) stats: bool,
}

pub(crate) fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let _inside = Inside::enter();
        Config::read()
    })
}

fn number(name: &str) -> Option<c_int> {
    std::env::var(name).ok()?.trim().parse().ok()
}

fn program_name() -> String {
    // SAFETY: libc's, set before any code of the program runs.
    unsafe {
        let name = program_invocation_short_name;
        if name.is_null() {
            return String::new();
        }
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

unsafe extern "C" {
    static program_invocation_short_name: *const libc::c_char;
}

impl Config {
    fn read() -> Config {
        let positive = |name| number(name).filter(|value| *value > 0);
        let is_on = |name| number(name).is_some_and(|value| value != 0);
        let timeout = positive("RS_CONNECT_TIMEOUT_MS");
        Config {
            rules: std::fs::read_to_string(RULES).map(|text| rules(&text)).unwrap_or_default(),
            program: program_name(),
            send_queue: positive("RS_SQ_SIZE"),
            receive_queue: positive("RS_RQ_SIZE"),
            inline: positive("RS_INLINE"),
            connect_timeout: timeout.map_or(CONNECT_TIMEOUT, |value| {
                Duration::from_millis(value.unsigned_abs().into())
            }),
            require_rdma: is_on("RS_REQUIRE_RDMA"),
            stats: is_on("RS_STATS"),
        }
    }

    /// Whether a socket of that kind is ours to look after.
    pub(crate) fn takes(&self, domain: c_int, kind: c_int, protocol: c_int) -> bool {
        let kind = kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC);
        let protocol = match (kind, protocol) {
            (SOCK_STREAM, 0 | IPPROTO_TCP) => IPPROTO_TCP,
            (SOCK_DGRAM, 0 | IPPROTO_UDP) => IPPROTO_UDP,
            _ => return false,
        };
        if !matches!(domain, AF_INET | AF_INET6) {
            return false;
        }
        let fits = |rule: Option<c_int>, value| rule.is_none_or(|rule| rule == value);
        self.rules.is_empty()
            || self.rules.iter().any(|rule| {
                rule.program.as_ref().is_none_or(|name| is_prefix(name, &self.program))
                    && fits(rule.domain, domain)
                    && fits(rule.kind, kind)
                    && fits(rule.protocol, protocol)
            })
    }
}

/// As in the C library, the beginning of a program's name is enough, in any case.
fn is_prefix(start: &str, name: &str) -> bool {
    name.as_bytes()
        .get(..start.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
}

fn rules(text: &str) -> Vec<Rule> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(rule).collect()
}

/// None for what is no rule.
fn rule(line: &str) -> Option<Rule> {
    let mut words = line.split_ascii_whitespace();
    let program = words.next()?;
    let domain = word(
        words.next()?,
        &["AF_", "PF_"],
        &[("INET", AF_INET), ("INET6", AF_INET6), ("IB", AF_IB)],
    )?;
    let kind = word(words.next()?, &["SOCK_"], &[("STREAM", SOCK_STREAM), ("DGRAM", SOCK_DGRAM)])?;
    let protocol =
        word(words.next()?, &["IPPROTO_"], &[("TCP", IPPROTO_TCP), ("UDP", IPPROTO_UDP)])?;
    let program = (program != "*").then(|| program.to_owned());
    Some(Rule { program, domain, kind, protocol })
}

/// A word's value, with or without a prefix, in any case; None for an unknown one.
fn word(text: &str, prefixes: &[&str], known: &[(&str, c_int)]) -> Option<Option<c_int>> {
    if text == "*" {
        return Some(None);
    }
    let upper = text.to_ascii_uppercase();
    let bare = prefixes.iter().find_map(|prefix| upper.strip_prefix(prefix)).unwrap_or(&upper);
    let found = known.iter().find(|(name, _)| *name == bare)?;
    Some(Some(found.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str, program: &str) -> Config {
        Config { rules: rules(text), program: program.to_owned(), ..Config::read() }
    }

    #[test]
    fn without_rules_every_internet_socket_is_taken() {
        let none = config("", "any");
        assert!(none.takes(AF_INET, SOCK_STREAM, 0));
        assert!(none.takes(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
        assert!(!none.takes(AF_INET, SOCK_STREAM, IPPROTO_UDP));
        assert!(!none.takes(AF_INET, SOCK_STREAM, 262));
        assert!(!none.takes(libc::AF_UNIX, SOCK_STREAM, 0));
    }

    #[test]
    fn rules_look_at_every_word() {
        let text = "# comment\nredis inet stream tcp\n* AF_INET6 SOCK_DGRAM *\nbad INET nothing\n";
        assert_eq!(rules(text).len(), 2);
        let redis = config(text, "Redis-server");
        assert!(redis.takes(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        assert!(!redis.takes(AF_INET, SOCK_DGRAM, 0));
        assert!(redis.takes(AF_INET6, SOCK_DGRAM, 0));
        assert!(!config(text, "red").takes(AF_INET, SOCK_STREAM, 0));
    }

    #[test]
    fn long_and_odd_lines_do_no_harm() {
        for length in 60..200 {
            let line = format!("{} INET STREAM TCP", "x".repeat(length));
            assert_eq!(rules(&line).len(), 1);
            assert!(rules(&"y".repeat(length)).is_empty());
        }
    }
}
