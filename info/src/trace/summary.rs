// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The table: where the time of each connection went.

use super::lanes::{Lane, Trace, Traffic};
use super::shown;
use crate::value::{Map, Table, Value};
use std::path::Path;

/// A column of times, and the phases that are in it.
const TIMES: [(&str, &[&str]); 6] = [
    ("resolve", &["resolve address"]),
    ("route", &["resolve route"]),
    ("connect", &["connect"]),
    ("accept", &["accept"]),
    ("established", &["established"]),
    ("close", &["disconnect", "close"]),
];
/// Rows that are printed; JSON has all.
const ROWS: usize = 40;

/// Whole microseconds are enough.
fn micros(time: f64) -> Value {
    Value::Number(time.round() as i64)
}

fn row(lane: &Lane, trace: &Trace) -> Vec<Value> {
    let total = lane.last(trace) - lane.begin;
    let times: Vec<f64> = TIMES.iter().map(|(_, names)| lane.time_in(names, trace)).collect();
    let listens = lane.time_in(&["listen"], trace);
    let other = (total - listens - times.iter().sum::<f64>()).max(0.0);
    let mut row: Vec<Value> = vec![lane.title().into(), lane.process.into(), micros(total)];
    row.extend(times.into_iter().map(micros));
    row.push(micros(other));
    let Traffic { has_bytes, sent, received, completions, transfer, waited, .. } = lane.traffic;
    let counted = |value| if has_bytes { value } else { Value::Nothing };
    row.extend([counted(micros(transfer)), micros(waited)]);
    row.extend([sent, received, completions].map(|count| counted(Value::Number(count as i64))));
    row.push(lane.outcome().into());
    row
}

/// Of times above zero: their sum, the one in the middle, and the longest with its lane.
fn digest<'a>(name: &str, times: impl Iterator<Item = (f64, &'a Lane)>) -> Option<Vec<Value>> {
    let mut times: Vec<(f64, &Lane)> = times.filter(|(time, _)| *time > 0.0).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (longest, slowest) = times.last().copied()?;
    let at = |index: usize| times.get(index).map_or(0.0, |(time, _)| *time);
    let median = f64::midpoint(at((times.len() - 1) / 2), at(times.len() / 2));
    let total: f64 = times.iter().map(|(time, _)| time).sum();
    let count = Value::Number(times.len() as i64);
    Some(vec![
        name.into(),
        count,
        micros(total),
        micros(median),
        micros(longest),
        slowest.title().into(),
    ])
}

pub(super) fn summary(trace: &Trace, picture: &Path) -> Value {
    let mut columns = vec!["connection", "process", "total (us)"];
    columns.extend(["resolve", "route", "connect", "accept", "established", "close"]);
    columns.extend(["other", "transfer", "waited", "sent", "received", "completions", "outcome"]);
    // What took longest to connect is what is looked for.
    let mut order: Vec<&Lane> = trace.lanes.iter().collect();
    if order.len() > ROWS {
        order.sort_by(|one, other| slowness(other).total_cmp(&slowness(one)));
    }
    let rows = order.into_iter().map(|lane| row(lane, trace)).collect();
    let set_ups = trace.lanes.iter().filter_map(|lane| Some((lane.set_up()?, lane)));
    let mut phases = vec![digest("until established", set_ups)];
    for (name, inside) in TIMES {
        let times = trace.lanes.iter().map(|lane| (lane.time_in(inside, trace), lane));
        phases.push(digest(name, times));
    }
    let times = trace.lanes.iter().map(|lane| (lane.traffic.transfer, lane));
    phases.push(digest("transfer", times));
    let times = trace.lanes.iter().map(|lane| (lane.traffic.waited, lane));
    phases.push(digest("waited", times));
    let phases: Vec<Vec<Value>> = phases.into_iter().flatten().collect();
    let phases = Table {
        columns: vec!["phase", "count", "total (us)", "median", "longest", "slowest"],
        shown: phases.len(),
        rows: phases,
    };
    let processes: Vec<Value> =
        trace.processes.iter().map(|(number, name)| format!("{number} {name}").into()).collect();
    let sum = |count: fn(&Lane) -> u64| trace.lanes.iter().map(count).sum::<u64>() as i64;
    let mut others = Map::default();
    for (name, (count, time)) in &trace.others {
        others = others.with(name, format!("{count}, {}", shown(*time)));
    }
    let map = Map::default()
        .with("processes", processes)
        .with("lasts", shown(trace.end - trace.begin))
        .with("connections", Table { columns, rows, shown: ROWS })
        .with("phases", phases)
        .with("bytes sent by rsockets", sum(|lane| lane.traffic.sent))
        .with("bytes received by rsockets", sum(|lane| lane.traffic.received))
        .with("waits for several", others)
        .with("records", trace.records as i64)
        .with("records lost", trace.lost as i64)
        .with("picture", picture.display().to_string());
    match trace.unended {
        0 => map.into(),
        files => map.with("files without an end (killed, or still running)", files as i64).into(),
    }
}

/// The time until it was established, or for what never was, its whole life.
pub(super) fn slowness(lane: &Lane) -> f64 {
    lane.set_up().unwrap_or_else(|| lane.end.map_or(f64::MAX, |end| end - lane.begin))
}
