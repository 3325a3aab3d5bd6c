//! The active side of streams: over RDMA where a device leads to the peer and the peer answers in time,
//! by TCP otherwise.
//!
//! # Safety
//! System calls on the program's descriptor with the program's address, or with one of our own.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::background;
use crate::carrier;
use crate::config;
use crate::counted::Counted;
use crate::error::{Errno, Result, quietly};
use crate::limit;
use crate::listen;
use crate::names;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket, State, open_rsocket};
use crate::wait::{restarts_after_signal, timeout_until};
use libc::{F_SETFL, O_NONBLOCK, POLLOUT, SO_SNDTIMEO, c_int, pollfd, sockaddr, socklen_t};
use std::time::{Duration, Instant};

/// Who has not answered in this time is called silent, if the program waits no longer.
const SILENCE: Duration = Duration::from_millis(500);

/// What follows when RDMA does not lead to the peer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The caller connects by TCP.
    CallerConnects,
    /// TCP is begun here, without waiting for it.
    Begin,
}

/// # Safety
/// The caller's arguments of connect.
pub(crate) unsafe fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { real::connect(fd, address, length) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    if let (Mode::Rdma, false, Some(rsocket)) =
        (socket.mode(), socket.is_stream(), socket.rsocket())
    {
        // SAFETY: the caller's. Also AF_UNSPEC has a meaning there.
        if unsafe { Address::read(address, length) }.is_none() {
            // SAFETY: the caller's.
            let answer = unsafe { rsockets::rconnect(rsocket, address, length) };
            if answer == 0 {
                socket.state.lock().destination = None;
            }
            return answer;
        }
    }
    // SAFETY: the caller's.
    let Some(target) = (unsafe { Address::read(address, length) }) else { return kernel() };
    if !socket.is_stream() {
        return crate::datagram::connect(&socket, fd, &target, kernel);
    }
    let answer = match socket.mode() {
        Mode::Open => open(&socket, fd, &target, kernel),
        Mode::Connecting => again(&socket, kernel),
        Mode::Rdma => collect(&socket),
        Mode::Relayed => Err(Errno::EISCONN),
        Mode::Failed => Err(socket.state.lock().error.take().unwrap_or(Errno::ECONNABORTED)),
        Mode::Listening | Mode::Plain => return kernel(),
    };
    finish(answer)
}

fn finish(answer: Result<()>) -> c_int {
    match answer {
        Ok(()) => 0,
        Err(error) => crate::export::fail(error),
    }
}

/// The first call after a connection was made in the background succeeds, as in the kernel.
fn collect(socket: &Socket) -> Result<()> {
    match std::mem::take(&mut socket.state.lock().uncollected) {
        true => Ok(()),
        false => Err(Errno::EISCONN),
    }
}

fn open(
    socket: &Counted<Socket>,
    fd: c_int,
    target: &Address,
    kernel: impl Fn() -> c_int,
) -> Result<()> {
    if !quietly(|| carrier::reaches(target)) {
        if config::get().require_rdma {
            return Err(Errno::ENETUNREACH);
        }
        return by_kernel(socket, kernel);
    }
    let is_non_blocking = socket.is_non_blocking();
    let limit = if is_non_blocking { None } else { quietly(|| limit::of(fd, SO_SNDTIMEO)) };
    let end = limit.and_then(|limit| Instant::now().checked_add(limit));
    if let Err(error) = quietly(|| begin(socket, fd, target, limit)) {
        if config::get().require_rdma {
            return Err(error);
        }
        return by_kernel(socket, kernel);
    }
    if is_non_blocking {
        quietly(|| background::watch(socket));
        return Err(Errno::EINPROGRESS);
    }
    wait(socket, || match end {
        None => kernel(),
        Some(end) => {
            let left = end.saturating_duration_since(Instant::now());
            limit::during(fd, SO_SNDTIMEO, left, &kernel)
        }
    })
}

/// How long RDMA is tried: of a time that the program has set (SO_SNDTIMEO), TCP has the second half.
fn patience(limit: Option<Duration>) -> Duration {
    let config = config::get();
    let share = match limit {
        Some(limit) if config.require_rdma => limit,
        Some(limit) => limit / 2,
        None => Duration::MAX,
    };
    config.connect_timeout.min(share)
}

fn by_kernel(socket: &Socket, kernel: impl Fn() -> c_int) -> Result<()> {
    let answer = rsockets::checked(kernel()).map(drop);
    if matches!(answer, Ok(()) | Err(Errno::EINPROGRESS)) {
        quietly(|| socket.become_plain());
    }
    answer
}

