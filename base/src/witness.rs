// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Whether the program has closed the library's descriptors.
//!
//! Programs that become daemons close all descriptors but the first three, and so those of the library;
//! the numbers name other files then. A file of the library's own, which no other one can be taken for,
//! stands for all: with it everything is lost that the process has made until then, as it is in a
//! fork's child, and the next call makes it anew.
//!
//! # Safety
//! memfd_create(2) with a C string.
#![allow(unsafe_code)]

use crate::counters;
use crate::errno::Result;
use crate::fd::{OwnedFd, identity};
use crate::fork::{disown, ownership};
use crate::per_process::PerProcess;

struct Witness {
    file: OwnedFd,
    /// Device and inode.
    identity: (u64, u64),
}

static WITNESS: PerProcess<Witness> = PerProcess::new();

impl Witness {
    fn new() -> Result<Witness> {
        // SAFETY: a C string.
        let made = unsafe { libc::memfd_create(c"rdmacm".as_ptr(), libc::MFD_CLOEXEC) };
        let file = OwnedFd::made(made)?;
        let identity = identity(file.as_raw_fd())?;
        Ok(Witness { file, identity })
    }
}

/// Whether the library's descriptors are still its own. Where they are not, everything that the process
/// has made until now is not its own any more.
#[allow(clippy::must_use_candidate)]
pub fn is_intact() -> bool {
    let seen = ownership();
    let Some(witness) = WITNESS.get() else { return true };
    let is_there = identity(witness.file.as_raw_fd()) == Ok(witness.identity);
    if !is_there {
        disown(seen);
        crate::log!(
            Warn,
            "the program has closed the library's descriptors: rsockets and ids from before are gone"
        );
    }
    is_there
}

/// To be called before the first descriptor is made, and before others are made that need those.
pub fn check() {
    is_intact();
    counters::check();
    // Without a descriptor for it nothing is noticed.
    let _ = WITNESS.get_or_try_init(Witness::new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::tests::in_a_child;
    use crate::owner::Owner;

    #[test]
    fn a_closed_witness_loses_all_that_was_made() {
        static VALUE: PerProcess<u32> = PerProcess::new();
        assert!(in_a_child(|| {
            check();
            let (owner, kept) = (Owner::current(), VALUE.get_or_try_init(|| Ok(7)).copied());
            let all = is_intact() && owner.is_maker() && kept == Ok(7);
            let Some(fd) = WITNESS.get().map(|witness| witness.file.as_raw_fd()) else {
                return false;
            };
            // SAFETY: a descriptor that nobody uses after this, and another file under its number.
            unsafe {
                libc::close(fd);
                libc::dup2(0, fd);
            }
            let none = !is_intact() && owner.is_lost() && !owner.is_ours() && VALUE.get().is_none();
            check();
            let again = Owner::current();
            all && none && is_intact() && again.is_maker() && owner.is_lost()
        }));
    }
}
