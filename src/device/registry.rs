//! All devices of this process. The lock covers only the list of pointers; reading the list from the
//! system and opening a device happen outside it.
//!
//! # Safety
//! The registry of a process is leaked on purpose: after fork the child starts with a new one and must
//! not close, or wait for a lock of, what its parent has.
#![allow(unsafe_code)]

use super::list::{DeviceList, Identity};
use super::shared::Device;
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::fork;
use crate::lock::RwLock;
use crate::memory::{try_box, try_vec};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Registry {
    generation: u32,
    devices: RwLock<Vec<Counted<Device>>>,
}

static REGISTRY: AtomicPtr<Registry> = AtomicPtr::new(ptr::null_mut());

fn registry() -> Result<&'static Registry> {
    let generation = fork::generation();
    let mut current = REGISTRY.load(Ordering::Acquire);
    loop {
        // SAFETY: published registries are never freed.
        if let Some(found) = unsafe { current.as_ref() } {
            if found.generation == generation {
                return Ok(found);
            }
        }
        let fresh =
            Box::into_raw(try_box(Registry { generation, devices: RwLock::new(Vec::new()) })?);
        match REGISTRY.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => current = fresh,
            Err(other) => {
                // SAFETY: lost the race, so `fresh` is known to nobody else.
                drop(unsafe { Box::from_raw(fresh) });
                current = other;
            }
        }
    }
}

/// Reads the list of the system and takes over what is new, drops what is gone.
fn refresh(registry: &Registry) -> Result<Vec<Counted<Device>>> {
    let list = Counted::try_new(DeviceList::read()?)?;
    let mut devices = registry.devices.write();
    let mut current = try_vec(list.entries().len())?;
    let mut snapshot = try_vec(list.entries().len())?;
    for &entry in list.entries() {
        // An entry is the same device exactly when it is the same pointer: libibverbs keeps its
        // device structs for as long as one list or context refers to them, and we hold one.
        let known = devices.iter().find(|device| device.is(entry)).cloned();
        current.push(known.map_or_else(|| Counted::try_new(Device::new(&list, entry)), Ok)?);
    }
    snapshot.extend_from_slice(&current);
    let gone = std::mem::replace(&mut *devices, current);
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
    if refresh(registry)?.is_empty() { Err(Errno::ENODEV) } else { Ok(()) }
}

/// The device that the kernel means, open.
pub(crate) fn find(identity: &Identity) -> Result<Counted<Device>> {
    let registry = registry()?;
    let matching = |devices: &[Counted<Device>]| {
        devices.iter().find(|device| device.identity().matches(identity)).cloned()
    };
    let known = matching(&registry.devices.read());
    let device = match known {
        Some(device) => device,
        None => matching(&refresh(registry)?).ok_or(Errno::ENODEV)?,
    };
    device.context()?;
    Ok(device)
}

/// Lets go of a device whose removal was announced. A kernel without a way to take devices from their
/// users waits with the removal until the last has closed it.
pub(crate) fn retire(device: &Counted<Device>) {
    let Ok(registry) = registry() else { return };
    let mut devices = registry.devices.write();
    let place = devices.iter().position(|known| Counted::is_same(known, device));
    let gone = place.map(|place| devices.swap_remove(place));
    drop(devices);
    drop(gone);
}

/// The ports of all devices that are connected to an InfiniBand fabric.
pub(crate) fn infiniband_ports() -> Result<Vec<(Counted<Device>, u8)>> {
    let mut found = Vec::new();
    for device in openable()? {
        for port in device.active_infiniband_ports() {
            found.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            found.push((Counted::clone(&device), port));
        }
    }
    Ok(found)
}

/// All devices that can be opened now, in the order of the system.
pub(super) fn openable() -> Result<Vec<Counted<Device>>> {
    let mut devices = refresh(registry()?)?;
    devices.retain(|device| device.context().is_ok());
    if devices.is_empty() { Err(Errno::ENODEV) } else { Ok(devices) }
}
