//! The UDP socket under a datagram rsocket.
//!
//! # Safety
//! Socket calls on addresses and buffers that are borrowed for the call.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::memory::try_copy;
use crate::types::SocketAddress;
use libc::{SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, c_int, iovec, sockaddr_storage, socklen_t};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// See the module text. Never blocks.
pub(super) struct UdpSocket(OwnedFd);

fn check(returned: c_int) -> Result<()> {
    if returned < 0 { Err(Errno::last()) } else { Ok(()) }
}

impl UdpSocket {
    pub(super) fn open(family: c_int, protocol: c_int) -> Result<UdpSocket> {
        // SAFETY: no pointers.
        let fd =
            unsafe { libc::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol) };
        check(fd)?;
        // SAFETY: made above.
        Ok(UdpSocket(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub(super) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(super) fn bind(&self, address: &SocketAddress) -> Result<()> {
        let raw = std::ptr::from_ref(address.storage()).cast();
        // SAFETY: a live address of that length.
        check(unsafe { libc::bind(self.fd(), raw, address.length() as socklen_t) })
    }

    pub(super) fn connect(&self, address: &SocketAddress) -> Result<()> {
        let raw = std::ptr::from_ref(address.storage()).cast();
        // SAFETY: as in `bind`.
        check(unsafe { libc::connect(self.fd(), raw, address.length() as socklen_t) })
    }

    pub(super) fn disconnect(&self) -> Result<()> {
        // SAFETY: integers, valid when zero: AF_UNSPEC.
        let nobody: sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        let length = size_of::<libc::sockaddr>() as socklen_t;
        // SAFETY: readable for that length.
        check(unsafe { libc::connect(self.fd(), (&raw const nobody).cast(), length) })
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
        let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
        let mut length = size_of::<sockaddr_storage>() as socklen_t;
        // SAFETY: room of that length.
        check(unsafe { call(self.fd(), storage.as_mut_ptr().cast(), &raw mut length) })?;
        address_in(&storage).ok_or(Errno::EAFNOSUPPORT)
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
            message.msg_name = std::ptr::from_ref(to.storage()).cast_mut().cast();
            message.msg_namelen = to.length() as socklen_t;
            message.msg_iov = pieces.as_mut_ptr();
            message.msg_iovlen = pieces.len();
            libc::sendmsg(self.fd(), &raw const message, libc::MSG_NOSIGNAL)
        };
        if sent < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    /// The next packet: how much of `room` it fills, and its sender. Too long ones are cut.
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<(usize, SocketAddress)> {
        let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
        let mut length = size_of::<sockaddr_storage>() as socklen_t;
        // SAFETY: room of those lengths.
        let count = unsafe {
            libc::recvfrom(
                self.fd(),
                room.as_mut_ptr().cast(),
                room.len(),
                0,
                storage.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        let count = usize::try_from(count).map_err(|_| Errno::last())?;
        Ok((count, address_in(&storage).ok_or(Errno::EAFNOSUPPORT)?))
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

fn address_in(storage: &MaybeUninit<sockaddr_storage>) -> Option<SocketAddress> {
    // SAFETY: zeroed before the kernel wrote a part of it.
    let bytes = unsafe {
        std::slice::from_raw_parts(storage.as_ptr().cast::<u8>(), size_of::<sockaddr_storage>())
    };
    SocketAddress::from_bytes(bytes)
}

/// The local address that packets to `target` leave from.
pub(super) fn source_for(target: &SocketAddress) -> Result<SocketAddress> {
    let socket = UdpSocket::open(target.family(), 0)?;
    socket.connect(target)?;
    socket.local_name()
}
