//! Locks of one word that the kernel waits on (futex(2)).
//!
//! Nothing is shared between two locks. Where sleepers stand in a list of the process, a fork's child
//! inherits the list but not the sleepers: its threads get their stacks, and whoever sleeps or wakes
//! next follows pointers into them.

mod mutex;
mod rw;

pub(crate) use mutex::{Condvar, Mutex, MutexGuard};
pub(crate) use rw::RwLock;
