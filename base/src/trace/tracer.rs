// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The buffers of the process, and the thread that writes them.
//!
//! Calls fill one buffer while the thread writes the other, so that no call waits for a disk. The lock is
//! held for the few steps of a record; who does not get it in time (a signal handler may have interrupted
//! its holder) loses the record, which is counted.
//!
//! A fork's child has buffers, a thread and a file of its own where `%p` is in the name, and says nothing
//! where it is not.

use super::file::TraceFile;
use super::record::{Kind, Record, Room, Value};
use crate::deadline::Deadline;
use crate::errno::{Errno, Result, preserve_errno};
use crate::fd::read_start;
use crate::fork::generation;
use crate::lock::{Condvar, Mutex, MutexGuard};
use crate::memory::try_vec;
use crate::once::OnceLock;
use crate::output::{Name, process, thread};
use crate::per_thread::ThreadNumber;
use crate::thread::{current_name, spawn_small, text_of};
use crate::time::Instant;
use crate::{log, settings};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// Bytes of one buffer: some five thousand records.
const SIZE: usize = 1 << 20;
/// The end of a buffer is for records about the trace itself.
const RESERVE: usize = 2048;
/// So much wakes the thread at once; less may wait a moment for more.
const MUCH: usize = SIZE / 4;
const MOMENT: Duration = Duration::from_millis(20);
/// Between two attempts to write to a disk that refuses.
const PAUSE: Duration = Duration::from_millis(200);
/// Who has the lock has it for microseconds, unless it does not run or is interrupted.
const LOCK_LIMIT: Duration = Duration::from_millis(50);
/// How long the end of the process waits for the disk.
const END_LIMIT: Duration = Duration::from_secs(2);
const STACK_SIZE: usize = 64 << 10;

struct Tracer {
    /// The process that the rest is of, as `fork::generation`; zero before the first record.
    generation: u32,
    process: i32,
    filled: Vec<u8>,
    /// What has to be written first, or nothing; the thread has it while it writes.
    other: Vec<u8>,
    has_buffers: bool,
    file: Option<TraceFile>,
    has_begun: bool,
    has_writer: bool,
    /// No record follows.
    ends: bool,
    /// All that could be is written.
    is_done: bool,
}

static NAME: OnceLock<Option<Name>> = OnceLock::new();
/// The generation that loaded the library.
static FIRST: OnceLock<u32> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);
/// The generation in whose file the calling thread has its name.
static NAMED: ThreadNumber = ThreadNumber::new();
static CHANGED: Condvar = Condvar::new();
static TRACER: Mutex<Tracer> = Mutex::new(Tracer {
    generation: 0,
    process: 0,
    filled: Vec::new(),
    other: Vec::new(),
    has_buffers: false,
    file: None,
    has_begun: false,
    has_writer: false,
    ends: false,
    is_done: false,
});

type Guard = MutexGuard<'static, Tracer>;

/// To be called when the library that traces is loaded. Programs with more rights than their user write
/// nothing.
pub fn start() {
    if NAME.get_or_init(|| Name::read(settings::TRACE.name)).is_some() {
        log::prepare();
        FIRST.get_or_init(generation);
        log::set_traced(true);
    }
}

fn name() -> Option<&'static Name> {
    NAME.get()?.as_ref()
}

fn lose() {
    LOST.fetch_add(1, Ordering::Relaxed);
}

/// errno stays as it was.
#[inline(never)]
pub(super) fn put(record: &Record<'_>) {
    preserve_errno(|| match TRACER.try_lock_for(LOCK_LIMIT) {
        Some(mut tracer) => {
            if tracer.prepare() {
                let before = tracer.filled.len();
                tracer.put(record);
                tracer.wake_writer(before);
            }
        }
        None => lose(),
    });
}

/// At the end of the process: writes what is left, in bounded time.
pub fn finish() {
    if !log::is_traced() {
        return;
    }
    let Some(mut tracer) = TRACER.try_lock_for(LOCK_LIMIT) else { return };
    // A child that has said nothing has nothing to end.
    if tracer.generation != generation() || tracer.process != process() || !tracer.has_begun {
        return;
    }
    tracer.end();
    let until = Deadline::after(END_LIMIT);
    if !tracer.has_writer {
        return write(&mut tracer);
    }
    CHANGED.notify_all();
    while !tracer.is_done && !until.has_passed() {
        CHANGED.wait_until(&mut tracer, until);
    }
}

impl Tracer {
    /// Whether a record may follow.
    fn prepare(&mut self) -> bool {
        if self.generation != generation() && !self.begin_process() {
            return false;
        }
        if self.ends {
            return false;
        }
        if !self.has_buffers {
            let (Ok(filled), Ok(other)) = (try_vec(SIZE), try_vec(SIZE)) else {
                lose();
                return false;
            };
            (self.filled, self.other, self.has_buffers) = (filled, other, true);
        }
        true
    }

    /// The first record of a process. What is there is the parent's, and may be changed by half.
    #[cold]
    fn begin_process(&mut self) -> bool {
        let is_first = FIRST.get() == Some(&generation());
        if !is_first && !name().is_some_and(Name::is_per_process) {
            log::set_traced(false);
            return false;
        }
        if let Some(file) = self.file.take() {
            file.leave();
        }
        core::mem::forget(core::mem::take(&mut self.filled));
        core::mem::forget(core::mem::take(&mut self.other));
        LOST.store(0, Ordering::Relaxed);
        (self.has_buffers, self.has_begun, self.has_writer) = (false, false, false);
        (self.ends, self.is_done) = (false, false);
        (self.generation, self.process) = (generation(), process());
        true
    }

