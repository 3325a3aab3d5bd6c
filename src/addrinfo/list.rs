// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The list that C programs get.
//!
//! Every part is a piece of malloc: programs written for the C library may take a part out of an
//! entry, or put another one in, with malloc and free.
//!
//! # Safety
//! A list is zeroed memory whose pointers are NULL or to pieces of malloc that nothing else frees.
#![allow(unsafe_code)]

use super::entry::Entry;
use crate::types::{SocketAddress, rdma_addrinfo};
use base::errno::{Errno, Result};
use core::mem::size_of;
use core::ptr;
use libc::{c_void, sockaddr, socklen_t};
use zerocopy::IntoBytes;

/// A list that is being made, freed when that fails.
struct List(*mut rdma_addrinfo);

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: made here, not given away.
        unsafe { free(self.0) };
    }
}

/// The entries as one list; NULL for none.
pub(crate) fn into_c(entries: &[Entry]) -> Result<*mut rdma_addrinfo> {
    let mut list = List(ptr::null_mut());
    for entry in entries.iter().rev() {
        // SAFETY: plain allocation.
        let place = unsafe { libc::calloc(1, size_of::<rdma_addrinfo>()) };
        let place = place.cast::<rdma_addrinfo>();
        // SAFETY: NULL or zeroed memory of the struct's size: integers and pointers.
        let made = unsafe { place.as_mut() }.ok_or(Errno::ENOMEM)?;
        made.ai_next = list.0;
        // From here on the list owns it, with whatever it has by then.
        list.0 = place;
        fill(made, entry)?;
    }
    Ok(core::mem::replace(&mut list.0, ptr::null_mut()))
}

fn fill(made: &mut rdma_addrinfo, entry: &Entry) -> Result<()> {
    made.ai_flags = entry.flags;
    made.ai_family = entry.family;
    made.ai_qp_type = entry.qp_type;
    made.ai_port_space = entry.port_space;
    (made.ai_src_addr, made.ai_src_len) = address(entry.source.as_ref())?;
    (made.ai_dst_addr, made.ai_dst_len) = address(entry.destination.as_ref())?;
    made.ai_src_canonname = copy(&entry.source_name)?.cast();
    made.ai_dst_canonname = copy(&entry.destination_name)?.cast();
    made.ai_route = copy(entry.route.as_bytes())?;
    made.ai_route_len = entry.route.as_bytes().len();
    made.ai_connect = copy(&entry.connect)?;
    made.ai_connect_len = entry.connect.len();
    Ok(())
}

fn address(address: Option<&SocketAddress>) -> Result<(*mut sockaddr, socklen_t)> {
    let bytes = address.map_or(&[][..], SocketAddress::bytes);
    Ok((copy(bytes)?.cast(), bytes.len() as socklen_t))
}

/// The bytes in memory of malloc; NULL for none.
fn copy(bytes: &[u8]) -> Result<*mut c_void> {
    if bytes.is_empty() {
        return Ok(ptr::null_mut());
    }
    // SAFETY: the memory is checked and as large as what is copied.
    unsafe {
        let memory = libc::malloc(bytes.len());
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        memory.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok(memory)
    }
}

/// Gives a list back; NULL is nothing.
///
/// # Safety
/// NULL or a list of `into_c`, not used again; its parts are NULL or of malloc.
pub(crate) unsafe fn free(list: *mut rdma_addrinfo) {
    let mut next = list;
    while !next.is_null() {
        // SAFETY: by contract; the struct is copied before its memory goes.
        unsafe {
            let entry = next.read();
            libc::free(next.cast());
            for part in [
                entry.ai_src_addr.cast(),
                entry.ai_dst_addr.cast(),
                entry.ai_src_canonname.cast(),
                entry.ai_dst_canonname.cast(),
                entry.ai_route,
                entry.ai_connect,
            ] {
                libc::free(part);
            }
            next = entry.ai_next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order_and_parts() {
        let first = Entry {
            family: 2,
            destination_name: b"node\0".to_vec(),
            route: vec![zerocopy::transmute!([7_u8; 72])],
            connect: vec![4; 36],
            ..Entry::default()
        };
        let second = Entry { family: 10, ..Entry::default() };
        let list = into_c(&[first, second]).unwrap_or(ptr::null_mut());
        assert!(!list.is_null());
        // SAFETY: a list of two entries, given back below.
        unsafe {
            let head = &*list;
            assert_eq!((head.ai_family, head.ai_route_len, head.ai_connect_len), (2, 72, 36));
            assert_eq!(*head.ai_route.cast::<[u8; 72]>(), [7; 72]);
            assert_eq!(core::ffi::CStr::from_ptr(head.ai_dst_canonname), c"node");
            assert!(head.ai_src_addr.is_null() && head.ai_src_len == 0);
            assert_eq!((*head.ai_next).ai_family, 10);
            assert!((*head.ai_next).ai_next.is_null());
            free(list);
            free(ptr::null_mut());
        }
        assert_eq!(into_c(&[]), Ok(ptr::null_mut()));
    }
}
