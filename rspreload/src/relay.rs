//! The parent's side of what `fork` does: one thread that listens to children, and one for each
//! connection that a child uses.
//!
//! A child holds each connection that it inherited until it says otherwise, or ends, or runs another
//! program: until then the parent's close does not end it, as with TCP.
//!
//! # Safety
//! System calls on descriptors that are owned here.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::detach;
use crate::ends;
use crate::error::{Errno, Result};
use crate::fork::{self, Message, Word};
use crate::guard::Inside;
use crate::lock::Lock;
use crate::process;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use crate::stats::Way;
use crate::thread;
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, POLLERR, POLLHUP, POLLIN, POLLOUT, SHUT_WR, c_int, c_void, pollfd,
};

const BUFFER: usize = 64 << 10;
const STACK: usize = 128 << 10;

/// A child, and the connections that it may still want.
struct Child {
    control: c_int,
    sockets: Vec<Counted<Socket>>,
}

struct Keeper {
    /// Of which process: a child starts with none.
    generation: u32,
    /// Wakes the thread.
    event: c_int,
    news: Vec<Child>,
}

static KEEPER: Lock<Option<Keeper>> = Lock::new(None);

/// Takes care of a child that has just been made.
pub(crate) fn watch(control: c_int) {
    let all = (0..crate::descriptors::highest()).filter_map(|fd| SOCKETS.get(fd));
    let ours = |socket: &Counted<Socket>| {
        socket.is_stream() && socket.mode() == Mode::Rdma && socket.rsocket().is_some()
    };
    ends::enter(control);
    let child = Child { control, sockets: all.filter(ours).collect() };
    let mut place = KEEPER.lock();
    if place.as_ref().is_none_or(|keeper| keeper.generation != process::generation()) {
        *place = start_keeper();
    }
    match place.as_mut() {
        Some(keeper) => {
            keeper.news.push(child);
            let one = 1_u64;
            // SAFETY: eight bytes of a local.
            unsafe { real::write(keeper.event, (&raw const one).cast(), 8) };
        }
        None => drop(child),
    }
}

fn start_keeper() -> Option<Keeper> {
    // SAFETY: no pointers.
    let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if event < 0 || thread::spawn_small(c"rs-children", STACK, move || keep(event)).is_err() {
        fork::close(event);
        return None;
    }
    Some(Keeper { generation: process::generation(), event, news: Vec::new() })
}

fn keep(event: c_int) {
    let _inside = Inside::enter();
    let mut children: Vec<Child> = Vec::new();
    loop {
        let place = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut fds: Vec<pollfd> = children.iter().map(|child| place(child.control)).collect();
        fds.push(place(event));
        // SAFETY: a live array.
        unsafe { real::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) };
        let mut index = 0;
        let mut born = Vec::new();
        children.retain_mut(|child| {
            let ready = fds.get(index).is_some_and(|place| place.revents != 0);
            index += 1;
            !ready || child.listen(&mut born)
        });
        children.append(&mut born);
        let mut count = 0_u64;
        // SAFETY: eight bytes of a local.
        unsafe { real::read(event, (&raw mut count).cast(), 8) };
        if let Some(keeper) = KEEPER.lock().as_mut() {
            children.append(&mut keeper.news);
        }
    }
}

impl Child {
    /// Takes one message, which may be about a child of the child's; false when the child is gone.
    fn listen(&mut self, born: &mut Vec<Child>) -> bool {
        let mut message: Message = [0; 2];
        // SAFETY: room of that length.
        let count = unsafe {
            real::recv(
                self.control,
                message.as_mut_ptr().cast(),
                size_of::<Message>(),
                MSG_DONTWAIT,
            )
        };
        match usize::try_from(count) {
            Ok(count) if count == size_of::<Message>() => {}
            Err(_) if Errno::last() == Errno::EAGAIN => return true,
            _ => return false,
        }
        let [word, number] = message;
        if word == Word::Fork as u64 {
            let end = fork::control_pair().map(|[own, line]| {
                ends::enter(own);
                born.push(Child { control: own, sockets: self.sockets.clone() });
                line
            });
            let _ = fork::send_descriptor(self.control, end.ok());
            fork::close(end.unwrap_or(-1));
            return true;
        }
        let found = self.sockets.iter().position(|socket| socket.number() == number);
        let socket = found.map(|index| self.sockets.swap_remove(index));
        if word == Word::Claim as u64 {
            let end = socket.and_then(|socket| relay(socket).ok());
            let _ = fork::send_descriptor(self.control, end);
            fork::close(end.unwrap_or(-1));
        } else {
            let_go(socket.into_iter().collect());
        }
        true
    }
}

/// The last one to let go of a connection closes it, which may take a while: nobody waits for that.
fn let_go(sockets: Vec<Counted<Socket>>) {
    if sockets.iter().any(|socket| Counted::owners(socket) == 1) {
        let _ = thread::spawn_small(c"rs-close", STACK, move || {
            let _inside = Inside::enter();
            drop(sockets);
        });
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let_go(std::mem::take(&mut self.sockets));
        ends::close(self.control);
    }
}

