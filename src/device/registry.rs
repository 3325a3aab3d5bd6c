// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! All devices of this process. The lock covers only the list of pointers; reading the list from the
//! system and opening a device happen outside it.
//!
//! A fork's child starts with a list of its own: it must not close what its parent has.

use super::list::{DeviceList, Identity};
use super::shared::Device;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::lock::RwLock;
use base::memory::try_vec;
use base::once::OnceLock;
use base::per_process::PerProcess;
use base::{fail, unusable};

#[derive(Default)]
struct Registry {
    devices: RwLock<Vec<Arc<Device>>>,
}

static REGISTRY: PerProcess<Registry> = PerProcess::new();

#[inline]
fn registry() -> Result<&'static Registry> {
    REGISTRY.get_or_try_init(|| Ok(Registry::default()))
}

/// Reads the list of the system, adds new devices and drops removed ones.
fn refresh(registry: &Registry) -> Result<Vec<Arc<Device>>> {
    let list = Arc::try_new(DeviceList::read()?)?;
    let mut devices = registry.devices.write();
    let mut current = try_vec(list.entries().len())?;
    let mut snapshot = try_vec(list.entries().len())?;
    for &entry in list.entries() {
        // An entry is the same device exactly when it is the same pointer: libibverbs keeps its
        // device structs for as long as one list or context refers to them, and we hold one.
        let known = devices.iter().find(|device| device.is(entry)).cloned();
        current.push(known.map_or_else(|| Arc::try_new(Device::new(&list, entry)), Ok)?);
    }
    snapshot.extend_from_slice(&current);
    let gone = core::mem::replace(&mut *devices, current);
    drop(devices);
    // Closing a device may sleep: after the lock.
    drop(gone);
    Ok(snapshot)
}

/// ENODEV where the machine has no RDMA device at all.
pub(crate) fn require_any() -> Result<()> {
    let registry = registry()?;
    if !registry.devices.read().is_empty() {
        return Ok(());
    }
    if refresh(registry)?.is_empty() { Err(no_device()) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn no_device() -> Errno {
    unusable!(
        ENODEV,
        "no RDMA device that can be opened: `rdma link` and `rdmacm-info check` say what is missing (a \
         driver; soft-RoCE: rdma link add rxe0 type rxe netdev eth0)"
    )
}

/// The device that the kernel means.
pub(crate) fn find(identity: &Identity) -> Result<Arc<Device>> {
    let registry = registry()?;
    let matching = |devices: &[Arc<Device>]| {
        devices.iter().find(|device| device.identity().matches(identity)).cloned()
    };
    let known = matching(&registry.devices.read());
    match known {
        Some(device) => Ok(device),
        None => matching(&refresh(registry)?).ok_or_else(|| {
            fail!(
                ENODEV,
                "libibverbs does not list the device that the kernel has chosen (guid {:016x}): its \
                 provider is missing (ibverbs-providers)",
                u64::from_be(identity.guid)
            )
        }),
    }
}

type Observer = fn(&Arc<Device>);

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Calls the observer when the removal of a device is announced, so that it lets go of what it has of it.
pub(crate) fn on_retire(observer: Observer) {
    OBSERVER.get_or_init(|| observer);
}

/// Drops a device whose removal was announced. A kernel that cannot revoke an open device waits
/// with the removal until its last user has closed it.
pub(crate) fn retire(device: &Arc<Device>) {
    let Ok(registry) = registry() else { return };
    let mut devices = registry.devices.write();
    let index = devices.iter().position(|known| Arc::ptr_eq(known, device));
    let gone = index.map(|index| devices.swap_remove(index));
    drop(devices);
    drop(gone);
    device.retire();
    if let Some(observer) = OBSERVER.get() {
        observer(device);
    }
}

/// The ports of all devices that are connected to an InfiniBand fabric.
pub(crate) fn infiniband_ports() -> Result<Vec<(Arc<Device>, u8)>> {
    let mut found = Vec::new();
    for device in openable()? {
        for port in device.active_infiniband_ports() {
            found.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            found.push((Arc::clone(&device), port));
        }
    }
    Ok(found)
}

/// All devices that can be opened now, in the order of the system.
pub(super) fn openable() -> Result<Vec<Arc<Device>>> {
    let mut devices = refresh(registry()?)?;
    devices.retain(|device| device.context().is_ok());
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}
