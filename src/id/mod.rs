//! Connection identifiers (`struct rdma_cm_id`).
//!
//! `create` makes and ends them, `address` binds and resolves, `query` reads back what the kernel
//! knows, `migrate` moves them between channels; this file is the struct and its accessors.
//!
//! # Safety
//! C programs read and write the public part at any time and without locks, as the C API has it, so
//! it is only touched through raw pointers here. An `Id` lives until `create::destroy` frees it, which
//! waits for everything that holds it.
#![allow(unsafe_code)]

mod address;
mod create;
mod migrate;
mod pin;
mod query;

pub(crate) use create::{Temporary, child_of, create, default_qp_type};
#[cfg(any(test, fuzzing))]
pub use query::fuzz_path_record;

use crate::acknowledge::Acknowledgements;
use crate::addrinfo::Resolution;
use crate::counted::Counted;
use crate::device::Binding;
use crate::error::{Errno, Result};
use crate::event::{Channel, DeviceFile};
use crate::index::{Hold, Key, Table};
use crate::lock::Mutex;
use crate::memory::Seldom;
use crate::multicast::Membership;
use crate::types::{port_of, rdma_cm_event, rdma_cm_id};
use crate::verbs::{Context, ProtectionDomain};
use libc::c_void;
use pin::Pins;
use rdma_sys::{ibv_qp_init_attr, ibv_qp_type, ibv_sa_path_rec};
use std::cell::UnsafeCell;
use std::mem::offset_of;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// All ids of the process, by the number that the kernel gives back in events.
pub(crate) static IDS: Table<Id> = Table::new();

/// What `struct rdma_cm_id *` points to.
#[repr(C)]
pub(crate) struct Id {
    public: UnsafeCell<rdma_cm_id>,
    key: Key,
    /// The kernel's number; zero is a number too.
    handle: AtomicU32,
    /// Where commands go; another one after migrate.
    file: Mutex<Counted<DeviceFile>>,
    /// Made without a channel: calls wait for their event.
    synchronous: AtomicBool,
    acknowledgements: Acknowledgements,
    pins: Pins,
    state: Mutex<State>,
}

const _: () = assert!(offset_of!(Id, public) == 0);

// SAFETY: the private part is synchronised; the public part follows the C API's own rule that one
// thread at a time uses an id, but for the event path, which `pins` and `state` order.
unsafe impl Sync for Id {}
// SAFETY: as above.
unsafe impl Send for Id {}

/// What the library remembers of an id beyond the public struct.
#[derive(Default)]
pub(crate) struct State {
    /// The channel that a synchronous id made for itself.
    own_channel: Option<Box<Channel>>,
    pub(crate) binding: Option<Binding>,
    pub(crate) paths: Box<[ibv_sa_path_rec]>,
    pub(crate) initiator_depth: u8,
    pub(crate) responder_resources: u8,
    pub(crate) local_ece: (u32, u32),
    pub(crate) remote_ece: (u32, u32),
    /// Setting up the connection failed here: the peer's reaction to that is not news.
    pub(crate) connect_failed: bool,
    /// The queue pair was made, and moved to INIT, by rdma_create_qp.
    pub(crate) made_queue_pair: bool,
    pub(crate) made_send_queue: bool,
    pub(crate) made_receive_queue: bool,
    /// Native InfiniBand addresses are in use, which QUERY_ROUTE cannot tell.
    pub(crate) uses_ib_addresses: bool,
    /// Made for a connection request.
    pub(crate) is_child: bool,
    pub(crate) more: Seldom<More>,
}

/// What few ids have.
#[derive(Default)]
pub(crate) struct More {
    /// Bytes that go before the caller's private data in CONNECT.
    pub(crate) connect_header: Vec<u8>,
    pub(crate) memberships: Vec<&'static Membership>,
    /// Of rdma_resolve_addrinfo.
    pub(crate) resolution: Resolution,
    /// For the children of a passive endpoint.
    pub(crate) child_queue_pair: Option<ibv_qp_init_attr>,
}

impl State {
    pub(crate) fn connect_header(&self) -> &[u8] {
        self.more.get().map_or(&[], |more| &more.connect_header)
    }
}

// SAFETY: path records are plain data and the queue pair attributes hold pointers of the caller that
// any thread may use.
unsafe impl Send for State {}

impl Id {
    /// # Safety
    /// A valid id pointer or NULL.
    pub(crate) unsafe fn from_c<'a>(id: *mut rdma_cm_id) -> Result<&'a Id> {
        // SAFETY: by contract; ids are only made by `create`.
        unsafe { id.cast::<Id>().as_ref() }.ok_or(Errno::EINVAL)
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

    pub(crate) fn file(&self) -> Counted<DeviceFile> {
        Counted::clone(&self.file.lock())
    }

    /// Where to send a command.
    pub(crate) fn fd(&self) -> Result<RawFd> {
        let at_once = self.file.lock().fd_at_once();
        at_once.map_or_else(|| self.fd_after_a_moment(), Ok)
    }

    /// Not under the lock: in a fork's child this may wait for the parent's end.
    #[cold]
    #[inline(never)]
    fn fd_after_a_moment(&self) -> Result<RawFd> {
        self.file().fd()
    }

    /// Sends a command on behalf of nobody's call. Until it is sent the id cannot leave its channel, so
    /// that the descriptor cannot come to stand for another file. Only for commands that do not sleep.
    pub(crate) fn while_in_channel<R>(
        &self,
        command: impl FnOnce(RawFd) -> Result<R>,
    ) -> Result<R> {
        self.file.lock().while_open(command)
    }

    pub(crate) fn is_synchronous(&self) -> bool {
        self.synchronous.load(Ordering::Acquire)
    }

    /// Short accesses to what the library remembers; never across a system call.
    pub(crate) fn with<R>(&self, access: impl FnOnce(&mut State) -> R) -> R {
        access(&mut self.state.lock())
    }

    /// One more event of this id was given back.
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
        unsafe { Context::from_raw((*public).verbs) }.ok_or(Errno::EINVAL)
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

    /// Runs `access` on the public struct; for the owner of the call, see the module text.
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
        unsafe { ProtectionDomain::from_raw((*self.public.get()).pd) }.ok_or(Errno::EINVAL)
    }

    /// Takes the event that a synchronous call left in `id->event`.
    pub(crate) fn take_event(&self) -> *mut rdma_cm_event {
        self.public(|id| std::mem::replace(&mut id.event, std::ptr::null_mut()))
    }

    pub(crate) fn set_event(&self, event: *mut rdma_cm_event) {
        self.public(|id| id.event = event);
    }
}

/// An id, kept alive for an event.
pub(crate) type HeldId = Hold<Id>;

/// The id that an old kernel's event without a key belongs to.
pub(crate) fn find_by_handle(handle: u32) -> Option<HeldId> {
    IDS.find(|id| id.handle() == handle)
}
