// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info check`: a doctor. Each check is fine, a warning or a failure with its remedy.
//!
//! # Safety
//! Calls of librdmacm without pointers, and access(2) on C strings.
#![allow(unsafe_code)]

use crate::device::{self, Device, Port};
use crate::library::Libraries;
use crate::overview::{limit_of, text_of};
use crate::value::{self, Map, Value};
use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::Duration;

const NODE: &str = "/dev/infiniband/rdma_cm";
/// What an rsocket with its default buffers locks, and some more.
const LITTLE_MEMORY: u64 = 1 << 20;
const LITTLE_DESCRIPTORS: u64 = 1024;
const ROCE_V2: u32 = 2;
const IBACM_PORT: &str = "/run/ibacm.port";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grade {
    Fine,
    Warning,
    Failure,
}

struct Finding {
    name: &'static str,
    grade: Grade,
    found: String,
    remedy: String,
}

/// All findings, and whether none is a failure.
pub(crate) fn check(libraries: &Result<Libraries, String>) -> (Value, bool) {
    let mut findings = Vec::new();
    match libraries {
        Err(problem) => findings.push(fault(
            "libraries",
            problem.clone(),
            "install librdmacm1-rs (or librdmacm1) and libibverbs1, or set LD_LIBRARY_PATH",
        )),
        Ok(libraries) => {
            findings.push(if libraries.is_own() {
                fine("libraries", libraries.manager_file.clone())
            } else {
                warning(
                    "libraries",
                    format!("{} is the C library", libraries.manager_file),
                    "the variables RDMACM_ mean nothing to it: set LD_LIBRARY_PATH to the folder of this one, or install it",
                )
            });
            let devices = device::all(libraries);
            findings.push(listed(&devices));
            for device in devices.iter().flatten() {
                device_findings(device, &mut findings);
            }
            let mut ports = devices.iter().flatten().flat_map(|device| &device.ports).peekable();
            if ports.peek().is_some() && !ports.any(Port::is_active) {
                findings.push(fault("ports", "none is active", "see those above"));
            }
            findings.push(manager(libraries));
        }
    }
    limits(&mut findings);
    findings.push(firewall());
    if let Ok(libraries) = libraries {
        let devices = device::all(libraries).unwrap_or_default();
        if devices.iter().flat_map(|device| &device.ports).any(|port| !port.is_ethernet) {
            findings.push(ibacm());
        }
        findings.extend(stale_port_file());
    }
    let is_fine = findings.iter().all(|finding| finding.grade != Grade::Failure);
    (Value::List(findings.into_iter().map(Finding::value).collect()), is_fine)
}

fn fine(name: &'static str, found: impl Into<String>) -> Finding {
    Finding { name, grade: Grade::Fine, found: found.into(), remedy: String::new() }
}

fn warning(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { name, grade: Grade::Warning, found: found.into(), remedy: remedy.into() }
}

fn fault(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { name, grade: Grade::Failure, found: found.into(), remedy: remedy.into() }
}

impl Finding {
    fn value(self) -> Value {
        let word = match self.grade {
            Grade::Fine => "ok",
            Grade::Warning => "warning",
            Grade::Failure => "FAILED",
        };
        let mut more = Map::default().with("found", self.found);
        if !self.remedy.is_empty() {
            more = more.with("remedy", self.remedy);
        }
        value::Finding { name: self.name, state: word, more: more.entries() }.into()
    }
}

fn listed(devices: &io::Result<Vec<Device>>) -> Finding {
    let remedy = "load the driver of the adapter (mlx5_ib, irdma, …) and install ibverbs-providers; \
                  without an adapter: rdma link add rxe0 type rxe netdev eth0 (soft-RoCE). In a \
                  container pass /dev/infiniband";
    match devices {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => fault(
            "devices",
            "the kernel has no verbs: the module ib_uverbs is not loaded, as no driver wants it",
            remedy,
        ),
        Err(error) => fault("devices", format!("libibverbs has no list: {error}"), remedy),
        Ok(devices) if devices.is_empty() => {
            let in_kernel = std::fs::read_dir("/sys/class/infiniband").map_or(0, Iterator::count);
            let found = match in_kernel {
                0 => "the kernel has no RDMA device".to_owned(),
                count => format!("the kernel has {count}, libibverbs none: a provider is missing"),
            };
            fault("devices", found, remedy)
        }
        Ok(devices) => {
            let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
            fine("devices", names.join(", "))
        }
    }
}

