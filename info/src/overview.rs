// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info` without a command: libraries, kernel, devices, addresses, limits.
//!
//! # Safety
//! Calls of librdmacm on objects that live, and getrlimit on a live struct.
#![allow(unsafe_code)]

use crate::address::{RawAddress, interfaces};
use crate::device::{self, Device};
use crate::library::{Id, Libraries, check};
use crate::value::{Map, Table, Value};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::ptr::null_mut;

pub(crate) const PORT_SPACE_TCP: u32 = 0x0106;

/// An id of its own, destroyed at the end.
pub(crate) struct OwnId<'a> {
    pub(crate) id: *mut Id,
    libraries: &'a Libraries,
}

impl<'a> OwnId<'a> {
    /// A synchronous one.
    pub(crate) fn new(libraries: &'a Libraries) -> io::Result<OwnId<'a>> {
        let mut id = null_mut();
        // SAFETY: a place for the id.
        check(unsafe {
            (libraries.manager.create_id)(null_mut(), &raw mut id, null_mut(), PORT_SPACE_TCP)
        })?;
        Ok(OwnId { id, libraries })
    }

    pub(crate) fn of(id: *mut Id, libraries: &'a Libraries) -> OwnId<'a> {
        OwnId { id, libraries }
    }

    pub(crate) fn bind(&self, address: SocketAddr) -> io::Result<()> {
        let raw = RawAddress::of(address);
        // SAFETY: a live id and address.
        check(unsafe { (self.libraries.manager.bind)(self.id, raw.as_ptr()) })
    }

    /// Device and port that it is bound to.
    pub(crate) fn device(&self) -> Option<(String, u8)> {
        // SAFETY: a live id; its context is NULL or open.
        unsafe {
            let context = (*self.id).verbs;
            if context.is_null() {
                return None;
            }
            let name = (self.libraries.verbs.name)((*context).device);
            let name = std::ffi::CStr::from_ptr(name).to_string_lossy().into_owned();
            Some((name, (*self.id).port))
        }
    }
}

impl Drop for OwnId<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, with its queue pair.
        unsafe { (self.libraries.manager.destroy_ep)(self.id) };
    }
}

/// What a short file says.
pub(crate) fn text_of(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

pub(crate) fn kernel_release() -> String {
    text_of("/proc/sys/kernel/osrelease").unwrap_or_default()
}

/// The soft limit of a resource; None without one.
pub(crate) fn limit_of(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live struct.
    let asked = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
    (asked && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn shown_limit(resource: libc::__rlimit_resource_t) -> Value {
    limit_of(resource).map_or("unlimited".into(), |limit| (limit as i64).into())
}

/// A number, if the file has one.
fn number_of(path: &str) -> Option<i64> {
    text_of(path)?.parse().ok()
}

/// The addresses that an id can be bound to: of the interfaces, and those that only a device has.
pub(crate) fn bindable(libraries: &Libraries, devices: &[Device]) -> Vec<(IpAddr, String, u8)> {
    let own = interfaces().into_iter().map(|(_, address)| address);
    // A link-local address means something with its interface alone.
    let is_whole = |address: &IpAddr| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    };
    let all = own.chain(devices.iter().flat_map(Device::addresses)).filter(is_whole);
    let all: BTreeSet<IpAddr> = all.collect();
    let mut found = Vec::new();
    for address in all {
        let Ok(id) = OwnId::new(libraries) else { break };
        if id.bind(SocketAddr::new(address, 0)).is_ok() {
            if let Some((device, port)) = id.device() {
                found.push((address, device, port));
            }
        }
    }
    found
}

fn kernel() -> Value {
    let abi = number_of("/sys/class/misc/rdma_cm/abi_version");
    let netns =
        text_of("/sys/module/ib_core/parameters/netns_mode").map(|mode| match mode.as_str() {
            "N" => "exclusive: a device is in one network namespace".to_owned(),
            _ => "shared: devices are in all network namespaces".to_owned(),
        });
    let backlog = number_of("/proc/sys/net/rdma_ucm/max_backlog");
    Map::default()
        .with("release", kernel_release())
        .with("rdma_cm ABI", abi.map_or("not loaded".into(), Value::from))
        .with("network namespaces", netns.unwrap_or("unknown".to_owned()))
        .with("largest backlog", backlog.map_or("unknown".into(), Value::from))
        .into()
}

/// The whole overview.
pub(crate) fn overview(libraries: &Result<Libraries, String>) -> Value {
    let program = Map::default().with("rdmacm-info", env!("CARGO_PKG_VERSION"));
    let limits = Map::default()
        .with("locked memory (bytes)", shown_limit(libc::RLIMIT_MEMLOCK))
        .with("descriptors", shown_limit(libc::RLIMIT_NOFILE));
    let libraries = match libraries {
        Ok(libraries) => libraries,
        Err(problem) => {
            return program
                .with("libraries", problem.as_str())
                .with("kernel", kernel())
                .with("limits", limits)
                .into();
        }
    };
    let kind = if libraries.is_own() { "this library" } else { "the C library" };
    let files = Map::default()
        .with("librdmacm", format!("{} ({kind})", libraries.manager_file))
        .with("libibverbs", libraries.verbs_file.as_str());
    let map = program.with("libraries", files).with("kernel", kernel()).with("limits", limits);
    match device::all(libraries) {
        Err(error) => map.with("devices", format!("none: {error}")).into(),
        Ok(devices) => {
            let row = |(address, device, port): (IpAddr, String, u8)| {
                vec![address.to_string().into(), device.into(), u32::from(port).into()]
            };
            let rows: Vec<Vec<Value>> =
                bindable(libraries, &devices).into_iter().map(row).collect();
            let shown = rows.len();
            let addresses = Table { columns: vec!["address", "device", "port"], rows, shown };
            let devices: Vec<Value> = devices.iter().map(Device::value).collect();
            map.with("devices", devices).with("addresses that can be bound", addresses).into()
        }
    }
}

/// `rdmacm-info -c`.
pub(crate) fn configuration() -> Value {
    let variables: Vec<Value> = base::settings::VARIABLES
        .iter()
        .map(|variable| {
            let name = variable.name.to_string_lossy();
            let present = std::env::var(&*name).unwrap_or("not set".to_owned());
            Map::default()
                .with("variable", &*name)
                .with("default", variable.default)
                .with("now", present)
                .with("meaning", variable.meaning)
                .into()
        })
        .collect();
    let files: Vec<Value> = base::settings::FILES
        .iter()
        .map(|setting| {
            let path = format!("{}/{}", base::settings::FOLDER, setting.file);
            let present = match std::fs::read_to_string(&path) {
                Ok(text) => text.trim().to_owned(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => "no file".to_owned(),
                Err(error) => error.to_string(),
            };
            Map::default()
                .with("file", path)
                .with("default", setting.default)
                .with("now", present)
                .with("meaning", setting.meaning)
                .into()
        })
        .collect();
    Map::default().with("environment", variables).with("files", files).into()
}
