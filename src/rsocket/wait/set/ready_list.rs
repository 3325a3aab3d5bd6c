// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The ready list of a set, and the signal that wakes those who wait for it.
//!
//! An entry is on the list at most once. It is taken off before it is visited, so that what changes
//! after the visit puts it on again. Whenever nobody is in `visit`, or between `put_unannounced`
//! and it, the signal is up exactly while the list has entries.

use alloc::collections::VecDeque;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::sync::{AtomicBool, Mutex, MutexGuard, Ordering};

/// What waiters see while there are entries.
pub(crate) trait Signal {
    fn raise(&self);
    fn lower(&self);
}

/// Something that can be on a ready list.
pub(crate) trait Entry {
    /// It is on the list, or being put there.
    fn listed(&self) -> &AtomicBool;
}

/// See the module text.
pub(crate) struct ReadyList<T, S> {
    list: Mutex<List<T>>,
    signal: S,
}

struct List<T> {
    entries: VecDeque<Arc<T>>,
    is_raised: bool,
}

impl<T: Entry, S: Signal> ReadyList<T, S> {
    pub(crate) fn new(signal: S) -> ReadyList<T, S> {
        ReadyList { list: Mutex::new(List { entries: VecDeque::new(), is_raised: false }), signal }
    }

    pub(crate) fn signal(&self) -> &S {
        &self.signal
    }

    /// Makes room for so many entries that are not on the list, so that `put` needs no memory.
    pub(crate) fn reserve(&self, count: usize) -> Result<()> {
        self.list.lock().entries.try_reserve(count).map_err(|_| Errno::ENOMEM)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.lock().entries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.lock().entries.len()
    }

    /// Puts an entry on the list and wakes.
    pub(crate) fn put(&self, entry: Arc<T>) {
        if entry.listed().swap(true, Ordering::AcqRel) {
            return;
        }
        let mut list = self.list.lock();
        list.entries.push_back(entry);
        self.settle(&mut list);
    }

    /// Puts an entry on the list for a `visit` of this thread, which follows.
    pub(crate) fn put_unannounced(&self, entry: Arc<T>) {
        if !entry.listed().swap(true, Ordering::AcqRel) {
            self.list.lock().entries.push_back(entry);
        }
    }

    /// Wakes for what was put there unannounced and is not visited.
    pub(crate) fn announce(&self) {
        self.settle(&mut self.list.lock());
    }

    /// Shows each entry to `each` once, as long as that wants more; those that it wants to stay go
    /// to the end of the list.
    pub(crate) fn visit(&self, each: impl FnMut(&Arc<T>) -> Verdict) {
        let mut list = self.show(each);
        self.settle(&mut list);
    }

    /// `visit` for a list that only one thread waits for, and only when nothing stayed: the signal
    /// is up for what others put there since, and comes down once for each visit.
    pub(crate) fn visit_own(&self, each: impl FnMut(&Arc<T>) -> Verdict) {
        {
            // First, or what is put there during the visit would have no signal.
            let mut list = self.list.lock();
            if core::mem::take(&mut list.is_raised) {
                self.signal.lower();
            }
        }
        drop(self.show(each));
    }

    /// The list comes back locked.
    fn show(&self, mut each: impl FnMut(&Arc<T>) -> Verdict) -> MutexGuard<'_, List<T>> {
        let mut list = self.list.lock();
        for _ in 0..list.entries.len() {
            let Some(entry) = list.entries.pop_front() else { break };
            drop(list);
            entry.listed().store(false, Ordering::Release);
            let verdict = each(&entry);
            list = self.list.lock();
            if verdict.stays && !entry.listed().swap(true, Ordering::AcqRel) {
                list.entries.push_back(entry);
            }
            if verdict.enough {
                break;
            }
        }
        list
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

/// What becomes of a visited entry.
pub(crate) struct Verdict {
    /// It is to be visited again without a change.
    pub(crate) stays: bool,
    /// The others wait for their turn.
    pub(crate) enough: bool,
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use alloc::sync::Arc as Shared;
    use loom::thread;

    struct Flag(AtomicBool);

