// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A file in the Trace Event format. The library writes a record to a line, and a process that was killed
//! leaves no end: what is whole counts.

use super::lanes::Trace;
use serde_json::Value as Json;
use std::path::Path;

/// Adds the records of a file.
pub(crate) fn read(file: &Path, trace: &mut Trace) -> Result<(), String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    if !read_lines(&text, trace) {
        read_whole(&text, trace)?;
    }
    Ok(())
}

/// As the library writes it. False where the file is of another shape: then nothing was added.
fn read_lines(text: &str, trace: &mut Trace) -> bool {
    let mut lines = text.lines();
    if lines.next() != Some("[") {
        return false;
    }
    let mut records = Vec::new();
    let mut is_ended = false;
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        if line == "]" {
            is_ended = true;
            continue;
        }
        match serde_json::from_str::<Json>(line.trim_end_matches(',')) {
            Ok(record) => records.push(record),
            // Cut off: nothing can follow.
            Err(_) if lines.peek().is_none() => {}
            Err(_) => return false,
        }
    }
    records.iter().for_each(|record| trace.add(record));
    trace.unended += usize::from(!is_ended);
    true
}

/// As other programs write it again: an array, or an object that has one.
fn read_whole(text: &str, trace: &mut Trace) -> Result<(), String> {
    let whole: Json = serde_json::from_str(text).map_err(|error| format!("no trace: {error}"))?;
    let records = whole.as_array().or_else(|| whole.get("traceEvents")?.as_array());
    records
        .ok_or("no trace: there is no array of events")?
        .iter()
        .for_each(|record| trace.add(record));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = r#"{"name":"id 1","ph":"b","ts":1,"pid":5,"tid":5,"id2":{"local":"0x1"}}"#;
    const END: &str = r#"{"name":"id 1","ph":"e","ts":9,"pid":5,"tid":5,"id2":{"local":"0x1"}}"#;

    fn lanes_of(text: &str) -> Option<(usize, usize, bool)> {
        let mut trace = Trace::default();
        if !read_lines(text, &mut trace) {
            read_whole(text, &mut trace).ok()?;
        }
        let is_closed = trace.lanes.first().is_some_and(|lane| lane.end.is_some());
        Some((trace.lanes.len(), trace.unended, is_closed))
    }

    #[test]
    fn what_is_whole_counts() {
        assert_eq!(lanes_of(&format!("[\n{BEGIN},\n{END}\n]\n")), Some((1, 0, true)));
        assert_eq!(lanes_of(&format!("[\n{BEGIN},\n{END}")), Some((1, 1, true)));
        for cut in 1..END.len() {
            assert_eq!(lanes_of(&format!("[\n{BEGIN},\n{}", &END[..cut])), Some((1, 1, false)));
        }
        assert_eq!(lanes_of(&format!("[{BEGIN},{END}]")), Some((1, 0, true)));
        assert_eq!(lanes_of(&format!("{{\"traceEvents\":[{BEGIN}]}}")), Some((1, 0, false)));
        assert_eq!(lanes_of("[\n{\"name\"\n{}"), None);
        assert_eq!(lanes_of("text"), None);
    }
}
