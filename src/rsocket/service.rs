//! The one service thread of a process: it takes the connection manager's events of all rsockets and
//! the packets of datagram rsockets, and wakes for timers. It blocks every signal, never waits for a
//! peer, and ends with the process.
//!
//! # Safety
//! The service of a process is leaked: a fork's child makes its own.
#![allow(unsafe_code)]

use super::epoll::Epoll;
use super::socket::{self, Socket};
use super::timers::Timers;
use super::wait::Waker;
use crate::error::{Errno, Result};
use crate::fork;
use crate::lock::Mutex;
use crate::memory::try_box;
use crate::thread;
use once_cell::sync::OnceCell;
use std::os::fd::RawFd;
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
    epoll: Epoll,
    waker: Waker,
    started: OnceCell<()>,
    timers: Mutex<Timers>,
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
    thread::spawn_small(c"rsocket", STACK_SIZE, || service.run())
}

impl Service {
    fn new() -> Result<Service> {
        let service = Service {
            generation: fork::generation(),
            epoll: Epoll::new(libc::EPOLL_CLOEXEC)?,
            waker: Waker::new()?,
            started: OnceCell::new(),
            timers: Mutex::default(),
        };
        service.control(libc::EPOLL_CTL_ADD, service.waker.fd(), libc::EPOLLIN, WAKE_UP)?;
        Ok(service)
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, key: u64) -> Result<()> {
        self.epoll.control(operation, fd, events as u32, key)
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

    /// Calls the socket's `on_timer` at the time given, or a little later, and not at the time that was
    /// set before.
    pub(super) fn call_at(&self, time: Instant, fd: RawFd) -> Result<()> {
        if self.timers.lock().set(fd, time)? {
            self.waker.wake();
        }
        Ok(())
    }

    pub(super) fn call_no_more(&self, fd: RawFd) {
        self.timers.lock().cancel(fd);
    }

    fn run(&self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        loop {
            let timeout = self.time_to_next();
            let count = self.epoll.wait(&mut events, timeout).unwrap_or(0);
            for event in &events[..count] {
                match event.u64 {
                    WAKE_UP => self.waker.clear(),
                    fd => match socket::find_any(fd as RawFd) {
                        Some(socket) => dispatch(&socket, Socket::on_readable),
                        None => std::thread::sleep(CLOSING_PAUSE),
                    },
                }
            }
            let now = Instant::now();
            while let Some(fd) = self.take_due(now) {
                if let Some(socket) = socket::find_any(fd) {
                    dispatch(&socket, Socket::on_timer);
                }
            }
        }
    }

    fn time_to_next(&self) -> i32 {
        let Some(time) = self.timers.lock().next() else { return -1 };
        let left = time.saturating_duration_since(Instant::now());
        left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32
    }

    /// Without the lock while the socket is called.
    fn take_due(&self, now: Instant) -> Option<RawFd> {
        self.timers.lock().take_due(now)
    }
}

fn dispatch(socket: &Socket, handle: fn(&Socket)) {
    handle(socket);
}

/// Ends the watch over a descriptor that is about to be closed.
pub(super) fn forget(fd: RawFd) {
    if let Some(service) = existing() {
        let _ = service.control(libc::EPOLL_CTL_DEL, fd, 0, 0);
        service.call_no_more(fd);
    }
}
