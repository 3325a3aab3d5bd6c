//! epoll instances with our sockets in them. The instance stays the program's; a set of rsockets is put
//! beside it when the first is added, and waited for in the instance itself. A registration is in the
//! instance, in the set, or (listeners) in both, and moves when the socket's carrier is decided.
//!
//! # Safety
//! epoll_ctl(2) with live values, on descriptors that are the program's.
#![allow(unsafe_code)]

mod bells;
mod members;
mod state;
mod wait;
mod watchers;

use crate::config;
use crate::connect;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::listen;
use crate::lock::Lock;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket};
use crate::table::Table;
use crate::wait::Deadline;
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLHUP, c_int, epoll_event};
use state::{Registration, State};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Data of our own entries in the program's instance. No pointer of the program has these upper bits.
const OWN: u64 = 0x5DC3_97A1_0000_0000;
const ALARM: u64 = OWN | 1;
const TIMER: u64 = OWN | 2;
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;

/// See the module text.
pub(crate) struct Epoll {
    state: Lock<State>,
    has_unsettled: AtomicBool,
    /// Something else may wait for the instance.
    is_watched: AtomicBool,
    /// What was due had all the room in the last round.
    had_all: AtomicBool,
    rounds: AtomicU64,
    /// Threads in epoll_wait, or on their way there.
    sleepers: AtomicUsize,
}

pub(crate) static EPOLLS: Table<Epoll> = Table::new();
/// Whether there ever was one.
static ANY: AtomicBool = AtomicBool::new(false);

/// A descriptor is polled, or added to an instance: it may be an instance itself.
#[inline]
pub(crate) fn waited_for(fd: c_int) {
    if ANY.load(Ordering::Relaxed) {
        waited_from_outside(fd);
    }
}

#[inline(never)]
fn waited_from_outside(fd: c_int) {
    if let Some(epoll) = EPOLLS.get(fd) {
        epoll.watched();
    }
}

fn kernel(instance: c_int, operation: c_int, fd: c_int, events: u32, data: u64) -> Result<()> {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: a live event.
    rsockets::checked(unsafe { real::epoll_ctl(instance, operation, fd, &raw mut event) }).map(drop)
}

/// The companion of an instance, made when the first socket of ours is added to it.
fn companion(instance: c_int) -> Result<Counted<Epoll>> {
    static MAKING: Lock<()> = Lock::new(());
    let _making = MAKING.lock();
    if let Some(epoll) = EPOLLS.get(instance) {
        return Ok(epoll);
    }
    let epoll = Counted::try_new(Epoll {
        state: Lock::default(),
        has_unsettled: AtomicBool::new(false),
        is_watched: AtomicBool::new(watchers::may_have(instance)),
        had_all: AtomicBool::new(false),
        rounds: AtomicU64::new(1),
        sleepers: AtomicUsize::new(0),
    })?;
    ANY.store(true, Ordering::Relaxed);
    Epoll::enter(&epoll, instance);
    EPOLLS.get(instance).ok_or(Errno::ENOMEM)
}

/// epoll_ctl for a socket of ours, or for a descriptor that was one; None where it is libc's affair.
pub(crate) fn control(
    instance: c_int,
    operation: c_int,
    fd: c_int,
    socket: Option<Counted<Socket>>,
    event: Option<epoll_event>,
) -> Option<Result<()>> {
    match (operation, &socket) {
        (EPOLL_CTL_ADD, Some(_)) => {}
        (EPOLL_CTL_ADD, None) => return None,
        _ => {
            EPOLLS.get(instance).filter(|epoll| epoll.has(fd))?;
        }
    }
    let event = match (operation, event) {
        (EPOLL_CTL_DEL, _) => epoll_event { events: 0, u64: 0 },
        (_, Some(event)) => event,
        // The kernel has the right words for a missing event.
        (_, None) => return None,
    };
    // What is no instance has the kernel's answer, too.
    if EPOLLS.get(instance).is_none() {
        match kernel(instance, EPOLL_CTL_DEL, fd, 0, 0) {
            Err(Errno::ENOENT) => {}
            _ => return None,
        }
    }
    Some(companion(instance).and_then(|epoll| match operation {
        EPOLL_CTL_ADD => Epoll::add(&epoll, fd, socket, event),
        EPOLL_CTL_MOD => epoll.modify(fd, event),
        EPOLL_CTL_DEL => epoll.delete(fd),
        _ => Err(Errno::EINVAL),
    }))
}

impl Epoll {
    /// Another number of the same instance.
    pub(crate) fn enter(epoll: &Counted<Epoll>, fd: c_int) {
        epoll.state.lock().fds.push(fd);
        if EPOLLS.insert(fd, Counted::clone(epoll)).is_ok() {
            crate::descriptors::entered(fd);
        }
    }

    /// A number was closed; the last one ends the sets.
    pub(crate) fn leave(&self, fd: c_int) {
        let (set, mut bells) = {
            let mut state = self.state.lock();
            state.fds.retain(|other| *other != fd);
            if !state.fds.is_empty() {
                return;
            }
            state.registrations.clear();
            state.keys.clear();
            state.due.clear();
            (std::mem::take(&mut state.members).set, std::mem::take(&mut state.bells))
        };
        if let Some(set) = set {
            rsockets::close(set);
        }
        bells.close();
    }

