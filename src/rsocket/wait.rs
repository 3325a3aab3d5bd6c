//! Sleeping and waking: descriptors that wake a thread, deadlines, ppoll.
//!
//! A completion event can be taken by any thread, so a thread that sleeps on the event's descriptor
//! alone could miss it. Each sleeper therefore also has a descriptor of its own, and whoever takes an
//! event or changes a socket wakes the others through theirs.
//!
//! # Safety
//! System calls on live arrays and descriptors that are owned here.
#![allow(unsafe_code)]

use super::epoll::Member;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::fork;
use crate::lock::Mutex;
use crate::memory::try_push;
use libc::{c_int, pollfd};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Who wants to know when a socket changes.
#[derive(Clone)]
pub(super) enum Waiter {
    /// A thread that sleeps.
    Thread(Counted<Waker>),
    /// A place in a set.
    Member(Counted<Member>),
}

impl Waiter {
    pub(super) fn wake(&self) {
        match self {
            Waiter::Thread(waker) => waker.wake(),
            Waiter::Member(member) => member.wake(),
        }
    }

    /// The socket is gone.
    pub(super) fn closed(&self) {
        match self {
            Waiter::Thread(_) => {}
            Waiter::Member(member) => member.closed(),
        }
    }
}

/// An eventfd.
pub(super) struct Waker {
    fd: OwnedFd,
    /// It was woken since it was borrowed.
    was_woken: AtomicBool,
}

impl Waker {
    pub(super) fn new() -> Result<Waker> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: made above.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Waker { fd, was_woken: AtomicBool::new(false) })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Takes all wake-ups that wait.
    pub(super) fn clear(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes of a local. EAGAIN, for none, is as good.
        unsafe { libc::read(self.fd(), (&raw mut count).cast(), 8) };
    }

    pub(super) fn wake(&self) {
        self.was_woken.store(true, Ordering::Release);
        let one = 1_u64;
        // SAFETY: eight bytes of a local. A full counter is awake already.
        unsafe { libc::write(self.fd(), (&raw const one).cast(), 8) };
    }
}

/// Wakers between two uses. A fork's child starts with none: it must not share its parent's.
struct Pool {
    generation: u32,
    wakers: Vec<Counted<Waker>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { generation: 0, wakers: Vec::new() });
const POOLED: usize = 16;
/// For a lock that is held for a few instructions, or, after a fork, for ever.
const PATIENCE: Duration = Duration::from_millis(1);

/// A waker for as long as one wait.
pub(super) struct Borrowed(Counted<Waker>);

impl Borrowed {
    pub(super) fn take() -> Result<Borrowed> {
        // A lock that a fork left locked costs a descriptor more, nothing else.
        let pooled = POOL.try_lock_for(PATIENCE).and_then(|mut pool| {
            if pool.generation != fork::generation() {
                pool.generation = fork::generation();
                // Their numbers may have been closed by the child, and be others' now.
                pool.wakers.drain(..).for_each(std::mem::forget);
            }
            pool.wakers.pop()
        });
        match pooled {
            Some(waker) => Ok(Borrowed(waker)),
            None => Ok(Borrowed(Counted::try_new(Waker::new()?)?)),
        }
    }

    pub(super) fn waker(&self) -> &Counted<Waker> {
        &self.0
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Whoever still holds it could wake its next user: only a sole owner gives it back.
        if Counted::owners(&self.0) != 1 {
            return;
        }
        // Most waits end by what they wait for: there is nothing to take, and no system call for it.
        if self.0.was_woken.swap(false, Ordering::AcqRel) {
            self.0.clear();
        }
        if let Some(mut pool) = POOL.try_lock_for(PATIENCE) {
            if pool.generation == fork::generation() && pool.wakers.len() < POOLED {
                // Without memory it ends here.
                let _ = try_push(&mut pool.wakers, Counted::clone(&self.0));
            }
        }
    }
}

