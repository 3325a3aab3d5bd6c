//! Reads back what the kernel knows of an id into its public struct.
//!
//! # Safety
//! Writes the public struct's addresses, each from bytes that were checked to fit.
#![allow(unsafe_code)]

use super::Id;
use crate::counted::Counted;
use crate::device::{self, Binding, Device, Identity};
use crate::error::{Errno, Result};
use crate::memory::try_collect;
use crate::types::SocketAddress;
use crate::uapi::{self, Answer, abi};
use crate::verbs::XrcDomain;
use libc::sockaddr_storage;
use rdma_sys::{ibv_gid, ibv_sa_path_rec};
use std::mem::MaybeUninit;

/// "Exactly" in the selector fields of path records.
const EXACTLY: u8 = 2;
/// What QUERY_PATH says of every path (`IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL`) and
/// QUERY_ROUTE leaves out; applications find it in `preference`.
const PATH_FLAGS: u8 = 0x2B;

impl Id {
    /// Addresses, GIDs and device; one command for IP addresses, two for native ones.
    pub(crate) fn query_addresses(&self) -> Result<()> {
        if self.with(|state| state.uses_ib_addresses) {
            self.query_native_addresses()
        } else {
            self.query_route(false)
        }
    }

    /// As `query_addresses`, and the paths that a connection request came with.
    pub(crate) fn query_request(&self) -> Result<()> {
        if self.with(|state| state.uses_ib_addresses) {
            self.query_native_addresses()?;
            self.query_paths()
        } else {
            self.query_route(true)
        }
    }

    fn query_route(&self, with_paths: bool) -> Result<()> {
        let fd = self.fd()?;
        let mut route = abi::RouteResponse::blank();
        let command = abi::QueryRoute { response: 0, id: self.handle(), reserved: 0 };
        uapi::call_into(fd, command, &mut route)?;
        self.set_source(&route.src_addr);
        self.set_destination(&route.dst_addr);
        self.bind_device(route.node_guid, route.ibdev_index, route.port_num)?;
        let first = &route.ib_route[0];
        self.set_gids(first.sgid, first.dgid);
        if route.port_num != 0 {
            // On Ethernet there is no partition key.
            let pkey = if self.is_on_infiniband() { first.pkey } else { 0 };
            self.public(|id| id.route.addr.ibaddr.pkey = pkey);
        }
        if with_paths && route.num_paths > 0 {
            let count = (route.num_paths as usize).min(route.ib_route.len());
            self.set_paths(try_collect(route.ib_route[..count].iter().map(from_user_record))?);
        }
        Ok(())
    }

    fn query_native_addresses(&self) -> Result<()> {
        let fd = self.fd()?;
        let handle = self.handle();
        let addr =
            uapi::call(fd, abi::QueryAddr { response: 0, id: handle, option: abi::QUERY_ADDR })?;
        self.set_source(prefix(&addr.src_addr, addr.src_size));
        self.set_destination(prefix(&addr.dst_addr, addr.dst_size));
        self.bind_device(addr.node_guid, addr.ibdev_index, addr.port_num)?;
        if addr.port_num != 0 {
            self.public(|id| id.route.addr.ibaddr.pkey = addr.pkey);
        }
        let gid =
            uapi::call(fd, abi::QueryGid { response: 0, id: handle, option: abi::QUERY_GID })?;
        self.set_gids(gid_of(&gid.src_addr), gid_of(&gid.dst_addr));
        Ok(())
    }

    /// The resolved paths, into `id->route.path_rec`.
    pub(crate) fn query_paths(&self) -> Result<()> {
        let mut answer = abi::PathResponse::blank();
        let command = abi::QueryPath { response: 0, id: self.handle(), option: abi::QUERY_PATH };
        uapi::call_into(self.fd()?, command, &mut answer)?;
        let count = (answer.num_paths as usize).min(abi::MAX_PATHS);
        self.set_paths(try_collect(answer.path_data[..count].iter().map(from_path_data))?);
        Ok(())
    }

