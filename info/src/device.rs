// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! RDMA devices, as libibverbs has them.
//!
//! # Safety
//! Objects of libibverbs are used between their creation and their end.
#![allow(unsafe_code)]

use crate::address::{interface_name, ip_of_gid};
use crate::library::{Libraries, check};
use crate::overview::text_of;
use crate::value::{Map, Table, Value};
use rdma_sys::{ibv_context, ibv_device_attr, ibv_gid_entry, ibv_port_attr, ibv_port_state};
use std::ffi::CStr;
use std::fs::DirEntry;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv6Addr};

const LINK_LAYERS: [&str; 3] = ["InfiniBand", "InfiniBand", "Ethernet"];
const GID_TYPES: [&str; 3] = ["InfiniBand", "RoCE v1", "RoCE v2"];
const ETHERNET: u8 = 2;

/// An entry of a port's table.
pub(crate) struct Gid {
    pub(crate) index: u32,
    pub(crate) raw: [u8; 16],
    pub(crate) kind: u32,
    pub(crate) interface: Option<String>,
}

impl Gid {
    pub(crate) fn kind(&self) -> &'static str {
        GID_TYPES.get(self.kind as usize).copied().unwrap_or("unknown")
    }
}

pub(crate) struct Port {
    pub(crate) number: u8,
    pub(crate) state: u32,
    pub(crate) is_ethernet: bool,
    pub(crate) mtu: u32,
    pub(crate) max_mtu: u32,
    pub(crate) gids: Vec<Gid>,
}

impl Port {
    pub(crate) fn is_active(&self) -> bool {
        self.state == ibv_port_state::IBV_PORT_ACTIVE
    }

    pub(crate) fn state(&self) -> &'static str {
        match self.state {
            ibv_port_state::IBV_PORT_DOWN => "down",
            ibv_port_state::IBV_PORT_INIT => "initialising (no subnet manager)",
            ibv_port_state::IBV_PORT_ARMED => "armed",
            ibv_port_state::IBV_PORT_ACTIVE => "active",
            _ => "unknown",
        }
    }

    /// Of the port's addresses, if it has any.
    pub(crate) fn interface(&self) -> &str {
        self.gids.iter().find_map(|gid| gid.interface.as_deref()).unwrap_or("INTERFACE")
    }

    /// Where it is not active.
    pub(crate) fn remedy(&self) -> String {
        match self.is_ethernet {
            true => format!("ip link set dev {} up, and look at the cable", self.interface()),
            false => "look at the cable, and start a subnet manager (opensm)".to_owned(),
        }
    }

    /// One that means something beyond the link.
    pub(crate) fn has_address(&self) -> bool {
        self.gids.iter().any(|gid| match ip_of_gid(gid.raw) {
            IpAddr::V4(_) => true,
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        })
    }

    pub(crate) fn link_layer(&self) -> &'static str {
        LINK_LAYERS[if self.is_ethernet { usize::from(ETHERNET) } else { 1 }]
    }
}