/// A caller's time limit. It begins to run when a first look has found nothing, so that a call which
/// finds something asks no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(Option<Duration>);

impl From<Option<Duration>> for Limit {
    fn from(time: Option<Duration>) -> Limit {
        Limit(time)
    }
}

impl Limit {
    /// No limit.
    pub(crate) const NONE: Limit = Limit(None);

    /// A caller's milliseconds; negative means no limit.
    pub(crate) fn milliseconds(milliseconds: c_int) -> Limit {
        Limit(u64::try_from(milliseconds).ok().map(Duration::from_millis))
    }

    /// One look and no wait.
    pub(super) fn is_zero(self) -> bool {
        self.0 == Some(Duration::ZERO)
    }

    pub(super) fn begin(self) -> Deadline {
        match self.0 {
            Some(Duration::ZERO) => Deadline::Now,
            Some(time) => Instant::now().checked_add(time).map_or(Deadline::Never, Deadline::At),
            None => Deadline::Never,
        }
    }
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deadline {
    Never,
    /// After one look.
    Now,
    At(Instant),
}

impl Deadline {
    pub(super) fn has_passed(self) -> bool {
        match self {
            Deadline::Never => false,
            Deadline::Now => true,
            Deadline::At(time) => Instant::now() >= time,
        }
    }

    fn left(self) -> Option<Duration> {
        match self {
            Deadline::Never => None,
            Deadline::Now => Some(Duration::ZERO),
            Deadline::At(time) => Some(time.saturating_duration_since(Instant::now())),
        }
    }
}

/// poll(2) until a deadline that does not move, however often it is called: 0 when it has passed.
pub(super) fn poll_until(fds: &mut [pollfd], deadline: Deadline) -> Result<usize> {
    let limit = deadline.left().map(|left| libc::timespec {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: left.subsec_nanos().into(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: live array, live or no time, no signal mask.
    let ready = unsafe {
        libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, limit, std::ptr::null())
    };
    usize::try_from(ready).map_err(|_| Errno::last())
}

/// Whether a call that a signal interrupted goes on, as read(2) on a socket would: yes when every
/// handler of the process was installed with SA_RESTART.
#[cold]
pub(super) fn restarts_after_signal() -> bool {
    (1..=64).all(|signal| {
        // SAFETY: integers, pointers and a mask: valid when zero.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: only asks.
        if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) } != 0 {
            return true;
        }
        action.sa_sigaction == libc::SIG_DFL
            || action.sa_sigaction == libc::SIG_IGN
            || action.sa_flags & libc::SA_RESTART != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_do_not_move() {
        let begin = Instant::now();
        let deadline = Limit::milliseconds(60).begin();
        let waker = Borrowed::take().map(|borrowed| Counted::clone(borrowed.waker()));
        let Ok(waker) = waker else { return };
        let mut rounds = 0;
        while !deadline.has_passed() {
            waker.wake();
            let mut fds = [pollfd { fd: waker.fd(), events: libc::POLLIN, revents: 0 }];
            let _ = poll_until(&mut fds, deadline);
            waker.clear();
            rounds += 1;
        }
        let took = begin.elapsed();
        assert!(rounds > 10 && took >= Duration::from_millis(60));
        assert_eq!(Limit::milliseconds(-1).begin(), Deadline::Never);
        assert_eq!(Limit::milliseconds(0).begin(), Deadline::Now);
        assert_eq!(Limit(Some(Duration::MAX)).begin(), Deadline::Never);
        assert!(Deadline::Now.has_passed() && !Deadline::Never.has_passed());
    }

    #[test]
    fn a_waker_that_is_still_held_is_not_reused() {
        let Ok(borrowed) = Borrowed::take() else { return };
        let held = Counted::clone(borrowed.waker());
        drop(borrowed);
        let Ok(next) = Borrowed::take() else { return };
        assert!(!Counted::is_same(&held, next.waker()));
    }
}
