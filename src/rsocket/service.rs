// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The service thread of a process: it calls the handlers of descriptors that became readable, and
//! those whose time has come.
//!
//! It blocks every signal, never waits for a peer, and ends with the process. It knows its handlers by
//! trait alone: connection events of streams and searches, packets of datagram rsockets.

use super::epoll::Epoll;
use super::timers::Timers;
use alloc::boxed::Box;
use base::arc::Arc;
use base::deadline::Deadline;
use base::descriptor_table::Table;
use base::errno::{Errno, Result};
use base::eventfd::EventFd;
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_box;
use base::once::OnceLock;
use base::per_process::PerProcess;
use base::thread;
use base::time::Instant;
use base::turn::Turns;
use base::witness;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use hashbrown::HashSet;

const EVENTS: usize = 64;
/// Its calls nest a few frames deep.
const STACK_SIZE: usize = 256 << 10;
const WAKE_UP: u64 = u64::MAX;
/// The timers of `run_at` and `watch_idle`, among those of descriptors.
const JOB: RawFd = -1;
const PERIOD: RawFd = -2;
/// How long a period of `watch_idle` is.
const PERIOD_LENGTH: Duration = Duration::from_secs(1);
/// Between two events of a descriptor that has no handler any more, and is about to be closed.
const CLOSING_PAUSE: Duration = Duration::from_micros(50);

/// What the service thread does for a descriptor. Only the service thread calls it.
pub(crate) trait Handler: Send + Sync {
    /// The descriptor is readable.
    fn on_readable(&self);

    /// The time of `call_at` has come.
    fn on_timer(&self) {}

    /// A period of `watch_idle` has ended. False where there is nothing to do at the end of another.
    fn on_period(&self) -> bool {
        false
    }

    /// The device of one of its ids has gone.
    fn on_removal(&self, _id: usize) {}

    /// The address of what it works for, by which `forget` tells it from others.
    fn identity(&self) -> *const ();
}

/// See the module text.
pub(crate) struct Service {
    epoll: Epoll,
    wake_up: EventFd,
    /// The thread runs.
    started: OnceLock<()>,
    /// It, once it runs.
    thread: AtomicUsize,
    /// In which it calls handlers.
    turns: Turns,
    timers: Mutex<Timers>,
    job: Mutex<Option<fn()>>,
    /// Descriptors whose handlers hear of each period's end.
    periodic: Mutex<HashSet<RawFd>>,
}

static SERVICE: PerProcess<Service> = PerProcess::new();
/// The handlers of all watched descriptors, also those that a fork's child has inherited.
static HANDLERS: Table<Box<dyn Handler>> = Table::new();

/// The running service of this process.
pub(crate) fn get() -> Result<&'static Service> {
    let service = SERVICE.get_or_try_init(Service::new)?;
    service.started.get_or_try_init(|| start(service))?;
    Ok(service)
}

fn start(service: &'static Service) -> Result<()> {
    thread::spawn_small(c"rsocket", STACK_SIZE, || service.run())
}

impl Service {
    fn new() -> Result<Service> {
        let service = Service {
            epoll: Epoll::new(libc::EPOLL_CLOEXEC)?,
            wake_up: EventFd::new()?,
            started: OnceLock::new(),
            thread: AtomicUsize::new(0),
            turns: Turns::default(),
            timers: Mutex::default(),
            job: Mutex::new(None),
            periodic: Mutex::default(),
        };
        service.control(
            libc::EPOLL_CTL_ADD,
            service.wake_up.as_raw_fd(),
            libc::EPOLLIN,
            WAKE_UP,
        )?;
        Ok(service)
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, key: u64) -> Result<()> {
        self.epoll.control(operation, fd, events as u32, key)
    }

    /// Calls the handler whenever the descriptor is readable, until `forget`.
    pub(crate) fn watch(&self, fd: RawFd, handler: impl Handler + 'static) -> Result<()> {
        let handler: Box<dyn Handler> = try_box(handler)?;
        HANDLERS.insert(fd, Arc::try_new(handler)?)?;
        let watched = self.control(libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN, fd as u64);
        if watched.is_err() {
            drop(HANDLERS.remove(fd));
        }
        watched
    }

    /// Leaves events where they are until `resume`.
    pub(crate) fn pause(&self, fd: RawFd) {
        // A descriptor that is not watched needs no pause.
        let _ = self.control(libc::EPOLL_CTL_MOD, fd, 0, fd as u64);
    }

    pub(crate) fn resume(&self, fd: RawFd) {
        let _ = self.control(libc::EPOLL_CTL_MOD, fd, libc::EPOLLIN, fd as u64);
    }

