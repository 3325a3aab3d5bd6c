// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! librdmacm and libibverbs, opened by their SONAME when the program runs: what does not work can be
//! said where a library is missing, too.
//!
//! # Safety
//! Functions have the prototypes of the libraries' headers.
#![allow(unsafe_code)]

use rdma_sys::{
    ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_device_attr, ibv_gid_entry, ibv_mr,
    ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_init_attr, ibv_srq, ibv_wc,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::mem::transmute_copy;

/// The start of `struct rdma_cm_id`, as C programs read it.
#[repr(C)]
pub(crate) struct Id {
    pub(crate) verbs: *mut ibv_context,
    channel: *mut c_void,
    context: *mut c_void,
    pub(crate) qp: *mut ibv_qp,
    pub(crate) source: libc::sockaddr_storage,
    pub(crate) destination: libc::sockaddr_storage,
    pub(crate) source_gid: [u8; 16],
    pub(crate) destination_gid: [u8; 16],
    pkey: u16,
    path: *mut c_void,
    paths: c_int,
    /// The route is a struct of its own, with pointers in it.
    end_of_route: u32,
    port_space: u32,
    pub(crate) port: u8,
    event: *mut c_void,
    send_channel: *mut ibv_comp_channel,
    send_cq: *mut ibv_cq,
    receive_channel: *mut ibv_comp_channel,
    receive_cq: *mut ibv_cq,
    srq: *mut ibv_srq,
    pd: *mut ibv_pd,
    qp_type: u32,
}

macro_rules! functions {
    ($(#[$meta:meta])* $table:ident { $($field:ident = $name:literal: fn($($argument:ty),*) -> $result:ty;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $table {
            /// All functions, or the name of the first that the library does not have.
            fn find(library: *mut c_void) -> Result<$table, String> {
                Ok($table { $($field: {
                    let place = symbol(library, $name)?;
                    // SAFETY: a function of that prototype.
                    unsafe { transmute_copy(&place) }
                },)* })
            }
        }
    };
}

functions! {
    /// libibverbs.
    Verbs {
        list = c"ibv_get_device_list": fn(*mut c_int) -> *mut *mut ibv_device;
        free_list = c"ibv_free_device_list": fn(*mut *mut ibv_device) -> ();
        name = c"ibv_get_device_name": fn(*mut ibv_device) -> *const c_char;
        open = c"ibv_open_device": fn(*mut ibv_device) -> *mut ibv_context;
        close = c"ibv_close_device": fn(*mut ibv_context) -> c_int;
        query_device = c"ibv_query_device": fn(*mut ibv_context, *mut ibv_device_attr) -> c_int;
        query_port = c"ibv_query_port": fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
        query_gid = c"_ibv_query_gid_ex":
            fn(*mut ibv_context, u32, u32, *mut ibv_gid_entry, u32, usize) -> c_int;
    }
}

functions! {
    /// librdmacm.
    Manager {
        create_channel = c"rdma_create_event_channel": fn() -> *mut c_void;
        destroy_channel = c"rdma_destroy_event_channel": fn(*mut c_void) -> ();
        create_id = c"rdma_create_id": fn(*mut c_void, *mut *mut Id, *mut c_void, u32) -> c_int;
        destroy_ep = c"rdma_destroy_ep": fn(*mut Id) -> ();
        bind = c"rdma_bind_addr": fn(*mut Id, *const libc::sockaddr) -> c_int;
        resolve_address = c"rdma_resolve_addr":
            fn(*mut Id, *const libc::sockaddr, *const libc::sockaddr, c_int) -> c_int;
        resolve_route = c"rdma_resolve_route": fn(*mut Id, c_int) -> c_int;
        create_qp = c"rdma_create_qp": fn(*mut Id, *mut ibv_pd, *mut ibv_qp_init_attr) -> c_int;
        listen = c"rdma_listen": fn(*mut Id, c_int) -> c_int;
        get_request = c"rdma_get_request": fn(*mut Id, *mut *mut Id) -> c_int;
        accept = c"rdma_accept": fn(*mut Id, *const c_void) -> c_int;
        connect = c"rdma_connect": fn(*mut Id, *const c_void) -> c_int;
        disconnect = c"rdma_disconnect": fn(*mut Id) -> c_int;
        rsocket = c"rsocket": fn(c_int, c_int, c_int) -> c_int;
        rbind = c"rbind": fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int;
        rlisten = c"rlisten": fn(c_int, c_int) -> c_int;
        raccept = c"raccept": fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;
        rconnect = c"rconnect": fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int;
        rsend = c"rsend": fn(c_int, *const c_void, usize, c_int) -> isize;
        rrecv = c"rrecv": fn(c_int, *mut c_void, usize, c_int) -> isize;
        rsetsockopt = c"rsetsockopt": fn(c_int, c_int, c_int, *const c_void, libc::socklen_t) -> c_int;
        rclose = c"rclose": fn(c_int) -> c_int;
    }
}

functions! {
    /// The helpers of rdma_verbs.h, which this library exports and the C library does not.
    Helpers {
        register = c"rdma_reg_msgs": fn(*mut Id, *mut c_void, usize) -> *mut ibv_mr;
        deregister = c"rdma_dereg_mr": fn(*mut ibv_mr) -> c_int;
        post_receive = c"rdma_post_recv":
            fn(*mut Id, *mut c_void, *mut c_void, usize, *mut ibv_mr) -> c_int;
        post_send = c"rdma_post_send":
            fn(*mut Id, *mut c_void, *mut c_void, usize, *mut ibv_mr, c_int) -> c_int;
        send_completion = c"rdma_get_send_comp": fn(*mut Id, *mut ibv_wc) -> c_int;
        receive_completion = c"rdma_get_recv_comp": fn(*mut Id, *mut ibv_wc) -> c_int;
    }
}

fn last_error() -> String {
    // SAFETY: a C string of the loader, or NULL.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "unknown error of the loader".to_owned();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn open(name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a C string.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if library.is_null() { Err(last_error()) } else { Ok(library) }
}

/// Preloaded objects come first, as for every program.
fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: C strings; handles of the loader.
    let place = unsafe {
        let preloaded = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if preloaded.is_null() { libc::dlsym(library, name.as_ptr()) } else { preloaded }
    };
    if place.is_null() { Err(format!("no function {}", name.to_string_lossy())) } else { Ok(place) }
}

