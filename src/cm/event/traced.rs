// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events in the trace: each is a mark in the lane of its id; some end a phase, and ESTABLISHED begins one.

use super::describe::event_name;
use crate::cm::id::{CmEvent, Id};
use crate::lane::{self, Kind, Phase};
use crate::types::*;
use base::trace::Value;

/// An event that the application gets, before it has it.
#[cold]
pub(super) fn event(id: &Id, event: &CmEvent) {
    let lane = id.lane();
    let status = ("status", Value::Number(event.status().into()));
    lane.mark(event_name(event.event()).to_str().unwrap_or_default(), &[status]);
    match event.event() {
        RDMA_CM_EVENT_ADDR_RESOLVED
        | RDMA_CM_EVENT_ADDR_ERROR
        | RDMA_CM_EVENT_ROUTE_RESOLVED
        | RDMA_CM_EVENT_ROUTE_ERROR
        | RDMA_CM_EVENT_CONNECT_ERROR
        | RDMA_CM_EVENT_UNREACHABLE
        | RDMA_CM_EVENT_REJECTED
        | RDMA_CM_EVENT_DISCONNECTED
            if !lane.is_in(Phase::Close) =>
        {
            lane.leave(&[status]);
        }
        RDMA_CM_EVENT_ESTABLISHED if !lane.is_in(Phase::Close) => established(id),
        // A listener of rsockets makes rsockets of its requests.
        RDMA_CM_EVENT_CONNECT_REQUEST if lane.is_of_id() => {
            if let Some(child) = event.child() {
                requested(child);
            }
        }
        _ => {}
    }
}

fn established(id: &Id) {
    match id.addresses() {
        (Some(local), Some(peer)) => {
            let fields = [("local", lane::address(&local)), ("peer", lane::address(&peer))];
            id.lane().enter(Phase::Established, &fields);
        }
        _ => id.lane().enter(Phase::Established, &[]),
    }
}

fn requested(child: &Id) {
    let number = child.handle() as i32;
    match child.addresses() {
        (_, Some(peer)) => {
            child.lane().begin(Kind::Id, number, &[("peer", lane::address(&peer))]);
        }
        _ => child.lane().begin(Kind::Id, number, &[]),
    }
}