    /// Remembers which device the kernel chose. Port zero means that it chose none (a wildcard or
    /// loop-back address), which is no error.
    fn bind_device(&self, guid: u64, index: u32, port: u8) -> Result<()> {
        if port == 0 && guid == 0 {
            return Ok(());
        }
        if port == 0 {
            return Err(Errno::ENODEV);
        }
        if self.with(|state| state.binding.is_some()) {
            return Ok(());
        }
        let identity = Identity { guid, index: (index != abi::NO_DEVICE_INDEX).then_some(index) };
        let binding = Binding::new(device::find(&identity)?)?;
        self.public(|id| {
            id.verbs = binding.context();
            id.pd = binding.domain().as_ptr();
            id.port_num = port;
        });
        self.with(|state| state.binding = Some(binding));
        Ok(())
    }

    fn device(&self) -> Result<Counted<Device>> {
        self.with(|state| {
            state
                .binding
                .as_ref()
                .map(|binding| Counted::clone(binding.device()))
                .ok_or(Errno::EINVAL)
        })
    }

    /// The XRC domain of the id's device.
    pub(crate) fn xrc_domain(&self) -> Result<XrcDomain> {
        self.device()?.xrc_domain()
    }

    /// The device goes: it is kept open for its users only.
    pub(crate) fn retire_device(&self) {
        if let Ok(device) = self.device() {
            device::retire(&device);
        }
    }

    /// Whether the port's own link layer is InfiniBand.
    pub(crate) fn is_on_infiniband(&self) -> bool {
        let port = self.port_num();
        self.with(|state| {
            state.binding.as_ref().is_some_and(|bound| bound.device().is_infiniband(port))
        })
    }

    /// Source and destination as the public struct has them.
    pub(crate) fn addresses(&self) -> (Option<SocketAddress>, Option<SocketAddress>) {
        self.public(|id| (read_address(&id.route.addr.src), read_address(&id.route.addr.dst)))
    }

    fn set_source(&self, bytes: &[u8]) {
        self.public(|id| write_address(&mut id.route.addr.src, bytes));
    }

    pub(super) fn set_destination(&self, bytes: &[u8]) {
        self.public(|id| write_address(&mut id.route.addr.dst, bytes));
    }

    fn set_gids(&self, source: [u8; 16], destination: [u8; 16]) {
        self.public(|id| {
            id.route.addr.ibaddr.sgid = ibv_gid { raw: source };
            id.route.addr.ibaddr.dgid = ibv_gid { raw: destination };
        });
    }

    fn set_paths(&self, mut paths: Box<[ibv_sa_path_rec]>) {
        self.public(|id| {
            id.route.num_paths = paths.len() as libc::c_int;
            id.route.path_rec =
                if paths.is_empty() { std::ptr::null_mut() } else { paths.as_mut_ptr() };
        });
        let before = self.with(|state| std::mem::replace(&mut state.paths, paths));
        drop(before);
    }
}

/// Overwrites one of the two address unions; bytes that are no address change nothing.
fn write_address<Union>(union: &mut Union, bytes: &[u8]) {
    const { assert!(size_of::<Union>() == size_of::<sockaddr_storage>()) };
    let Some(address) = SocketAddress::in_bytes(bytes) else { return };
    let place: *mut u8 = std::ptr::from_mut(union).cast();
    // SAFETY: both unions are as large as a sockaddr_storage, which holds the address of any family.
    unsafe {
        place.write_bytes(0, size_of::<Union>());
        place.copy_from_nonoverlapping(address.as_ptr(), address.len());
    }
}

/// Reads one of the two address unions; `None` while it is empty.
fn read_address<Union>(union: &Union) -> Option<SocketAddress> {
    const { assert!(size_of::<Union>() == size_of::<sockaddr_storage>()) };
    // SAFETY: both unions are plain bytes, as many as a sockaddr_storage.
    let bytes: [u8; size_of::<sockaddr_storage>()] =
        unsafe { std::ptr::from_ref(union).cast::<[u8; _]>().read() };
    SocketAddress::from_bytes(&bytes)
}

fn prefix(storage: &abi::Storage, size: u16) -> &[u8] {
    &storage.bytes[..usize::from(size).min(storage.bytes.len())]
}

/// The GID inside a `struct sockaddr_ib`.
fn gid_of(storage: &abi::Storage) -> [u8; 16] {
    let mut gid = [0; 16];
    gid.copy_from_slice(&storage.bytes[8..24]);
    gid
}