/// The file that a function is in, links resolved.
fn file_of(place: *mut c_void) -> String {
    // SAFETY: a live struct; the loader's own strings.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(place, &raw mut info) == 0 || info.dli_fname.is_null() {
            return String::new();
        }
        let name = CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned();
        std::fs::canonicalize(&name).map_or(name, |path| path.display().to_string())
    }
}

/// Both libraries.
pub(crate) struct Libraries {
    pub(crate) verbs: Verbs,
    pub(crate) verbs_file: String,
    pub(crate) manager: Manager,
    pub(crate) manager_file: String,
    pub(crate) helpers: Option<Helpers>,
}

impl Libraries {
    pub(crate) fn open() -> Result<Libraries, String> {
        let verbs = open(c"libibverbs.so.1")?;
        let manager = open(c"librdmacm.so.1")?;
        // SAFETY: handles of the loader and C strings.
        let (own_list, own_create) = unsafe {
            (
                libc::dlsym(verbs, c"ibv_get_device_list".as_ptr()),
                libc::dlsym(manager, c"rdma_create_id".as_ptr()),
            )
        };
        Ok(Libraries {
            verbs: Verbs::find(verbs)?,
            verbs_file: file_of(own_list),
            manager: Manager::find(manager)?,
            manager_file: file_of(own_create),
            helpers: Helpers::find(manager).ok(),
        })
    }

    /// Whether librdmacm is this library, not the C library.
    pub(crate) fn is_own(&self) -> bool {
        self.helpers.is_some()
    }
}

/// 0, or the errno that a call left.
pub(crate) fn check(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
