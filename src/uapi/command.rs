// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Commands: the only writer of the rdma_cm device. One command, one checked answer.
//!
//! # Safety
//! Hands the kernel the address of a response buffer that is borrowed until write returns.
#![allow(unsafe_code)]

use super::abi;
use crate::types::RDMA_CM_EVENT_USER;
use base::counters::{count, layout};
use base::errno::{Errno, Result, preserve_errno};
use base::fd::RawFd;
use base::log;
use base::once::Once;
use core::mem::{MaybeUninit, size_of};
use core::sync::atomic::{Ordering, compiler_fence};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// A command without an answer.
pub(crate) trait Command: IntoBytes + Immutable {
    const NUMBER: u32;
    const NAME: &'static str;
}

/// A command that the kernel answers by writing to an address inside it.
pub(crate) trait Query: Command {
    type Response: Answer;
    fn set_response(&mut self, address: u64);
}

/// What the kernel writes back, as it is before the kernel has written: fields that an older kernel
/// does not know keep these values.
pub(crate) trait Answer: FromBytes + IntoBytes + Sized {
    fn blank() -> Self {
        let mut blank = Self::new_zeroed();
        blank.set_unknown();
        blank
    }

    /// As `blank`, in its place.
    #[inline(always)]
    fn blank_in(room: &mut MaybeUninit<Self>) -> &mut Self {
        // SAFETY: zeros are a value, as it is FromBytes.
        let blank = unsafe { zeroed(room) };
        blank.set_unknown();
        blank
    }

    /// Fields where zero would mean something.
    fn set_unknown(&mut self) {}
}

impl Answer for abi::IdResponse {}
impl Answer for abi::EventsReported {}
impl Answer for abi::QpAttr {}
impl Answer for abi::EventResponse {}
impl Answer for abi::PathResponse {}
impl Answer for abi::ServiceResponse {}

impl Answer for abi::RouteResponse {
    fn set_unknown(&mut self) {
        self.ibdev_index = abi::NO_DEVICE_INDEX;
    }
}

impl Answer for abi::AddrResponse {
    fn set_unknown(&mut self) {
        self.ibdev_index = abi::NO_DEVICE_INDEX;
    }
}

macro_rules! commands {
    ($($number:literal $type:ident $name:literal $(-> $response:ident)?;)*) => {
        $(
            impl Command for abi::$type {
                const NUMBER: u32 = $number;
                const NAME: &'static str = $name;
            }
            $(impl Query for abi::$type {
                type Response = abi::$response;
                fn set_response(&mut self, address: u64) {
                    self.response = address;
                }
            })?
        )*
    };
}

commands! {
    0 CreateId "CREATE_ID" -> IdResponse;
    1 DestroyId "DESTROY_ID" -> EventsReported;
    4 ResolveRoute "RESOLVE_ROUTE";
    5 QueryRoute "QUERY_ROUTE" -> RouteResponse;
    6 Connect "CONNECT";
    7 Listen "LISTEN";
    8 Accept "ACCEPT";
    9 Reject "REJECT";
    10 Disconnect "DISCONNECT";
    11 InitQpAttr "INIT_QP_ATTR" -> QpAttr;
    12 GetEvent "GET_EVENT" -> EventResponse;
    14 SetOption "SET_OPTION";
    15 Notify "NOTIFY";
    17 LeaveMcast "LEAVE_MCAST" -> EventsReported;
    18 MigrateId "MIGRATE_ID" -> EventsReported;
    19 QueryAddr "QUERY_ADDR" -> AddrResponse;
    19 QueryPath "QUERY_PATH" -> PathResponse;
    19 QueryGid "QUERY_GID" -> AddrResponse;
    19 QueryIbService "QUERY_IB_SERVICE" -> ServiceResponse;
    20 Bind "BIND";
    21 ResolveAddr "RESOLVE_ADDR";
    22 JoinMcast "JOIN_MCAST" -> IdResponse;
    23 ResolveIbService "RESOLVE_IB_SERVICE";
    24 WriteCmEvent "WRITE_CM_EVENT";
}

/// Zeros in their place. In two parts, which the compiler writes out: for the whole it calls memset, and
/// two next to each other are a whole to it.
///
/// # Safety
/// Zeros are a value of T.
#[inline(always)]
unsafe fn zeroed<T>(room: &mut MaybeUninit<T>) -> &mut T {
    let half = size_of::<T>() / 2;
    let start: *mut u8 = room.as_mut_ptr().cast();
    // SAFETY: both parts are inside; by contract.
    unsafe {
        start.write_bytes(0, half);
        compiler_fence(Ordering::AcqRel);
        start.add(half).write_bytes(0, size_of::<T>() - half);
        room.assume_init_mut()
    }
}

/// A command as it is sent.
#[repr(C)]
pub(crate) struct Frame<C> {
    header: abi::Header,
    pub(crate) body: C,
}

