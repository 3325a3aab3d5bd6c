// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The life of an id or an rsocket in the trace (`base::trace`): a lane, in which its phases are slices.
//! An rsocket shares the lane of its id. docs/trace.md has the names.
//!
//! Everything here costs a look and a branch where there is no trace.

use crate::types::SocketAddress;
use base::errno::{Errno, Result};
use base::fork::generation;
use base::lock::{Mutex, MutexGuard};
use base::time::Instant;
use base::trace::{self, Field, Value, is_on};
use core::fmt;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering};
use core::time::Duration;

/// What an id does, or waits for; one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    ResolveAddress = 1,
    ResolveRoute,
    Connect,
    Accept,
    Established,
    Listen,
    Disconnect,
    Close,
}

const PHASES: [&str; 9] = [
    "",
    "resolve address",
    "resolve route",
    "connect",
    "accept",
    "established",
    "listen",
    "disconnect",
    "close",
];

/// What a lane is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Id,
    Stream,
    Datagram,
}

const KINDS: [&str; 3] = ["id", "rsocket", "datagram rsocket"];

/// See the module text. An object without a number is not in the trace.
#[derive(Default)]
pub(crate) struct Lane {
    number: AtomicU32,
    /// The process in whose trace it is, as `fork::generation`.
    generation: AtomicU32,
    /// The kernel's number of an id, or the descriptor of an rsocket.
    known_as: AtomicI32,
    kind: AtomicU8,
    /// The phase that has not ended; 0 for none.
    phase: AtomicU8,
}

/// As the lane is called.
struct Label(u8, i32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", KINDS.get(usize::from(self.0)).unwrap_or(&""), self.1)
    }
}

fn phase_name(phase: u8) -> &'static str {
    PHASES.get(usize::from(phase)).copied().unwrap_or_default()
}

/// A change of phase and its records are one: threads of one connection may both change it. Who is
/// interrupted with the lock by a signal, whose handler does so too, is not waited for long.
fn one_at_a_time() -> Option<MutexGuard<'static, ()>> {
    static CHANGING: Mutex<()> = Mutex::new(());
    const LIMIT: Duration = Duration::from_millis(50);
    CHANGING.try_lock_for(LIMIT)
}

impl Lane {
    fn number(&self) -> Option<u64> {
        match self.number.load(Ordering::Relaxed) {
            0 => None,
            number => {
                let is_here = self.generation.load(Ordering::Relaxed) == generation();
                is_here.then_some(number.into())
            }
        }
    }

    fn label(&self) -> Label {
        Label(self.kind.load(Ordering::Relaxed), self.known_as.load(Ordering::Relaxed))
    }

