// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A line on the stack: cut where it is too long, and with no character that could forge another line or
//! move a terminal's cursor.
//!
//! # Safety
//! clock_gettime(2) on a live value.
#![allow(unsafe_code)]

use crate::output::{process, thread};
use core::fmt::{self, Write};

/// What pipes take in one piece is longer.
const ROOM: usize = 1024;
const CUT: &[u8] = b"...\n";

/// A line that is being written.
pub(super) struct Line {
    bytes: [u8; ROOM],
    length: usize,
    is_cut: bool,
}

impl Line {
    pub(super) fn new() -> Line {
        Line { bytes: [0; ROOM], length: 0, is_cut: false }
    }

    /// Time, process, thread, part and level.
    pub(super) fn begin(&mut self, part: &str, level: &str) {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a live timespec; this clock always exists.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
        let time = Time { seconds: now.tv_sec.unsigned_abs(), micros: now.tv_nsec / 1000 };
        let _ = write!(self, "{time} rdmacm[{}:{}] {part} {level}: ", process(), thread());
    }

    /// The whole line.
    pub(super) fn end(&mut self) -> &[u8] {
        let end: &[u8] = if self.is_cut { CUT } else { b"\n" };
        let place = self.bytes.iter_mut().skip(self.length);
        self.length += place.zip(end).map(|(place, byte)| *place = *byte).count();
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// All of it, or nothing more.
    fn add(&mut self, text: &str) {
        let end = self.length + text.len();
        match self.bytes.get_mut(self.length..end) {
            Some(place) if !self.is_cut && end <= ROOM - CUT.len() => {
                place.copy_from_slice(text.as_bytes());
                self.length = end;
            }
            _ => self.is_cut = true,
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if character.is_control() {
                let digit = |value: u32| char::from_digit(value & 0xF, 16).unwrap_or('?');
                let code = character as u32;
                let mut escaped = [b'\\', b'x', 0, 0];
                escaped[2] = digit(code >> 4) as u8;
                escaped[3] = digit(code) as u8;
                self.add(core::str::from_utf8(&escaped).unwrap_or("?"));
            } else {
                self.add(character.encode_utf8(&mut [0; 4]));
            }
        }
        Ok(())
    }
}

/// A moment in UTC.
struct Time {
    seconds: u64,
    micros: i64,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds / 86_400, self.seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let micros = self.micros;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years that begin on 1 March end with the leap day; eras of 400 years are alike.
    let from_march = days + 719_468;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let mut line = Line::new();
        for _ in 0..1000 {
            assert!(line.write_str("12é45").is_ok());
        }
        let whole = std::str::from_utf8(line.end()).map(str::to_owned);
        assert!(whole.is_ok_and(|line| line.len() <= ROOM && line.ends_with("...\n")));
    }

    #[test]
    fn what_a_peer_sends_stays_in_its_line() {
        let mut line = Line::new();
        assert!(write!(line, "a\nb\x1b[2J\0\u{9b}é").is_ok());
        assert_eq!(line.end(), "a\\x0ab\\x1b[2J\\x00\\x9bé\n".as_bytes());
    }

    #[test]
    fn days_have_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_788, (2026, 12, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
        let time = Time { seconds: 20_788 * 86_400 + 16_812, micros: 42 };
        assert_eq!(format!("{time}"), "2026-12-01T04:40:12.000042Z");
    }
}