    impl Signal for Flag {
        fn raise(&self) {
            self.0.store(true, Ordering::SeqCst);
        }

        fn lower(&self) {
            self.0.store(false, Ordering::SeqCst);
        }
    }

    /// A socket with so many bytes, and whether it is on the list.
    struct Socket {
        listed: AtomicBool,
        unread: Mutex<u32>,
    }

    impl Entry for Socket {
        fn listed(&self) -> &AtomicBool {
            &self.listed
        }
    }

    type Model = ReadyList<Socket, Flag>;

    fn socket() -> Arc<Socket> {
        let socket = Socket { listed: AtomicBool::new(false), unread: Mutex::new(0) };
        Arc::try_new(socket).unwrap_or_else(|_| unreachable!("no memory"))
    }

    fn arrive(list: &Model, socket: &Arc<Socket>) {
        *socket.unread.lock() += 1;
        list.put(socket.clone());
    }

    /// Reads what there is of each socket, or leaves it there.
    fn visit(list: &Model, reads: bool) -> u32 {
        let mut read = 0;
        list.visit(|socket| {
            let mut unread = socket.unread.lock();
            let stays = *unread > 0 && !reads;
            read += if reads { core::mem::take(&mut *unread) } else { 0 };
            Verdict { stays, enough: false }
        });
        read
    }

    /// What has bytes is on the list, and whoever sleeps sees the signal; an empty list has none.
    fn check(list: &Model, sockets: &[Arc<Socket>]) {
        let unread = sockets.iter().any(|socket| *socket.unread.lock() > 0);
        assert!(!unread || !list.is_empty());
        assert_eq!(list.signal().0.load(Ordering::SeqCst), !list.is_empty());
    }

    #[test]
    fn loom_what_arrives_during_a_visit_is_not_lost() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let list = Shared::new(ReadyList::new(Flag(AtomicBool::new(false))));
            let sockets = [socket(), socket()];
            let producer = {
                let (list, sockets) = (Shared::clone(&list), sockets.clone());
                thread::spawn(move || {
                    arrive(&list, &sockets[0]);
                    arrive(&list, &sockets[1]);
                })
            };
            let other = {
                let (list, socket) = (Shared::clone(&list), sockets[0].clone());
                thread::spawn(move || arrive(&list, &socket))
            };
            let first = visit(&list, true);
            assert!(producer.join().is_ok() && other.join().is_ok());
            check(&list, &sockets);
            assert_eq!(first + visit(&list, true), 3);
            check(&list, &sockets);
        });
    }

    #[test]
    fn loom_who_has_a_list_to_himself_is_woken() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let list = Shared::new(ReadyList::new(Flag(AtomicBool::new(false))));
            let sockets = [socket(), socket()];
            let producers = [0, 1].map(|which| {
                let (list, socket) = (Shared::clone(&list), sockets[which].clone());
                thread::spawn(move || arrive(&list, &socket))
            });
            let mut read = 0;
            for _ in 0..2 {
                list.visit_own(|socket| {
                    read += core::mem::take(&mut *socket.unread.lock());
                    Verdict { stays: false, enough: false }
                });
            }
            for producer in producers {
                assert!(producer.join().is_ok());
            }
            // A sleep that starts now ends at once, if there is anything to read.
            assert!(read == 2 || list.signal().0.load(Ordering::SeqCst));
            list.visit_own(|socket| {
                read += core::mem::take(&mut *socket.unread.lock());
                Verdict { stays: false, enough: false }
            });
            assert_eq!(read, 2);
        });
    }

    #[test]
    fn loom_two_waiters_of_one_set() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let list = Shared::new(ReadyList::new(Flag(AtomicBool::new(false))));
            let sockets = [socket()];
            let waiter = {
                let list = Shared::clone(&list);
                thread::spawn(move || visit(&list, true))
            };
            let visitor = {
                let list = Shared::clone(&list);
                thread::spawn(move || visit(&list, false))
            };
            arrive(&list, &sockets[0]);
            let read = waiter.join().unwrap_or(0);
            assert!(visitor.join().is_ok());
            check(&list, &sockets);
            assert_eq!(read + visit(&list, true), 1);
        });
    }
}
