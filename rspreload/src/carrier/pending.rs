// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A connection over RDMA that is pending (`Mode::Connecting`): the request, its progress, and TCP
//! in its place if it fails.
//!
//! # Safety
//! connect(2) and fcntl(2) on the program's descriptor, with an address in C's form.
#![allow(unsafe_code)]

use super::{change, route, rsocket};
use crate::sys::address::Address;
use crate::sys::{config, librdmacm, original};
use crate::table::decision::{Reason, Way};
use crate::table::socket::{Mode, Observer, Socket, SocketState};
use base::arc::Arc;
use base::deadline::{Deadline, Timeout};
use base::errno::{Errno, Result, preserve_errno};
use base::time::Instant;
use core::time::Duration;
use libc::{F_SETFL, O_NONBLOCK, POLLOUT, c_int};

/// A peer that has not answered in this time counts as silent, even if the program waits no longer.
const SILENCE: Duration = Duration::from_millis(500);

/// What happens when RDMA does not lead to the peer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    /// The caller connects by TCP.
    CallerConnects,
    /// A connection by TCP is begun, without waiting for it.
    Begin,
}

/// How long RDMA is tried. If the program has set a timeout (SO_SNDTIMEO), TCP has its second half.
fn rdma_timeout(timeout: Timeout) -> Duration {
    let config = config::get();
    let share = match timeout.duration() {
        Some(timeout) if config.require_rdma => timeout,
        Some(timeout) => timeout / 2,
        None => Duration::MAX,
    };
    config.connect_timeout.min(share)
}

/// Requests the connection over RDMA.
pub(super) fn begin(
    socket: &Arc<Socket>,
    fd: c_int,
    target: &Address,
    timeout: Timeout,
) -> Result<()> {
    rsocket::check_watched(socket)?;
    let peer = target.unmapped();
    let made = rsocket::open(socket, peer.family())?;
    let requested =
        rsocket::bind_as_kernel(socket, fd, made).and_then(|()| {
            match librdmacm::checked(rsocket::connect(made, &peer)) {
                Ok(_) | Err(Errno::EINPROGRESS) => Ok(()),
                Err(error) => Err(error),
            }
        });
    if let Err(error) = requested {
        librdmacm::close(made);
        return Err(error);
    }
    {
        let mut state = socket.state.lock();
        state.destination = Some(*target);
        state.connect_began = Some(Instant::now());
        state.deadline = Deadline::after(rdma_timeout(timeout));
        socket.set_rsocket(made);
        socket.set_mode(Mode::Connecting);
    }
    socket.carrier_changed();
    Ok(())
}

/// Checks how far a pending connection is. If RDMA has failed, begins to connect by TCP.
pub(crate) fn drive(socket: &Arc<Socket>) {
    drive_to(socket, Fallback::Begin);
}

/// Begins to connect by TCP without waiting for RDMA.
pub(crate) fn abandon_rdma(socket: &Arc<Socket>, reason: Reason) {
    fall_back(socket, Errno::ENOSYS, reason, Fallback::Begin);
}

pub(super) fn drive_to(socket: &Arc<Socket>, fallback: Fallback) {
    if socket.mode() != Mode::Connecting {
        return;
    }
    let error = {
        let mut state = socket.state.lock();
        if socket.mode() != Mode::Connecting {
            return;
        }
        let outcome = match socket.rsocket() {
            // A fork's child: only its parent can complete the connection.
            None => {
                state.error = Some(Errno::ECONNABORTED);
                socket.set_mode(Mode::Failed);
                return;
            }
            Some(rsocket) => outcome_of(rsocket),
        };
        let is_late = state.deadline.has_passed();
        match outcome {
            None if !is_late => return,
            None => {
                if has_waited(&state) {
                    note_silence(&state);
                }
                state.deadline = Deadline::Never;
                Some(Errno::ETIMEDOUT)
            }
            Some(Ok(())) => {
                state.unreported = true;
                state.deadline = Deadline::Never;
                None
            }
            Some(Err(error)) => {
                if matches!(error, Errno::ETIMEDOUT | Errno::EHOSTUNREACH) {
                    note_silence(&state);
                }
                Some(error)
            }
        }
    };
    match error {
        None => {
            socket.decided_for_peer(Way::Rdma);
            change::to_rdma(socket);
        }
        Some(error) => fall_back(socket, error, Reason::of_attempt(error), fallback),
    }
}

