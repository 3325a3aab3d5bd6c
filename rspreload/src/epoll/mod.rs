//! epoll instances with our sockets in them. The instance stays the program's; a set of rsockets is put
//! beside it when the first is added, and waited for in the instance itself. A registration is in the
//! instance, in the set, or (listeners) in both, and moves when the socket's carrier is decided.
//!
//! # Safety
//! epoll(7) and timerfd calls on live values and on descriptors that are the program's or owned here.
#![allow(unsafe_code)]

mod state;

use crate::config;
use crate::connect;
use crate::counted::Counted;
use crate::error::{Errno, Result, quietly};
use crate::listen;
use crate::lock::Lock;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket};
use crate::table::Table;
use crate::wait::{Deadline, has_passed, timeout_until};
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLHUP, EPOLLONESHOT, c_int,
    epoll_event, sigset_t,
};
use state::{Registration, State};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Data of our own entries in the program's instance. No pointer of the program has these upper bits.
const OWN: u64 = 0x5DC3_97A1_0000_0000;
const TIMER: u64 = OWN | 0xFFFF_FFFF;
const BATCH: usize = 64;
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;

/// See the module text.
pub(crate) struct Epoll {
    state: Lock<State>,
    has_unsettled: AtomicBool,
    /// Threads in epoll_wait, or on their way there.
    sleepers: AtomicUsize,
}