/// Asks for the connection over RDMA.
fn begin(
    socket: &Counted<Socket>,
    fd: c_int,
    target: &Address,
    limit: Option<Duration>,
) -> Result<()> {
    check_watched(socket)?;
    // The peer may be this very program.
    listen::prepare_all();
    let peer = target.unmapped();
    let rsocket = open_rsocket(socket, peer.family())?;
    let begun = bind_as(socket, fd, rsocket).and_then(|()| {
        // SAFETY: an address in C's form.
        let asked =
            peer.with_raw(|raw, length| unsafe { rsockets::rconnect(rsocket, raw, length) });
        match rsockets::checked(asked) {
            Ok(_) | Err(Errno::EINPROGRESS) => Ok(()),
            Err(error) => Err(error),
        }
    });
    if let Err(error) = begun {
        rsockets::close(rsocket);
        return Err(error);
    }
    {
        let mut state = socket.state.lock();
        state.destination = Some(*target);
        let now = Instant::now();
        state.asked = Some(now);
        state.deadline = now.checked_add(patience(limit));
        socket.set_rsocket(rsocket);
        socket.set_mode(Mode::Connecting);
    }
    socket.moved();
    Ok(())
}

/// A socket in an epoll instance cannot be an rsocket where those have no sets.
pub(crate) fn check_watched(socket: &Socket) -> Result<()> {
    let is_watched = !socket.state.lock().watches.is_empty();
    if is_watched && !rsockets::has_sets() { Err(Errno::ENOSYS) } else { Ok(()) }
}

/// The program's own choice of a local address. Ports of RDMA are numbered apart from TCP's, so the
/// same one is nearly always free.
pub(crate) fn bind_as(socket: &Socket, fd: c_int, rsocket: c_int) -> Result<()> {
    if !socket.state.lock().bound {
        return Ok(());
    }
    // SAFETY: places that `asked` gives.
    let own = Address::asked(|raw, length| unsafe { real::getsockname(fd, raw, length) });
    let Some(own) = own.map(|own| own.unmapped()) else { return Ok(()) };
    match bind(rsocket, &own) {
        Err(Errno::EADDRINUSE) => bind(rsocket, &own.with_port(0)),
        other => other,
    }
}

pub(crate) fn bind(rsocket: c_int, address: &Address) -> Result<()> {
    // SAFETY: an address in C's form.
    let bound = address.with_raw(|raw, length| unsafe { rsockets::rbind(rsocket, raw, length) });
    rsockets::checked(bound).map(drop)
}

/// A connect on a socket that connects already.
fn again(socket: &Counted<Socket>, kernel: impl Fn() -> c_int) -> Result<()> {
    quietly(|| drive(socket));
    match socket.mode() {
        Mode::Connecting if socket.is_non_blocking() => Err(Errno::EALREADY),
        Mode::Connecting => wait(socket, kernel),
        Mode::Rdma => collect(socket),
        Mode::Failed => Err(socket.state.lock().error.take().unwrap_or(Errno::ECONNABORTED)),
        _ => rsockets::checked(kernel()).map(drop),
    }
}

/// Until there is a connection of one kind or none at all.
fn wait(socket: &Counted<Socket>, kernel: impl Fn() -> c_int) -> Result<()> {
    wait_for_rdma(socket, Next::CallerConnects)?;
    match socket.mode() {
        Mode::Rdma => {
            socket.state.lock().uncollected = false;
            Ok(())
        }
        Mode::Failed => Err(socket.state.lock().error.take().unwrap_or(Errno::ECONNABORTED)),
        _ => by_kernel(socket, kernel),
    }
}

/// A blocking call on a socket that still connects.
pub(crate) fn wait_until_settled(socket: &Counted<Socket>) -> Result<()> {
    wait_for_rdma(socket, Next::Begin)
}

fn wait_for_rdma(socket: &Counted<Socket>, next: Next) -> Result<()> {
    loop {
        quietly(|| drive_to(socket, next));
        let (Mode::Connecting, Some(rsocket)) = (socket.mode(), socket.rsocket()) else {
            return Ok(());
        };
        let deadline = socket.state.lock().deadline;
        let mut fds = [pollfd { fd: rsocket, events: POLLOUT, revents: 0 }];
        match quietly(|| rsockets::poll(&mut fds, timeout_until(deadline))) {
            Err(Errno::EINTR) if !restarts_after_signal() => {
                background::watch(socket);
                return Err(Errno::EINTR);
            }
            _ => {}
        }
    }
}

