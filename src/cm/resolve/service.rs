// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Services of an InfiniBand fabric, which the kernel asks the subnet administrator for.

use crate::addrinfo::{Entry, ServiceName, service_entry};
use crate::cm::id::{Id, Resolution};
use crate::uapi::{self, abi};
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::memory::try_vec;
use core::ffi::CStr;
use libc::c_int;
use zerocopy::FromZeros;

/// Asks the fabric that an id is bound to, for queue pairs of a type; the answer is an event.
pub(crate) fn start(id: &Id, service: &CStr, qp_type: c_int) -> Result<()> {
    id.with(|state| state.begin_resolution(Resolution::Service(qp_type)))?;
    ask(id, service).inspect_err(|_| {
        id.with(|state| state.set_resolution(Resolution::None));
    })
}

fn ask(id: &Id, service: &CStr) -> Result<()> {
    let (number, name, flags) = match ServiceName::parse(service)? {
        ServiceName::Number(number) => (number, [0; abi::SERVICE_NAME_SIZE], abi::SERVICE_BY_ID),
        ServiceName::Name(name) => (0, name, abi::SERVICE_BY_NAME),
    };
    let fd = id.fd()?;
    let command = abi::ResolveIbService {
        id: id.handle(),
        reserved: 0,
        service_id: number,
        service_name: name,
        flags,
        reserved1: 0,
    };
    uapi::send(fd, command)
        .map_err(|error| id.refused("RESOLVE_IB_SERVICE", uapi::unless_unknown(fd, error)))
}

/// The kernel has found a service: stores its entries.
#[inline(never)]
pub(crate) fn found(id: &Id) -> Result<()> {
    let asked = id.with(|state| match state.resolution() {
        Resolution::Service(qp_type) => Some(*qp_type),
        _ => None,
    });
    let Some(qp_type) = asked else { return Ok(()) };
    let found = entries(id, qp_type);
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
#[inline(never)]
pub(crate) fn failed(id: &Id) {
    id.with(|state| {
        if matches!(state.resolution(), Resolution::Service(_)) {
            state.set_resolution(Resolution::None);
        }
    });
}

fn entries(id: &Id, qp_type: c_int) -> Result<Vec<Entry>> {
    let query = abi::QueryIbService { response: 0, id: id.handle(), option: abi::QUERY_IB_SERVICE };
    // Too large for a small stack.
    let mut answer = abi::ServiceResponse::new_box_zeroed().map_err(|_| Errno::ENOMEM)?;
    id.call_into(query, &mut answer)?;
    let count = (answer.count as usize).min(answer.records.len());
    let mut entries = try_vec(count)?;
    for record in &answer.records[..count] {
        entries.push(service_entry(record, qp_type));
    }
    if entries.is_empty() { Err(Errno::ENODATA) } else { Ok(entries) }
}
