// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Names of event types.

use crate::types::rdma_cm_event_type;
use core::ffi::CStr;

/// By number, as in `<rdma/rdma_cma.h>`.
const NAMES: [&CStr; 20] = [
    c"RDMA_CM_EVENT_ADDR_RESOLVED",
    c"RDMA_CM_EVENT_ADDR_ERROR",
    c"RDMA_CM_EVENT_ROUTE_RESOLVED",
    c"RDMA_CM_EVENT_ROUTE_ERROR",
    c"RDMA_CM_EVENT_CONNECT_REQUEST",
    c"RDMA_CM_EVENT_CONNECT_RESPONSE",
    c"RDMA_CM_EVENT_CONNECT_ERROR",
    c"RDMA_CM_EVENT_UNREACHABLE",
    c"RDMA_CM_EVENT_REJECTED",
    c"RDMA_CM_EVENT_ESTABLISHED",
    c"RDMA_CM_EVENT_DISCONNECTED",
    c"RDMA_CM_EVENT_DEVICE_REMOVAL",
    c"RDMA_CM_EVENT_MULTICAST_JOIN",
    c"RDMA_CM_EVENT_MULTICAST_ERROR",
    c"RDMA_CM_EVENT_ADDR_CHANGE",
    c"RDMA_CM_EVENT_TIMEWAIT_EXIT",
    c"RDMA_CM_EVENT_ADDRINFO_RESOLVED",
    c"RDMA_CM_EVENT_ADDRINFO_ERROR",
    c"RDMA_CM_EVENT_USER",
    c"RDMA_CM_EVENT_INTERNAL",
];

/// The name of an event type; a fixed text for numbers of newer kernels.
pub(crate) fn event_name(event: rdma_cm_event_type) -> &'static CStr {
    NAMES.get(event as usize).copied().unwrap_or(c"UNKNOWN EVENT")
}

#[cfg(test)]
mod tests {
    use super::event_name;
    use crate::types::*;

    #[test]
    fn names_stand_at_their_numbers() {
        for (event, name) in [
            (RDMA_CM_EVENT_ADDR_RESOLVED, c"RDMA_CM_EVENT_ADDR_RESOLVED"),
            (RDMA_CM_EVENT_ESTABLISHED, c"RDMA_CM_EVENT_ESTABLISHED"),
            (RDMA_CM_EVENT_TIMEWAIT_EXIT, c"RDMA_CM_EVENT_TIMEWAIT_EXIT"),
            (RDMA_CM_EVENT_INTERNAL, c"RDMA_CM_EVENT_INTERNAL"),
            (20, c"UNKNOWN EVENT"),
            (u32::MAX, c"UNKNOWN EVENT"),
        ] {
            assert_eq!(event_name(event), name);
        }
    }
}
