//! The one service thread of a process: it takes the connection manager's events of all rsockets and
//! the packets of datagram rsockets, and wakes for timers. It blocks every signal, never waits for a
//! peer, and ends with the process.
//!
//! # Safety
//! System calls on an epoll instance that is owned here and never closed. The service of a process is
//! leaked: a fork's child makes its own.
#![allow(unsafe_code)]

use super::socket::{self, Socket};
use super::wait::{Wake, Waker};
use crate::error::{Errno, Result};
use crate::fork;
use crate::memory::try_box;
use crate::thread;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

const EVENTS: usize = 64;
/// Its calls nest a few frames deep.
const STACK_SIZE: usize = 256 << 10;
const WAKE_UP: u64 = u64::MAX;
/// Between two looks at a descriptor whose socket is just being closed.
const CLOSING_PAUSE: Duration = Duration::from_micros(50);

/// See the module text.
pub(super) struct Service {
    generation: u32,
    epoll: OwnedFd,
    waker: Waker,
    started: OnceCell<()>,
    timers: Mutex<BTreeSet<(Instant, RawFd)>>,
}

static SERVICE: AtomicPtr<Service> = AtomicPtr::new(ptr::null_mut());

/// The running service of this process.
pub(super) fn get() -> Result<&'static Service> {
    let service = find_or_make()?;
    service.started.get_or_try_init(|| start(service))?;
    Ok(service)
}

/// The service, if this process has one.
fn existing() -> Option<&'static Service> {
    // SAFETY: a published service is never freed.
    let service = unsafe { SERVICE.load(Ordering::Acquire).as_ref() }?;
    (service.generation == fork::generation()).then_some(service)
}

fn find_or_make() -> Result<&'static Service> {
    if let Some(service) = existing() {
        return Ok(service);
    }
    let before = SERVICE.load(Ordering::Acquire);
    let fresh = Box::into_raw(try_box(Service::new()?)?);
    match SERVICE.compare_exchange(before, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: published, never freed from now on.
        Ok(_) => Ok(unsafe { &*fresh }),
        Err(_) => {
            // SAFETY: lost the race, so `fresh` is known to nobody else.
            drop(unsafe { Box::from_raw(fresh) });
            existing().ok_or(Errno::EAGAIN)
        }
    }
}

fn start(service: &'static Service) -> Result<()> {
    thread::spawn_small("rsocket", STACK_SIZE, || service.run())
}

impl Service {
    fn new() -> Result<Service> {
        // SAFETY: no pointers.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(Errno::last());
        }
        let service = Service {
            generation: fork::generation(),
            // SAFETY: made above.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            waker: Waker::new()?,
            started: OnceCell::new(),
            timers: Mutex::new(BTreeSet::new()),
        };
        service.control(libc::EPOLL_CTL_ADD, service.waker.fd(), libc::EPOLLIN, WAKE_UP)?;
        Ok(service)
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, key: u64) -> Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: key };
        // SAFETY: a live event.
        let done =
            unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) };
        if done == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// Starts to watch the descriptor of a socket that is in the table.
    pub(super) fn watch(&self, fd: RawFd) -> Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN, fd as u64)
    }

    /// Leaves events where they are until `resume`.
    pub(super) fn pause(&self, fd: RawFd) {
        // A descriptor that is not watched needs no pause.
        let _ = self.control(libc::EPOLL_CTL_MOD, fd, 0, fd as u64);
    }

    pub(super) fn resume(&self, fd: RawFd) {
        let _ = self.control(libc::EPOLL_CTL_MOD, fd, libc::EPOLLIN, fd as u64);
    }

    /// Calls the socket's `on_timer` at the time given, or a little later.
    pub(super) fn call_at(&self, time: Instant, fd: RawFd) {
        let is_first = {
            let mut timers = self.timers.lock();
            timers.insert((time, fd));
            timers.first() == Some(&(time, fd))
        };
        if is_first {
            self.waker.wake();
        }
    }

    fn run(&self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        loop {
            let timeout = self.time_to_next();
            // SAFETY: a live array of that length.
            let count = unsafe {
                libc::epoll_wait(
                    self.epoll.as_raw_fd(),
                    events.as_mut_ptr(),
                    EVENTS as i32,
                    timeout,
                )
            };
            for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
                match event.u64 {
                    WAKE_UP => self.waker.clear(),
                    fd => match socket::find_any(fd as RawFd) {
                        Some(socket) => dispatch(&socket, Socket::on_readable),
                        None => std::thread::sleep(CLOSING_PAUSE),
                    },
                }
            }
            for fd in self.due() {
                if let Some(socket) = socket::find_any(fd) {
                    dispatch(&socket, Socket::on_timer);
                }
            }
        }
    }

    fn time_to_next(&self) -> i32 {
        let Some((time, _)) = self.timers.lock().first().copied() else { return -1 };
        let left = time.saturating_duration_since(Instant::now());
        left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32
    }

    fn due(&self) -> Vec<RawFd> {
        let now = Instant::now();
        let mut timers = self.timers.lock();
        let mut due = Vec::new();
        while let Some(first) = timers.first().copied().filter(|(time, _)| *time <= now) {
            timers.remove(&first);
            due.push(first.1);
        }
        due
    }
}

fn dispatch(socket: &Socket, handle: fn(&Socket)) {
    handle(socket);
}

/// Ends the watch over a descriptor that is about to be closed.
pub(super) fn forget(fd: RawFd) {
    if let Some(service) = existing() {
        let _ = service.control(libc::EPOLL_CTL_DEL, fd, 0, 0);
        service.timers.lock().retain(|(_, other)| *other != fd);
    }
}
