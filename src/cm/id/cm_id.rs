// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The object behind `struct rdma_cm_id *`, its accessors, and the table of all ids.
//!
//! # Safety
//! C programs read and write the public part at any time and without locks, as the C API has it, so
//! it is only touched through raw pointers here. An `Id` lives until `destroy` frees it, which
//! waits for everything that holds it.
#![allow(unsafe_code)]

use super::pin::{PinnedQueuePair, Pins};
use super::state::IdState;
use crate::cm::acknowledge::Acknowledgements;
use crate::cm::channel::Channel;
use crate::cm::id_table::{Hold, Key, Table};
use crate::lane::Lane;
use crate::types::{SocketAddress, port_of, rdma_cm_id};
use crate::verbs::{Context, ProtectionDomain, QueuePair};
use base::arc::Arc;
use base::counters::Live;
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use base::lock::Mutex;
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use libc::c_void;
use rdma_sys::{ibv_port_state, ibv_qp_type, ibv_sa_path_rec};

/// All ids of the process, by the number that the kernel gives back in events.
pub(crate) static IDS: Table<Id> = Table::new();

/// What `struct rdma_cm_id *` points to.
#[repr(C)]
pub(crate) struct Id {
    pub(super) public: UnsafeCell<rdma_cm_id>,
    pub(super) key: Key,
    /// The kernel's number; zero is valid.
    pub(super) handle: AtomicU32,
    /// The device that commands are written to; another one after migrate.
    pub(super) file: Mutex<Arc<Channel>>,
    /// Made without a channel: calls wait for their event.
    pub(super) synchronous: AtomicBool,
    /// Who reads the events of a synchronous id (`early`).
    pub(super) readers: AtomicU32,
    pub(super) acknowledgements: Acknowledgements,
    pub(super) pins: Pins,
    pub(super) lane: Lane,
    pub(super) state: Mutex<IdState>,
    pub(super) counted: Live,
    /// Its queue pair.
    pub(crate) counted_queue_pair: Live,
}

const _: () = assert!(offset_of!(Id, public) == 0);

// SAFETY: the private part is synchronised; the public part follows the C API's own rule that one
// thread at a time uses an id, but for the event path, which `pins` and `state` order.
unsafe impl Sync for Id {}
// SAFETY: as above.
unsafe impl Send for Id {}

impl Id {
    /// # Safety
    /// A valid id pointer or NULL.
    pub(crate) unsafe fn from_c<'a>(id: *mut rdma_cm_id) -> Result<&'a Id> {
        // SAFETY: by contract; ids are only made by `create`.
        unsafe { id.cast::<Id>().as_ref() }.ok_or_else(is_null)
    }

    /// For those who have just made one.
    #[cold]
    pub(crate) fn without_queue_pair(&self) -> Errno {
        fail!(EINVAL, *self, "its queue pair was destroyed by another thread")
    }

    pub(crate) fn as_c(&self) -> *mut rdma_cm_id {
        self.public.get()
    }

