// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the process keeps: pages, send buffers with their registrations, event queues.
//!
//! A part of a device keeps the device open and its protection domain alive, and goes when the device
//! is removed. The service thread gives back what was not used for a while. In a fork's child there is
//! nothing.

use super::store::{Kept, Limit, Store};
use crate::device::{self, Binding, Device};
use crate::rsocket::config;
use crate::rsocket::memory::pages::Pages;
use crate::rsocket::memory::region::Region;
use crate::rsocket::service;
use crate::rsocket::wait::event_queue::EventQueue;
use crate::verbs::{LOCAL, ProtectionDomain};
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::lock::Mutex;
use base::per_process::PerProcess;
use base::time::Instant;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

/// A part that is used in no period goes at its end.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of each kind for each part: buffers of unusual size are not kept in any number.
const BYTES_PER_PART: usize = 256 << 10;
/// About what an entry takes.
const COMPLETION_SIZE: usize = 64;

/// A part that is of use with its device alone. Dropped before its hold on the device.
type OfDevice<T> = (T, Binding);

#[derive(Default)]
struct Parts {
    pages: Mutex<Store<Pages>>,
    send_regions: Mutex<Store<OfDevice<Region>>>,
    event_queues: Mutex<Store<OfDevice<EventQueue>>>,
    /// The end of a period is awaited.
    is_timed: AtomicBool,
}

static PARTS: PerProcess<Parts> = PerProcess::new();

fn parts() -> Result<&'static Parts> {
    PARTS.get_or_try_init(|| {
        device::on_retire(retire);
        Ok(Parts::default())
    })
}

fn limit() -> Limit {
    let parts = config::get().pool_size as usize;
    Limit { parts, bytes: parts * BYTES_PER_PART }
}

fn address(device: &Arc<Device>) -> usize {
    Arc::as_ptr(device).addr()
}

/// Pages of zeros, of this length or a little more.
pub(crate) fn pages(length: usize) -> Result<Pages> {
    let size = Pages::size_of(length)?;
    let kept = PARTS.get().and_then(|parts| parts.pages.lock().take(0, size));
    kept.map_or_else(|| Pages::map(size), Ok)
}

/// A region of the device's shared domain that no peer has access to, of this length or a little more.
pub(crate) fn send_region(
    device: &Arc<Device>,
    domain: ProtectionDomain,
    length: usize,
) -> Result<Region> {
    let size = Pages::size_of(length)?;
    let taken = |parts: &Parts| parts.send_regions.lock().take(address(device), size);
    match PARTS.get().and_then(taken) {
        Some((region, _hold)) => Ok(region),
        None => Region::map(domain, size, LOCAL),
    }
}

/// A region as `send_region` gives, of a domain that is nobody else's.
pub(crate) fn region_in(domain: ProtectionDomain, length: usize) -> Result<Region> {
    Region::map(domain, Pages::size_of(length)?, LOCAL)
}

/// An event queue of the device, which may have an event for nobody.
pub(crate) fn event_queue(device: &Arc<Device>, entries: u32) -> Result<EventQueue> {
    let size = queue_size(entries);
    let taken = |parts: &Parts| parts.event_queues.lock().take(address(device), size);
    match PARTS.get().and_then(taken) {
        Some((queue, _hold)) => Ok(queue),
        None => EventQueue::create(device.context()?, entries),
    }
}

fn queue_size(entries: u32) -> usize {
    entries as usize * COMPLETION_SIZE
}

/// Keeps pages that no device has any more.
pub(crate) fn keep_pages(mut pages: Pages) {
    let limit = limit();
    if limit.parts == 0 {
        return;
    }
    let Ok(parts) = parts() else { return };
    pages.clear();
    let bytes = pages.length();
    let refused = parts.pages.lock().put(Kept { part: pages, device: 0, bytes }, limit);
    drop(refused);
    parts.await_period();
}

/// Keeps a region that nothing is posted from any more.
pub(crate) fn keep_send_region(region: Region, binding: Binding) {
    let bytes = region.length();
    keep(region, binding, bytes, |parts| &parts.send_regions);
}

/// Keeps an event queue whose queue pairs are destroyed.
pub(crate) fn keep_event_queue(mut queue: EventQueue, binding: Binding) {
    if queue.clear() {
        let bytes = queue_size(queue.entries());
        keep(queue, binding, bytes, |parts| &parts.event_queues);
    }
}

fn keep<T>(
    part: T,
    binding: Binding,
    bytes: usize,
    store: impl FnOnce(&Parts) -> &Mutex<Store<OfDevice<T>>>,
) {
    let limit = limit();
    if limit.parts == 0 {
        return;
    }
    let Ok(parts) = parts() else { return };
    let device = Arc::clone(binding.device());
    let kept = Kept { part: (part, binding), device: address(&device), bytes };
    let refused = {
        let mut store = store(parts).lock();
        // Under the lock: what comes after `retire` has looked must not stay.
        if device.is_retired() { Some(kept.part) } else { store.put(kept, limit) }
    };
    drop(refused);
    parts.await_period();
}

/// Makes something that needs descriptors or memory, the pool's where there are no others.
pub(crate) fn or_with_less<R>(make: impl Fn() -> Result<R>) -> Result<R> {
    match make() {
        Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM) if give_all_back() => make(),
        other => other,
    }
}

/// Whether there was anything.
fn give_all_back() -> bool {
    let Some(parts) = PARTS.get() else { return false };
    let queues = drop_all(|| parts.event_queues.lock().take_any());
    let regions = drop_all(|| parts.send_regions.lock().take_any());
    let pages = drop_all(|| parts.pages.lock().take_any());
    queues || regions || pages
}

/// The device is being removed.
fn retire(device: &Arc<Device>) {
    let Some(parts) = PARTS.get() else { return };
    let device = address(device);
    drop_all(|| parts.event_queues.lock().take_of(device));
    drop_all(|| parts.send_regions.lock().take_of(device));
}

/// Drops what `next` gives until it gives nothing, each without a lock: the kernel may sleep.
fn drop_all<T>(mut next: impl FnMut() -> Option<T>) -> bool {
    let mut found = false;
    while let Some(part) = next() {
        drop(part);
        found = true;
    }
    found
}

fn drop_surplus<T>(store: &Mutex<Store<T>>) {
    let mut surplus = store.lock().end_period();
    drop_all(|| {
        surplus = surplus.checked_sub(1)?;
        store.lock().take_oldest()
    });
}

fn end_period() {
    let Some(parts) = PARTS.get() else { return };
    drop_surplus(&parts.event_queues);
    drop_surplus(&parts.send_regions);
    drop_surplus(&parts.pages);
    parts.is_timed.store(false, Ordering::Release);
    let is_empty = parts.event_queues.lock().is_empty()
        && parts.send_regions.lock().is_empty()
        && parts.pages.lock().is_empty();
    if !is_empty {
        parts.await_period();
    }
}

impl Parts {
    fn await_period(&self) {
        if self.is_timed.swap(true, Ordering::AcqRel) {
            return;
        }
        let end = Instant::now() + PERIOD;
        let timed = service::get().and_then(|service| service.run_at(end, end_period));
        if timed.is_err() {
            self.is_timed.store(false, Ordering::Release);
            // Nobody would.
            give_all_back();
        }
    }
}
