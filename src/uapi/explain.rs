// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the kernel means by an error of a command, for the log: the cause where the errno has one,
//! and the remedy.

use base::errno::Errno;

const ADDRESS: &str = "no RDMA device of this network namespace has the address (`rdmacm-info` \
                       lists those that can be bound), or an id at another address has the port";
const PORT_TAKEN: &str = "another id is bound to the port: choose another one, or set \
                          RDMA_OPTION_ID_REUSEADDR on both";
const LOW_PORT: &str = "the port is below net.ipv4.ip_unprivileged_port_start, and the process has \
                        no CAP_NET_BIND_SERVICE";
const NO_NODE_ACCESS: &str = "the id belongs to another process";

/// Why the kernel refuses a command with this error; None where the errno says it all.
pub(crate) fn explain(command: &str, error: Errno) -> Option<&'static str> {
    let own = match (command, error) {
        ("CREATE_ID", Errno::EINVAL) => {
            "the kernel does not know the port space or the queue pair type"
        }
        ("BIND", Errno::EINVAL) => {
            "the id is bound already, or the address is of no family that it knows"
        }
        ("BIND" | "LISTEN" | "RESOLVE_ADDR", Errno::EADDRINUSE) => PORT_TAKEN,
        ("BIND" | "RESOLVE_ADDR", Errno::EADDRNOTAVAIL | Errno::ENODEV) => ADDRESS,
        ("BIND" | "LISTEN" | "RESOLVE_ADDR", Errno::EACCES) => LOW_PORT,
        ("RESOLVE_ADDR", Errno::EINVAL) => {
            "the id has resolved an address before, or source and destination are of two families"
        }
        ("RESOLVE_ADDR", Errno::ENETUNREACH | Errno::EHOSTUNREACH) => {
            "the machine has no route to the address: `ip route get`"
        }
        ("RESOLVE_ROUTE", Errno::EINVAL) => {
            "the address is not resolved: wait for RDMA_CM_EVENT_ADDR_RESOLVED first"
        }
        ("LISTEN", Errno::EINVAL) => "the id listens already, or has resolved an address",
        ("LISTEN", Errno::ENODEV) => "no RDMA device is there",
        ("CONNECT", Errno::EINVAL) => {
            "the route is not resolved (wait for RDMA_CM_EVENT_ROUTE_RESOLVED), or the id has \
             connected before"
        }
        ("ACCEPT", Errno::EINVAL) => {
            "the id is no connection request, was answered before, or its peer has gone"
        }
        ("REJECT", Errno::EINVAL) => "the id is no connection request, or was answered before",
        ("DISCONNECT", Errno::EINVAL) => "the id is not connected",
        ("NOTIFY", Errno::EINVAL) => {
            "the id has no connection, or the event is not IBV_EVENT_COMM_EST"
        }
        ("NOTIFY", Errno::EISCONN) => "the connection is established already",
        ("INIT_QP_ATTR", Errno::EINVAL) => {
            "the kernel has no attributes for this state of the queue pair: the id is not connected \
             so far"
        }
        ("SET_OPTION", Errno::EINVAL) => {
            "the value or its length is wrong, or it is too late for the option in the id's state"
        }
        ("SET_OPTION", Errno::ENOSYS) => "the kernel does not know the option",
        ("JOIN_MCAST", Errno::EINVAL) => {
            "the id is not bound to a device (rdma_bind_addr, rdma_resolve_addr), or the address is \
             no multicast address"
        }
        ("JOIN_MCAST", Errno::EADDRINUSE) => "the id has joined the group already",
        ("MIGRATE_ID", Errno::EINVAL | Errno::ENOENT) => {
            "the kernel does not know the id on its old channel: it was destroyed or moved"
        }
        ("RESOLVE_IB_SERVICE" | "WRITE_CM_EVENT", Errno::EINVAL | Errno::ENOSYS) => {
            "the kernel is older than 6.18, or the id is not bound to an InfiniBand port"
        }
        ("QUERY_ROUTE" | "QUERY_ADDR" | "QUERY_PATH" | "QUERY_GID", Errno::ENODEV) => {
            "the id is not bound to a device any more"
        }
        ("GET_EVENT", Errno::EIO) => "the device was removed while its event was fetched",
        _ => "",
    };
    if !own.is_empty() {
        return Some(own);
    }
    match error {
        Errno::ENOENT => Some("the kernel does not know the id: it was destroyed already"),
        Errno::ENXIO => Some("another thread destroys the id"),
        Errno::EIO => Some("the device of the id was removed"),
        Errno::EACCES | Errno::EPERM => Some(NO_NODE_ACCESS),
        Errno::EBADF => Some("the event channel is closed"),
        Errno::ENOMEM => Some("the kernel has no memory for it"),
        Errno::EFAULT => Some("an address of the caller is not readable or writable"),
        Errno::ENODATA => Some("the kernel did not take the whole command"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_decides_before_the_errno() {
        assert_eq!(explain("BIND", Errno::EACCES), Some(LOW_PORT));
        assert_eq!(explain("CONNECT", Errno::EACCES), Some(NO_NODE_ACCESS));
        assert!(explain("DISCONNECT", Errno::EINVAL).is_some());
        assert_eq!(explain("DISCONNECT", Errno::EPIPE), None);
    }
}