    pub(crate) fn handle(&self) -> u32 {
        self.handle.load(Ordering::Relaxed)
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// Its life in the trace.
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    pub(crate) fn file(&self) -> Arc<Channel> {
        Arc::clone(&self.file.lock())
    }

    /// Where to send a command.
    pub(crate) fn fd(&self) -> Result<RawFd> {
        let file = self.file.lock();
        if let Some(fd) = file.fd_at_once() {
            return Ok(fd);
        }
        drop(file);
        self.fd_slowly()
    }

    /// Without the lock: in a child of fork this may wait for the parent's end.
    #[cold]
    #[inline(never)]
    fn fd_slowly(&self) -> Result<RawFd> {
        self.file().fd()
    }

    /// Sends a command from a thread of the library. Until it is sent the id cannot leave its
    /// channel, so that the descriptor cannot name another file. Only for commands that do not
    /// sleep.
    pub(crate) fn while_in_channel<R>(
        &self,
        command: impl FnOnce(RawFd) -> Result<R>,
    ) -> Result<R> {
        self.file.lock().while_open(command)
    }

    pub(crate) fn is_synchronous(&self) -> bool {
        self.synchronous.load(Ordering::Acquire)
    }

    /// Runs `access` on the private values; never across a system call.
    #[inline(always)]
    pub(crate) fn with<R>(&self, access: impl FnOnce(&mut IdState) -> R) -> R {
        access(&mut self.state.lock())
    }

    /// One more event of this id is acknowledged.
    pub(crate) fn acknowledge(&self) {
        self.acknowledgements.add();
    }

    pub(crate) fn is_datagram(&self) -> bool {
        self.qp_type() == ibv_qp_type::IBV_QPT_UD
    }

    /// The device context, EINVAL before an address bound the id to a device.
    pub(crate) fn context(&self) -> Result<Context> {
        let public = self.public.get();
        // SAFETY: valid id; the field is NULL or the context that the binding keeps open.
        unsafe { Context::from_raw((*public).verbs) }.ok_or_else(|| self.not_bound())
    }

    /// EINVAL: what needs a device has none.
    #[cold]
    #[inline(never)]
    pub(crate) fn not_bound(&self) -> Errno {
        fail!(
            EINVAL,
            *self,
            "the id is not bound to a device: bind it to an address of one, or resolve a destination \
             and wait for RDMA_CM_EVENT_ADDR_RESOLVED"
        )
    }

    /// False where the id is not bound to a device.
    pub(crate) fn is_on_iwarp(&self) -> bool {
        // SAFETY: valid id; the field is NULL or the context that the binding keeps open.
        unsafe { Context::from_raw((*self.public.get()).verbs) }.is_some_and(Context::is_iwarp)
    }

    /// The device says that nothing can go out. False where there is no device.
    #[cold]
    pub(crate) fn is_port_down(&self) -> bool {
        // SAFETY: valid id; the field is NULL or the context that the binding keeps open.
        let context = unsafe { Context::from_raw((*self.public.get()).verbs) };
        let port = context.and_then(|context| context.query_port(self.port_num()).ok());
        port.is_some_and(|port| port.state != ibv_port_state::IBV_PORT_ACTIVE)
    }

    pub(crate) fn user_context(&self) -> *mut c_void {
        // SAFETY: valid id.
        unsafe { (*self.public.get()).context }
    }

    pub(crate) fn qp_type(&self) -> ibv_qp_type::Type {
        // SAFETY: valid id.
        unsafe { (*self.public.get()).qp_type }
    }

    pub(crate) fn port_num(&self) -> u8 {
        // SAFETY: valid id.
        unsafe { (*self.public.get()).port_num }
    }

    /// In network byte order; 0 while the id is not bound.
    pub(crate) fn source_port(&self) -> u16 {
        // SAFETY: every view of the union is plain data.
        self.public(|id| port_of(unsafe { &id.route.addr.src.src_storage }))
    }

    pub(crate) fn port_space(&self) -> u32 {
        // SAFETY: valid id.
        unsafe { (*self.public.get()).ps }
    }

    /// Runs `access` on the public struct. For the thread of a call on this id, see the module
    /// text.
    pub(crate) fn public<R>(&self, access: impl FnOnce(&mut rdma_cm_id) -> R) -> R {
        // SAFETY: valid id; the reference ends with the closure, which runs no code of others.
        access(unsafe { &mut *self.public.get() })
    }

    /// Local and remote GID.
    pub(crate) fn gids(&self) -> ([u8; 16], [u8; 16]) {
        self.public(|id| {
            let addresses = &id.route.addr.ibaddr;
            // SAFETY: every bit pattern is a GID.
            unsafe { (addresses.sgid.raw, addresses.dgid.raw) }
        })
    }

    /// Reads the resolved path, or the first of several.
    pub(crate) fn with_path<R>(&self, read: impl FnOnce(&ibv_sa_path_rec) -> R) -> Option<R> {
        self.with(|state| state.paths.first().map(read))
    }

    /// The protection domain of the device that the id is bound to.
    pub(crate) fn domain(&self) -> Result<ProtectionDomain> {
        // SAFETY: valid id; NULL or the domain that the binding keeps alive.
        unsafe { ProtectionDomain::from_raw((*self.public.get()).pd) }
            .ok_or_else(|| self.not_bound())
    }

    /// Native InfiniBand addresses are queried by other commands.
    pub(crate) fn note_family(&self, address: &SocketAddress) {
        if address.is_ib() {
            self.with(|state| state.uses_ib_addresses = true);
        }
    }

    /// `id->qp`, if there is one.
    pub(crate) fn queue_pair(&self) -> Option<PinnedQueuePair<'_>> {
        // SAFETY: the field of a valid id, and its own pins.
        unsafe { self.pins.pin(&raw const (*self.as_c()).qp) }
    }

    /// Reads from `id->qp`, if there is one; never across a system call.
    pub(crate) fn read_queue_pair<R>(&self, read: impl FnOnce(QueuePair) -> R) -> Option<R> {
        // SAFETY: as above.
        unsafe { self.pins.read(&raw const (*self.as_c()).qp, read) }
    }

    pub(crate) fn has_queue_pair(&self) -> bool {
        self.read_queue_pair(|_| ()).is_some()
    }

    pub(crate) fn set_queue_pair(&self, queue_pair: QueuePair) {
        // SAFETY: as above.
        unsafe { self.pins.set(&raw mut (*self.as_c()).qp, queue_pair) };
    }

    /// Takes the queue pair out of the id and waits until it has no users.
    pub(crate) fn take_queue_pair(&self) -> Option<QueuePair> {
        // SAFETY: as above.
        unsafe { self.pins.take(&raw mut (*self.as_c()).qp) }
    }
}

#[cold]
#[inline(never)]
fn is_null() -> Errno {
    fail!(EINVAL, "the id is NULL")
}

/// As the log names it: the kernel's number and both addresses.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "id {}", self.handle())?;
        let (local, peer) = self.addresses();
        if let Some(local) = local.filter(|local| !local.is_wildcard() || local.port() != 0) {
            write!(f, " {local}")?;
        }
        if let Some(peer) = peer {
            write!(f, " -> {peer}")?;
        }
        Ok(())
    }
}

/// An id, kept alive for an event.
pub(crate) type HeldId = Hold<Id>;

/// The id that an old kernel's event without a key belongs to.
pub(crate) fn find_by_handle(handle: u32) -> Option<HeldId> {
    IDS.find(|id| id.handle() == handle)
}
