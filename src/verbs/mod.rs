//! The border to libibverbs: each call wrapped once, with its error rule.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! "valid id" fields or from our own owners, which keep the object alive while the wrapper is in use
//! (see the safety words in lib.rs).
#![allow(unsafe_code)]

/// An operation behind the extended context of a provider, `None` where it has none (what
/// `verbs_get_ctx_op` is in C).
///
/// # Safety
/// The context is open.
macro_rules! extended {
    ($context:expr, $operation:ident) => {{
        const OFFSET: usize = std::mem::offset_of!(rdma_sys::verbs_context, $operation);
        $crate::verbs::extended_context($context.as_ptr(), OFFSET)
            .and_then(|extended| (*extended).$operation)
    }};
}

mod address_handle;
mod completion;
mod context;
mod memory_region;
mod queue_pair;
mod shared_queue;
mod work;

pub(crate) use address_handle::AddressHandle;
pub(crate) use completion::{CompletionQueue, Found, Room};
pub(crate) use context::{Context, ProtectionDomain};
pub(crate) use memory_region::MemoryRegion;
pub(crate) use queue_pair::{QueuePair, zeroed_attr};
pub(crate) use shared_queue::{SharedQueue, XrcDomain};
pub(crate) use work::{Completion, Remote, Work};

use crate::error::{Errno, Result};
use libc::c_void;
use rdma_sys::{ibv_context, verbs_context};
use std::mem::{offset_of, size_of};
use std::ptr::NonNull;

/// Pointer results of libibverbs: NULL means errno.
fn created<T>(pointer: *mut T) -> Result<NonNull<T>> {
    NonNull::new(pointer).ok_or_else(Errno::last)
}

/// The extended context around a context, if it is large enough to have the operation at `offset`.
///
/// # Safety
/// The context is open.
unsafe fn extended_context(
    context: *mut ibv_context,
    offset: usize,
) -> Option<*const verbs_context> {
    // What libibverbs stores in contexts that have the larger struct around them.
    const IS_EXTENDED: *mut c_void = usize::MAX as *mut c_void;
    // SAFETY: by contract; the mark says that the context is the last member of a verbs_context, whose
    // own size counts back from that end.
    unsafe {
        if (*context).abi_compat != IS_EXTENDED {
            return None;
        }
        let extended = context.byte_sub(offset_of!(verbs_context, context)).cast::<verbs_context>();
        ((*extended).sz >= size_of::<verbs_context>() - offset).then_some(extended.cast_const())
    }
}
