// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What to do where a call of `ping` or `serve` fails.

use crate::library::Libraries;
use crate::route;
use crate::value::{Map, Value};
use std::io;
use std::net::SocketAddr;

/// What does not work where the MTU differs.
pub(crate) const LARGE_PART: &str = "64 KiB there and back";

/// A call with its error.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) error: io::Error,
}

/// For `map_err`: names the call.
pub(crate) fn at(call: &'static str) -> impl Fn(io::Error) -> Failure {
    move |error| Failure { call, error }
}

impl Failure {
    /// Of `ping`.
    pub(crate) fn value(&self, libraries: &Libraries, address: SocketAddr) -> Value {
        let Failure { call, error } = self;
        let map = Map::default().with("failed", format!("{call}: {error}"));
        map.with("remedy", self.remedy(libraries, address)).into()
    }

    fn remedy(&self, libraries: &Libraries, address: SocketAddr) -> String {
        let (ip, port) = (address.ip(), address.port());
        if self.call == LARGE_PART {
            return format!(
                "64 bytes pass, and large messages do not: compare the MTU that `rdmacm-info` shows here and \
                 on {ip}, and `ping -M do -s SIZE {ip}` with the switches between: all must carry the same"
            );
        }
        match self.error.raw_os_error() {
            Some(libc::ECONNREFUSED) => format!(
                "the machine answers, but nobody listens on port {port} of {ip}: run `rdmacm-info serve` \
                 there, with the same -p; it takes the port and the next one"
            ),
            Some(libc::ETIMEDOUT) => route::own_problem(libraries, address).unwrap_or_else(|| format!(
                "{ip} does not answer: `ping {ip}`, then `rdmacm-info check` there; a firewall may drop UDP \
                 port 4791 (RoCE) or the TCP port (iWARP), and the MTU must fit on the whole path"
            )),
            Some(libc::ENOMEM | libc::EAGAIN) => {
                "no memory that may be locked, or no resources of the device: `rdmacm-info check`, \
                 `rdma resource`"
                    .to_owned()
            }
            Some(libc::ENODEV | libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EADDRNOTAVAIL) => {
                route::explain(libraries, address, &self.error)
            }
            Some(libc::EACCES | libc::EPERM) => {
                "the user needs read and write access to /dev/infiniband/rdma_cm and uverbs*: group rdma, \
                 udev rules"
                    .to_owned()
            }
            None if !libraries.is_own() => {
                "ids are measured with this library only: see `rdmacm-info check`".to_owned()
            }
            Some(libc::ECONNRESET | libc::EPIPE) | None => {
                "the connection was made and then lost: look at what `rdmacm-info serve` says there, and \
                 at the counters of the port (`rdma statistic`)"
                    .to_owned()
            }
            _ => "RDMACM_LOG=warn has the reason".to_owned(),
        }
    }

    /// Of `serve`.
    pub(crate) fn at_start(&self, address: SocketAddr) -> String {
        let remedy = match self.error.raw_os_error() {
            // For a wildcard address the kernel says EADDRNOTAVAIL, too.
            Some(code)
                if code == libc::EADDRINUSE
                    || (code == libc::EADDRNOTAVAIL && address.ip().is_unspecified()) =>
            {
                "another program has the port, a second `rdmacm-info serve`? `rdma resource show cm_id` \
                 names it; -p takes another port"
            }
            Some(libc::EADDRNOTAVAIL) => {
                "no RDMA device has the address (`rdmacm-info` lists those that can be bound), or \
                 another program has the port at another address"
            }
            _ => "`rdmacm-info check` says what is missing, RDMACM_LOG=warn the reason",
        };
        let Failure { call, error } = self;
        format!("{address}: {call}: {error}: {remedy}")
    }
}
