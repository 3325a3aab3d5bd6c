// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One answer: an address with all that is known about it.

use crate::types::{PathData, SocketAddress};
use alloc::vec::Vec;
use libc::c_int;

/// See the module text.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    pub(super) flags: c_int,
    pub(super) family: c_int,
    pub(super) qp_type: c_int,
    pub(super) port_space: c_int,
    pub(crate) source: Option<SocketAddress>,
    pub(crate) destination: Option<SocketAddress>,
    /// Canonical names with their final zero byte; empty where there is none.
    pub(super) source_name: Vec<u8>,
    pub(super) destination_name: Vec<u8>,
    pub(super) route: Vec<PathData>,
    /// What precedes the caller's private data in CONNECT.
    pub(super) connect: Vec<u8>,
}
