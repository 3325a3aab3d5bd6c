// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Why there is no answer.

use base::errno::Errno;
use libc::c_int;

/// See the module text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// Another EAI_ code, returned to C as it is.
    Resolver(c_int),
    /// EAI_SYSTEM, with its errno.
    System(Errno),
    /// The library's own.
    Own(Errno),
}

impl Failure {
    /// For events, whose status has no room for EAI_ codes.
    pub(crate) fn errno(self) -> Errno {
        match self {
            Failure::System(error) | Failure::Own(error) => error,
            Failure::Resolver(code) => match code {
                libc::EAI_AGAIN => Errno::EAGAIN,
                libc::EAI_MEMORY => Errno::ENOMEM,
                libc::EAI_BADFLAGS => Errno::EINVAL,
                libc::EAI_FAMILY => Errno::EAFNOSUPPORT,
                libc::EAI_SOCKTYPE => Errno::EPROTONOSUPPORT,
                libc::EAI_FAIL => Errno::EIO,
                libc::EAI_OVERFLOW => Errno::EOVERFLOW,
                // Names and services that do not exist, or not in this family.
                _ => Errno::ENOENT,
            },
        }
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Failure {
        Failure::Own(error)
    }
}
