// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! How libibverbs answers, and the operations of a provider that it has no function for.
//!
//! # Safety
//! Reads an open context, and the extended one around it where the mark says that there is one.
#![allow(unsafe_code)]

use base::errno::{Errno, Result};
use base::fail;
use core::hint::black_box;
use core::mem::{offset_of, size_of};
use core::ptr::NonNull;
use libc::c_void;
use rdma_sys::{ibv_context, verbs_context};

/// An operation behind the extended context of a provider, `None` where it has none (what
/// `verbs_get_ctx_op` is in C).
///
/// # Safety
/// The context is open.
macro_rules! extended {
    ($context:expr, $operation:ident) => {{
        const OFFSET: usize = core::mem::offset_of!(rdma_sys::verbs_context, $operation);
        $crate::verbs::provider::extended_context($context.as_ptr(), OFFSET)
            .and_then(|extended| (*extended).$operation)
    }};
}
pub(super) use extended;

/// Pointer results of libibverbs: NULL means errno.
pub(super) fn created<T>(pointer: *mut T) -> Result<NonNull<T>> {
    NonNull::new(pointer).ok_or_else(Errno::last)
}

/// The extended context around a context, if it is large enough to have the operation at `offset`.
///
/// # Safety
/// The context is open.
pub(super) unsafe fn extended_context(
    context: *mut ibv_context,
    offset: usize,
) -> Option<*const verbs_context> {
    // What libibverbs stores in contexts that have the larger struct around them.
    const IS_EXTENDED: *mut c_void = usize::MAX as *mut c_void;
    // SAFETY: by contract; the mark says that the context is the last member of a verbs_context,
    // whose own size counts back from that end.
    unsafe {
        if (*context).abi_compat != IS_EXTENDED {
            return None;
        }
        let extended = context.byte_sub(offset_of!(verbs_context, context)).cast::<verbs_context>();
        ((*extended).sz >= size_of::<verbs_context>() - offset).then_some(extended.cast_const())
    }
}

/// A wrong argument of a hot call. Hidden from the optimiser, which would otherwise prepare for it in
/// every call.
#[cold]
#[inline(never)]
pub(crate) fn invalid(reason: &'static str) -> Errno {
    black_box(fail!(EINVAL, "a helper of rdma_verbs.h: {reason}"))
}

/// The provider has no such operation.
#[cold]
#[inline(never)]
pub(super) fn unsupported() -> Errno {
    black_box(fail!(EOPNOTSUPP, "the device's provider has no such operation"))
}
