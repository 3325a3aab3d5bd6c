// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info top`: what a running process counts, each second; or which processes count.

use crate::page::{self, Count, Counters};
use crate::value::{Map, Value};
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const PERIOD: Duration = Duration::from_secs(1);
/// Home, and nothing below.
const CLEAR: &str = "\x1b[H\x1b[J";

/// How much is printed.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) once: bool,
    pub(crate) as_json: bool,
}

/// Prints it all by itself. With `--json` once: a stream of tables is no JSON.
pub(crate) fn top(process: Option<u32>, shape: Shape) -> Result<(), String> {
    match process {
        None => {
            let listed = page::processes();
            put(&if shape.as_json { list_value(&listed).render(true) } else { list_text(&listed) })
        }
        Some(process) => watch(process, shape),
    }
    .or_else(|error| match error {
        // Whoever reads has gone.
        Failure::Output => Ok(()),
        Failure::Process(problem) => Err(problem),
    })
}

enum Failure {
    Output,
    Process(String),
}

fn put(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|_| Failure::Output)
}

fn read(process: u32) -> Result<Counters, Failure> {
    let problem = match page::of_process(process) {
        Ok(Some(counters)) => return Ok(counters),
        Ok(None) => format!("process {process} does not count: start it with RDMACM_STATS=1"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            format!("there is no process {process}")
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => format!(
            "process {process} may not be looked at: it is another user's, or has more rights than \
             its user"
        ),
        Err(error) => format!("process {process}: {error}"),
    };
    Err(Failure::Process(problem))
}

fn watch(process: u32, shape: Shape) -> Result<(), Failure> {
    let mut present = read(process)?;
    let program = page::program(process);
    if shape.as_json {
        return put(&process_value(process, &program, &present).render(true));
    }
    let is_terminal = io::stdout().is_terminal();
    let mut taken = Instant::now();
    let mut before: Option<(Counters, Duration)> = None;
    loop {
        let table = table(process, &program, &present, before.as_ref());
        match (shape.once, is_terminal) {
            (true, _) => return put(&table),
            (false, true) => put(&format!("{CLEAR}{table}"))?,
            (false, false) => put(&format!("{table}\n"))?,
        }
        sleep(PERIOD);
        let Ok(next) = read(process) else {
            return put(&format!("process {process} has ended, or counts no more\n"));
        };
        let last = core::mem::replace(&mut present, next);
        before = Some((last, taken.elapsed()));
        taken = Instant::now();
    }
}

fn seconds(counters: &Counters) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_nanos(counters.since)).as_secs_f64()
}

/// A counter's value as it was, of the same name.
fn earlier<'a>(before: Option<&'a (Counters, Duration)>, name: &str) -> Option<&'a Count> {
    before?.0.all.iter().find(|counter| counter.name == name).map(|counter| &counter.count)
}

/// Counters that are not zero, by groups.
fn table(
    process: u32,
    program: &str,
    now: &Counters,
    before: Option<&(Counters, Duration)>,
) -> String {
    let span = before.map_or(1.0, |(_, span)| span.as_secs_f64().max(0.001));
    let mut out = format!("process {process} ({program}), {:.0} s\n", seconds(now));
    let mut group = "";
    let mut line = |group_of: &'_ str, name: &str, value: String, rate: Option<f64>| {
        let rate = rate.map(|rate| format!("{rate:>14.1}/s")).unwrap_or_default();
        let _ = writeln!(out, "{group_of}  {name:<44} {value:>16}{rate}");
    };
    let is_used =
        |group: &str| now.all.iter().any(|counter| counter.is_of(group) && !counter.is_zero());
    for counter in &now.all {
        let (own, name) = counter.name.split_once('.').unwrap_or(("", &counter.name));
        let head = if own == group { String::new() } else { format!("{own}\n") };
        let last = earlier(before, &counter.name);
        match &counter.count {
            Count::Total(0) => continue,
            Count::Gauge(_) if !is_used(own) => continue,
            Count::Series(series) if series.is_empty() => continue,
            // Objects of a parent, or from before the program closed all descriptors.
            Count::Gauge(value) => line(&head, name, (*value).max(0).to_string(), None),
            Count::Total(value) => {
                let last = match last {
                    Some(Count::Total(last)) => Some(*last),
                    _ => None,
                };
                let rate = before.map(|_| value.saturating_sub(last.unwrap_or(0)) as f64 / span);
                line(&head, name, value.to_string(), rate);
            }
            Count::Series(series) => {
                for (index, (label, value)) in series.iter().enumerate() {
                    let last = match last {
                        Some(Count::Series(last)) => {
                            last.iter().find(|(other, _)| other == label).map(|(_, value)| *value)
                        }
                        _ => None,
                    };
                    let rate =
                        before.map(|_| value.saturating_sub(last.unwrap_or(0)) as f64 / span);
                    let head = if index == 0 { head.as_str() } else { "" };
                    line(head, &format!("{name} {label}"), value.to_string(), rate);
                }
            }
        }
        group = own;
    }
    out
}

fn whole(value: u64) -> Value {
    Value::Number(i64::try_from(value).unwrap_or(i64::MAX))
}

fn process_value(process: u32, program: &str, counters: &Counters) -> Value {
    let all = counters.all.iter().fold(Map::default(), |map, counter| {
        let value = match &counter.count {
            Count::Total(value) => whole(*value),
            Count::Gauge(value) => Value::Number((*value).max(0)),
            Count::Series(series) => series
                .iter()
                .fold(Map::default(), |map, (label, value)| map.with(label, whole(*value)))
                .into(),
        };
        map.with(&counter.name, value)
    });
    Map::default()
        .with("process", process)
        .with("program", program)
        .with("seconds", seconds(counters))
        .with("layout", counters.version)
        .with("counters", all)
        .into()
}

/// What the list says of each process.
const COLUMNS: [(&str, &str); 4] = [
    ("ids", "ids.now"),
    ("rsockets", "rsockets.now"),
    ("bytes in", "rsockets.bytes in"),
    ("bytes out", "rsockets.bytes out"),
];

fn list_value(listed: &[(u32, Counters)]) -> Value {
    let each = listed.iter().map(|(process, counters)| {
        let map = Map::default()
            .with("process", *process)
            .with("program", page::program(*process))
            .with("seconds", seconds(counters));
        let number = |name| Value::Number(counters.number(name).max(0));
        COLUMNS.iter().fold(map, |map, (title, name)| map.with(title, number(name))).into()
    });
    Value::List(each.collect())
}

fn list_text(listed: &[(u32, Counters)]) -> String {
    if listed.is_empty() {
        return "no process of this user counts: start it with RDMACM_STATS=1\n".to_owned();
    }
    let titles = COLUMNS.map(|(title, _)| format!("{title:>14}")).concat();
    let mut out = format!("{:>8}  {:<16}{:>8}{titles}\n", "process", "program", "seconds");
    for (process, counters) in listed {
        let numbers = COLUMNS.map(|(_, name)| format!("{:>14}", counters.number(name).max(0)));
        let (program, seconds) = (page::program(*process), seconds(counters));
        let _ = writeln!(out, "{process:>8}  {program:<16}{seconds:>8.0}{}", numbers.concat());
    }
    out
}
