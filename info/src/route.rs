// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info route ADDRESS`: which device, port and GID would carry a connection, and why not.
//!
//! # Safety
//! Calls of librdmacm on a live id.
#![allow(unsafe_code)]

use crate::address::{RawAddress, interfaces, ip_of, resolve, source_to};
use crate::device::{self, Device};
use crate::library::{Libraries, check};
use crate::overview::OwnId;
use crate::value::{Map, Value};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ptr::null;

const TIMEOUT_MS: i32 = 2000;

/// The report, and whether there is a route.
pub(crate) fn route(libraries: &Libraries, text: &str, port: u16) -> (Value, bool) {
    let map = Map::default().with("to", text);
    let destination = match resolve(text, port) {
        Ok(destination) => destination,
        Err(problem) => {
            return (map.with("carried by", "nothing").with("why", problem).into(), false);
        }
    };
    let map =
        map.with("address", destination.ip().to_string()).with("IP route", ip_route(destination));
    match find(libraries, destination) {
        Ok((found, device, port)) => {
            let map = map.with("carried by", found);
            if let Some(why) = port_problem(libraries, &device, port) {
                return (map.with("why not", why).into(), false);
            }
            let note = "the preload library leaves loop-back to the kernel: take another address of this machine";
            let map = if destination.ip().is_loopback() { map.with("note", note) } else { map };
            (map.into(), true)
        }
        Err((step, error)) => {
            let why = explain(libraries, destination, &error);
            let failed = format!("{step}: {error}");
            (
                map.with("carried by", "nothing").with("failed", failed).with("why", why).into(),
                false,
            )
        }
    }
}

fn find(
    libraries: &Libraries,
    destination: SocketAddr,
) -> Result<(Value, String, u8), (&'static str, io::Error)> {
    let own = OwnId::new(libraries).map_err(|error| ("rdma_create_id", error))?;
    let raw = RawAddress::of(destination);
    // SAFETY: a live id and address.
    check(unsafe { (libraries.manager.resolve_address)(own.id, null(), raw.as_ptr(), TIMEOUT_MS) })
        .map_err(|error| ("rdma_resolve_addr", error))?;
    // SAFETY: a live id.
    check(unsafe { (libraries.manager.resolve_route)(own.id, TIMEOUT_MS) })
        .map_err(|error| ("rdma_resolve_route", error))?;
    let (device, port) = own.device().unwrap_or_default();
    // SAFETY: a live id, whose fields the calls have filled.
    let (source, gid) = unsafe { (ip_of(&(*own.id).source), (*own.id).source_gid) };
    let map = Map::default()
        .with("device", device.as_str())
        .with("port", u32::from(port))
        .with("source", source.map_or("unknown".to_owned(), |source| source.to_string()))
        .with("GID", Ipv6Addr::from(gid).to_string());
    Ok((map.into(), device, port))
}

/// Where the port of a device cannot carry anything.
fn port_problem(libraries: &Libraries, name: &str, number: u8) -> Option<String> {
    let devices = device::all(libraries).ok()?;
    let device = devices.iter().find(|device| device.name == name)?;
    let port = device.ports.iter().find(|port| port.number == number && !port.is_active())?;
    Some(format!("{name} port {number} is {}: {}", port.state(), port.remedy()))
}

/// The same for the port to an address, if there is a route.
pub(crate) fn own_problem(libraries: &Libraries, destination: SocketAddr) -> Option<String> {
    let (_, device, port) = find(libraries, destination).ok()?;
    port_problem(libraries, &device, port)
}

/// The name of the interface that has an address.
fn interface_of(address: IpAddr) -> String {
    let found = interfaces().into_iter().find(|(_, own)| *own == address);
    found.map_or("an unknown interface".to_owned(), |(name, _)| name)
}

/// Interface and source address of the kernel's routing.
fn ip_route(destination: SocketAddr) -> String {
    match source_to(destination) {
        Ok(source) => {
            format!("from {source} over {}", interface_of(source))
        }
        Err(error) => format!("none: {error}"),
    }
}

pub(crate) fn explain(libraries: &Libraries, destination: SocketAddr, error: &io::Error) -> String {
    let devices = match device::all(libraries) {
        Ok(devices) if !devices.is_empty() => devices,
        _ => return "no RDMA device: see `rdmacm-info check`".to_owned(),
    };
    match error.raw_os_error() {
        Some(libc::ETIMEDOUT) => {
            "the neighbour does not answer: the machine is down, or the address is of another network"
                .to_owned()
        }
        Some(libc::ENETUNREACH | libc::EHOSTUNREACH) => {
            "the kernel has no IP route to the address: `ip route get`".to_owned()
        }
        _ => match source_to(destination) {
            Err(error) => format!("the kernel has no IP route to the address ({error})"),
            Ok(source) => why_not(&devices, destination, source),
        },
    }
}

/// A route leads over an interface that no device is on, or whose GID is missing.
fn why_not(devices: &[Device], destination: SocketAddr, source: IpAddr) -> String {
    if destination.ip().is_loopback() {
        return "loop-back addresses are on no device: take an address of an interface with one"
            .into();
    }
    let name = interface_of(source);
    let on_interface = devices
        .iter()
        .flat_map(|device| &device.ports)
        .any(|port| port.gids.iter().any(|gid| gid.interface.as_deref() == Some(name.as_str())));
    if on_interface {
        return format!(
            "{name} has an RDMA device, but {source} is not among its GIDs: take the \
                        address away and add it again, or wait for duplicate address detection"
        );
    }
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    format!(
        "the route leaves over {name}, and no RDMA device is on it (devices: {}): `rdma link` lists \
         interfaces with devices; soft-RoCE: rdma link add rxe_{name} type rxe netdev {name}",
        names.join(", ")
    )
}
