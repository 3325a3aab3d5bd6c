// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The counters of another process (`RDMACM_STATS`): found by `/proc/PID/fd`, read without stopping it.
//!
//! A page says itself which counters it has and where, so that those of later libraries are shown, too.
//! Its bytes are those of another process, and may be anything.

use base::counters::layout::{self, KEY, MAGIC, OTHERS};
use base::errno::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// No page is longer.
const LONGEST: usize = 1 << 20;

/// Numbers of the kinds in `layout::Kind`. Kinds of later libraries are left out.
const TOTAL: u32 = layout::Kind::Total as u32;
const GAUGE: u32 = layout::Kind::Gauge as u32;
const ERRNOS: u32 = layout::Kind::Errnos as u32;
const NUMBERS: u32 = layout::Kind::Numbers as u32;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Count {
    /// It grows.
    Total(u64),
    /// How many there are now.
    Gauge(i64),
    /// By error or status.
    Series(Vec<(String, u64)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counter {
    /// Group and name, with a dot between them.
    pub(crate) name: String,
    pub(crate) count: Count,
}

/// What a process has counted until now, of all its libraries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counters {
    /// Of the layout.
    pub(crate) version: u32,
    /// The process, by its own name for itself.
    process: u32,
    /// Nanoseconds since 1970 at the first count.
    pub(crate) since: u64,
    pub(crate) all: Vec<Counter>,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// For a terminal, which control characters could move.
fn printable(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn label(kind: u32, key: u64) -> String {
    let number = key as u32 as i32;
    match key {
        OTHERS => "others".to_owned(),
        _ if kind == ERRNOS || number < 0 => Errno::of(number).to_string(),
        _ => number.to_string(),
    }
}

/// None for what is no page.
fn parse(bytes: &[u8]) -> Option<Counters> {
    if !bytes.starts_with(&MAGIC) {
        return None;
    }
    let field = |place: usize| u32_at(bytes, 8 + 4 * place);
    let [version, header_size, entry_size] = [field(0)?, field(1)?, field(2)?];
    let [entries, page_size, process] = [field(3)?, field(4)?, field(5)?];
    let since = u64_at(bytes, 32)?;
    let bytes = bytes.get(..page_size as usize)?;
    let known = size_of::<layout::Entry>();
    if (header_size as usize) < size_of::<layout::Header>() || (entry_size as usize) < known {
        return None;
    }
    let table = bytes.get(header_size as usize..)?;
    let mut all = Vec::new();
    for entry in table.chunks_exact(entry_size as usize).take(entries as usize) {
        let name = printable(entry.get(..layout::NAME)?);
        let place = |index: usize| u32_at(entry, layout::NAME + 4 * index);
        let (kind, offset, size) = (place(0)?, place(1)? as usize, place(2)? as usize);
        let words = bytes.get(offset..offset.checked_add(size)?)?;
        let count = match kind {
            TOTAL => Count::Total(u64_at(words, 0)?),
            GAUGE => Count::Gauge(u64_at(words, 0)? as i64),
            ERRNOS | NUMBERS => Count::Series(series(kind, words)),
            _ => continue,
        };
        all.push(Counter { name, count });
    }
    Some(Counters { version, process, since, all })
}

fn series(kind: u32, words: &[u8]) -> Vec<(String, u64)> {
    let pairs =
        words.chunks_exact(16).filter_map(|pair| Some((u64_at(pair, 0)?, u64_at(pair, 8)?)));
    let taken = pairs.filter(|(key, value)| *key >= KEY && *value > 0);
    taken.map(|(key, value)| (label(kind, key), value)).collect()
}

impl Counters {
    /// Adds what another library of the same process has counted.
    fn add(&mut self, other: Counters) {
        self.version = self.version.max(other.version);
        self.since = self.since.min(other.since);
        for counter in other.all {
            match self.all.iter_mut().find(|known| known.name == counter.name) {
                Some(known) => known.count.add(counter.count),
                None => self.all.push(counter),
            }
        }
    }

    /// A counter by its name; zero where there is none, and for a series.
    pub(crate) fn number(&self, name: &str) -> i64 {
        match self.all.iter().find(|counter| counter.name == name).map(|counter| &counter.count) {
            Some(Count::Total(value)) => i64::try_from(*value).unwrap_or(i64::MAX),
            Some(Count::Gauge(value)) => *value,
            Some(Count::Series(_)) | None => 0,
        }
    }
}

impl Counter {
    pub(crate) fn is_of(&self, group: &str) -> bool {
        self.name.split_once('.').is_some_and(|(own, _)| own == group)
    }

    pub(crate) fn is_zero(&self) -> bool {
        match &self.count {
            Count::Total(value) => *value == 0,
            Count::Gauge(value) => *value <= 0,
            Count::Series(series) => series.is_empty(),
        }
    }
}

impl Count {
    fn add(&mut self, other: Count) {
        match (self, other) {
            (Count::Total(value), Count::Total(more)) => *value = value.saturating_add(more),
            (Count::Gauge(value), Count::Gauge(more)) => *value = value.saturating_add(more),
            (Count::Series(known), Count::Series(more)) => {
                for (label, value) in more {
                    match known.iter_mut().find(|(other, _)| *other == label) {
                        Some((_, sum)) => *sum = sum.saturating_add(value),
                        None => known.push((label, value)),
                    }
                }
            }
            _ => {}
        }
    }
}

/// The user that this program runs for. (A process's folder belongs to its effective user.)
fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|folder| folder.uid())
}

fn is_page(path: &Path) -> bool {
    let name = layout::FILE.to_string_lossy();
    path.to_string_lossy().strip_prefix("/memfd:").and_then(|rest| rest.strip_prefix(&*name))
        == Some(" (deleted)")
}

/// What the process calls itself: a number of the innermost PID namespace.
fn inner_number(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// The page behind a descriptor, if it is one of this user's, and which file that is.
fn open(path: PathBuf) -> io::Result<(u64, Vec<u8>)> {
    let file = File::open(path)?;
    let status = file.metadata()?;
    let is_own = own_user().is_some_and(|user| user == 0 || user == status.uid());
    if !is_own || status.mode() & 0o077 != 0 || !status.is_file() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    file.take(LONGEST as u64).read_to_end(&mut bytes)?;
    Ok((status.ino(), bytes))
}

fn by_descriptors(process: u32) -> io::Result<Vec<Vec<u8>>> {
    let (mut seen, mut pages) = (BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(format!("/proc/{process}/fd"))?.flatten() {
        if fs::read_link(entry.path()).is_ok_and(|target| is_page(&target)) {
            if let Ok((file, bytes)) = open(entry.path()) {
                if seen.insert(file) {
                    pages.push(bytes);
                }
            }
        }
    }
    Ok(pages)
}

/// Of a program that has closed all descriptors, and not used the library since: its memory. Where only
/// descendants may be traced (Yama), this is not permitted.
fn by_memory(process: u32) -> io::Result<Vec<Vec<u8>>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let mut pages = Vec::new();
    for line in maps.lines() {
        let mut words = line.splitn(6, ' ');
        let (range, path) = (words.next().unwrap_or_default(), words.last().unwrap_or_default());
        if !is_page(Path::new(path.trim_start())) {
            continue;
        }
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let ends = range.split_once('-').and_then(|(from, to)| Some((number(from)?, number(to)?)));
        let Some((from, to)) = ends.filter(|(from, to)| from < to) else { continue };
        let mut bytes = vec![0; ((to - from) as usize).min(LONGEST)];
        File::open(format!("/proc/{process}/mem"))?.read_exact_at(&mut bytes, from)?;
        pages.push(bytes);
    }
    Ok(pages)
}

/// What a process has counted; None where it does not count.
pub(crate) fn of_process(process: u32) -> io::Result<Option<Counters>> {
    let mut pages = by_descriptors(process)?;
    if pages.is_empty() {
        pages = by_memory(process)?;
    }
    let own = inner_number(process);
    // A child before exec has its parent's page.
    let mut all = pages
        .iter()
        .filter_map(|bytes| parse(bytes))
        .filter(|page| own.is_none_or(|own| own == page.process));
    let first = all.next();
    Ok(first.map(|mut first| {
        all.for_each(|page| first.add(page));
        first
    }))
}

/// All processes of this user that count; of all users, for root.
pub(crate) fn processes() -> Vec<(u32, Counters)> {
    let user = own_user();
    let is_own = |process: &u32| {
        let folder = fs::metadata(format!("/proc/{process}"));
        user == Some(0) || folder.is_ok_and(|folder| Some(folder.uid()) == user)
    };
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> =
        numbers.filter(|process| *process != std::process::id()).filter(is_own).collect();
    numbers.sort_unstable();
    numbers.into_iter().filter_map(|process| Some((process, of_process(process).ok()??))).collect()
}

/// The program of a process.
pub(crate) fn program(process: u32) -> String {
    let name = fs::read(format!("/proc/{process}/comm")).unwrap_or_default();
    printable(name.trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: u32, offset: u32, size: u32, longer: usize) -> Vec<u8> {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(layout::NAME, 0);
        for number in [kind, offset, size, 0] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        bytes.resize(bytes.len() + longer, 0xAA);
        bytes
    }

    /// A page of a later library: longer header and entries, other counters, a kind that is not known.
    fn later() -> Vec<u8> {
        let longer = 24;
        let header_size = 40 + longer;
        let entry_size = 64 + longer;
        let first = (header_size + 4 * entry_size) as u32;
        let mut bytes = MAGIC.to_vec();
        let page_size = first + 8 + 8 + 32 + 8;
        for number in [7, header_size as u32, entry_size as u32, 4, page_size, 4242] {
            bytes.extend_from_slice(&u32::to_ne_bytes(number));
        }
        bytes.extend_from_slice(&99_u64.to_ne_bytes());
        bytes.resize(header_size, 0xAA);
        bytes.extend(entry("new.sent\x1b[2J", TOTAL, first, 8, longer));
        bytes.extend(entry("new.shape", 77, first + 8, 8, longer));
        bytes.extend(entry("new.failed", ERRNOS, first + 16, 32, longer));
        bytes.extend(entry("new.now", GAUGE, first + 48, 8, longer));
        for word in [5, 6, KEY | libc::EPIPE as u64, 2, OTHERS, 3, u64::MAX] {
            bytes.extend_from_slice(&u64::to_ne_bytes(word));
        }
        bytes
    }

    fn page() -> Counters {
        let none = Counters { version: 0, process: 0, since: 0, all: Vec::new() };
        parse(&later()).unwrap_or(none)
    }

    #[test]
    fn a_page_of_a_later_library_is_read_by_its_table() {
        let page = page();
        let failed = vec![("EPIPE".to_owned(), 2), ("others".to_owned(), 3)];
        let wanted = [
            ("new.sent?[2J", Count::Total(5)),
            ("new.failed", Count::Series(failed)),
            ("new.now", Count::Gauge(-1)),
        ];
        let wanted: Vec<Counter> =
            wanted.map(|(name, count)| Counter { name: name.to_owned(), count }).into();
        assert_eq!((page.version, page.process, page.since), (7, 4242, 99));
        assert_eq!(page.all, wanted);
    }

    #[test]
    fn no_bytes_are_too_short_or_too_wrong() {
        let whole = later();
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_none(), "{length}");
        }
        for at in 8..whole.len() {
            for value in [0, 0x7F, 0xFF] {
                let mut wrong = whole.clone();
                wrong[at] = value;
                let _ = parse(&wrong);
            }
        }
    }

    #[test]
    fn pages_of_one_process_are_added_by_name() {
        let (mut sum, other) = (page(), page());
        sum.add(other);
        assert_eq!((sum.number("new.sent?[2J"), sum.number("new.now")), (10, -2));
        let failed = vec![("EPIPE".to_owned(), 4), ("others".to_owned(), 6)];
        assert_eq!(sum.all[1].count, Count::Series(failed));
    }
}
