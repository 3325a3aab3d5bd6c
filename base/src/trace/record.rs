// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A record of the trace as one JSON object, in a buffer of bounded size: all of it, or nothing.

use crate::time::Instant;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

/// A value of a record's `args`. Only values that take no lock to show: the tracer's is held.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Number(i64),
    Text(&'a dyn Display),
    Lane(u64),
}

pub type Field<'a> = (&'static str, Value<'a>);

/// What kind of event a record is, with what belongs to that kind.
pub(super) enum Kind {
    Begin(u64),
    End(u64),
    Mark(u64),
    Span(Instant),
    /// Of the whole process.
    Process,
    /// A name of the process or of the thread.
    Meta,
}

pub(super) struct Record<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a dyn Display,
    pub(super) fields: &'a [Field<'a>],
}

impl Kind {
    /// `ph` of the format.
    fn phase(&self) -> char {
        match self {
            Kind::Begin(_) => 'b',
            Kind::End(_) => 'e',
            Kind::Mark(_) => 'n',
            Kind::Span(_) => 'X',
            Kind::Process => 'i',
            Kind::Meta => 'M',
        }
    }
}

/// Microseconds, with nanoseconds behind the point.
struct Micros(u128);

impl Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Text that becomes the inside of a JSON string.
struct Quoted<'a, W: Write>(&'a mut W);

impl<W: Write> Write for Quoted<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match character {
            '"' | '\\' => {
                self.0.write_char('\\')?;
                self.0.write_char(character)
            }
            // Line ends of JavaScript's among them.
            other if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}') => {
                write!(self.0, "\\u{:04x}", other as u32)
            }
            other => self.0.write_char(other),
        })
    }
}

/// Room at the end of a buffer, which never grows.
pub(super) struct Room<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    /// The buffer's length at which it is full.
    pub(super) limit: usize,
}

impl Write for Room<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let limit = self.limit.min(self.bytes.capacity());
        if text.len() > limit.saturating_sub(self.bytes.len()) {
            return Err(fmt::Error);
        }
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Record<'_> {
    /// Appends the record. False where it has no room: then nothing of it is there.
    pub(super) fn append(
        &self,
        mut room: Room<'_>,
        now: Instant,
        process: i32,
        thread: i32,
    ) -> bool {
        let before = room.bytes.len();
        let is_whole = self.write(&mut room, now, process, thread).is_ok();
        if !is_whole {
            room.bytes.truncate(before);
        }
        is_whole
    }

    fn write(&self, out: &mut impl Write, now: Instant, process: i32, thread: i32) -> fmt::Result {
        out.write_str("{\"name\":\"")?;
        write!(Quoted(out), "{}", self.name)?;
        let begin = if let Kind::Span(since) = self.kind { since } else { now };
        write!(
            out,
            "\",\"cat\":\"rdma\",\"ph\":\"{}\",\"ts\":{},\"pid\":{process},\"tid\":{thread}",
            self.kind.phase(),
            Micros(begin.since_zero().as_nanos())
        )?;
        match self.kind {
            Kind::Begin(lane) | Kind::End(lane) | Kind::Mark(lane) => {
                write!(out, ",\"id2\":{{\"local\":\"{lane:#x}\"}}")?;
            }
            Kind::Span(since) => {
                write!(out, ",\"dur\":{}", Micros(now.duration_since(since).as_nanos()))?;
            }
            Kind::Process => out.write_str(",\"s\":\"p\"")?,
            Kind::Meta => {}
        }
        for (index, (name, value)) in self.fields.iter().enumerate() {
            let before = if index == 0 { ",\"args\":{" } else { "," };
            write!(out, "{before}\"{name}\":")?;
            match value {
                Value::Number(number) => write!(out, "{number}")?,
                Value::Lane(lane) => write!(out, "\"{lane:#x}\"")?,
                Value::Text(text) => {
                    out.write_char('"')?;
                    write!(Quoted(out), "{text}")?;
                    out.write_char('"')?;
                }
            }
        }
        out.write_str(if self.fields.is_empty() { "}" } else { "}}" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(record: &Record<'_>, room: usize) -> (bool, String) {
        let mut bytes = Vec::with_capacity(room);
        let now = Instant::now();
        let is_whole = record.append(Room { bytes: &mut bytes, limit: room }, now, 7, 8);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (is_whole, text.replace(&Micros(now.since_zero().as_nanos()).to_string(), "NOW"))
    }

    #[test]
    fn a_record_is_one_object() {
        let fields = [
            ("peer", Value::Text(&"a\"b\\c\n\u{7f}\u{2028}é")),
            ("bytes", Value::Number(-3)),
            ("lane", Value::Lane(16)),
        ];
        let record = Record { kind: Kind::Begin(5), name: &"connect", fields: &fields };
        assert_eq!(
            written(&record, 400).1,
            "{\"name\":\"connect\",\"cat\":\"rdma\",\"ph\":\"b\",\"ts\":NOW,\"pid\":7,\"tid\":8,\
             \"id2\":{\"local\":\"0x5\"},\"args\":{\"peer\":\"a\\\"b\\\\c\\u000a\\u007f\\u2028é\",\
             \"bytes\":-3,\"lane\":\"0x10\"}}"
        );
        let record = Record { kind: Kind::Process, name: &"end", fields: &[] };
        assert!(written(&record, 400).1.ends_with("\"tid\":8,\"s\":\"p\"}"));
        assert_eq!(Micros(1_002_003).to_string(), "1002.003");
    }

    #[test]
    fn without_room_there_is_nothing() {
        let record = Record { kind: Kind::Meta, name: &"thread_name", fields: &[] };
        let (is_whole, text) = written(&record, 400);
        assert!(is_whole);
        for room in 0..text.len() {
            assert_eq!(written(&record, room), (false, String::new()));
        }
    }
}
