// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A socket option and its value, to be set on rsockets and kernel sockets.
//!
//! # Safety
//! setsockopt(2) and rsetsockopt with live values of this library.
#![allow(unsafe_code)]

use crate::sys::{librdmacm, original};
use alloc::vec::Vec;
use base::errno::Result;
use base::memory::{try_copy, try_push, try_vec};
use libc::{SOL_SOCKET, c_int, socklen_t};

/// <rdma/rsocket.h>: the level of options that only rsockets have.
pub(crate) const SOL_RDMA: c_int = 0x10000;
/// Options that the C library does not have. Of a listener: raccept answers the requests.
pub(crate) const ON_DEMAND: c_int = 0x101;

pub(crate) struct Setting {
    level: c_int,
    name: c_int,
    value: Value,
}

/// Most values are short.
const SHORT: usize = 16;

enum Value {
    Short([u8; SHORT], usize),
    Long(Vec<u8>),
}

impl Setting {
    pub(crate) fn new(level: c_int, name: c_int, value: &[u8]) -> Result<Setting> {
        let mut short = [0; SHORT];
        let value = match short.get_mut(..value.len()) {
            Some(room) => {
                room.copy_from_slice(value);
                Value::Short(short, value.len())
            }
            None => Value::Long(try_copy(value)?),
        };
        Ok(Setting { level, name, value })
    }

    pub(crate) fn number(level: c_int, name: c_int, value: c_int) -> Setting {
        const SIZE: usize = size_of::<c_int>();
        let mut short = [0; SHORT];
        short[..SIZE].copy_from_slice(&value.to_ne_bytes());
        Setting { level, name, value: Value::Short(short, SIZE) }
    }

    /// A copy of all.
    pub(crate) fn copy_all(settings: &[Setting]) -> Result<Vec<Setting>> {
        let mut copy = try_vec(settings.len())?;
        for setting in settings {
            try_push(&mut copy, Setting::new(setting.level, setting.name, setting.value())?)?;
        }
        Ok(copy)
    }

    fn value(&self) -> &[u8] {
        match &self.value {
            Value::Short(short, length) => short.get(..*length).unwrap_or_default(),
            Value::Long(value) => value,
        }
    }

    pub(crate) fn reuse_address(on: bool) -> Setting {
        Setting::number(SOL_SOCKET, libc::SO_REUSEADDR, on.into())
    }

    pub(crate) fn answer_on_demand() -> Setting {
        Setting::number(SOL_RDMA, ON_DEMAND, 1)
    }

    /// Whether both set the same option.
    pub(crate) fn replaces(&self, other: &Setting) -> bool {
        (self.level, self.name) == (other.level, other.name)
    }

    /// Sets it on an rsocket. Options that rsockets do not have stay the kernel socket's alone.
    pub(crate) fn apply(&self, rsocket: c_int) {
        let length = self.value().len() as socklen_t;
        let value = self.value().as_ptr().cast();
        // SAFETY: live bytes of that length.
        let _ = unsafe { librdmacm::rsetsockopt(rsocket, self.level, self.name, value, length) };
    }

    /// Sets it on a kernel socket that takes the place of one that had it.
    pub(crate) fn apply_to_kernel(&self, fd: c_int) {
        let length = self.value().len() as socklen_t;
        let value = self.value().as_ptr().cast();
        // SAFETY: live bytes of that length.
        let _ = unsafe { original::setsockopt(fd, self.level, self.name, value, length) };
    }
}
