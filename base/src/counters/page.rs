// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The page of this process: made at load, anew in a fork's child, and once more where the program has
//! closed its descriptor. Calls go to the kernel directly: the preload library intercepts libc's.
//!
//! # Safety
//! The words lie in a mapping that is never undone, only replaced by another of the same size; its file
//! is sealed against getting shorter. System calls are on live buffers, and on descriptors that are ours.
#![allow(unsafe_code)]

use super::layout::{
    ENTRIES, Errnos, FILE, FREE, Gauge, Header, KEY, Numbers, OTHERS, PAGE_SIZE, SLOTS, Total,
    WORDS, WORDS_AT,
};
use crate::errno::{Errno, Result, preserve_errno};
use crate::fd::{RawFd, identity};
use crate::system_call::system_call;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use libc::{MAP_FAILED, MAP_FIXED, MAP_SHARED, PROT_READ, PROT_WRITE, c_int, c_long, c_void};

/// Above the descriptors that programs choose, and below FD_SETSIZE, which is the usual limit.
const LOWEST: [usize; 3] = [960, 200, 3];
const MFD_NOEXEC_SEAL: usize = 8;

/// The counters of the process.
#[derive(Debug)]
#[repr(transparent)]
pub struct Words([AtomicU64; WORDS]);

/// NULL: nothing is counted.
static PAGE: AtomicPtr<Words> = AtomicPtr::new(ptr::null_mut());
/// The descriptor, and the file behind it.
static FD: AtomicI32 = AtomicI32::new(-1);
static DEVICE: AtomicU64 = AtomicU64::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);
/// Another number wherever what was there before is not there any more. Never zero.
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// Counts, where the process counts: `what` is out of line.
#[inline(always)]
pub fn count(what: impl FnOnce(&Words)) {
    // SAFETY: NULL, or mapped for ever. It was stored at load, before the first call.
    if let Some(words) = unsafe { PAGE.load(Ordering::Relaxed).as_ref() } {
        out_of_line(words, what);
    }
}

#[inline(always)]
#[must_use]
pub fn is_on() -> bool {
    !PAGE.load(Ordering::Relaxed).is_null()
}

#[cold]
#[inline(never)]
fn out_of_line(words: &Words, what: impl FnOnce(&Words)) {
    what(words);
}

pub(super) fn epoch() -> u32 {
    EPOCH.load(Ordering::Relaxed)
}

impl Words {
    fn change(&self, word: u32, by: u64) {
        if let Some(word) = self.0.get(word as usize) {
            word.fetch_add(by, Ordering::Relaxed);
        }
    }

    pub fn add(&self, counter: Total, by: u64) {
        self.change(counter.0, by);
    }

    pub fn rise(&self, gauge: Gauge, by: u64) {
        self.change(gauge.0, by);
    }

    pub fn fall(&self, gauge: Gauge, by: u64) {
        self.change(gauge.0, by.wrapping_neg());
    }

    pub fn error(&self, series: Errnos, error: Errno) {
        self.note(series.0, error.raw());
    }

    pub fn number(&self, series: Numbers, number: i32) {
        self.note(series.0, number);
    }

