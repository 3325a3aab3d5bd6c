// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Records become lanes: the life of an id or an rsocket, with its phases, events and waits. Times are in
//! microseconds.

use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};

/// A phase of a lane.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) begin: f64,
    pub(crate) end: Option<f64>,
    /// An event with this status, or an error, has ended it.
    pub(crate) failure: Option<String>,
}

/// An event, or something else that has a moment.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) at: f64,
    pub(crate) status: i64,
}

/// What an rsocket has moved.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Traffic {
    /// Not of an id: its work requests are the program's own.
    pub(crate) has_bytes: bool,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) completions: u64,
    /// From the first byte to the last.
    pub(crate) transfer: f64,
    pub(crate) waits: u64,
    pub(crate) waited: f64,
}

#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) process: i64,
    pub(crate) label: String,
    pub(crate) local: String,
    pub(crate) peer: String,
    /// The program's descriptor, where the preload library has made the rsocket.
    pub(crate) beside: Option<i64>,
    pub(crate) begin: f64,
    pub(crate) end: Option<f64>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) marks: Vec<Mark>,
    /// Those that have a record of their own.
    pub(crate) waits: Vec<(f64, f64)>,
    pub(crate) traffic: Traffic,
}

/// All that the files have.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) processes: BTreeMap<i64, String>,
    /// Waits for several descriptors, by name: how many, and how long together.
    pub(crate) others: BTreeMap<String, (u64, f64)>,
    pub(crate) records: usize,
    pub(crate) lost: u64,
    /// Files without an end.
    pub(crate) unended: usize,
    pub(crate) begin: f64,
    pub(crate) end: f64,
    by_key: HashMap<(i64, String), usize>,
}

fn text<'a>(record: &'a Json, name: &str) -> &'a str {
    record.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn argument<'a>(record: &'a Json, name: &str) -> Option<&'a Json> {
    record.get("args")?.get(name)
}

fn number(record: &Json, name: &str) -> Option<u64> {
    argument(record, name)?.as_u64()
}

impl Lane {
    fn open_phase(&mut self) -> Option<&mut Phase> {
        self.phases.last_mut().filter(|phase| phase.end.is_none())
    }

    /// Addresses and counters, in whichever record they come.
    fn learn(&mut self, record: &Json) {
        for (name, place) in [("local", &mut self.local), ("peer", &mut self.peer)] {
            if let Some(address) = argument(record, name).and_then(Json::as_str) {
                *place = address.to_owned();
            }
        }
        if let Some(sent) = number(record, "sent") {
            let count = |name| number(record, name).unwrap_or(0);
            self.traffic = Traffic {
                has_bytes: true,
                sent,
                received: count("received"),
                completions: count("completions"),
                transfer: count("transfer_us") as f64,
                waits: count("waits"),
                waited: count("waited_us") as f64,
            };
        }
    }

    /// When all is over that there is a record of.
    pub(crate) fn last(&self, trace: &Trace) -> f64 {
        self.end.unwrap_or(trace.end)
    }

    /// The time in phases of these names.
    pub(crate) fn time_in(&self, names: &[&str], trace: &Trace) -> f64 {
        let inside = self.phases.iter().filter(|phase| names.contains(&phase.name.as_str()));
        inside.map(|phase| phase.end.unwrap_or(trace.end) - phase.begin).sum()
    }

    /// From the beginning until the connection is there; None for what never was one.
    pub(crate) fn set_up(&self) -> Option<f64> {
        let established = self.phases.iter().find(|phase| phase.name == "established")?;
        Some(established.begin - self.begin)
    }

    /// How long it took to fail.
    pub(crate) fn failed(&self) -> Option<f64> {
        let failed = self.phases.iter().find(|phase| phase.failure.is_some())?;
        Some(failed.end? - self.begin)
    }

    /// How it ended, or what it is in.
    pub(crate) fn outcome(&self) -> String {
        let failed = self.phases.iter().rev().find_map(|phase| {
            let failure = phase.failure.as_ref()?;
            Some(format!("{}: {failure}", phase.name))
        });
        let is_lost = self.marks.iter().any(|mark| mark.name == "lost");
        match (failed, self.set_up(), self.phases.last()) {
            (Some(failed), None, _) => failed,
            (_, Some(_), _) if is_lost => "lost".to_owned(),
            (_, Some(_), _) if self.end.is_none() => "open".to_owned(),
            (_, Some(_), _) => "ended".to_owned(),
            (_, None, _) if self.is_listener() => "listener".to_owned(),
            (_, None, Some(phase)) if phase.end.is_none() => format!("in {}", phase.name),
            _ => "not connected".to_owned(),
        }
    }

    pub(crate) fn is_listener(&self) -> bool {
        self.phases.iter().any(|phase| phase.name == "listen")
    }

    /// As people know it.
    pub(crate) fn title(&self) -> String {
        let mut title = self.label.clone();
        if let Some(descriptor) = self.beside {
            title += &format!(" (descriptor {descriptor})");
        }
        match (self.peer.is_empty(), self.is_listener()) {
            (false, _) => title + " -> " + &self.peer,
            (true, true) => title + " on " + &self.local,
            _ => title,
        }
    }
}

