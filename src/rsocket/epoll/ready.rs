//! The ready list of a set, and the signal that wakes who waits for it.
//!
//! An entry is on the list at most once. It is taken off before it is looked at, so that what changes
//! after the look puts it on again. Whenever nobody is in `visit`, or between `put_quietly` and it, the
//! signal is up exactly while the list has entries.

use crate::error::{Errno, Result};
use crate::sync::{AtomicBool, Mutex, Ordering};
use std::collections::VecDeque;
use std::sync::Arc;

/// What waiters see while there are entries.
pub(super) trait Signal {
    fn raise(&self);
    fn lower(&self);
}

/// Something that can be on a ready list.
pub(super) trait Entry {
    /// It is on the list, or on its way there.
    fn listed(&self) -> &AtomicBool;
}

/// See the module text.
pub(super) struct ReadyList<T, S> {
    list: Mutex<List<T>>,
    signal: S,
}

struct List<T> {
    entries: VecDeque<Arc<T>>,
    is_raised: bool,
}

impl<T: Entry, S: Signal> ReadyList<T, S> {
    pub(super) fn new(signal: S) -> ReadyList<T, S> {
        ReadyList { list: Mutex::new(List { entries: VecDeque::new(), is_raised: false }), signal }
    }

    pub(super) fn signal(&self) -> &S {
        &self.signal
    }

    /// Makes room for so many entries that are not on the list, so that `put` needs no memory.
    pub(super) fn reserve(&self, count: usize) -> Result<()> {
        self.list.lock().entries.try_reserve(count).map_err(|_| Errno::ENOMEM)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.lock().entries.is_empty()
    }

    /// Puts an entry on the list and wakes.
    pub(super) fn put(&self, entry: Arc<T>) {
        if entry.listed().swap(true, Ordering::AcqRel) {
            return;
        }
        let mut list = self.list.lock();
        list.entries.push_back(entry);
        self.settle(&mut list);
    }

    /// Puts an entry on the list for a `visit` of this thread, which follows.
    pub(super) fn put_quietly(&self, entry: Arc<T>) {
        if !entry.listed().swap(true, Ordering::AcqRel) {
            self.list.lock().entries.push_back(entry);
        }
    }

    /// Shows each entry to `look` once, as long as that wants more; those that it wants to stay go to
    /// the end of the list.
    pub(super) fn visit(&self, mut look: impl FnMut(&Arc<T>) -> Verdict) {
        let mut left = self.list.lock().entries.len();
        while left > 0 {
            left -= 1;
            let Some(entry) = self.list.lock().entries.pop_front() else { break };
            entry.listed().store(false, Ordering::Release);
            let verdict = look(&entry);
            if verdict.stays {
                self.put_quietly(entry);
            }
            if verdict.enough {
                break;
            }
        }
        self.settle(&mut self.list.lock());
    }

    fn settle(&self, list: &mut List<T>) {
        let is_wanted = !list.entries.is_empty();
        if is_wanted != list.is_raised {
            list.is_raised = is_wanted;
            if is_wanted {
                self.signal.raise();
            } else {
                self.signal.lower();
            }
        }
    }
}

/// What a look at an entry came to.
pub(super) struct Verdict {
    /// It is to be looked at again without a change.
    pub(super) stays: bool,
    /// The others wait for their turn.
    pub(super) enough: bool,
}