    fn put(&mut self, record: &Record<'_>) {
        let now = Instant::now();
        if !self.has_begun {
            self.begin_file(now);
        }
        if NAMED.get() != self.generation as usize && self.name_thread(now) {
            NAMED.set(self.generation as usize);
        }
        self.tell_losses(now, SIZE - RESERVE);
        if !self.append(record, now, SIZE - RESERVE) {
            lose();
        }
    }

    /// Behind a comma, if another is before it.
    fn append(&mut self, record: &Record<'_>, now: Instant, limit: usize) -> bool {
        let before = self.filled.len();
        let separator: &[u8] = if self.has_begun { b",\n" } else { b"[\n" };
        if separator.len() > limit.saturating_sub(before) {
            return false;
        }
        self.filled.extend_from_slice(separator);
        let room = Room { bytes: &mut self.filled, limit };
        let is_whole = record.append(room, now, self.process, thread());
        if is_whole {
            self.has_begun = true;
        } else {
            self.filled.truncate(before);
        }
        is_whole
    }

    #[cold]
    fn begin_file(&mut self, now: Instant) {
        let mut place = [0; 16];
        let program = read_start(c"/proc/self/comm", &mut place).map_or("", |name| text_of(name));
        let fields = [("name", Value::Text(&program))];
        self.append(
            &Record { kind: Kind::Meta, name: &"process_name", fields: &fields },
            now,
            SIZE,
        );
    }

    #[cold]
    fn name_thread(&mut self, now: Instant) -> bool {
        let mut place = [0; 16];
        let own = current_name(&mut place);
        let fields = [("name", Value::Text(&own))];
        let record = Record { kind: Kind::Meta, name: &"thread_name", fields: &fields };
        self.append(&record, now, SIZE - RESERVE)
    }

    fn tell_losses(&mut self, now: Instant, limit: usize) {
        let lost = LOST.load(Ordering::Relaxed);
        if lost == 0 {
            return;
        }
        let fields = [("count", Value::Number(lost as i64))];
        let record = Record { kind: Kind::Process, name: &"records lost", fields: &fields };
        if self.append(&record, now, limit) {
            LOST.fetch_sub(lost, Ordering::Relaxed);
        }
    }

    fn end(&mut self) {
        log::set_traced(false);
        if !self.ends {
            let now = Instant::now();
            self.tell_losses(now, SIZE);
            let record = Record { kind: Kind::Process, name: &"end of the trace", fields: &[] };
            self.append(&record, now, SIZE);
            self.filled.extend_from_slice(b"\n]\n");
            self.ends = true;
        }
    }

    /// With the first bytes, and when there are many.
    fn wake_writer(&mut self, before: usize) {
        if !self.has_writer {
            let own = self.generation;
            // Without a thread the next record tries again; the end writes what has found room.
            self.has_writer = spawn_small(c"rdmacm-trace", STACK_SIZE, move || run(own)).is_ok();
        }
        if before == 0 || (before < MUCH && self.filled.len() >= MUCH) {
            CHANGED.notify_all();
        }
    }
}

/// The thread of a process.
fn run(own: u32) {
    let mut tracer = TRACER.lock();
    while tracer.generation == own && !tracer.is_done {
        if tracer.filled.is_empty() && tracer.other.is_empty() && !tracer.ends {
            CHANGED.wait(&mut tracer);
            continue;
        }
        let until = Deadline::after(MOMENT);
        while tracer.filled.len() < MUCH && !tracer.ends && !until.has_passed() {
            CHANGED.wait_until(&mut tracer, until);
        }
        write(&mut tracer);
        if !tracer.other.is_empty() && !tracer.is_done {
            let until = Deadline::after(PAUSE);
            while !tracer.ends && !until.has_passed() {
                CHANGED.wait_until(&mut tracer, until);
            }
        }
    }
}

/// Writes what there is, without the lock.
fn write(tracer: &mut Guard) {
    let ends = tracer.ends;
    for _ in 0..2 {
        if tracer.other.is_empty() {
            let Tracer { filled, other, .. } = &mut **tracer;
            core::mem::swap(filled, other);
        }
        if tracer.other.is_empty() {
            break;
        }
        let batch = core::mem::take(&mut tracer.other);
        let (mut file, own) = (tracer.file, tracer.process);
        let (batch, written) = MutexGuard::unlocked(tracer, || {
            let written = write_batch(&mut file, own, &batch);
            (batch, written)
        });
        tracer.file = file;
        tracer.other = batch;
        match written {
            Ok(()) => tracer.other.clear(),
            Err(error) if tracer.file.is_none() => {
                refuse(error);
                tracer.ends = true;
                tracer.is_done = true;
            }
            Err(_) => break,
        }
    }
    tracer.is_done |= ends;
    CHANGED.notify_all();
}

fn write_batch(file: &mut Option<TraceFile>, own: i32, batch: &[u8]) -> Result<()> {
    let name = name().ok_or(Errno::ENOENT)?;
    if file.is_none() {
        *file = Some(TraceFile::create(name, own)?);
    }
    file.as_mut().ok_or(Errno::EIO)?.append(name, batch)
}

#[cold]
fn refuse(error: Errno) {
    log::set_traced(false);
    let reason = match error {
        Errno::EAGAIN => "another process writes the file: put %p into its name",
        Errno::EPERM => "it is no regular file of this user's own, or has another name",
        Errno::ENOENT => "its folder does not exist",
        Errno::EACCES => "this user may not write there",
        _ => "the file cannot be made",
    };
    if let Some(name) = name() {
        let file = name.of(process());
        log::insist(format_args!("no trace (RDMACM_TRACE) in {file}: {reason}: {error}"));
    }
}