impl Trace {
    pub(crate) fn add(&mut self, record: &Json) {
        self.records += 1;
        let process = record.get("pid").and_then(Json::as_i64).unwrap_or(0);
        let name = text(record, "name");
        let at = record.get("ts").and_then(Json::as_f64).unwrap_or(0.0);
        let phase = text(record, "ph");
        let until = at + record.get("dur").and_then(Json::as_f64).unwrap_or(0.0);
        if phase != "M" {
            self.begin = if self.begin == 0.0 { at } else { self.begin.min(at) };
            self.end = self.end.max(until);
        }
        match phase {
            "M" if name == "process_name" => {
                let own = argument(record, "name").and_then(Json::as_str).unwrap_or_default();
                self.processes.insert(process, own.to_owned());
            }
            "i" if name == "records lost" => self.lost += number(record, "count").unwrap_or(0),
            "b" => self.begin_slice(process, record, name, at),
            "e" => self.end_slice(process, record, at),
            "n" => {
                let status = argument(record, "status").and_then(Json::as_i64).unwrap_or(0);
                if let Some(lane) = self.lane(process, key_of(record)) {
                    lane.learn(record);
                    if let Some(descriptor) = argument(record, "descriptor").and_then(Json::as_i64)
                    {
                        lane.beside = Some(descriptor);
                    }
                    lane.marks.push(Mark { name: name.to_owned(), at, status });
                }
            }
            "X" => self.add_wait(process, record, name, (at, until)),
            _ => {}
        }
    }

    fn lane(&mut self, process: i64, key: &str) -> Option<&mut Lane> {
        let index = self.by_key.get(&(process, key.to_owned()))?;
        self.lanes.get_mut(*index)
    }

    fn begin_slice(&mut self, process: i64, record: &Json, name: &str, at: f64) {
        let key = key_of(record);
        if self.lane(process, key).is_none() {
            self.by_key.insert((process, key.to_owned()), self.lanes.len());
            self.lanes.push(Lane { process, label: name.to_owned(), begin: at, ..Lane::default() });
        } else if let Some(lane) = self.lane(process, key) {
            let name = name.to_owned();
            lane.phases.push(Phase { name, begin: at, end: None, failure: None });
        }
        if let Some(lane) = self.lane(process, key) {
            lane.learn(record);
        }
    }

    fn end_slice(&mut self, process: i64, record: &Json, at: f64) {
        let failure = |name| argument(record, name)?.as_i64().filter(|value| *value != 0);
        let Some(lane) = self.lane(process, key_of(record)) else { return };
        let last_event = lane.marks.last().map(|mark| mark.name.clone()).unwrap_or_default();
        match lane.open_phase() {
            Some(phase) => {
                phase.end = Some(at);
                let event = last_event.trim_start_matches("RDMA_CM_EVENT_");
                phase.failure = match (failure("status"), failure("errno")) {
                    (_, Some(errno)) => {
                        Some(std::io::Error::from_raw_os_error(errno as i32).to_string())
                    }
                    (Some(status), _) => Some(format!("{event}, status {status}")),
                    _ if matches!(event, "REJECTED" | "UNREACHABLE" | "CONNECT_ERROR")
                        && argument(record, "status").is_some() =>
                    {
                        Some(event.to_owned())
                    }
                    _ => None,
                };
            }
            None => lane.end = Some(at),
        }
    }

    fn add_wait(&mut self, process: i64, record: &Json, name: &str, (begin, end): (f64, f64)) {
        let key = argument(record, "lane").and_then(Json::as_str).unwrap_or_default();
        if let Some(lane) = self.lane(process, key) {
            lane.waits.push((begin, end));
            // Bytes so far, should the process be killed before it says all.
            if let Some(sent) = number(record, "sent") {
                let traffic = &mut lane.traffic;
                traffic.has_bytes = true;
                traffic.sent = traffic.sent.max(sent);
                let received = number(record, "received").unwrap_or(0);
                traffic.received = traffic.received.max(received);
            }
            return;
        }
        let (count, time) = self.others.entry(name.to_owned()).or_default();
        *count += 1;
        *time += end - begin;
    }

    /// After all files: lanes in the order of their beginning.
    pub(crate) fn settle(&mut self) {
        self.by_key.clear();
        self.lanes.sort_by(|one, other| one.begin.total_cmp(&other.begin));
        for lane in &mut self.lanes {
            if lane.traffic.waits == 0 {
                lane.traffic.waits = lane.waits.len() as u64;
                lane.traffic.waited = lane.waits.iter().map(|(begin, end)| end - begin).sum();
            }
        }
    }
}

fn key_of(record: &Json) -> &str {
    let local = record.get("id2").and_then(|id| id.get("local")).and_then(Json::as_str);
    local.unwrap_or_else(|| text(record, "id"))
}
