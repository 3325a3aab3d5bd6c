//! The border to libibverbs: each call wrapped once, with its error rule.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! "valid id" fields or from our own owners, which keep the object alive while the wrapper is in use
//! (see the safety words in lib.rs).
#![allow(unsafe_code)]

mod completion;
mod context;
mod queue_pair;

pub(crate) use completion::CompletionQueue;
pub(crate) use context::{Context, ProtectionDomain};
pub(crate) use queue_pair::{QueuePair, zeroed_attr};

use crate::error::{Errno, Result};
use std::ptr::NonNull;

/// Pointer results of libibverbs: NULL means errno.
fn created<T>(pointer: *mut T) -> Result<NonNull<T>> {
    NonNull::new(pointer).ok_or_else(Errno::last)
}