    /// Calls `on_timer` of the descriptor's handler at the time given, or a little later, and not
    /// at the time that was set before.
    pub(crate) fn call_at(&self, time: Instant, fd: RawFd) -> Result<()> {
        let is_next = self.timers.lock().set(fd, time)?;
        // The thread itself looks at the timers before it sleeps.
        if is_next
            && witness::is_intact()
            && self.thread.load(Ordering::Relaxed) != thread::current()
        {
            self.wake_up.notify();
        }
        Ok(())
    }

    /// Runs a job at the time given, or a little later; in the place of the one before.
    pub(crate) fn run_at(&self, time: Instant, job: fn()) -> Result<()> {
        *self.job.lock() = Some(job);
        self.call_at(time, JOB)
    }

    /// Calls `on_period` of the descriptor's handler at the end of each period.
    pub(crate) fn watch_idle(&self, fd: RawFd) -> Result<()> {
        let is_first = {
            let mut periodic = self.periodic.lock();
            periodic.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            periodic.insert(fd) && periodic.len() == 1
        };
        if !is_first {
            return Ok(());
        }
        let timed = self.call_at(Instant::now() + PERIOD_LENGTH, PERIOD);
        timed.inspect_err(|_| self.periodic.lock().clear())
    }

    fn end_period(&self) {
        let all = core::mem::take(&mut *self.periodic.lock());
        for fd in all {
            if HANDLERS.get(fd).is_some_and(|handler| handler.on_period()) {
                // Without memory for it, it is not heard of any more.
                let _ = self.watch_idle(fd);
            }
        }
    }

    pub(crate) fn cancel_timer(&self, fd: RawFd) {
        self.timers.lock().cancel(fd);
    }

    fn run(&self) {
        self.thread.store(thread::current(), Ordering::Relaxed);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        loop {
            let waited = self.epoll.wait(&mut events, self.time_to_next());
            // Where the program has closed our descriptors another service is made, with a thread of
            // its own.
            if !witness::is_intact() || !self.is_current() {
                return;
            }
            let count = waited.unwrap_or(0);
            self.turns.begin();
            for event in &events[..count] {
                match event.u64 {
                    WAKE_UP => self.wake_up.clear(),
                    fd => match HANDLERS.get(fd as RawFd) {
                        Some(handler) => handler.on_readable(),
                        None => base::time::sleep(CLOSING_PAUSE),
                    },
                }
            }
            let now = Instant::now();
            while let Some(fd) = self.take_due(now) {
                if fd == JOB {
                    self.run_job();
                } else if fd == PERIOD {
                    self.end_period();
                } else if let Some(handler) = HANDLERS.get(fd) {
                    handler.on_timer();
                }
            }
            self.turns.end();
        }
    }

    fn run_job(&self) {
        let job = self.job.lock().take();
        if let Some(job) = job {
            job();
        }
    }

    fn is_current(&self) -> bool {
        SERVICE.get().is_some_and(|current| ptr::eq(current, self))
    }

    fn time_to_next(&self) -> i32 {
        Deadline::from(self.timers.lock().next()).left_millis()
    }

    /// Without the lock while the handler is called.
    fn take_due(&self, now: Instant) -> Option<RawFd> {
        self.timers.lock().take_due(now)
    }
}

/// Waits for the handlers that run now. False where none does.
pub(crate) fn await_turn(until: Deadline) -> bool {
    SERVICE.get().is_some_and(|service| service.turns.await_end(until))
}

/// Tells the handler of a descriptor that the device of an id has gone.
pub(crate) fn tell_removal(fd: RawFd, id: usize) {
    if let Some(handler) = HANDLERS.get(fd) {
        handler.on_removal(id);
    }
}

/// Ends the watch over a descriptor that is about to be closed, and lets go of its handler, which
/// works for `owner`. Where the program has closed the descriptor itself, it may be another's by
/// now.
pub(crate) fn forget<T>(fd: RawFd, owner: &T) {
    let handler = HANDLERS.get(fd);
    let is_own =
        |handler: &Arc<Box<dyn Handler>>| handler.identity() == ptr::from_ref(owner).cast();
    if !handler.as_ref().is_none_or(is_own) {
        return;
    }
    if let Some(service) = SERVICE.get() {
        if handler.is_some() {
            let _ = service.control(libc::EPOLL_CTL_DEL, fd, 0, 0);
        }
        service.cancel_timer(fd);
    }
    if handler.is_some() {
        drop(HANDLERS.remove(fd));
    }
}
