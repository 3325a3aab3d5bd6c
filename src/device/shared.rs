// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One device: opened at first use, closed when it is removed and has no users; the domains that
//! its ids share.
//!
//! # Safety
//! `entry` stays valid while `list` is held; contexts and domains are freed only by their owner.
#![allow(unsafe_code)]

use super::list::{DeviceList, Identity, name_of};
use crate::verbs::{Context, ProtectionDomain, XrcDomain};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::lock::RwLock;
use base::memory::try_vec;
use base::once::OnceLock;
use base::owner::Owner;
use base::unusable;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use rdma_sys::{ibv_device, ibv_port_state};

const LINK_LAYER_INFINIBAND: u8 = 1;
const LINK_LAYER_UNSPECIFIED: u8 = 0;

/// An open device and its limits.
struct Opened {
    context: Context,
    /// A child of fork does not free what its parent uses.
    owner: Owner,
    /// By port number less one.
    infiniband_ports: Vec<bool>,
    max_responder_resources: u8,
    max_initiator_depth: u8,
    max_work_requests: u32,
    max_completions: u32,
}

/// A device of the registry.
pub(crate) struct Device {
    entry: *mut ibv_device,
    identity: Identity,
    opened: OnceLock<Opened>,
    /// Its removal was announced.
    is_retired: AtomicBool,
    /// Users of the shared domain. It is made and freed under the write lock, and joined under the
    /// read lock.
    users: AtomicUsize,
    shared: RwLock<Shared>,
    list: Arc<DeviceList>,
}

/// What the ids on a device share.
#[derive(Default)]
struct Shared {
    domain: Option<ProtectionDomain>,
    xrc_domain: Option<XrcDomain>,
}

// SAFETY: the entry belongs to the held list, which libibverbs lets any thread read.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    pub(super) fn new(list: &Arc<DeviceList>, entry: *mut ibv_device) -> Device {
        Device {
            entry,
            // SAFETY: an entry of the list that is held below.
            identity: unsafe { Identity::of(entry) },
            opened: OnceLock::new(),
            is_retired: AtomicBool::new(false),
            users: AtomicUsize::new(0),
            shared: RwLock::default(),
            list: Arc::clone(list),
        }
    }

    pub(super) fn is(&self, entry: *mut ibv_device) -> bool {
        self.entry == entry
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    fn name(&self) -> Cow<'_, str> {
        let _held = &self.list;
        // SAFETY: an entry of the held list.
        unsafe { name_of(self.entry) }
    }

    /// Opens the device; a failure is not remembered, the next call tries again.
    fn opened(&self) -> Result<&Opened> {
        self.opened.get_or_try_init(|| {
            // SAFETY: an entry of the held list.
            let context = unsafe { Context::open(self.entry) }.inspect_err(|error| {
                unusable!(
                    (*error),
                    "cannot open device {}: its provider (ibverbs-providers) and access to \
                     /dev/infiniband/uverbsN are needed",
                    self.name()
                );
            })?;
            describe(context).inspect_err(|_| {
                // SAFETY: opened above, known to nobody else.
                unsafe { context.close() };
            })
        })
    }

    pub(crate) fn context(&self) -> Result<Context> {
        Ok(self.opened()?.context)
    }

    /// Responder resources and initiator depth that it can do.
    pub(crate) fn depth_limits(&self) -> (u8, u8) {
        let limits = |opened: &Opened| (opened.max_responder_resources, opened.max_initiator_depth);
        self.opened.get().map_or((0, 0), limits)
    }

    /// Entries of a send or receive queue.
    pub(crate) fn max_work_requests(&self) -> u32 {
        self.opened.get().map_or(0, |opened| opened.max_work_requests)
    }

    /// Entries of a completion queue.
    pub(crate) fn max_completions(&self) -> u32 {
        self.opened.get().map_or(0, |opened| opened.max_completions)
    }

    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    /// Its removal was announced: nothing of it is kept.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    /// Whether a port speaks InfiniBand itself rather than Ethernet; false for ports out of range.
    pub(crate) fn is_infiniband(&self, port: u8) -> bool {
        let ports = self.opened.get().map_or(&[][..], |opened| &opened.infiniband_ports);
        usize::from(port)
            .checked_sub(1)
            .and_then(|index| ports.get(index))
            .is_some_and(|infiniband| *infiniband)
    }

    pub(super) fn active_infiniband_ports(&self) -> impl Iterator<Item = u8> {
        let ports = self.opened.get().map_or(0, |opened| opened.infiniband_ports.len());
        (1..=u8::try_from(ports).unwrap_or(u8::MAX)).filter(|port| {
            self.is_infiniband(*port)
                && self
                    .context()
                    .and_then(|context| context.query_port(*port))
                    .is_ok_and(|attr| attr.state == ibv_port_state::IBV_PORT_ACTIVE)
        })
    }

    /// The GIDs of a port that are set.
    pub(crate) fn gids(&self, port: u8) -> Result<Vec<[u8; 16]>> {
        let context = self.context()?;
        let length = context.query_port(port)?.gid_tbl_len;
        let mut gids = Vec::new();
        for index in 0..length {
            let gid = context.query_gid(port, index)?;
            if gid != [0; 16] {
                gids.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
                gids.push(gid);
            }
        }
        Ok(gids)
    }

    /// Opens the device, and adds a user of the shared protection domain; the first one makes it.
    fn join_domain(&self) -> Result<ProtectionDomain> {
        let context = self.context()?;
        {
            let shared = self.shared.read();
            if let Some(domain) = shared.domain {
                self.users.fetch_add(1, Ordering::AcqRel);
                return Ok(domain);
            }
        }
        // Made without the lock; a thread that lost the race frees its own.
        let fresh = context.alloc_pd()?;
        let mut shared = self.shared.write();
        self.users.fetch_add(1, Ordering::AcqRel);
        match shared.domain {
            None => {
                shared.domain = Some(fresh);
                Ok(fresh)
            }
            Some(domain) => {
                drop(shared);
                // SAFETY: made above, known to nobody else.
                let _ = unsafe { fresh.dealloc() };
                Ok(domain)
            }
        }
    }

    /// The XRC domain, made for the first id that needs it.
    pub(crate) fn xrc_domain(&self) -> Result<XrcDomain> {
        if let Some(domain) = self.shared.read().xrc_domain {
            return Ok(domain);
        }
        let fresh = XrcDomain::open(self.context()?)?;
        let mut shared = self.shared.write();
        match shared.xrc_domain {
            None => {
                shared.xrc_domain = Some(fresh);
                Ok(fresh)
            }
            Some(domain) => {
                drop(shared);
                // SAFETY: made above, known to nobody else.
                let _ = unsafe { fresh.close() };
                Ok(domain)
            }
        }
    }

    fn leave_domain(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let left = {
            let mut shared = self.shared.write();
            // A user that joined before the lock was taken leaves last.
            if self.users.load(Ordering::Acquire) > 0 {
                return;
            }
            core::mem::take(&mut *shared)
        };
        if !self.opened.get().is_some_and(|opened| opened.owner.is_ours()) {
            return;
        }
        let kept = left.release();
        let mut shared = self.shared.write();
        shared.xrc_domain = shared.xrc_domain.or(kept.xrc_domain);
        shared.domain = shared.domain.or(kept.domain);
    }
}

