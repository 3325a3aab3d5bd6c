// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! All variables of the environment and all files that the libraries read: their names, defaults and
//! meanings. The libraries take the names from here, `rdmacm-info -c` prints the table, and the manual
//! pages have the meanings word for word (`tests/complete`).

use core::ffi::CStr;

/// A variable of the environment.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static CStr,
    /// As a user would write it; what is in effect without the variable.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// A file, of which each process reads the beginning once.
#[derive(Debug)]
pub struct Setting {
    pub file: &'static str,
    pub default: &'static str,
    pub meaning: &'static str,
}

/// Where the files are.
pub const FOLDER: &str = "/etc/rdma/rsocket";

macro_rules! variables {
    ($($constant:ident $name:literal $default:literal $meaning:literal;)*) => {
        $(pub const $constant: Variable =
            Variable { name: $name, default: $default, meaning: $meaning };)*
        pub const VARIABLES: &[&Variable] = &[$(&$constant),*];
    };
}

variables! {
    LOG c"RDMACM_LOG" "off"
        "warn or 1 writes a line to standard error for each call and each connection that fails, with \
         cause and remedy; error only for what nothing works without; info also for events, debug for \
         what the library decides by itself, trace for each command of the kernel.";
    LOG_FILE c"RDMACM_LOG_FILE" "standard error"
        "a file to which these lines are appended instead; %p in its name stands for the process.";
    COUNTERS c"RDMACM_STATS" "0"
        "if set to 1, the process counts what it does in memory that rdmacm-info top shows while it runs.";
    TRACE c"RDMACM_TRACE" "off"
        "a file to which the life of each identifier and each rsocket is written in the Trace Event \
         format, for Perfetto and rdmacm-info trace; %p in its name stands for the process, and without \
         it a forked child writes nothing.";
    SYNC_TIMEOUT c"RDMACM_SYNC_TIMEOUT_MS" "no limit"
        "limit, in milliseconds, for which a call with a synchronous identifier waits for its event \
         before it fails with ETIMEDOUT.";
    IBACM_TIMEOUT c"RDMACM_IBACM_TIMEOUT_MS" "2000"
        "limit, in milliseconds, of a query to the daemon ibacm.";
    POOL_SIZE c"RDMACM_POOL_SIZE" "as the file pool_size"
        "used instead of the file pool_size (see FILES).";
    OWN_DOMAINS c"RDMACM_OWN_DOMAINS" "as the file own_domains"
        "used instead of the file own_domains (see FILES).";
    CONNECT_TIMEOUT c"RS_CONNECT_TIMEOUT_MS" "3000"
        "time, in milliseconds, for which a peer may take to respond over RDMA before the connection \
         falls back to TCP.";
    REQUIRE_RDMA c"RS_REQUIRE_RDMA" "0"
        "if set to 1, yes or true, no connection falls back to TCP.";
    STATS c"RS_STATS" "0"
        "if set to 1, a line is written to standard error for each socket, with its descriptor, its \
         peer, whether RDMA or TCP carried it and why, and the number of bytes transferred with RDMA \
         and with TCP.";
    SQ_SIZE c"RS_SQ_SIZE" "as the file sqsize_default" "number of entries of the send queue.";
    RQ_SIZE c"RS_RQ_SIZE" "as the file rqsize_default" "number of entries of the receive queue.";
    INLINE c"RS_INLINE" "as the file inline_default" "size of inline data in bytes.";
}

pub const FILES: &[Setting] = &[
    Setting {
        file: "mem_default",
        default: "131072",
        meaning: "size of the receive buffer in bytes.",
    },
    Setting {
        file: "wmem_default",
        default: "131072",
        meaning: "size of the send buffer in bytes.",
    },
    Setting {
        file: "sqsize_default",
        default: "255",
        meaning: "number of entries of the send queue.",
    },
    Setting {
        file: "rqsize_default",
        default: "384",
        meaning: "number of entries of the receive queue.",
    },
    Setting { file: "inline_default", default: "64", meaning: "size of inline data in bytes." },
    Setting {
        file: "iomap_size",
        default: "0",
        meaning: "number of areas that the peer may map with riomap.",
    },
    Setting {
        file: "polling_time",
        default: "10",
        meaning: "time, in microseconds, for which a call polls the completion queues before it sleeps.",
    },
    Setting {
        file: "pool_size",
        default: "64",
        meaning: "number of ended connections whose buffers and completion queues are kept for new \
                  connections, 64 by default, 4096 at most, 0 for none.",
    },
    Setting {
        file: "own_domains",
        default: "0",
        meaning: "if set to 1, each connection has a protection domain of its own, so that a peer that \
                  learns the key of another connection's memory cannot write to it.",
    },
    Setting {
        file: "preload_config",
        default: "all sockets",
        meaning: "selects the sockets that the preload library handles, in lines of program, domain, \
                  type and protocol, with an asterisk for any.",
    },
];
