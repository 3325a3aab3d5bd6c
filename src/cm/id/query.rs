// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Queries the kernel for addresses, device and paths of an id, into its public struct.
//!
//! # Safety
//! Writes the public struct's addresses, each from bytes that were checked to fit.
#![allow(unsafe_code)]

use super::cm_id::Id;
use crate::device::{self, Binding, Device, Identity};
use crate::types::{SocketAddress, sockaddr_ib};
use crate::uapi::{self, Answer, abi};
use crate::verbs::XrcDomain;
use alloc::boxed::Box;
use base::address::{StorageBytes, put};
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::fail;
use base::memory::try_collect;
use core::mem::MaybeUninit;
use libc::sockaddr_storage;
use rdma_sys::{ibv_gid, ibv_sa_path_rec};
use zerocopy::FromBytes;

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
        let mut room = MaybeUninit::uninit();
        let route = abi::RouteResponse::blank_in(&mut room);
        let command = abi::QueryRoute { response: 0, id: self.handle(), reserved: 0 };
        self.call_into(command, route)?;
        self.public(|id| {
            write_ip_address(&mut id.route.addr.src, &route.src_addr);
            write_ip_address(&mut id.route.addr.dst, &route.dst_addr);
        });
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
            self.set_paths(try_collect(
                route.ib_route[..count].iter().map(uapi::path_of_user_record),
            )?);
        }
        Ok(())
    }

    #[inline(never)]
    fn query_native_addresses(&self) -> Result<()> {
        let handle = self.handle();
        let addr =
            self.call(abi::QueryAddr { response: 0, id: handle, option: abi::QUERY_ADDR })?;
        self.public(|id| {
            write_address(&mut id.route.addr.src, prefix(&addr.src_addr, addr.src_size));
            write_address(&mut id.route.addr.dst, prefix(&addr.dst_addr, addr.dst_size));
        });
        self.bind_device(addr.node_guid, addr.ibdev_index, addr.port_num)?;
        if addr.port_num != 0 {
            self.public(|id| id.route.addr.ibaddr.pkey = addr.pkey);
        }
        let gid = self.call(abi::QueryGid { response: 0, id: handle, option: abi::QUERY_GID })?;
        self.set_gids(gid_of(&gid.src_addr), gid_of(&gid.dst_addr));
        Ok(())
    }

    /// The resolved paths, into `id->route.path_rec`.
    pub(crate) fn query_paths(&self) -> Result<()> {
        let mut answer = abi::PathResponse::blank();
        let command = abi::QueryPath { response: 0, id: self.handle(), option: abi::QUERY_PATH };
        self.call_into(command, &mut answer)?;
        let count = (answer.num_paths as usize).min(abi::MAX_PATHS);
        self.set_paths(try_collect(answer.path_data[..count].iter().map(uapi::path_of_path_data))?);
        Ok(())
    }

    /// Stores which device the kernel chose. Port zero means that it chose none (a wildcard or
    /// loop-back address), which is no error.
    fn bind_device(&self, guid: u64, index: u32, port: u8) -> Result<()> {
        if port == 0 && guid == 0 {
            return Ok(());
        }
        if port == 0 {
            return Err(fail!(
                ENODEV,
                *self,
                "the kernel has bound the id to device {guid:016x}, but to no port of it"
            ));
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

    /// EINVAL before the kernel has chosen one.
    pub(crate) fn device(&self) -> Result<Arc<Device>> {
        self.with(|state| {
            state.binding.as_ref().map(|binding| Arc::clone(binding.device())).ok_or(Errno::EINVAL)
        })
    }

    /// The XRC domain of the id's device.
    pub(crate) fn xrc_domain(&self) -> Result<XrcDomain> {
        self.device()?.xrc_domain()
    }

    /// The device is being removed: it stays open for its users only.
    #[inline(never)]
    pub(crate) fn retire_device(&self) {
        if let Ok(device) = self.device() {
            device::retire(&device);
        }
    }

    /// Whether the port's own link layer is InfiniBand.
    pub(crate) fn is_on_infiniband(&self) -> bool {
        let port = self.port_num();
        self.with(|state| state.is_on_infiniband(port))
    }

    /// Source and destination as the public struct has them.
    pub(crate) fn addresses(&self) -> (Option<SocketAddress>, Option<SocketAddress>) {
        self.public(|id| (read_address(&id.route.addr.src), read_address(&id.route.addr.dst)))
    }

    pub(crate) fn set_destination(&self, address: &SocketAddress) {
        self.public(|id| *storage_of(&mut id.route.addr.dst) = *address.storage_bytes());
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
                if paths.is_empty() { core::ptr::null_mut() } else { paths.as_mut_ptr() };
        });
        let before = self.with(|state| core::mem::replace(&mut state.paths, paths));
        drop(before);
    }
}

/// One of the two address unions as bytes.
fn storage_of<Union>(union: &mut Union) -> &mut StorageBytes {
    const { assert!(size_of::<Union>() == size_of::<sockaddr_storage>()) };
    // SAFETY: both unions are plain bytes, as many as a sockaddr_storage.
    unsafe { &mut *core::ptr::from_mut(union).cast() }
}

/// Overwrites one of the two address unions; bytes that are no address change nothing.
fn write_address<Union>(union: &mut Union, bytes: &[u8]) {
    let Some(address) = SocketAddress::in_bytes(bytes) else { return };
    let storage = storage_of(union);
    *storage = [0; size_of::<StorageBytes>()];
    put(storage, address);
}

/// As `write_address`, from an answer that has room for an IP address, with zeros behind one.
fn write_ip_address<Union, const ROOM: usize>(union: &mut Union, bytes: &[u8; ROOM]) {
    if SocketAddress::in_bytes(bytes).is_none() {
        return;
    }
    let storage = storage_of(union);
    *storage = [0; size_of::<StorageBytes>()];
    if let Some(start) = storage.first_chunk_mut() {
        *start = *bytes;
    }
}

/// Reads one of the two address unions; `None` while it is empty.
fn read_address<Union>(union: &Union) -> Option<SocketAddress> {
    const { assert!(size_of::<Union>() == size_of::<sockaddr_storage>()) };
    // SAFETY: both unions are plain bytes, as many as a sockaddr_storage.
    let bytes = unsafe { core::ptr::from_ref(union).cast::<StorageBytes>().read() };
    SocketAddress::from_bytes(&bytes)
}

fn prefix(storage: &abi::Storage, size: u16) -> &[u8] {
    &storage.bytes[..usize::from(size).min(storage.bytes.len())]
}

/// The GID inside a `struct sockaddr_ib`.
fn gid_of(storage: &abi::Storage) -> [u8; 16] {
    sockaddr_ib::ref_from_prefix(&storage.bytes).map_or([0; 16], |(ib, _)| ib.sib_addr.sib_raw)
}
