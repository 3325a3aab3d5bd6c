//! Connections that are made while the program does something else: the kernel would complete them by
//! itself, and so does a thread here, which is started with the first one. Most programs wait for what they
//! have begun, and complete it by that; so the thread first lets them, and is not woken for each.
//!
//! # Safety
//! An eventfd that is owned here.
#![allow(unsafe_code)]

use crate::connect;
use crate::counted::{Counted, Weak};
use crate::fork;
use crate::guard::Inside;
use crate::lock::Lock;
use crate::process;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket};
use crate::thread;
use crate::wait::{Deadline, earlier, timeout_until};
use libc::{POLLIN, POLLOUT, c_int, pollfd};
use std::time::{Duration, Instant};

const STACK: usize = 128 << 10;
/// How long the program is left to do it itself.
const GRACE: Duration = Duration::from_millis(20);

/// The thread's mailbox.
struct Mailbox {
    /// Of which process: a fork's child starts with none.
    generation: u32,
    event: c_int,
    /// The thread looks here by itself.
    is_awake: bool,
    news: Vec<Weak<Socket>>,
}

static MAILBOX: Lock<Option<Mailbox>> = Lock::new(None);

/// Looks after a connection until it is made or not. Without a thread the program's next call does.
pub(crate) fn watch(socket: &Counted<Socket>) {
    let mut place = MAILBOX.lock();
    if place.as_ref().is_none_or(|mailbox| mailbox.generation != process::generation()) {
        *place = start();
    }
    if let Some(mailbox) = place.as_mut() {
        mailbox.news.push(Counted::downgrade(socket));
        if !std::mem::replace(&mut mailbox.is_awake, true) {
            let one = 1_u64;
            // SAFETY: eight bytes of a local.
            unsafe { real::write(mailbox.event, (&raw const one).cast(), 8) };
        }
    }
}

fn start() -> Option<Mailbox> {
    // SAFETY: no pointers.
    let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if event < 0 || thread::spawn_small(c"rs-connect", STACK, move || look_after(event)).is_err() {
        fork::close(event);
        return None;
    }
    let news = Vec::new();
    Some(Mailbox { generation: process::generation(), event, is_awake: false, news })
}

fn look_after(event: c_int) {
    let _inside = Inside::enter();
    let mut sockets: Vec<Weak<Socket>> = Vec::new();
    let mut fresh = Vec::new();
    let mut grace: Deadline = None;
    loop {
        wait(event, &mut sockets, grace);
        if grace.is_none_or(|grace| Instant::now() >= grace) {
            sockets.append(&mut fresh);
            fresh = take_news();
            grace = if fresh.is_empty() { None } else { Instant::now().checked_add(GRACE) };
        }
    }
}

/// Without any, the next one wakes.
fn take_news() -> Vec<Weak<Socket>> {
    let mut place = MAILBOX.lock();
    let Some(mailbox) = place.as_mut() else { return Vec::new() };
    mailbox.is_awake = !mailbox.news.is_empty();
    std::mem::take(&mut mailbox.news)
}

/// Goes on with the connections, and waits for them.
fn wait(event: c_int, sockets: &mut Vec<Weak<Socket>>, mut limit: Deadline) {
    let mut fds = vec![pollfd { fd: event, events: POLLIN, revents: 0 }];
    // The socket itself is not held: the program may close it meanwhile.
    sockets.retain(|socket| {
        let Some(socket) = socket.upgrade() else { return false };
        connect::drive(&socket);
        let (Mode::Connecting, Some(rsocket)) = (socket.mode(), socket.rsocket()) else {
            return false;
        };
        fds.push(pollfd { fd: rsocket, events: POLLOUT, revents: 0 });
        limit = earlier(limit, socket.state.lock().deadline);
        true
    });
    let _ = rsockets::poll(&mut fds, timeout_until(limit));
    if fds[0].revents != 0 {
        let mut count = 0_u64;
        // SAFETY: eight bytes of a local.
        unsafe { real::read(event, (&raw mut count).cast(), 8) };
    }
}