/// Looks how far a connection that is being made has come, and goes on to TCP where RDMA has failed.
pub(crate) fn drive(socket: &Counted<Socket>) {
    drive_to(socket, Next::Begin);
}

/// Goes on to TCP without waiting for RDMA.
pub(crate) fn give_up(socket: &Counted<Socket>) {
    fall_back(socket, Errno::ENOSYS, Next::Begin);
}

fn drive_to(socket: &Counted<Socket>, next: Next) {
    if socket.mode() != Mode::Connecting {
        return;
    }
    let error = {
        let mut state = socket.state.lock();
        if socket.mode() != Mode::Connecting {
            return;
        }
        let found = match socket.rsocket() {
            // A fork's child: the connection was its parent's wish, and may come to be there.
            None => {
                state.error = Some(Errno::ECONNABORTED);
                socket.set_mode(Mode::Failed);
                return;
            }
            Some(rsocket) => progress(rsocket),
        };
        let late = state.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match found {
            None if !late => return,
            None => {
                if has_waited(&state) {
                    note_silence(&state);
                }
                state.deadline = None;
                Some(Errno::ETIMEDOUT)
            }
            Some(None) => {
                state.uncollected = true;
                state.deadline = None;
                None
            }
            Some(Some(error)) => {
                if matches!(error, Errno::ETIMEDOUT | Errno::EHOSTUNREACH) {
                    note_silence(&state);
                }
                Some(error)
            }
        }
    };
    match error {
        None => socket.become_rdma(),
        Some(error) => fall_back(socket, error, next),
    }
}

/// The next connection to that host need not wait as long.
fn note_silence(state: &State) {
    if let Some(peer) = &state.destination {
        carrier::was_silent(peer);
    }
}

/// Whether the peer had time enough to answer.
fn has_waited(state: &State) -> bool {
    let enough = config::get().connect_timeout.min(SILENCE);
    state.asked.is_some_and(|asked| asked.elapsed() >= enough)
}

/// The program closes a socket before it is connected: its own patience has ended.
pub(crate) fn abandoned(socket: &Socket) {
    let is_silent = socket.rsocket().is_some_and(|rsocket| progress(rsocket).is_none());
    let state = socket.state.lock();
    if is_silent && has_waited(&state) {
        note_silence(&state);
    }
}

/// None while nothing is known; then the error of the connection, or none.
fn progress(rsocket: c_int) -> Option<Option<Errno>> {
    if rsockets::readiness(rsocket, POLLOUT) == 0 {
        return None;
    }
    // Without a peer there is no connection, whatever became of the error.
    let lacking = || (!names::has_peer(rsocket)).then_some(Errno::ECONNREFUSED);
    Some(rsockets::take_error(rsocket).or_else(lacking))
}

fn fall_back(socket: &Counted<Socket>, error: Errno, next: Next) {
    let rsocket = {
        let mut state = socket.state.lock();
        if socket.mode() != Mode::Connecting {
            return;
        }
        state.deadline = None;
        let mode = match (config::get().require_rdma, next, state.destination) {
            (true, _, _) => {
                state.error = Some(error);
                Mode::Failed
            }
            (false, Next::Begin, Some(target)) => {
                // The lock keeps the number from being closed and given to something else.
                let begun = state.fds.first().map(|fd| begin_by_kernel(*fd, &target));
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
    match socket.mode() {
        Mode::Plain => socket.become_plain(),
        _ => socket.moved(),
    }
    if let Some(rsocket) = rsocket {
        rsockets::close(rsocket);
    }
}

/// connect(2) without waiting, whatever the descriptor's flags.
fn begin_by_kernel(fd: c_int, target: &Address) -> Result<()> {
    // SAFETY: no pointers; an address in C's form.
    unsafe {
        let flags = real::fcntl(fd, libc::F_GETFL, 0);
        let blocks = flags & O_NONBLOCK == 0;
        if blocks {
            real::fcntl(fd, F_SETFL, (flags | O_NONBLOCK).into());
        }
        let answer = target.with_raw(|raw, length| real::connect(fd, raw, length));
        let answer = rsockets::checked(answer).map(drop);
        if blocks {
            real::fcntl(fd, F_SETFL, flags.into());
        }
        answer
    }
}
