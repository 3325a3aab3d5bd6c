// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rdma_getaddrinfo: names by the resolver, services by an id of the library's own.

use crate::addrinfo::{self, AddrinfoQuestion, Entry, Failure, Hints, NativeAddress, ServiceId};
use crate::cm::id::TemporaryId;
use crate::cm::resolve;
use crate::cm::sync_mode::{self, Operation};
use crate::device;
use crate::types::{RDMA_PS_IB, SocketAddress};
use alloc::vec::Vec;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::try_vec;
use core::ffi::CStr;
use core::time::Duration;
use libc::c_int;
use rdma_sys::ibv_qp_type;

/// The kernel gives its own question two seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// All addresses, the best first. The C library gives the first one only, with the same contents.
pub(crate) fn lookup(question: &AddrinfoQuestion<'_>) -> core::result::Result<Vec<Entry>, Failure> {
    if !question.is_for_a_service() {
        return addrinfo::lookup(question);
    }
    preserve_errno(|| {
        device::require_any()?;
        let service = question.service_wanted()?.ok_or(Errno::EINVAL)?;
        lookup_service(service, &question.hints.unwrap_or_default())
    })
}

/// Looks a service up in the fabric of the hinted source address, or in that of each port until one
/// knows it; each answer comes with the source address to reach it from.
fn lookup_service(service: &CStr, hints: &Hints) -> core::result::Result<Vec<Entry>, Failure> {
    if let Some(source) = &hints.source {
        return Ok(lookup_from(&[*source], service, hints)?);
    }
    let mut outcome = Err(Errno::ENODEV);
    for (device, port) in device::infiniband_ports()? {
        let Ok(gids) = device.gids(port) else { continue };
        let mut sources = try_vec(gids.len())?;
        sources.extend(
            gids.iter()
                .map(|gid| NativeAddress { gid: *gid, ..NativeAddress::default() }.address()),
        );
        outcome = lookup_from(&sources, service, hints);
        if outcome.is_ok() {
            break;
        }
    }
    Ok(outcome?)
}

/// Asks from the first of the addresses that an id can be bound to.
fn lookup_from(sources: &[SocketAddress], service: &CStr, hints: &Hints) -> Result<Vec<Entry>> {
    let asker = TemporaryId::create(RDMA_PS_IB, ibv_qp_type::IBV_QPT_RC)?;
    let mut bound = Err(Errno::EADDRNOTAVAIL);
    for source in sources {
        bound = asker.bind(source);
        if bound.is_ok() {
            break;
        }
    }
    bound?;
    resolve::start_service(&asker, service, hints.qp_type)?;
    let deadline = Deadline::after(ANSWER_LIMIT);
    let (event, result) = sync_mode::wait_for(&asker, Operation::ResolveAddrinfo, deadline)?;
    drop(event);
    result?;
    let mut entries = resolve::take(&asker)?;
    let (source_gid, _) = asker.gids();
    for entry in &mut entries {
        let pkey = entry.destination.as_ref().and_then(SocketAddress::as_ib).map(|ib| ib.sib_pkey);
        let source = NativeAddress {
            pkey: pkey.map_or(0, u16::from_be),
            gid: source_gid,
            service: ServiceId::of_port(RDMA_PS_IB as c_int, 0),
            ..NativeAddress::default()
        };
        entry.source = Some(source.address());
    }
    Ok(entries)
}
