//! Types and functions of libibverbs, and the types of librdmacm to compare our own with.
#![no_std]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(clippy::all)]

use libc::{c_int, c_uint, c_void, pthread_cond_t, pthread_mutex_t, sockaddr, timespec};

// Made by `make bindings`.
mod bindings;
mod types;

pub use self::bindings::*;
pub use self::types::*;

#[link(name = "ibverbs")]
extern "C" {}