impl Shared {
    /// Frees both. A domain in which the application still has objects stays for the next user.
    fn release(mut self) -> Shared {
        // SAFETY: on success no object is left in it. The XRC domain goes first.
        self.xrc_domain = self.xrc_domain.filter(|domain| unsafe { domain.close() }.is_err());
        // SAFETY: as above.
        self.domain = self.domain.filter(|domain| unsafe { domain.dealloc() }.is_err());
        self
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Some(context) = self.opened.get().map(|opened| opened.context) {
            core::mem::take(self.shared.get_mut()).release();
            // SAFETY: no id uses the device; only devices that left the registry are dropped.
            unsafe { context.close() };
        }
    }
}

fn describe(context: Context) -> Result<Opened> {
    let device = context.query_device()?;
    let mut ports = try_vec(usize::from(device.phys_port_cnt))?;
    for port in 1..=device.phys_port_cnt {
        let attr = context.query_port(port)?;
        // Old providers leave the link layer open; they only know InfiniBand.
        ports.push(matches!(attr.link_layer, LINK_LAYER_INFINIBAND | LINK_LAYER_UNSPECIFIED));
    }
    let limit = |value: libc::c_int| value.clamp(0, 255) as u8;
    Ok(Opened {
        owner: Owner::current(),
        context,
        infiniband_ports: ports,
        max_responder_resources: limit(device.max_qp_rd_atom),
        max_initiator_depth: limit(device.max_qp_init_rd_atom),
        max_work_requests: u32::try_from(device.max_qp_wr).unwrap_or(0),
        max_completions: u32::try_from(device.max_cqe).unwrap_or(0),
    })
}

/// An id's use of a device: keeps it open and the shared domain alive.
pub(crate) struct Binding {
    device: Arc<Device>,
    domain: ProtectionDomain,
}

impl Binding {
    pub(crate) fn new(device: Arc<Device>) -> Result<Binding> {
        let domain = device.join_domain()?;
        Ok(Binding { device, domain })
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(crate) fn domain(&self) -> ProtectionDomain {
        self.domain
    }

    pub(crate) fn context(&self) -> *mut rdma_sys::ibv_context {
        self.domain.context()
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        self.device.leave_domain();
    }
}
