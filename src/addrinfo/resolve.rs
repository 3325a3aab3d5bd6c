//! Names and services resolved without blocking the caller (rdma_resolve_addrinfo).
//!
//! A service is asked for by the kernel, which sends the event. For a name a thread is started that
//! asks the resolver and then writes an INTERNAL event to the id's channel; whoever reads it gets the
//! answer (`take_names`). The thread knows the id by its key alone: an id may be destroyed at any time,
//! and destroying it never waits for a name server.

use super::{Entry, Failure, Hints, Question, into_c, lookup, service};
use crate::error::{Errno, Result};
use crate::event;
use crate::id::{IDS, Id, State};
use crate::log;
use crate::memory::try_vec;
use crate::sync_mode::Operation;
use crate::thread;
use crate::types::rdma_addrinfo;
use crate::uapi;
use libc::c_int;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};

/// How far an id is with it. What was found stays until rdma_query_addrinfo takes it.
#[derive(Default)]
pub(crate) enum Resolution {
    #[default]
    None,
    /// A thread asks. Its number is in the event that it writes, so that a late event of a question
    /// that was given up is known.
    Names(u64),
    /// The thread has an answer, its event was not read yet.
    Named(u64, std::result::Result<Vec<Entry>, Failure>),
    /// The kernel asks, for queue pairs of this type.
    Service(c_int),
    Found(Vec<Entry>),
}

/// A question that a thread can keep.
struct OwnQuestion {
    node: Option<CString>,
    service: Option<CString>,
    hints: Option<Hints>,
}

/// Starts to resolve; the end is an event, unless the id is synchronous. EBUSY until the answer to an
/// earlier question was taken.
pub(crate) fn resolve(id: &Id, question: &Question<'_>) -> Result<()> {
    if !id.with(|state| matches!(state.resolution(), Resolution::None)) {
        return Err(Errno::EBUSY);
    }
    match question.service_wanted()? {
        Some(service) => start_service(id, service, &question.hints.unwrap_or_default())?,
        None => start_names(id, question)?,
    }
    id.finish(Operation::ResolveAddrinfo).inspect_err(|_| id.with(|state| state.give_up_names()))
}

impl State {
    fn resolution(&self) -> &Resolution {
        self.more.get().map_or(&Resolution::None, |more| &more.resolution)
    }

    fn take_resolution(&mut self) -> Resolution {
        self.more.get_mut().map_or(Resolution::None, |more| std::mem::take(&mut more.resolution))
    }

    /// The first one of an id: it may be without memory.
    fn begin_resolution(&mut self, first: Resolution) -> Result<()> {
        self.more.make()?.resolution = first;
        Ok(())
    }

    /// After `begin_resolution`, without which there is nothing to be followed.
    fn set_resolution(&mut self, next: Resolution) {
        if let Some(more) = self.more.get_mut() {
            more.resolution = next;
        }
    }

    /// After a wait that was broken off, so that the next question can begin at once.
    fn give_up_names(&mut self) {
        if matches!(self.resolution(), Resolution::Names(_) | Resolution::Named(..)) {
            self.set_resolution(Resolution::None);
        }
    }
}

/// The answer as a list for C, once.
pub(crate) fn query(id: &Id) -> Result<*mut rdma_addrinfo> {
    let entries = take_resolved(id)?;
    into_c(&entries).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::Found(entries)));
    })
}

pub(super) fn take_resolved(id: &Id) -> Result<Vec<Entry>> {
    id.with(|state| match state.take_resolution() {
        Resolution::Found(entries) => Ok(entries),
        other => {
            state.set_resolution(other);
            Err(Errno::ENOENT)
        }
    })
}

pub(super) fn start_service(id: &Id, service: &CStr, hints: &Hints) -> Result<()> {
    id.with(|state| state.begin_resolution(Resolution::Service(hints.qp_type)))?;
    service::start(id, service).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::None));
    })
}

/// The kernel has found a service.
pub(crate) fn service_found(id: &Id) -> Result<()> {
    let asked = id.with(|state| match state.resolution() {
        Resolution::Service(qp_type) => Some(*qp_type),
        _ => None,
    });
    let Some(qp_type) = asked else { return Ok(()) };
    let found = service::entries(id, qp_type);
    id.with(|state| match found {
        Ok(entries) => {
            state.set_resolution(Resolution::Found(entries));
            Ok(())
        }
        Err(error) => {
            state.set_resolution(Resolution::None);
            Err(error)
        }
    })
}

/// The kernel has found none.
pub(crate) fn service_failed(id: &Id) {
    id.with(|state| {
        if matches!(state.resolution(), Resolution::Service(_)) {
            state.set_resolution(Resolution::None);
        }
    });
}

fn start_names(id: &Id, question: &Question<'_>) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if question.is_empty() {
        return Err(Errno::EINVAL);
    }
    // Without the event nobody would ever know the answer.
    if !uapi::takes_events(id.fd()?) {
        return Err(Errno::ENOSYS);
    }
    let question = OwnQuestion {
        node: question.node.map(copy).transpose()?,
        service: question.service.map(copy).transpose()?,
        hints: question.hints,
    };
    let (key, ticket) = (id.key(), NEXT.fetch_add(1, Ordering::Relaxed));
    id.with(|state| state.begin_resolution(Resolution::Names(ticket)))?;
    thread::spawn(c"rdmacm-names", move || answer(key.raw(), ticket, &question)).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::None));
    })
}

fn copy(text: &CStr) -> Result<CString> {
    let bytes = text.to_bytes_with_nul();
    let mut copy = try_vec(bytes.len())?;
    copy.extend_from_slice(bytes);
    CString::from_vec_with_nul(copy).map_err(|_| Errno::EINVAL)
}

/// The work of the thread.
fn answer(key: u64, ticket: u64, question: &OwnQuestion) {
    let found = lookup(&Question {
        node: question.node.as_deref(),
        service: question.service.as_deref(),
        hints: question.hints,
    });
    let Some(id) = IDS.acquire(key) else { return };
    let wanted = id.with(|state| {
        let wanted = matches!(state.resolution(), Resolution::Names(now) if *now == ticket);
        if wanted {
            state.set_resolution(Resolution::Named(ticket, found));
        }
        wanted
    });
    if !wanted {
        return;
    }
    if let Err(error) = event::write_internal(&id, ticket) {
        log::line(format_args!("cannot tell that a name is resolved: {error}"));
    }
}

/// Reads an INTERNAL event: the outcome of the names that it stands for, `None` where it stands for
/// none that anybody still waits for.
pub(crate) fn take_names(id: &Id, ticket: u64) -> Option<Result<()>> {
    id.with(|state| match state.take_resolution() {
        Resolution::Named(mine, outcome) if mine == ticket => Some(match outcome {
            Ok(entries) => {
                state.set_resolution(Resolution::Found(entries));
                Ok(())
            }
            Err(failure) => Err(failure.errno()),
        }),
        other => {
            state.set_resolution(other);
            None
        }
    })
}