pub(crate) static EPOLLS: Table<Epoll> = Table::new();

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
        sleepers: AtomicUsize::new(0),
    })?;
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
        let (sets, timer) = {
            let mut state = self.state.lock();
            state.fds.retain(|other| *other != fd);
            if !state.fds.is_empty() {
                return;
            }
            state.registrations.clear();
            state.keys.clear();
            (std::mem::take(&mut state.sets), state.timer.take())
        };
        for set in sets {
            rsockets::close(set);
        }
        if let Some(timer) = timer {
            // SAFETY: ours.
            unsafe { real::close(timer) };
        }
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
        let mut state = epoll.state.lock();
        if let Some(key) = state.keys.get(&fd) {
            let known = state.registrations.get(key);
            if known.is_some_and(|known| known.socket.is_of(&socket)) {
                return Err(Errno::EEXIST);
            }
        }
        state.next_key += 1;
        let key = state.next_key;
        drop(state);
        // From here on it is told when the socket's carrier changes, also while it is being placed.
        socket.state.lock().watches.push((Counted::downgrade(epoll), key));
        let mut state = epoll.state.lock();
        state.registrations.insert(
            key,
            Registration {
                fd,
                socket: Counted::downgrade(&socket),
                events: event.events,
                data: event.u64,
                in_kernel: false,
                in_set: None,
                spent: false,
            },
        );
        state.keys.insert(fd, key);
        if let Err(error) = state.place(key, &socket) {
            state.forget(key);
            drop(state);
            socket.state.lock().watches.retain(|(_, other)| *other != key);
            return Err(error);
        }
        if socket.mode() == Mode::Plain && !config::get().stats {
            state.release(key);
        }
        epoll.note_unsettled(&mut state);
        Ok(())
    }

    fn modify(&self, fd: c_int, event: epoll_event) -> Result<()> {
        let mut state = self.state.lock();
        let key = *state.keys.get(&fd).ok_or(Errno::ENOENT)?;
        let registration = state.registrations.get_mut(&key).ok_or(Errno::ENOENT)?;
        let Some(socket) = registration.socket.upgrade() else { return Err(Errno::ENOENT) };
        (registration.events, registration.data) = (event.events, event.u64);
        registration.spent = false;
        let placed = state.place(key, &socket);
        self.note_unsettled(&mut state);
        placed
    }

    fn delete(&self, fd: c_int) -> Result<()> {
        let mut state = self.state.lock();
        let key = *state.keys.get(&fd).ok_or(Errno::ENOENT)?;
        let registration = state.registrations.get(&key).ok_or(Errno::ENOENT)?;
        let socket = registration.socket.upgrade();
        state.forget(key);
        drop(state);
        if let Some(socket) = socket {
            socket.state.lock().watches.retain(|(_, other)| *other != key);
        }
        Ok(())
    }

    /// The socket's carrier has changed.
    pub(crate) fn place(&self, key: u64) {
        let mut state = self.state.lock();
        let Some(registration) = state.registrations.get(&key) else { return };
        let Some(socket) = registration.socket.upgrade() else { return };
        let _ = state.place(key, &socket);
        self.note_unsettled(&mut state);
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
        is_alive
    }

    /// The socket is the kernel's alone from now on, and so is its registration.
    pub(crate) fn release(&self, key: u64) {
        self.state.lock().release(key);
    }

    /// The last descriptor of a socket was closed.
    pub(crate) fn drop_registration(&self, key: u64) {
        self.state.lock().forget(key);
    }

    /// A thread that sleeps already has to look after new ones.
    fn note_unsettled(&self, state: &mut State) {
        let any = !state.unsettled.is_empty();
        self.has_unsettled.store(any, Ordering::SeqCst);
        if any && self.sleepers.load(Ordering::SeqCst) > 0 {
            state.set_timer(Some(Instant::now()));
        }
    }

    /// epoll_wait: the kernel sleeps, and what the sets have is put in the place of our own entries.
    pub(crate) fn wait(
        &self,
        instance: c_int,
        events: &mut [epoll_event],
        deadline: Deadline,
        mask: *const sigset_t,
    ) -> Result<usize> {
        loop {
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            quietly(|| self.settle());
            let most = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
            let limit = timeout_until(deadline);
            // SAFETY: a live array of that length; the caller's mask.
            let count =
                unsafe { real::epoll_pwait(instance, events.as_mut_ptr(), most, limit, mask) };
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            let count = usize::try_from(count).map_err(|_| Errno::last())?;
            let found = quietly(|| self.translate(events, count));
            if found > 0 || has_passed(deadline) {
                return Ok(found);
            }
        }
    }

    fn translate(&self, events: &mut [epoll_event], count: usize) -> usize {
        let mut kept = 0;
        let mut any = false;
        for index in 0..count {
            let event = events[index];
            let data = event.u64;
            match data {
                TIMER => self.timer_rang(),
                _ if data & !0xFFFF_FFFF == OWN => any = true,
                _ => {
                    events[kept] = event;
                    kept += 1;
                }
            }
        }
        if any {
            // One set's event may have been another's, too.
            let by_kernel = kept;
            let sets = self.state.lock().sets.clone();
            for set in sets {
                kept += self.take(set, events, kept, by_kernel);
            }
        }
        kept
    }

    /// What a set has to tell, behind the first `kept` events; the first of those are the kernel's.
    fn take(&self, set: c_int, events: &mut [epoll_event], kept: usize, by_kernel: usize) -> usize {
        let mut found = [epoll_event { events: 0, u64: 0 }; BATCH];
        let room = (events.len() - kept).min(BATCH);
        let count = rsockets::look_at_set(set, &mut found[..room]).unwrap_or(0);
        let mut added = 0;
        for event in &found[..count] {
            let Some((told, is_listener)) = self.told(event.u64, event.events) else { continue };
            let (before, rest) = events.split_at_mut(kept + added);
            let mut before = before.iter_mut().take(by_kernel);
            match before.find(|other| is_listener && other.u64 == { told.u64 }) {
                // Both sides of a listener.
                Some(other) => other.events |= told.events,
                None => {
                    if let Some(place) = rest.first_mut() {
                        *place = told;
                        added += 1;
                    }
                }
            }
        }
        added
    }

    /// An event in the program's words, and whether it is a listener's; None where it was only for us.
    fn told(&self, key: u64, events: u32) -> Option<(epoll_event, bool)> {
        let socket = self.state.lock().registrations.get(&key)?.socket.upgrade()?;
        if socket.mode() == Mode::Connecting {
            connect::drive(&socket);
            if socket.mode() != Mode::Rdma {
                return None;
            }
        }
        let mut state = self.state.lock();
        let registration = state.registrations.get_mut(&key)?;
        let events = events & (registration.events | ALWAYS);
        if events == 0 || registration.spent {
            return None;
        }
        if registration.events & EPOLLONESHOT as u32 != 0 {
            registration.spent = true;
            let _ = state.place(key, &socket);
        }
        let registration = state.registrations.get(&key)?;
        let is_listener = socket.mode() == Mode::Listening;
        Some((epoll_event { events, u64: registration.data }, is_listener))
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

    fn timer_rang(&self) {
        let mut state = self.state.lock();
        let Some(timer) = state.timer else { return };
        let mut count = 0_u64;
        // SAFETY: eight bytes of a local.
        unsafe { real::read(timer, (&raw mut count).cast(), 8) };
        state.timer_at = None;
    }
}