fn zeroed_record() -> ibv_sa_path_rec {
    // SAFETY: integers and GIDs: valid when zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// As `from_path_data` would give it, from QUERY_ROUTE's form of the same path.
fn from_user_record(record: &abi::UserPathRecord) -> ibv_sa_path_rec {
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: record.dgid },
        sgid: ibv_gid { raw: record.sgid },
        dlid: record.dlid,
        slid: record.slid,
        raw_traffic: 0,
        flow_label: record.flow_label,
        hop_limit: record.hop_limit,
        traffic_class: record.traffic_class,
        reversible: record.reversible as i32,
        numb_path: 1,
        pkey: record.pkey,
        sl: record.sl,
        mtu_selector: EXACTLY,
        mtu: record.mtu as u8,
        rate_selector: EXACTLY,
        rate: record.rate,
        packet_life_time_selector: EXACTLY,
        packet_life_time: record.packet_life_time,
        preference: PATH_FLAGS,
    }
}

#[cfg(any(test, fuzzing))]
/// See `crate::fuzz`.
pub fn fuzz_path_record(bytes: &[u8]) {
    use zerocopy::FromBytes;
    let Ok((data, _)) = abi::PathData::read_from_prefix(bytes) else { return };
    let record = from_path_data(&data);
    assert!(u32::from_be(record.flow_label) < 1 << 24 && record.mtu < 32 && record.rate < 32);
}

/// From the packed record of the subnet administrator (`struct ibv_path_record`, big endian).
fn from_path_data(data: &abi::PathData) -> ibv_sa_path_rec {
    let path = &data.path;
    let be16 = |at: usize| u16::from_ne_bytes([path[at], path[at + 1]]);
    let mut record = zeroed_record();
    let mut gid = [0; 16];
    gid.copy_from_slice(&path[8..24]);
    record.dgid = ibv_gid { raw: gid };
    gid.copy_from_slice(&path[24..40]);
    record.sgid = ibv_gid { raw: gid };
    record.dlid = be16(40);
    record.slid = be16(42);
    // Eight bits of hop limit below twenty of flow label.
    let flow_and_hops = u32::from_be_bytes([path[44], path[45], path[46], path[47]]);
    record.flow_label = (flow_and_hops >> 8).to_be();
    record.hop_limit = flow_and_hops as u8;
    record.traffic_class = path[48];
    record.reversible = i32::from(path[49] >> 7);
    record.numb_path = 1;
    record.pkey = be16(50);
    record.sl = path[53] & 0x0F;
    record.mtu_selector = EXACTLY;
    record.mtu = path[54] & 0x1F;
    record.rate_selector = EXACTLY;
    record.rate = path[55] & 0x1F;
    record.packet_life_time_selector = EXACTLY;
    record.packet_life_time = path[56] & 0x1F;
    record.preference = data.flags as u8;
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_path_is_taken_apart() {
        let mut data = abi::PathData { flags: 0x2B, reserved: 0, path: [0; 64] };
        data.path[8] = 0xFE;
        data.path[24] = 0xFD;
        data.path[40..44].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
        data.path[44..48].copy_from_slice(&[0x00, 0xAB, 0xCD, 0x40]);
        data.path[48] = 7;
        data.path[49] = 0x81;
        data.path[50..52].copy_from_slice(&[0xFF, 0xFF]);
        data.path[52..54].copy_from_slice(&[0x00, 0xF5]);
        data.path[54..57].copy_from_slice(&[0x84, 0x83, 0x92]);
        let record = from_path_data(&data);
        // SAFETY: every bit pattern is a GID.
        let (dgid, sgid) = unsafe { (record.dgid.raw, record.sgid.raw) };
        assert_eq!((dgid[0], sgid[0]), (0xFE, 0xFD));
        assert_eq!((record.dlid, record.slid), (0x1234_u16.to_be(), 0x5678_u16.to_be()));
        assert_eq!((record.flow_label, record.hop_limit), (0x00_ABCD_u32.to_be(), 0x40));
        assert_eq!((record.reversible, record.numb_path, record.sl), (1, 1, 5));
        assert_eq!((record.mtu, record.rate, record.packet_life_time), (4, 3, 18));
        assert_eq!((record.mtu_selector, record.rate_selector), (2, 2));
        assert_eq!((record.pkey, record.preference), (0xFFFF, 0x2B));
    }
}