    fn add(
        epoll: &Counted<Epoll>,
        fd: c_int,
        socket: Option<Counted<Socket>>,
        event: epoll_event,
    ) -> Result<()> {
        let socket = socket.ok_or(Errno::EBADF)?;
        if !rsockets::has_sets() {
            connect::give_up(&socket);
            if socket.mode() == Mode::Rdma {
                return Err(Errno::ENOSYS);
            }
        }
        let key = Epoll::key_for(epoll, fd, &socket)?;
        let mut state = epoll.state.lock();
        if let Some(registration) = state.registrations.get_mut(&key) {
            (registration.events, registration.data) = (event.events, event.u64);
            (registration.rests, registration.spent) = (false, false);
        }
        if let Err(error) = state.place(key, &socket) {
            state.forget(key);
            drop(state);
            socket.state.lock().watches.retain(|(_, other)| *other != key);
            return Err(error);
        }
        if socket.mode() == Mode::Plain && !config::get().stats {
            state.release(key);
        }
        epoll.wake_others(&mut state, key);
        Ok(())
    }

    /// The registration of a socket that is to be added: a new one, or one that rests.
    fn key_for(epoll: &Counted<Epoll>, fd: c_int, socket: &Counted<Socket>) -> Result<u64> {
        let mut state = epoll.state.lock();
        if let Some(key) = state.keys.get(&fd).copied() {
            let known = state.registrations.get(&key);
            match known.filter(|known| known.socket.is_of(socket)) {
                Some(known) if known.rests => return Ok(key),
                Some(_) => return Err(Errno::EEXIST),
                None => {}
            }
        }
        state.next_key += 1;
        let key = state.next_key;
        state.registrations.insert(key, Registration::new(fd, Counted::downgrade(socket)));
        state.keys.insert(fd, key);
        drop(state);
        // From here on it is told when the socket's carrier changes, also while it is being placed.
        socket.state.lock().watches.push((Counted::downgrade(epoll), key));
        Ok(key)
    }

    fn modify(&self, fd: c_int, event: epoll_event) -> Result<()> {
        let mut state = self.state.lock();
        let key = *state.keys.get(&fd).ok_or(Errno::ENOENT)?;
        let registration = state.registrations.get_mut(&key).ok_or(Errno::ENOENT)?;
        let Some(socket) = registration.socket.upgrade() else { return Err(Errno::ENOENT) };
        (registration.events, registration.data) = (event.events, event.u64);
        registration.spent = false;
        let placed = state.place(key, &socket);
        self.wake_others(&mut state, key);
        placed
    }

    fn delete(&self, fd: c_int) -> Result<()> {
        let mut state = self.state.lock();
        let key = *state.keys.get(&fd).ok_or(Errno::ENOENT)?;
        state.remove(key);
        Ok(())
    }

    /// The socket's carrier has changed.
    pub(crate) fn place(&self, key: u64) {
        let mut state = self.state.lock();
        let Some(registration) = state.registrations.get(&key) else { return };
        let Some(socket) = registration.socket.upgrade() else { return };
        let _ = state.place(key, &socket);
        self.wake_others(&mut state, key);
    }

    /// Whether a descriptor is registered, as a socket that still is one of ours.
    fn has(&self, fd: c_int) -> bool {
        let mut state = self.state.lock();
        let Some(key) = state.keys.get(&fd).copied() else { return false };
        let found = state.registrations.get(&key);
        let is_alive = found.is_some_and(|found| found.socket.is_alive());
        if !is_alive {
            state.release(key);
        }
        state.registrations.get(&key).is_some_and(|found| !found.rests)
    }

    /// The socket is the kernel's alone from now on, and so is its registration.
    pub(crate) fn release(&self, key: u64) {
        self.state.lock().release(key);
    }

    /// The last descriptor of a socket was closed.
    pub(crate) fn drop_registration(&self, key: u64) {
        self.state.lock().forget(key);
    }

    /// A thread that sleeps already has to look after what is new.
    fn wake_others(&self, state: &mut State, key: u64) {
        let any = !state.unsettled.is_empty();
        self.has_unsettled.store(any, Ordering::SeqCst);
        if !self.has_others() {
            return;
        }
        let due = state.registrations.get(&key).filter(|found| found.is_due);
        let member = due.and_then(|due| Some((due.member?, due.events)));
        let is_ready = member
            .is_some_and(|(rsocket, events)| rsockets::readiness(rsocket, events as i16) != 0);
        if any || is_ready {
            state.ring();
        }
    }

    /// Whether anybody sleeps in the instance, or may wait for it from outside.
    fn has_others(&self) -> bool {
        self.sleepers.load(Ordering::SeqCst) > 0 || self.is_watched.load(Ordering::SeqCst)
    }

    /// Somebody waits for the instance itself, in poll or in another instance.
    pub(crate) fn watched(&self) {
        if !self.is_watched.swap(true, Ordering::SeqCst) {
            let mut state = self.state.lock();
            if !state.due.is_empty() {
                state.ring();
            }
        }
    }

    /// Makes RDMA listeners, and sets the timer for those that another process has.
    fn settle(&self) {
        if !self.has_unsettled.load(Ordering::Acquire) {
            return;
        }
        let sockets: Vec<(Counted<Socket>, c_int)> = {
            let state = self.state.lock();
            let registrations =
                state.unsettled.iter().filter_map(|key| state.registrations.get(key));
            registrations
                .filter_map(|registration| Some((registration.socket.upgrade()?, registration.fd)))
                .collect()
        };
        let mut next: Deadline = None;
        for (socket, fd) in sockets {
            crate::datagram::expect(&socket, fd);
            let again = listen::prepare(&socket, fd);
            next = match (next, again) {
                (Some(next), Some(again)) => Some(next.min(again)),
                (next, again) => next.or(again),
            };
        }
        let mut state = self.state.lock();
        state.tidy();
        self.has_unsettled.store(!state.unsettled.is_empty(), Ordering::SeqCst);
        state.set_timer(next);
    }
}