/// The program asks for the name of its end: it stays if TCP carries the connection in the end.
pub(crate) fn note_name(socket: &Socket) {
    if let (Mode::Connecting, Some(rsocket)) = (socket.mode(), socket.rsocket()) {
        // SAFETY: room that `asked` gives.
        let own =
            Address::asked(|raw, room| unsafe { librdmacm::rgetsockname(rsocket, raw, room) });
        socket.state.lock().name_told = own.map(|own| own.in_family(socket.family));
    }
}

/// The next connection to that host goes by TCP at once.
fn note_silence(state: &SocketState) {
    if let Some(peer) = &state.destination {
        route::was_silent(peer);
    }
}

/// Whether the peer had enough time to answer.
fn has_waited(state: &SocketState) -> bool {
    let enough = config::get().connect_timeout.min(SILENCE);
    state.connect_began.is_some_and(|began| began.elapsed() >= enough)
}

/// Pending connections that the program closes, because its own time limit has passed.
pub(crate) struct PendingObserver;

impl Observer for PendingObserver {
    fn dropped(&self, socket: &Socket) {
        if socket.mode() == Mode::Connecting {
            preserve_errno(|| {
                let is_silent =
                    socket.rsocket().is_some_and(|rsocket| outcome_of(rsocket).is_none());
                let state = socket.state.lock();
                if is_silent && has_waited(&state) {
                    note_silence(&state);
                }
            });
        }
    }
}

/// The outcome of a request; None while it is pending.
fn outcome_of(rsocket: c_int) -> Option<Result<()>> {
    if librdmacm::readiness(rsocket, POLLOUT) == 0 {
        return None;
    }
    Some(match librdmacm::take_error(rsocket) {
        Some(error) => Err(error),
        // Without a peer it is not connected, even if the error has been read already.
        None if rsocket::peer_address(rsocket).is_none() => Err(Errno::ECONNREFUSED),
        None => Ok(()),
    })
}

fn fall_back(socket: &Arc<Socket>, error: Errno, reason: Reason, fallback: Fallback) {
    let rsocket = {
        let mut state = socket.state.lock();
        if socket.mode() != Mode::Connecting {
            return;
        }
        state.deadline = Deadline::Never;
        let mode = match (config::get().require_rdma, fallback, state.destination) {
            (true, _, _) => {
                state.error = Some(error);
                Mode::Failed
            }
            (false, Fallback::Begin, Some(target)) => {
                // Under the lock the number cannot be closed and become another socket's.
                let own = state.name_told.take();
                let begun = state.fds.first().map(|fd| begin_by_kernel(*fd, own, &target));
                match begun {
                    Some(Ok(()) | Err(Errno::EINPROGRESS)) | None => Mode::Plain,
                    Some(Err(error)) => {
                        state.error = Some(error);
                        Mode::Failed
                    }
                }
            }
            _ => Mode::Open,
        };
        socket.set_mode(mode);
        socket.take_rsocket()
    };
    socket.decided_for_peer(match config::get().require_rdma {
        true => Way::Failed(reason),
        false => Way::Kernel(reason),
    });
    match socket.mode() {
        Mode::Plain => change::to_plain(socket),
        _ => socket.carrier_changed(),
    }
    if let Some(rsocket) = rsocket {
        librdmacm::close(rsocket);
    }
}

/// connect(2) that does not wait, whatever the descriptor's flags are.
fn begin_by_kernel(fd: c_int, own: Option<Address>, target: &Address) -> Result<()> {
    // SAFETY: no pointers; addresses in C's form.
    unsafe {
        if let Some(own) = own {
            // Where it is bound already, or another socket has the port, the name changes.
            own.with_raw(|raw, length| original::bind(fd, raw, length));
        }
        let flags = original::fcntl(fd, libc::F_GETFL, 0);
        let blocks = flags & O_NONBLOCK == 0;
        if blocks {
            original::fcntl(fd, F_SETFL, (flags | O_NONBLOCK).into());
        }
        let answer = target.with_raw(|raw, length| original::connect(fd, raw, length));
        let answer = librdmacm::checked(answer).map(drop);
        if blocks {
            original::fcntl(fd, F_SETFL, flags.into());
        }
        answer
    }
}
