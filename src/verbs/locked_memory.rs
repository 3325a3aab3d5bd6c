// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Why the kernel has locked no more memory: what the process has and what it may have.
//!
//! # Safety
//! getrlimit(2) and sysconf(3) on live structs.
#![allow(unsafe_code)]

use base::errno::preserve_errno;
use base::fd::read_start;
use core::fmt;

/// CAP_IPC_LOCK, as a bit of `CapEff` in /proc/self/status.
const IPC_LOCK: u64 = 1 << 14;

/// For the line of a registration that was refused. What it says is found out when it is written.
pub(super) struct Shortage {
    pub(super) start: usize,
    pub(super) length: usize,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        preserve_errno(|| Amounts::now(self.start, self.length)).fmt(f)
    }
}

/// In kB, as `ulimit -l` has them.
struct Amounts {
    wanted: u64,
    /// Of the status file; None where it does not say.
    registered: Option<u64>,
    locked: Option<u64>,
    /// None without one.
    limit: Option<u64>,
    /// The limit is not for this process, unless in a user namespace.
    is_exempt: bool,
}

impl Amounts {
    /// For a registration of that memory. Allocates nothing.
    fn now(start: usize, length: usize) -> Amounts {
        // SAFETY: no pointers.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
        let end = start.saturating_add(length).div_ceil(page);
        let pages = end.saturating_sub(start / page);
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a live struct.
        let asked = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } == 0;
        let mut place = [0; 2048];
        let status = read_start(c"/proc/self/status", &mut place).unwrap_or_default();
        let capabilities = field(status, b"CapEff:").and_then(|word| number(word, 16));
        Amounts {
            wanted: pages.saturating_mul(page) as u64 / 1024,
            registered: field(status, b"VmPin:").and_then(|word| number(word, 10)),
            locked: field(status, b"VmLck:").and_then(|word| number(word, 10)),
            limit: (asked && limit.rlim_cur != libc::RLIM_INFINITY)
                .then_some(limit.rlim_cur / 1024),
            is_exempt: capabilities.is_some_and(|set| set & IPC_LOCK != 0),
        }
    }
}

/// The first word after a name at the beginning of a line.
fn field<'a>(status: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name))?;
    rest.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())
}

fn number(word: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(core::str::from_utf8(word).ok()?, radix).ok()
}

impl fmt::Display for Amounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.wanted;
        write!(f, "{wanted} kB to lock")?;
        if let Some(registered) = self.registered {
            write!(f, ", {registered} kB are registered (VmPin)")?;
        }
        if let Some(locked @ 1..) = self.locked {
            write!(f, ", {locked} kB locked otherwise (VmLck)")?;
        }
        match self.limit {
            None => write!(f, ", no limit")?,
            Some(limit) => write!(f, ", the limit is {limit} kB")?,
        }
        let is_over = self
            .limit
            .is_some_and(|limit| self.registered.unwrap_or(0).saturating_add(wanted) > limit);
        f.write_str(match (is_over, self.is_exempt) {
            (true, false) => {
                ": raise it (`ulimit -l`, LimitMEMLOCK= of systemd, --ulimit memlock= of a container)"
            }
            (true, true) => {
                ", which CAP_IPC_LOCK lifts but in a user namespace: raise it there (`ulimit -l`), or \
                 the device has no memory region left"
            }
            (false, _) => {
                ": the device has no memory region left (`rdma resource`), or the machine or the \
                 control group no memory"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_file_is_read() {
        let status = b"Name:\tVmPin: 7\nVmLck:\t       4 kB\nVmPin:\t      64 kB\nCapEff:\t0000000000004000\nCut:";
        assert_eq!(field(status, b"VmPin:").and_then(|word| number(word, 10)), Some(64));
        assert_eq!(field(status, b"VmLck:").and_then(|word| number(word, 10)), Some(4));
        assert_eq!(field(status, b"CapEff:").and_then(|word| number(word, 16)), Some(IPC_LOCK));
        assert_eq!(field(status, b"Cut:"), None);
        assert_eq!(number(b"4x", 10), None);
    }

    #[test]
    fn the_cause_is_what_the_amounts_say() {
        let of = |limit, is_exempt| Amounts {
            wanted: 8,
            registered: Some(60),
            locked: Some(0),
            limit,
            is_exempt,
        };
        let says = |shortage: Amounts, text| shortage.to_string().contains(text);
        assert!(says(
            of(Some(64), false),
            "8 kB to lock, 60 kB are registered (VmPin), the limit is 64 kB: raise"
        ));
        assert!(says(of(Some(64), true), "CAP_IPC_LOCK"));
        assert!(says(of(Some(68), false), "no memory region left (`rdma resource`)"));
        assert!(says(of(None, false), "no limit: the device"));
    }

    #[test]
    fn a_page_that_is_touched_is_locked() {
        assert_eq!(Amounts::now(4095, 2).wanted, 8);
        assert_eq!(Amounts::now(4096, 4096).wanted, 4);
        assert!(Amounts::now(0, 1).registered.is_some());
    }
}
