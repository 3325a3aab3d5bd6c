// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! epoll_ctl for sockets of this library.

use super::instance::{self, EPOLLS, Epoll};
use super::kernel;
use crate::carrier::pending;
use crate::sys::{config, repoll};
use crate::table::decision::Reason;
use crate::table::socket::{Mode, Socket, Watch};
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::memory::try_push;
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP,
    EPOLLIN, EPOLLOUT, EPOLLWAKEUP, c_int, epoll_event,
};

const EXCLUSIVE: u32 = EPOLLEXCLUSIVE as u32;
/// What the kernel takes together with EPOLLEXCLUSIVE.
const WITH_EXCLUSIVE: u32 =
    EXCLUSIVE | (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET) as u32;

/// epoll_ctl for a socket of this library, or for a descriptor that was one; None if the call is
/// libc's.
pub(crate) fn control(
    instance: c_int,
    operation: c_int,
    fd: c_int,
    socket: Option<Arc<Socket>>,
    event: Option<epoll_event>,
) -> Option<Result<()>> {
    match (operation, &socket) {
        (EPOLL_CTL_ADD, Some(_)) => {}
        (EPOLL_CTL_ADD, None) => return None,
        _ => {
            EPOLLS.get(instance).filter(|epoll| has(epoll, fd))?;
        }
    }
    let event = match (operation, event) {
        (EPOLL_CTL_DEL, _) => epoll_event { events: 0, u64: 0 },
        (_, Some(event)) => event,
        // The kernel reports a missing event.
        (_, None) => return None,
    };
    // As the kernel: EPOLLEXCLUSIVE comes with the registration, and beside few other events.
    let is_exclusive = event.events & EXCLUSIVE != 0;
    if is_exclusive && (operation != EPOLL_CTL_ADD || event.events & !WITH_EXCLUSIVE != 0) {
        return Some(Err(Errno::EINVAL));
    }
    // The kernel also reports a descriptor that is no instance.
    if EPOLLS.get(instance).is_none() {
        match kernel::control(instance, EPOLL_CTL_DEL, fd, 0, 0) {
            Err(Errno::ENOENT) => {}
            _ => return None,
        }
    }
    Some(instance::of(instance).and_then(|epoll| match operation {
        EPOLL_CTL_ADD => add(&epoll, fd, socket, event),
        EPOLL_CTL_MOD => modify(&epoll, fd, event),
        EPOLL_CTL_DEL => delete(&epoll, fd),
        _ => Err(Errno::EINVAL),
    }))
}

/// Whether a descriptor is registered, as a socket that still is one of this library's.
fn has(epoll: &Epoll, fd: c_int) -> bool {
    let mut contents = epoll.contents.lock();
    let Some(key) = contents.registrations.key_of(fd) else { return false };
    let found = contents.registrations.get(key);
    let is_alive = found.is_some_and(|found| found.socket.strong_count() > 0);
    if !is_alive {
        contents.release(key);
    }
    contents.registrations.get(key).is_some_and(|found| !found.is_removed)
}

fn add(
    epoll: &Arc<Epoll>,
    fd: c_int,
    socket: Option<Arc<Socket>>,
    event: epoll_event,
) -> Result<()> {
    let socket = socket.ok_or(Errno::EBADF)?;
    if !repoll::is_available() {
        pending::abandon_rdma(&socket, Reason::Unavailable(Errno::ENOSYS));
        if socket.mode() == Mode::Rdma {
            return Err(Errno::ENOSYS);
        }
    }
    let key = key_for(epoll, fd, &socket)?;
    let mut contents = epoll.contents.lock();
    if let Some(registration) = contents.registrations.get_mut(key) {
        registration.request(event.events, event.u64);
        registration.is_removed = false;
    }
    if let Err(error) = contents.place(key, &socket) {
        contents.forget(key);
        drop(contents);
        let failed = Watch { instance: epoll.number, key };
        socket.state.lock().watches.retain(|watch| *watch != failed);
        return Err(error);
    }
    if socket.mode() == Mode::Plain && !config::get().reports() {
        contents.release(key);
    }
    epoll.wake_for(&mut contents, key);
    Ok(())
}

/// The registration of a socket that is added: a new one, or one that was removed and still is in
/// the set.
fn key_for(epoll: &Epoll, fd: c_int, socket: &Arc<Socket>) -> Result<u64> {
    let mut contents = epoll.contents.lock();
    if let Some(key) = contents.registrations.key_of(fd) {
        let known = contents.registrations.get(key);
        match known.filter(|known| known.socket.as_ptr() == Arc::as_ptr(socket)) {
            Some(known) if known.is_removed => return Ok(key),
            Some(_) => return Err(Errno::EEXIST),
            None => {}
        }
    }
    let key = contents.add(fd, Arc::downgrade(socket))?;
    drop(contents);
    // Before it is placed: a change of the carrier meanwhile must not be missed.
    let watch = Watch { instance: epoll.number, key };
    let noted = try_push(&mut socket.state.lock().watches, watch);
    if noted.is_err() {
        epoll.forget(key);
    }
    noted.map(|()| key)
}

fn modify(epoll: &Epoll, fd: c_int, event: epoll_event) -> Result<()> {
    let mut contents = epoll.contents.lock();
    let key = contents.registrations.key_of(fd).ok_or(Errno::ENOENT)?;
    let registration = contents.registrations.get_mut(key).ok_or(Errno::ENOENT)?;
    let Some(socket) = registration.socket.upgrade() else { return Err(Errno::ENOENT) };
    if registration.events & EXCLUSIVE != 0 {
        return Err(Errno::EINVAL);
    }
    registration.request(event.events, event.u64);
    let placed = contents.place(key, &socket);
    epoll.wake_for(&mut contents, key);
    placed
}

fn delete(epoll: &Epoll, fd: c_int) -> Result<()> {
    let mut contents = epoll.contents.lock();
    let key = contents.registrations.key_of(fd).ok_or(Errno::ENOENT)?;
    contents.remove(key);
    Ok(())
}