    /// In the place of that number, which is taken at its first count; in the last where all are taken.
    fn note(&self, first: u32, number: i32) {
        let key = KEY | u64::from(number as u32);
        let Some(slots) = self.0.get(first as usize..first as usize + 2 * SLOTS) else { return };
        for (index, place) in slots.chunks_exact(2).enumerate() {
            let [slot, value] = place else { return };
            let key = if index + 1 == SLOTS { OTHERS } else { key };
            let taken = slot.compare_exchange(FREE, key, Ordering::Relaxed, Ordering::Relaxed);
            if taken.is_ok() || taken == Err(key) {
                value.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

fn call(number: c_long, arguments: [usize; 4]) -> Result<usize> {
    // SAFETY: of the callers in this file: live buffers, or no pointers.
    unsafe { system_call(number, arguments) }
}

fn close(fd: usize) {
    let _ = call(libc::SYS_close, [fd, 0, 0, 0]);
}

/// Maps a file of its own for this process: with the counters `of`, or with zeros.
fn begin(of: Option<&Words>) -> Result<(RawFd, *mut Words)> {
    let made = create()?;
    let result = fill(made, of).and_then(|()| {
        let moved = LOWEST.iter().find_map(|lowest| {
            let command = libc::F_DUPFD_CLOEXEC as usize;
            call(libc::SYS_fcntl, [made, command, *lowest, 0]).ok()
        });
        let fd = moved.ok_or(Errno::EMFILE)?;
        let page = map(PAGE.load(Ordering::Relaxed), MAP_SHARED, fd as c_int);
        page.map(|page| (fd as RawFd, page)).inspect_err(|_| close(fd))
    });
    close(made);
    result
}

fn create() -> Result<usize> {
    let flags = (libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) as usize;
    let named =
        |flags| call(libc::SYS_memfd_create, [FILE.as_ptr().expose_provenance(), flags, 0, 0]);
    // Kernels before 6.3 do not know the flag; later ones may insist on it.
    named(flags | MFD_NOEXEC_SEAL).or_else(|_| named(flags))
}

fn fill(fd: usize, of: Option<&Words>) -> Result<()> {
    let process = call(libc::SYS_getpid, [0; 4])? as u32;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a live timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    let since = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    let header = Header::of(process, since);
    call(libc::SYS_fchmod, [fd, 0o600, 0, 0])?;
    call(libc::SYS_ftruncate, [fd, PAGE_SIZE, 0, 0])?;
    let put = |from: *const c_void, size: usize, at: usize| match call(
        libc::SYS_pwrite64,
        [fd, from.expose_provenance(), size, at],
    ) {
        Ok(count) if count == size => Ok(()),
        Ok(_) => Err(Errno::ENOSPC),
        Err(error) => Err(error),
    };
    if let Some(words) = of {
        put(ptr::from_ref(words).cast(), size_of::<Words>(), WORDS_AT)?;
    }
    put((&raw const ENTRIES).cast(), size_of_val(&ENTRIES), size_of::<Header>())?;
    put((&raw const header).cast(), size_of::<Header>(), 0)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    call(libc::SYS_fcntl, [fd, libc::F_ADD_SEALS as usize, seals as usize, 0]).map(drop)
}

/// Maps it in the place of the page that there is.
fn map(present: *mut Words, kind: c_int, fd: c_int) -> Result<*mut Words> {
    let (start, kind) = match present.is_null() {
        true => (ptr::null_mut(), kind),
        false => (present.wrapping_byte_sub(WORDS_AT), kind | MAP_FIXED),
    };
    let access = PROT_READ | PROT_WRITE;
    preserve_errno(|| {
        // SAFETY: a new place, or that of the page, which nobody but this file knows.
        let made = unsafe { libc::mmap(start.cast(), PAGE_SIZE, access, kind, fd, 0) };
        if made == MAP_FAILED { Err(Errno::last()) } else { Ok(made) }
    })
    .map(|made| made.wrapping_byte_add(WORDS_AT).cast())
}

fn is_ours(fd: RawFd) -> bool {
    let known = (DEVICE.load(Ordering::Relaxed), INODE.load(Ordering::Relaxed));
    fd >= 0 && identity(fd) == Ok(known)
}

fn keep(fd: RawFd) {
    let (device, inode) = identity(fd).unwrap_or_default();
    DEVICE.store(device, Ordering::Relaxed);
    INODE.store(inode, Ordering::Relaxed);
    FD.store(fd, Ordering::Release);
}

/// From now on the process counts. For the start of a library, before any call of it.
pub fn start() -> Result<()> {
    if PAGE.load(Ordering::Relaxed).is_null() {
        let (fd, page) = begin(None)?;
        keep(fd);
        PAGE.store(page, Ordering::Release);
    }
    Ok(())
}

/// In a fork's child, before anything counts there. Async-signal-safe.
pub(crate) fn in_child() {
    let page = PAGE.load(Ordering::Relaxed);
    if page.is_null() {
        return;
    }
    EPOCH.fetch_add(1, Ordering::Relaxed);
    // The number may be the program's by now.
    let fd = FD.swap(-1, Ordering::Relaxed);
    if is_ours(fd) {
        close(fd as usize);
    }
    match begin(None) {
        Ok((fd, _)) => keep(fd),
        // The parent's counters must not count what the child does.
        Err(_) => {
            if map(page, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).is_err() {
                PAGE.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
    }
}

/// Before the library makes a descriptor: where the program has closed all, the page gets another. What
/// there was of the library's is gone with them; the totals go on.
#[inline]
pub fn check() {
    count(|words| {
        let fd = FD.load(Ordering::Acquire);
        if fd < 0 || is_ours(fd) {
            return;
        }
        // Of several threads one does it. Without a descriptor nobody reads the page, and it is tried again.
        if FD.compare_exchange(fd, -1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        EPOCH.fetch_add(1, Ordering::Relaxed);
        for gauge in ENTRIES.iter().filter(|entry| entry.kind == super::layout::Kind::Gauge) {
            let word = (gauge.offset as usize - WORDS_AT) / size_of::<u64>();
            if let Some(word) = words.0.get(word) {
                word.store(0, Ordering::Relaxed);
            }
        }
        match begin(Some(words)) {
            Ok((fresh, _)) => keep(fresh),
            Err(_) => FD.store(fd, Ordering::Release),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Live;
    use crate::counters::layout::{COMMANDS_FAILED, IDS_MADE, IDS_NOW, MAGIC};
    use crate::fork::tests::in_a_child;

    fn value(word: u32) -> u64 {
        let mut found = 0;
        count(|words| found = words.0[word as usize].load(Ordering::Relaxed));
        found
    }

    /// The file as a reader finds it.
    fn file() -> Vec<u8> {
        std::fs::read(format!("/proc/self/fd/{}", FD.load(Ordering::Relaxed))).unwrap_or_default()
    }

    fn word_in(file: &[u8], word: u32) -> Option<u64> {
        let start = WORDS_AT + word as usize * 8;
        Some(u64::from_ne_bytes(file.get(start..start + 8)?.try_into().ok()?))
    }

    #[test]
    fn nothing_is_counted_before_the_start() {
        assert!(in_a_child(|| {
            let live = Live::of(IDS_NOW);
            live.begin(IDS_MADE);
            FD.load(Ordering::Relaxed) == -1 && value(IDS_MADE.0) == 0
        }));
    }

    #[test]
    fn a_child_counts_for_itself() {
        assert!(in_a_child(|| {
            let started = start() == Ok(()) && start() == Ok(());
            let live = Live::of(IDS_NOW);
            live.begin(IDS_MADE);
            let before = file();
            let alone = in_a_child(|| {
                let is_empty = value(IDS_MADE.0) == 0 && value(IDS_NOW.0) == 0;
                live.end();
                let own = Live::of(IDS_NOW);
                own.begin(IDS_MADE);
                is_empty && value(IDS_NOW.0) == 1 && word_in(&file(), IDS_MADE.0) == Some(1)
            });
            let kept = value(IDS_NOW.0) == 1 && file() == before;
            started && alone && kept && before.starts_with(&MAGIC) && before.len() == PAGE_SIZE
        }));
    }

    #[test]
    fn a_closed_descriptor_is_made_anew_with_the_totals() {
        assert!(in_a_child(|| {
            let started = start() == Ok(());
            let live = Live::of(IDS_NOW);
            live.begin(IDS_MADE);
            let fd = FD.load(Ordering::Relaxed);
            // SAFETY: a descriptor that nobody uses after this, and another file under its number.
            unsafe {
                libc::close(fd);
                libc::dup2(0, fd);
            }
            check();
            let fresh = FD.load(Ordering::Relaxed);
            drop(live);
            let own = Live::of(IDS_NOW);
            own.begin(IDS_MADE);
            // SAFETY: the program's, which is still open.
            let is_open = unsafe { libc::fcntl(fd, libc::F_GETFD) } == 0;
            let file = file();
            started
                && is_open
                && fresh != fd
                && word_in(&file, IDS_MADE.0) == Some(2)
                && word_in(&file, IDS_NOW.0) == Some(1)
        }));
    }

    #[test]
    fn a_series_has_a_place_for_each_number_and_one_for_the_rest() {
        assert!(in_a_child(|| {
            let started = start() == Ok(());
            count(|words| {
                for number in [5, 7, 5].into_iter().chain(100..200) {
                    words.error(COMMANDS_FAILED, Errno::of(number));
                }
            });
            let pair = |slot: u32| {
                let first = COMMANDS_FAILED.0 + 2 * slot;
                (value(first), value(first + 1))
            };
            let last = SLOTS as u32 - 1;
            started
                && pair(0) == (KEY | 5, 2)
                && pair(1) == (KEY | 7, 1)
                && pair(2) == (KEY | 100, 1)
                && pair(last) == (OTHERS, 100 - (u64::from(last) - 2))
        }));
    }
}
