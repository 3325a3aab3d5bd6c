//! Forks and the end of the program.
//!
//! # Safety
//! pthread_atfork, and the kernel's own calls without pointers.
#![allow(unsafe_code)]

use crate::error::quietly;
use crate::fork;
use crate::guard;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

static GENERATION: AtomicU32 = AtomicU32::new(1);
static PROCESS: AtomicI32 = AtomicI32::new(0);
static PARENT: AtomicI32 = AtomicI32::new(0);

/// A parent that makes a daemon is seldom slower to go.
const PARTING: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(2);

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    PARENT.store(PROCESS.load(Ordering::Relaxed), Ordering::Relaxed);
    remember();
    quietly(crate::descriptors::in_child);
    fork::in_child();
}

fn remember() {
    // SAFETY: no arguments.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

pub(crate) fn at_load() {
    remember();
    // SAFETY: the library is linked with -z nodelete; the child's handler takes no lock.
    let _ =
        unsafe { libc::pthread_atfork(Some(fork::before), Some(fork::in_parent), Some(in_child)) };
}

extern "C" fn at_unload() {
    finish();
}

/// Run when the program returns from main or calls exit.
#[used]
// SAFETY: the section holds pointers to such functions.
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = at_unload;

/// Number of forks between the process that loaded the library and this one.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// False in a child of vfork, which has its parent's memory: what it does to its descriptors is no
/// affair of the tables.
pub(crate) fn is_own_memory() -> bool {
    // SAFETY: no arguments.
    PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Whether the process that forked this one is gone; one that may just be on its way can be waited for.
pub(crate) fn has_lost_parent(waits: bool) -> bool {
    let deadline = Instant::now() + if waits { PARTING } else { Duration::ZERO };
    // SAFETY: no arguments.
    while PARENT.load(Ordering::Relaxed) == unsafe { libc::getppid() } {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(STEP);
    }
    true
}

/// The program ends. The kernel would deliver what TCP has taken; an rsocket's data must leave before
/// its memory goes.
pub(crate) fn finish() {
    // A signal handler may have interrupted a call that holds locks.
    if guard::is_inside() || !is_own_memory() {
        return;
    }
    crate::detach::finish();
    for fd in 0..crate::descriptors::highest() {
        if let Some(socket) = SOCKETS.get(fd) {
            say_good_bye(&socket);
            socket.tell();
        }
    }
}

fn say_good_bye(socket: &Socket) {
    if socket.mode() != Mode::Rdma || !socket.is_stream() {
        return;
    }
    if let Some(rsocket) = socket.rsocket() {
        // SAFETY: no pointers. There is nobody left to tell of a failure.
        let _ = unsafe { rsockets::rshutdown(rsocket, libc::SHUT_RDWR) };
    }
}
