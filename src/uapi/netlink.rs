// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Asks the kernel's RDMA netlink socket which character device serves rdma_cm.
//!
//! The question also makes the kernel load the module. Message layout: `<rdma/rdma_netlink.h>`.
//!
//! # Safety
//! Plain system calls with buffers of this stack.
#![allow(unsafe_code)]

use alloc::string::String;
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::fd::OwnedFd;
use base::memory::{try_copy, try_vec};
use core::mem::size_of;
use zerocopy::{FromBytes, Immutable, IntoBytes};

const NETLINK_RDMA: libc::c_int = 20;
const RDMA_NL_NLDEV: u16 = 5;
const CMD_GET_CHARDEV: u16 = 15;
const ATTR_CHARDEV_TYPE: u16 = 69;
const ATTR_CHARDEV_NAME: u16 = 70;
const ATTR_CHARDEV_ABI: u16 = 71;
const ATTR_CHARDEV: u16 = 72;
const ATTR_TYPE_MASK: u16 = 0x3FFF;

const MESSAGE_TYPE: u16 = (RDMA_NL_NLDEV << 10) + CMD_GET_CHARDEV;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;

/// `struct nlmsghdr`.
#[repr(C)]
#[derive(FromBytes, IntoBytes, Immutable)]
struct Header {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
}

/// `struct nlattr`; its value follows, and padding to four bytes.
#[repr(C)]
#[derive(FromBytes, IntoBytes, Immutable)]
struct Attribute {
    length: u16,
    kind: u16,
}

/// Longest wait for the answer; the kernel gives it while the question is being sent.
static ANSWER_LIMIT: libc::timeval = libc::timeval { tv_sec: 1, tv_usec: 0 };

/// What the kernel says about a character device.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CharDevice {
    pub(super) name: String,
    pub(super) device: u64,
    pub(super) abi: Option<u64>,
}

/// Looks a client of the RDMA core up by name.
pub(super) fn char_device(client: &str) -> Result<CharDevice> {
    // SAFETY: no pointers.
    let fd = unsafe {
        libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, NETLINK_RDMA)
    };
    let socket = OwnedFd::made(fd)?;
    // SAFETY: the option value is a live timeval of the given size.
    let set = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw const ANSWER_LIMIT).cast(),
            size_of::<libc::timeval>() as libc::socklen_t,
        )
    };
    if set != 0 {
        return Err(Errno::last());
    }
    let question = question(client)?;
    // SAFETY: the buffer is live and of the given size.
    let sent =
        unsafe { libc::send(socket.as_raw_fd(), question.as_ptr().cast(), question.len(), 0) };
    if sent != question.len() as isize {
        return Err(Errno::last());
    }
    let mut answer = [0_u8; 4096];
    // SAFETY: as above.
    let received =
        unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let length = usize::try_from(received).map_err(|_| Errno::last())?;
    parse(&answer[..length])
}

fn question(client: &str) -> Result<Vec<u8>> {
    let length = size_of::<Attribute>() + client.len() + 1;
    let total = size_of::<Header>() + length.next_multiple_of(4);
    let header = Header {
        length: total as u32,
        kind: MESSAGE_TYPE,
        flags: NLM_F_REQUEST,
        sequence: 0,
        port: 0,
    };
    let attribute = Attribute { length: length as u16, kind: ATTR_CHARDEV_TYPE };
    let mut message = try_vec(total)?;
    message.extend(header.as_bytes());
    message.extend(attribute.as_bytes());
    message.extend(client.as_bytes());
    message.resize(total, 0);
    Ok(message)
}

#[cfg(any(test, fuzzing))]
/// See `crate::fuzz`.
pub fn fuzz_netlink(bytes: &[u8]) {
    if let Ok(device) = parse(bytes) {
        assert!(!device.name.is_empty() && !device.name.contains(['/', '\0']));
    }
}

fn parse(message: &[u8]) -> Result<CharDevice> {
    let (header, mut rest) = Header::read_from_prefix(message).map_err(|_| Errno::EBADMSG)?;
    if header.kind == NLMSG_ERROR {
        let code: [u8; 4] = rest.first_chunk().copied().ok_or(Errno::EBADMSG)?;
        return Err(Errno::of(i32::from_ne_bytes(code)));
    }
    if header.kind != MESSAGE_TYPE {
        return Err(Errno::EBADMSG);
    }
    let (mut name, mut device, mut abi) = (None, None, None);
    while let Ok((attribute, _)) = Attribute::read_from_prefix(rest) {
        let length = usize::from(attribute.length);
        let Some(value) = rest.get(size_of::<Attribute>()..length) else { break };
        match attribute.kind & ATTR_TYPE_MASK {
            ATTR_CHARDEV_NAME => {
                let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
                name = String::from_utf8(try_copy(text)?).ok();
            }
            ATTR_CHARDEV => device = value.first_chunk().map(|v| u64::from_ne_bytes(*v)),
            ATTR_CHARDEV_ABI => abi = value.first_chunk().map(|v| u64::from_ne_bytes(*v)),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    match (name, device) {
        // A name with a slash would lead out of the device directory.
        (Some(name), Some(device)) if !name.is_empty() && !name.contains('/') => {
            Ok(CharDevice { name, device, abi })
        }
        _ => Err(Errno::EBADMSG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((size_of::<Header>() + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(size_of::<Header>(), 0);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn answer_is_parsed() {
        let mut body = attribute(ATTR_CHARDEV_NAME, b"rdma_cm\0");
        body.extend(attribute(ATTR_CHARDEV, &0x0A7B_u64.to_ne_bytes()));
        body.extend(attribute(ATTR_CHARDEV_ABI, &4_u64.to_ne_bytes()));
        let expected = CharDevice { name: "rdma_cm".to_owned(), device: 0x0A7B, abi: Some(4) };
        assert_eq!(parse(&message(MESSAGE_TYPE, &body)), Ok(expected));
    }

    #[test]
    fn kernel_error_is_passed_on() {
        let body = (-libc::ENOENT).to_ne_bytes();
        assert_eq!(parse(&message(NLMSG_ERROR, &body)), Err(Errno::ENOENT));
    }

    #[test]
    fn broken_answers_are_refused() {
        let mut body = attribute(ATTR_CHARDEV_NAME, b"../x\0");
        body.extend(attribute(ATTR_CHARDEV, &1_u64.to_ne_bytes()));
        assert_eq!(parse(&message(MESSAGE_TYPE, &body)), Err(Errno::EBADMSG));
        // Attributes of size zero must not loop for ever, and a cut one is the end.
        assert_eq!(parse(&message(MESSAGE_TYPE, &[0; 8])), Err(Errno::EBADMSG));
        assert_eq!(parse(&message(MESSAGE_TYPE, &[200, 0, 70, 0])), Err(Errno::EBADMSG));
        assert_eq!(parse(&[1, 2, 3]), Err(Errno::EBADMSG));
    }

    #[test]
    fn question_is_padded_to_four() {
        let message = question("rdma_cm").unwrap_or_default();
        assert_eq!(message.len(), 28);
        assert_eq!(message[..4], 28_u32.to_ne_bytes());
        assert_eq!(&message[20..28], b"rdma_cm\0");
    }
}