    /// The object has been made.
    #[inline]
    pub(crate) fn begin(&self, kind: Kind, known_as: i32, fields: &[Field<'_>]) {
        if is_on() {
            self.begin_traced(kind, known_as, fields);
        }
    }

    #[cold]
    fn begin_traced(&self, kind: Kind, known_as: i32, fields: &[Field<'_>]) {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.known_as.store(known_as, Ordering::Relaxed);
        self.kind.store(kind as u8, Ordering::Relaxed);
        self.generation.store(generation(), Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        trace::begin(number.into(), &self.label(), fields);
    }

    /// The object is gone.
    #[inline]
    pub(crate) fn end(&self) {
        if is_on() {
            self.end_traced();
        }
    }

    #[cold]
    fn end_traced(&self) {
        let _one = one_at_a_time();
        self.end_phase(&[]);
        if let Some(number) = self.number() {
            self.number.store(0, Ordering::Relaxed);
            trace::end(number, &self.label(), &[]);
        }
    }

    /// A phase begins, and the one before ends. To be called before what begins it is sent: another
    /// thread may fetch its end.
    #[inline]
    pub(crate) fn enter(&self, phase: Phase, fields: &[Field<'_>]) {
        if is_on() {
            self.enter_traced(phase, fields);
        }
    }

    #[cold]
    fn enter_traced(&self, phase: Phase, fields: &[Field<'_>]) {
        if let Some(number) = self.number() {
            let _one = one_at_a_time();
            self.end_phase(&[]);
            self.phase.store(phase as u8, Ordering::Relaxed);
            trace::begin(number, &phase_name(phase as u8), fields);
        }
    }

    /// The phase ends, if there is one.
    #[inline]
    pub(crate) fn leave(&self, fields: &[Field<'_>]) {
        if is_on() {
            self.leave_traced(fields);
        }
    }

    #[cold]
    fn leave_traced(&self, fields: &[Field<'_>]) {
        let _one = one_at_a_time();
        self.end_phase(fields);
    }

    fn end_phase(&self, fields: &[Field<'_>]) {
        let phase = self.phase.swap(0, Ordering::Relaxed);
        if let (Some(number), 1..) = (self.number(), phase) {
            trace::end(number, &phase_name(phase), fields);
        }
    }

    pub(crate) fn is_in(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::Relaxed) == phase as u8
    }

    /// A moment.
    #[inline]
    pub(crate) fn mark(&self, name: &'static str, fields: &[Field<'_>]) {
        if is_on() {
            if let Some(number) = self.number() {
                trace::mark(number, &name, fields);
            }
        }
    }

    /// The preload library's program knows the rsocket by another descriptor.
    pub(crate) fn is_beside(&self, descriptor: i32) {
        self.mark("carries", &[("descriptor", Value::Number(descriptor.into()))]);
    }

    /// What a thread has waited for on its behalf, with what had been moved by then.
    #[cold]
    pub(crate) fn waited(&self, since: Instant, name: &'static str, moved: Option<Moved>) {
        let Some(number) = self.number() else { return };
        let own = ("lane", Value::Lane(number));
        match moved {
            None => trace::span(since, &name, &[own]),
            Some(Moved { sent, received }) => {
                let number = |count: u64| Value::Number(count as i64);
                let fields = [own, ("sent", number(sent)), ("received", number(received))];
                trace::span(since, &name, &fields);
            }
        }
    }

    /// Another id goes on with the lane of one that is spent.
    pub(crate) fn take_over(&self, spent: &Lane) {
        let moved = Ordering::Relaxed;
        self.known_as.store(spent.known_as.load(moved), moved);
        self.kind.store(spent.kind.load(moved), moved);
        self.phase.store(spent.phase.swap(0, moved), moved);
        self.generation.store(spent.generation.load(moved), moved);
        self.number.store(spent.number.swap(0, moved), moved);
    }

    /// Not the lane of an rsocket: the program has the id. True in a fork's child, too.
    pub(crate) fn is_of_id(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
            && self.kind.load(Ordering::Relaxed) == Kind::Id as u8
    }
}

/// The beginning of a wait, where there is a trace.
#[inline]
pub(crate) fn wait_begins() -> Option<Instant> {
    if is_on() { Some(Instant::now()) } else { None }
}

/// What a thread has waited for in a call on several descriptors; the result of the wait.
#[cold]
pub(crate) fn waited_for(
    since: Instant,
    name: &'static str,
    count: usize,
    ready: Result<usize>,
) -> Result<usize> {
    let number = |count: usize| Value::Number(count as i64);
    let fields = [("descriptors", number(count)), ("ready", number(ready.unwrap_or(0)))];
    trace::span(since, &name, &fields);
    ready
}

/// An address as a value of the trace.
pub(crate) fn address(address: &SocketAddress) -> Value<'_> {
    Value::Text(address)
}

/// Why a phase ended at once.
pub(crate) fn failure(error: Errno) -> Field<'static> {
    ("errno", Value::Number(error.raw().into()))
}

/// Waits that are shorter are counted, and have no record of their own.
const SHORT: Duration = Duration::from_micros(10);

/// Bytes until a moment.
#[derive(Clone, Copy)]
pub(crate) struct Moved {
    sent: u64,
    received: u64,
}

/// What an rsocket has moved and waited for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    sent: u64,
    received: u64,
    sends: u64,
    receives: u64,
    /// Messages of the connection, in both directions: each is one completion.
    messages: u64,
    /// The flow's counters when they were last added.
    activity: (u16, u16),
    waits: u64,
    waited: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Traffic {
    /// A call has moved so many bytes.
    #[cold]
    pub(crate) fn count(&mut self, is_send: bool, bytes: usize) {
        let (calls, total) = match is_send {
            true => (&mut self.sends, &mut self.sent),
            false => (&mut self.receives, &mut self.received),
        };
        (*calls, *total) = (*calls + 1, *total + bytes as u64);
        if bytes > 0 {
            let now = Instant::now();
            self.first.get_or_insert(now);
            self.last = Some(now);
        }
    }

    /// A call has waited. What to record of it, where it was not short.
    pub(crate) fn count_wait(&mut self, since: Instant) -> Option<Moved> {
        let time = since.elapsed();
        self.waits += 1;
        self.waited += time;
        (time >= SHORT).then_some(Moved { sent: self.sent, received: self.received })
    }

    /// Counters of messages, which wrap: to be called now and then.
    pub(crate) fn note(&mut self, activity: (u16, u16)) {
        let more = |now: u16, before: u16| u64::from(now.wrapping_sub(before));
        self.messages += more(activity.0, self.activity.0) + more(activity.1, self.activity.1);
        self.activity = activity;
    }

    /// As fields of a record.
    pub(crate) fn with_fields<R>(&self, use_them: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let number = |count: u64| Value::Number(count as i64);
        let micros = |time: Duration| Value::Number(time.as_micros() as i64);
        let moved = match (self.first, self.last) {
            (Some(first), Some(last)) => last.duration_since(first),
            _ => Duration::ZERO,
        };
        use_them(&[
            ("sent", number(self.sent)),
            ("received", number(self.received)),
            ("sends", number(self.sends)),
            ("receives", number(self.receives)),
            ("completions", number(self.messages)),
            ("transfer_us", micros(moved)),
            ("waits", number(self.waits)),
            ("waited_us", micros(self.waited)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_wrap_are_added_up() {
        let mut traffic = Traffic::default();
        for round in 1..=200_u32 {
            traffic.note(((round * 1000) as u16, 7));
        }
        assert_eq!(traffic.messages, 200_007);
    }

    #[test]
    fn phases_and_kinds_have_names() {
        assert_eq!(phase_name(Phase::ResolveAddress as u8), "resolve address");
        assert_eq!(phase_name(Phase::Close as u8), "close");
        assert_eq!(Label(Kind::Datagram as u8, 7).to_string(), "datagram rsocket 7");
    }

    #[test]
    fn without_a_trace_nothing_has_a_number() {
        let lane = Lane::default();
        lane.begin(Kind::Id, 5, &[]);
        lane.enter(Phase::Connect, &[]);
        assert!(lane.number().is_none() && !lane.is_in(Phase::Connect) && !lane.is_of_id());
    }
}