impl<C: Command> Frame<C> {
    /// A large command in its place, out of zeros, to be filled there.
    #[inline(always)]
    pub(crate) fn zeroed(room: &mut MaybeUninit<Frame<C>>) -> &mut Frame<C>
    where
        C: FromZeros,
    {
        // SAFETY: the header is integers, and the body has its zeros as a value.
        let frame = unsafe { zeroed(room) };
        frame.header = Frame::<C>::header(0);
        frame
    }

    /// Submits a command that has no answer.
    #[inline]
    pub(crate) fn send(&self, fd: RawFd) -> Result<()> {
        write(fd, self)
    }

    #[inline]
    fn new(body: C, out_size: usize) -> Frame<C> {
        Frame { header: Frame::<C>::header(out_size), body }
    }

    fn header(out_size: usize) -> abi::Header {
        const { assert!(size_of::<C>() <= u16::MAX as usize) };
        let (in_size, out_size) = (size_of::<C>() as u16, out_size as u16);
        abi::Header { cmd: C::NUMBER, in_size, out_size }
    }
}

/// Submits a command that has no answer.
pub(crate) fn send<C: Command>(fd: RawFd, body: C) -> Result<()> {
    write(fd, &Frame::new(body, 0))
}

/// As `send`, for a large command, see `Frame::zeroed`.
pub(crate) fn send_filled<C: Command + FromZeros>(
    fd: RawFd,
    fill: impl FnOnce(&mut C) -> Result<()>,
) -> Result<()> {
    let mut room = MaybeUninit::uninit();
    let frame = Frame::zeroed(&mut room);
    fill(&mut frame.body)?;
    frame.send(fd)
}

/// Submits a command and returns its answer.
#[inline]
pub(crate) fn call<Q: Query>(fd: RawFd, body: Q) -> Result<Q::Response> {
    let mut response = Q::Response::blank();
    call_into(fd, body, &mut response)?;
    Ok(response)
}

/// As `call`, for a large answer: the kernel writes it where it stays. What it leaves out keeps its
/// value.
#[inline]
pub(crate) fn call_into<Q: Query>(
    fd: RawFd,
    mut body: Q,
    response: &mut Q::Response,
) -> Result<()> {
    body.set_response(&raw mut *response as u64);
    write(fd, &Frame::new(body, size_of::<Q::Response>()))
}

/// Whether the kernel has WRITE_CM_EVENT, and with it RESOLVE_IB_SERVICE. Such a kernel answers
/// ENOENT for an id that does not exist, an older one EINVAL for an unknown command.
pub(crate) fn takes_events(fd: RawFd) -> bool {
    static ANSWER: Once<bool> = Once::new();
    ANSWER.get_or_init(|| {
        let probe = abi::WriteCmEvent::new(u32::MAX, RDMA_CM_EVENT_USER, 0, 0);
        let answer = preserve_errno(|| submit(fd, &Frame::new(probe, 0)));
        !matches!(answer, Err(Errno::EINVAL | Errno::ENOSYS))
    })
}

/// The error of one of the new commands: ENOSYS where EINVAL means that the kernel is too old.
pub(crate) fn unless_unknown(fd: RawFd, error: Errno) -> Errno {
    if error == Errno::EINVAL && !takes_events(fd) { Errno::ENOSYS } else { error }
}

fn write<C: Command>(fd: RawFd, frame: &Frame<C>) -> Result<()> {
    let done = submit(fd, frame);
    if log::enabled(log::Part::Cm, log::Level::Trace) {
        trace(C::NAME, fd, done);
    }
    done
}

#[cold]
#[inline(never)]
fn trace(name: &str, fd: RawFd, done: Result<()>) {
    match done {
        Ok(()) => base::log!(Trace, "{name} on fd {fd}: done"),
        Err(error) => base::log!(Trace, "{name} on fd {fd}: {error}"),
    }
}

fn submit<C: Command>(fd: RawFd, frame: &Frame<C>) -> Result<()> {
    const { assert!(size_of::<Frame<C>>() == size_of::<abi::Header>() + size_of::<C>()) };
    let size = size_of::<Frame<C>>();
    // SAFETY: the frame is initialised to its last byte: both members are IntoBytes, and the
    // header's eight bytes leave no gap before a body that is aligned to at most eight. The
    // response address inside it points to a live buffer of `out_size` bytes (see `call_into`).
    let written = unsafe { libc::write(fd, core::ptr::from_ref(frame).cast(), size) };
    if written == size as isize { Ok(()) } else { Err(not_taken(written)) }
}

/// The kernel takes a command whole or fails; anything else means that no answer was written. A channel
/// that does not block may have no event, and a signal may come: that is no failure.
#[cold]
#[inline(never)]
fn not_taken(written: isize) -> Errno {
    if written >= 0 {
        return Errno::ENODATA;
    }
    let error = Errno::last();
    if !matches!(error, Errno::EAGAIN | Errno::EINTR) {
        count(|words| words.error(layout::COMMANDS_FAILED, error));
    }
    error
}