pub(crate) struct Device {
    pub(crate) name: String,
    /// Why it cannot be opened.
    pub(crate) problem: Option<io::Error>,
    /// Its connections are made by TCP: GIDs do not matter.
    pub(crate) is_iwarp: bool,
    pub(crate) firmware: String,
    pub(crate) limits: Vec<(&'static str, i64)>,
    pub(crate) ports: Vec<Port>,
}

/// All devices; the error of the list itself.
pub(crate) fn all(libraries: &Libraries) -> io::Result<Vec<Device>> {
    let verbs = libraries.verbs;
    let mut count = 0;
    let mut devices = Vec::new();
    // SAFETY: a live counter; the entries are used before the list is freed.
    unsafe {
        let list = (verbs.list)(&raw mut count);
        if list.is_null() {
            return Err(io::Error::last_os_error());
        }
        for index in 0..usize::try_from(count).unwrap_or(0) {
            let entry = *list.add(index);
            let name = CStr::from_ptr((verbs.name)(entry)).to_string_lossy().into_owned();
            let context = (verbs.open)(entry);
            devices.push(if context.is_null() {
                let problem = Some(io::Error::last_os_error());
                Device {
                    name,
                    problem,
                    is_iwarp: false,
                    firmware: String::new(),
                    limits: Vec::new(),
                    ports: Vec::new(),
                }
            } else {
                let device = describe(libraries, name, context);
                (verbs.close)(context);
                device
            });
        }
        (verbs.free_list)(list);
    }
    Ok(devices)
}

/// # Safety
/// An open context.
unsafe fn describe(libraries: &Libraries, name: String, context: *mut ibv_context) -> Device {
    // SAFETY: integers and bytes, valid when zero.
    let mut attr: ibv_device_attr = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: an open context and a live struct.
    let problem = check(unsafe { (libraries.verbs.query_device)(context, &raw mut attr) }).err();
    // SAFETY: a C string inside the struct, which was zero before.
    let firmware = unsafe { CStr::from_ptr(attr.fw_ver.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: by contract; its device lives as long.
    let transport = unsafe { (*(*context).device).transport_type };
    let is_iwarp = transport == rdma_sys::ibv_transport_type::IBV_TRANSPORT_IWARP;
    let ports = (1..=attr.phys_port_cnt)
        // SAFETY: by contract.
        .filter_map(|port| unsafe { port_of(libraries, context, port, is_iwarp) })
        .collect();
    let limits = vec![
        ("queue pairs", attr.max_qp.into()),
        ("work requests of a queue", attr.max_qp_wr.into()),
        ("entries of a work request", attr.max_sge.into()),
        ("completion queues", attr.max_cq.into()),
        ("entries of a completion queue", attr.max_cqe.into()),
        ("memory regions", attr.max_mr.into()),
        ("reads of a queue pair", attr.max_qp_rd_atom.into()),
    ];
    Device { name, problem, is_iwarp, firmware, limits, ports }
}

/// # Safety
/// An open context.
unsafe fn port_of(
    libraries: &Libraries,
    context: *mut ibv_context,
    number: u8,
    is_iwarp: bool,
) -> Option<Port> {
    // SAFETY: integers, valid when zero.
    let mut attr: ibv_port_attr = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: by contract; a live struct.
    check(unsafe { (libraries.verbs.query_port)(context, number, &raw mut attr) }).ok()?;
    let mut gids = Vec::new();
    for index in 0..u32::try_from(attr.gid_tbl_len).unwrap_or(0) {
        let mut entry = MaybeUninit::<ibv_gid_entry>::zeroed();
        let size = size_of::<ibv_gid_entry>();
        // SAFETY: by contract; a live entry of the size told, of integers and bytes.
        let entry = unsafe {
            let port = u32::from(number);
            if (libraries.verbs.query_gid)(context, port, index, entry.as_mut_ptr(), 0, size) != 0 {
                continue;
            }
            entry.assume_init()
        };
        // SAFETY: every bit pattern is a GID.
        let raw = unsafe { entry.gid.raw };
        if raw != [0; 16] {
            let interface = interface_name(entry.ndev_ifindex)
                .or_else(|| is_iwarp.then(|| interface_with(&hardware_address(&raw))).flatten());
            gids.push(Gid { index, raw, kind: entry.gid_type, interface });
        }
    }
    let bytes = |mtu: u32| 128_u32.checked_shl(mtu).filter(|_| (1..=5).contains(&mtu)).unwrap_or(0);
    Some(Port {
        number,
        state: attr.state,
        is_ethernet: attr.link_layer == ETHERNET,
        mtu: bytes(attr.active_mtu),
        max_mtu: bytes(attr.max_mtu),
        gids,
    })
}

impl Device {
    pub(crate) fn value(&self) -> Value {
        let map = Map::default().with("name", self.name.as_str());
        if let Some(problem) = &self.problem {
            return map.with("cannot be opened", problem.to_string()).into();
        }
        let limits =
            self.limits.iter().fold(Map::default(), |map, (key, value)| map.with(key, *value));
        let ports: Vec<Value> = self.ports.iter().map(|port| port.value(self.is_iwarp)).collect();
        map.with("transport", self.transport())
            .with("firmware", self.firmware.as_str())
            .with("ports", ports)
            .with("limits", limits)
            .into()
    }

    /// What libibverbs opens for it.
    pub(crate) fn node(&self) -> Option<String> {
        let name = entry_with("/sys/class/infiniband_verbs", "ibdev", &self.name)?;
        Some(format!("/dev/infiniband/{name}"))
    }

    pub(crate) fn transport(&self) -> &'static str {
        match (self.is_iwarp, self.ports.iter().any(|port| !port.is_ethernet)) {
            (true, _) => "iWARP",
            (false, true) => "InfiniBand",
            (false, false) => "RoCE",
        }
    }

    /// IP addresses that its GIDs stand for.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let ethernet = self.ports.iter().filter(|port| port.is_ethernet && !self.is_iwarp);
        ethernet.flat_map(|port| port.gids.iter().map(|gid| ip_of_gid(gid.raw)))
    }
}

impl Port {
    /// With iWARP the only GID is the hardware address of the port.
    fn value(&self, is_iwarp: bool) -> Value {
        let map = Map::default()
            .with("port", u32::from(self.number))
            .with("state", self.state())
            .with("link layer", self.link_layer())
            .with("MTU", self.mtu)
            .with("largest MTU", self.max_mtu);
        if is_iwarp {
            let gid = self.gids.first();
            let interface = gid.and_then(|gid| gid.interface.as_deref()).unwrap_or("unknown");
            let address = gid.map_or("unknown".to_owned(), |gid| hardware_address(&gid.raw));
            return map.with("interface", interface).with("hardware address", address).into();
        }
        let row = |gid: &Gid| {
            let address = match self.is_ethernet {
                true => ip_of_gid(gid.raw),
                false => IpAddr::V6(Ipv6Addr::from(gid.raw)),
            };
            let interface = gid.interface.as_deref().unwrap_or("-");
            vec![gid.index.into(), address.to_string().into(), gid.kind().into(), interface.into()]
        };
        let columns = vec!["index", "address", "type", "interface"];
        let rows = self.gids.iter().map(row).collect();
        map.with("GIDs", Table { columns, rows, shown: usize::MAX }).into()
    }
}

/// Of Ethernet, at the beginning of a GID of iWARP.
fn hardware_address(gid: &[u8; 16]) -> String {
    let bytes: Vec<String> = gid.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    bytes.join(":")
}

/// The interface that has a hardware address: drivers of iWARP do not name it.
fn interface_with(address: &str) -> Option<String> {
    entry_with("/sys/class/net", "address", address)
}

/// The entry of a folder of sysfs whose file has this text.
fn entry_with(folder: &str, file: &str, text: &str) -> Option<String> {
    let has = |entry: &DirEntry| text_of(entry.path().join(file)).as_deref() == Some(text);
    std::fs::read_dir(folder).ok()?.flatten().find(has)?.file_name().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gid_of_iwarp_is_a_hardware_address() {
        let mut gid = [0; 16];
        gid[..6].copy_from_slice(&[0x6A, 0x94, 5, 0xD3, 0x1E, 0xAC]);
        assert_eq!(hardware_address(&gid), "6a:94:05:d3:1e:ac");
        assert_eq!(interface_with("00:00:00:00:00:00").as_deref(), Some("lo"));
    }
}
