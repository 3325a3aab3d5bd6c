// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The start of the library, in one place: libc's functions are looked up, the fork handlers and
//! the observers of sockets are registered, and the configuration is read. All handlers that libc
//! calls by itself, at load, at fork and at exit, are registered here.
//!
//! # Safety
//! Entries of .init_array and .fini_array.
#![allow(unsafe_code)]

use crate::carrier::pending::PendingObserver;
use crate::epoll::instance;
use crate::epoll::observer::EpollObserver;
use crate::fork::hooks::{self, ForkObserver};
use crate::sys::{config, guard, original, process};
use crate::table::descriptors;
use crate::table::socket::observe;
use base::errno::preserve_errno;
use base::fork::{self, Hooks};
use base::once::OnceLock;

/// Starts the library, at load or at the first socket that another library's constructor makes
/// before.
pub(crate) fn once() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        original::look_up_all();
        guard::at_load();
        process::at_load();
        observe(&[&EpollObserver, &ForkObserver, &PendingObserver]);
        fork::set_hooks(&HOOKS);
        // Some programs clear their environment later.
        config::get();
    });
}

static HOOKS: Hooks = Hooks { before: hooks::before, in_child, in_parent: hooks::in_parent };

/// The child's descriptors are put in order before anything uses them.
fn in_child() {
    process::in_child();
    preserve_errno(|| {
        descriptors::in_child();
        instance::in_child();
    });
    hooks::in_child();
}

/// What libc calls by itself. The unit tests start what they need.
#[cfg(not(test))]
mod at {
    extern "C" fn load() {
        super::once();
    }

    extern "C" fn exit() {
        crate::calls::exit::finish();
    }

    /// Run when the library is loaded, before the program's own constructors.
    #[used]
    // SAFETY: the section holds pointers to such functions.
    #[unsafe(link_section = ".init_array")]
    static AT_LOAD: extern "C" fn() = load;

    /// Run when the program returns from main or calls exit.
    #[used]
    // SAFETY: the section holds pointers to such functions.
    #[unsafe(link_section = ".fini_array")]
    static AT_EXIT: extern "C" fn() = exit;
}