/// Starts a relay; the child's end.
fn relay(socket: Counted<Socket>) -> Result<c_int> {
    let [own, child] = fork::stream_pair()?;
    start(socket, own).inspect_err(|_| fork::close(child))?;
    Ok(child)
}

/// Starts the thread that moves bytes between a connection and our end of a pair, which it closes.
pub(crate) fn start(socket: Counted<Socket>, own: c_int) -> Result<()> {
    ends::enter(own);
    let started = thread::spawn_small(c"rs-relay", STACK, move || {
        let _inside = Inside::enter();
        if let Some(rsocket) = socket.rsocket() {
            carry(&socket, rsocket, own);
        }
        drop(socket);
        detach::ended(own);
        ends::close(own);
    });
    started.inspect_err(|_| ends::close(own))
}

/// Bytes on their way in one direction.
struct Flow {
    room: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
}

impl Flow {
    fn new() -> Flow {
        Flow { room: vec![0; BUFFER], from: 0, to: 0, ended: false }
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Reads where there is room; false on an error.
    fn fill(&mut self, read: impl FnOnce(*mut c_void, usize) -> isize) -> bool {
        let count = read(self.room.as_mut_ptr().cast(), self.room.len());
        match usize::try_from(count) {
            Ok(0) => self.ended = true,
            Ok(count) => (self.from, self.to) = (0, count),
            Err(_) => return matches!(Errno::last(), Errno::EAGAIN | Errno::EINTR),
        }
        true
    }

    fn drain(&mut self, write: impl FnOnce(*const c_void, usize) -> isize) -> bool {
        let bytes = self.room.get(self.from..self.to).unwrap_or_default();
        match usize::try_from(write(bytes.as_ptr().cast(), bytes.len())) {
            Ok(count) => self.from += count,
            Err(_) => return matches!(Errno::last(), Errno::EAGAIN | Errno::EINTR),
        }
        true
    }
}

/// Moves bytes both ways until the child has closed its end.
fn carry(socket: &Socket, rsocket: c_int, unix: c_int) {
    let (mut inward, mut outward) = (Flow::new(), Flow::new());
    loop {
        let wish = |flow: &Flow, empty, full| match flow.is_empty() {
            true if flow.ended => 0,
            true => empty,
            false => full,
        };
        let mut fds = [
            pollfd {
                fd: rsocket,
                events: wish(&inward, POLLIN, 0) | wish(&outward, 0, POLLOUT),
                revents: 0,
            },
            pollfd {
                fd: unix,
                events: wish(&inward, 0, POLLOUT) | wish(&outward, POLLIN, 0),
                revents: 0,
            },
        ];
        if fds[0].events == 0 {
            // Nothing is wanted of it: its hang-up must not make this spin.
            fds[0].fd = -1;
        }
        if rsockets::poll(&mut fds, -1).is_err() && Errno::last() != Errno::EINTR {
            return;
        }
        let [by_rdma, by_child] = fds.map(|place| place.revents);
        let mut alive = true;
        if by_rdma != 0 && inward.is_empty() && !inward.ended {
            alive &= inward.fill(|to, length| {
                // SAFETY: room of that length.
                let count = unsafe { rsockets::rrecv(rsocket, to, length, MSG_DONTWAIT) };
                socket.count(Way::In, true, count);
                count
            });
            if inward.ended {
                // SAFETY: no pointers.
                unsafe { real::shutdown(unix, SHUT_WR) };
            }
        }
        if by_child != 0 && outward.is_empty() && !outward.ended {
            // SAFETY: room of that length.
            alive &=
                outward.fill(|to, length| unsafe { real::recv(unix, to, length, MSG_DONTWAIT) });
            if outward.ended && by_child & (POLLHUP | POLLERR) == 0 {
                // SAFETY: no pointers. The child has shut down, not closed.
                unsafe { rsockets::rshutdown(rsocket, SHUT_WR) };
            }
            if outward.ended {
                detach::flushed(unix);
            }
        }
        if by_child & (POLLOUT | POLLERR) != 0 && !inward.is_empty() {
            alive &= inward.drain(|from, length| {
                // SAFETY: live bytes.
                unsafe { real::send(unix, from, length, MSG_DONTWAIT | MSG_NOSIGNAL) }
            });
        }
        if by_rdma & (POLLOUT | POLLERR) != 0 && !outward.is_empty() {
            alive &= outward.drain(|from, length| {
                // SAFETY: live bytes.
                let count =
                    unsafe { rsockets::rsend(rsocket, from, length, MSG_DONTWAIT | MSG_NOSIGNAL) };
                socket.count(Way::Out, true, count);
                count
            });
        }
        let closed = by_child & POLLHUP != 0 && outward.ended && outward.is_empty();
        if !alive || closed {
            return;
        }
    }
}
