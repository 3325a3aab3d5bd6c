// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The UDP socket under a datagram rsocket.
//!
//! # Safety
//! Socket calls on addresses and buffers that are borrowed for the call.
#![allow(unsafe_code)]

use crate::types::SocketAddress;
use alloc::vec::Vec;
use base::address::RawAddress;
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, RawFd};
use base::memory::try_copy;
use core::mem::{MaybeUninit, size_of};
use libc::{SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, c_int, iovec, socklen_t};

/// See the module text. Never blocks.
pub(super) struct UdpSocket(OwnedFd);

fn check(returned: c_int) -> Result<()> {
    if returned < 0 { Err(Errno::last()) } else { Ok(()) }
}

impl UdpSocket {
    pub(super) fn open(family: c_int, protocol: c_int, close_on_exec: bool) -> Result<UdpSocket> {
        let close_on_exec = if close_on_exec { SOCK_CLOEXEC } else { 0 };
        // SAFETY: no pointers.
        let fd =
            unsafe { libc::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | close_on_exec, protocol) };
        OwnedFd::made(fd).map(UdpSocket)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(super) fn bind(&self, address: &SocketAddress) -> Result<()> {
        // SAFETY: a live address of that length.
        check(unsafe { libc::bind(self.fd(), address.as_ptr(), address.length() as socklen_t) })
    }

    pub(super) fn connect(&self, address: &SocketAddress) -> Result<()> {
        // SAFETY: as in `bind`.
        check(unsafe { libc::connect(self.fd(), address.as_ptr(), address.length() as socklen_t) })
    }

    pub(super) fn disconnect(&self) -> Result<()> {
        let nobody = RawAddress::blank(libc::AF_UNSPEC, size_of::<libc::sockaddr>());
        let length = nobody.length() as socklen_t;
        // SAFETY: readable for that length.
        check(unsafe { libc::connect(self.fd(), nobody.as_ptr(), length) })
    }

    pub(super) fn shutdown(&self, how: c_int) -> Result<()> {
        // SAFETY: no pointers.
        check(unsafe { libc::shutdown(self.fd(), how) })
    }

    pub(super) fn local_name(&self) -> Result<SocketAddress> {
        self.name(libc::getsockname)
    }

    pub(super) fn peer_name(&self) -> Result<SocketAddress> {
        self.name(libc::getpeername)
    }

    fn name(
        &self,
        call: unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut socklen_t) -> c_int,
    ) -> Result<SocketAddress> {
        // SAFETY: room of the given length.
        let name = RawAddress::filled_by(|to, length| unsafe { call(self.fd(), to, length) })?;
        SocketAddress::from_bytes(name.bytes()).ok_or(Errno::EAFNOSUPPORT)
    }

    /// One packet: header, then data.
    pub(super) fn send(&self, header: &[u8], data: &[u8], to: &SocketAddress) -> Result<()> {
        let mut pieces = [header, data].map(|piece| iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        });
        // SAFETY: pointers and integers, valid when zero; only read by the call.
        let sent = unsafe {
            let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
            message.msg_name = to.as_ptr().cast_mut().cast();
            message.msg_namelen = to.length() as socklen_t;
            message.msg_iov = pieces.as_mut_ptr();
            message.msg_iovlen = pieces.len();
            libc::sendmsg(self.fd(), &raw const message, libc::MSG_NOSIGNAL)
        };
        if sent < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    /// What a send without a destination says. Like any send it gives the socket a port.
    #[cold]
    pub(super) fn send_to_nobody(&self) -> Errno {
        // SAFETY: no bytes.
        let sent = unsafe { libc::send(self.fd(), core::ptr::null(), 0, libc::MSG_NOSIGNAL) };
        if sent < 0 { Errno::last() } else { Errno::EDESTADDRREQ }
    }

    /// As `receive`, with the control messages that options ask for, as far as there is room.
    pub(super) fn receive_with_control(
        &self,
        room: &mut [u8],
        control: &mut [u64],
    ) -> Result<(usize, SocketAddress, usize)> {
        let mut piece = iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        let (mut count, mut stored) = (0, 0);
        let from = RawAddress::filled_by(|from, length| {
            // SAFETY: pointers and integers, valid when zero; rooms of those lengths, and that of
            // the address.
            unsafe {
                let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
                (message.msg_name, message.msg_namelen) = (from.cast(), *length);
                (message.msg_iov, message.msg_iovlen) = (&raw mut piece, 1);
                message.msg_control = control.as_mut_ptr().cast();
                message.msg_controllen = size_of_val(control);
                count = libc::recvmsg(self.fd(), &raw mut message, 0);
                *length = message.msg_namelen;
                stored = message.msg_controllen;
                if count < 0 { -1 } else { 0 }
            }
        })?;
        let from = SocketAddress::from_bytes(from.bytes()).ok_or(Errno::EAFNOSUPPORT)?;
        Ok((count.unsigned_abs(), from, stored))
    }

    /// The next packet: how much of `room` it fills, and its sender. Too long ones are cut.
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<(usize, SocketAddress)> {
        let (start, most) = (room.as_mut_ptr().cast(), room.len());
        let mut count = 0;
        let from = RawAddress::filled_by(|from, length| {
            // SAFETY: room of those lengths.
            count = unsafe { libc::recvfrom(self.fd(), start, most, 0, from, length) };
            if count < 0 { -1 } else { 0 }
        })?;
        let from = SocketAddress::from_bytes(from.bytes()).ok_or(Errno::EAFNOSUPPORT)?;
        Ok((count.unsigned_abs(), from))
    }

    pub(super) fn set_option(&self, level: c_int, name: c_int, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as socklen_t;
        // SAFETY: live bytes of that length.
        check(unsafe { libc::setsockopt(self.fd(), level, name, bytes.as_ptr().cast(), length) })
    }

    pub(super) fn option(&self, level: c_int, name: c_int) -> Result<Vec<u8>> {
        let mut bytes = [0; 256];
        let mut length = bytes.len() as socklen_t;
        // SAFETY: room of that length.
        check(unsafe {
            libc::getsockopt(self.fd(), level, name, bytes.as_mut_ptr().cast(), &raw mut length)
        })?;
        try_copy(bytes.get(..length as usize).ok_or(Errno::EIO)?)
    }
}

/// The local address that packets to `target` leave from.
pub(super) fn local_address_for(target: &SocketAddress) -> Result<SocketAddress> {
    let socket = UdpSocket::open(target.family(), 0, true)?;
    socket.connect(target)?;
    socket.local_name()
}