fn device_findings(device: &Device, findings: &mut Vec<Finding>) {
    if let Some(problem) = &device.problem {
        // libibverbs leaves another errno.
        let denied =
            device.node().and_then(|node| Some(format!("{node}: {}", may_use(&node).err()?)));
        let problem = denied.unwrap_or_else(|| problem.to_string());
        findings.push(fault(
            "device",
            format!("{} cannot be opened: {problem}", device.name),
            "the user needs read and write access to /dev/infiniband/uverbs*: group rdma, udev rules",
        ));
        return;
    }
    for port in &device.ports {
        let name = format!("{} port {}", device.name, port.number);
        if !port.is_active() {
            findings.push(warning("port", format!("{name} is {}", port.state()), port.remedy()));
            continue;
        }
        let of_ip = port.gids.iter().filter(|gid| !port.is_ethernet || gid.kind == ROCE_V2);
        if of_ip.count() == 0 && !device.is_iwarp {
            findings.push(fault(
                "GIDs",
                format!("{name} has no {} GID", if port.is_ethernet { "RoCE v2" } else { "valid" }),
                format!(
                    "give its network interface an IP address: ip addr add ADDRESS/24 dev {}; RoCE v1 alone \
                     is not routed, and peers must have it, too",
                    port.interface()
                ),
            ));
        } else if port.is_ethernet && !device.is_iwarp && !port.has_address() {
            findings.push(warning(
                "GIDs",
                format!("{name} has link-local addresses only"),
                format!(
                    "give its network interface an IP address: ip addr add ADDRESS/24 dev {}",
                    port.interface()
                ),
            ));
        } else {
            findings.push(fine("port", format!("{name}, {}, active", device.transport())));
        }
        if port.is_ethernet && port.mtu < 1024 {
            findings.push(warning(
                "MTU",
                format!("{name} sends packets of {} bytes", port.mtu),
                "the interface's MTU decides: 1500 gives 1024, 4200 and more gives 4096, on all \
                 machines and switches of the path",
            ));
        }
    }
}

fn may_use(path: &str) -> io::Result<()> {
    let name = CString::new(path)?;
    // SAFETY: a C string.
    crate::library::check(unsafe { libc::access(name.as_ptr(), libc::R_OK | libc::W_OK) })
}

/// Whether librdmacm can open the kernel's connection manager.
fn manager(libraries: &Libraries) -> Finding {
    // SAFETY: no pointers; the channel is destroyed once.
    let made = unsafe {
        let channel = (libraries.manager.create_channel)();
        if channel.is_null() {
            Err(io::Error::last_os_error())
        } else {
            (libraries.manager.destroy_channel)(channel);
            Ok(())
        }
    };
    match made {
        Ok(()) => fine("connection manager", NODE),
        Err(error) => {
            let is_loaded = Path::new("/sys/class/misc/rdma_cm").exists();
            let remedy = match may_use(NODE) {
                _ if !is_loaded => "load the module: modprobe rdma_ucm",
                Err(access) if access.kind() == io::ErrorKind::NotFound => {
                    "the node is missing: udev, or pass /dev/infiniband/rdma_cm to the container"
                }
                Err(_) => {
                    "the user needs read and write access to the node: group rdma, udev rules"
                }
                Ok(()) => "there is no RDMA device in this network namespace: see devices",
            };
            fault("connection manager", format!("rdma_create_event_channel: {error}"), remedy)
        }
    }
}

fn limits(findings: &mut Vec<Finding>) {
    findings.push(match limit_of(libc::RLIMIT_MEMLOCK) {
        Some(limit) if limit < LITTLE_MEMORY => warning(
            "locked memory",
            format!("{} kB may be locked", limit / 1024),
            "ulimit -l unlimited; LimitMEMLOCK=infinity in a unit of systemd; --ulimit memlock=-1",
        ),
        Some(limit) => fine("locked memory", format!("{} kB", limit / 1024)),
        None => fine("locked memory", "unlimited"),
    });
    findings.push(match limit_of(libc::RLIMIT_NOFILE) {
        Some(limit) if limit < LITTLE_DESCRIPTORS => warning(
            "descriptors",
            format!("{limit}, each connection takes two"),
            "ulimit -n 65536; LimitNOFILE= in a unit of systemd",
        ),
        Some(limit) => fine("descriptors", limit.to_string()),
        None => fine("descriptors", "unlimited"),
    });
}

/// What can be seen of a firewall without root.
fn firewall() -> Finding {
    let modules = text_of("/proc/modules").unwrap_or_default();
    let filters: Vec<&str> = ["nf_tables", "ip_tables", "ip6_tables"]
        .into_iter()
        .filter(|module| modules.lines().any(|line| line.starts_with(&format!("{module} "))))
        .collect();
    if filters.is_empty() {
        return fine("firewall", "no packet filter is loaded");
    }
    warning(
        "firewall",
        format!("packet filters are loaded ({})", filters.join(", ")),
        "RoCE v2 needs UDP port 4791 in and out: nft list ruleset, iptables -L -n",
    )
}

/// Of a daemon that has gone: rdma_getaddrinfo asks whoever has its TCP port by now.
fn stale_port_file() -> Option<Finding> {
    let text = text_of(IBACM_PORT)?;
    let found = match text.parse::<u16>() {
        Err(_) => format!("{IBACM_PORT} has no number: {text}"),
        Ok(port) => {
            let address = (Ipv4Addr::LOCALHOST, port).into();
            let error = TcpStream::connect_timeout(&address, Duration::from_secs(1)).err()?;
            format!("{IBACM_PORT} says port {port}, and nobody is there: {error}")
        }
    };
    Some(warning(
        "ibacm",
        found,
        format!("remove {IBACM_PORT}, or start the daemon: systemctl start ibacm"),
    ))
}

fn ibacm() -> Finding {
    let found = ["/run/ibacm-unix.sock", "/run/ibacm.sock"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    match found {
        Some(path) => fine("ibacm", path),
        None => warning(
            "ibacm",
            "the daemon does not run: each route is asked of the subnet manager",
            "optional: systemctl enable --now ibacm",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_library_is_a_failure_with_a_remedy() {
        let (found, is_fine) = check(&Err("not there".to_owned()));
        let text = found.render(false);
        assert!(!is_fine && text.contains("libraries: FAILED") && text.contains("LD_LIBRARY_PATH"));
        assert!(text.contains("locked memory: "), "{text}");
    }
}
