// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Notification state of a completion queue (ibv_req_notify_cq).
//!
//! A sleeper arms the queue, polls once more, and sleeps on the descriptor of the events. The event
//! that woke it is left there while it uses what has completed: it is taken before the next one is
//! requested, when nobody waits for an answer. Any thread may take it; the one that does wakes the
//! others, which saw it too, or slept through it.

use crate::verbs::CompletionQueue;
use base::errno::Result;

/// What reports completions.
pub(crate) trait Notifier {
    /// Requests an event with the next completion.
    fn arm(&self) -> Result<()>;

    /// Takes an event, an error where there is none.
    fn take_event(&self) -> Result<()>;
}

impl Notifier for CompletionQueue {
    fn arm(&self) -> Result<()> {
        CompletionQueue::arm(self)
    }

    fn take_event(&self) -> Result<()> {
        CompletionQueue::take_event(self)
    }
}

/// See the module text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NotifyState {
    #[default]
    Idle,
    Armed,
    /// Something has completed since: the event is there, or about to be. Only a guess: it may have
    /// completed before the queue was armed.
    Due,
}

impl NotifyState {
    /// Requests an event, unless one is outstanding; the queue must be polled before any sleep.
    pub(crate) fn arm(&mut self, queue: &impl Notifier) -> Result<()> {
        if *self == NotifyState::Idle {
            queue.arm()?;
            *self = NotifyState::Armed;
        }
        Ok(())
    }

    pub(crate) fn is_armed(&self) -> bool {
        *self != NotifyState::Idle
    }

    /// Something has completed.
    #[inline]
    pub(crate) fn expect_event(&mut self) {
        if *self == NotifyState::Armed {
            *self = NotifyState::Due;
        }
    }

    pub(crate) fn is_due(&self) -> bool {
        *self == NotifyState::Due
    }

    /// The event was taken.
    pub(crate) fn taken(&mut self) {
        *self = NotifyState::Idle;
    }

    /// There was none.
    pub(crate) fn missed(&mut self) {
        if *self == NotifyState::Due {
            *self = NotifyState::Armed;
        }
    }

    /// Takes the event that is due. False when there is none, or not yet.
    pub(crate) fn take_due(&mut self, queue: &impl Notifier) -> bool {
        *self == NotifyState::Due && self.take_event(queue)
    }

    /// Takes the event. False when there is none: another thread was first.
    pub(crate) fn take_event(&mut self, queue: &impl Notifier) -> bool {
        let taken = queue.take_event().is_ok();
        *self = match *self {
            NotifyState::Armed | NotifyState::Due if !taken => NotifyState::Armed,
            _ => NotifyState::Idle,
        };
        taken
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use base::errno::Errno;
    use loom::sync::{Condvar, Mutex};
    use loom::thread;
    use std::sync::Arc;

    const SLEEPERS: usize = 2;

    /// The device, its event channel, and the descriptors that sleepers have: one lock, one
    /// condition.
    #[derive(Default)]
    struct World {
        completions: u32,
        is_armed: bool,
        events: u32,
        woken: [bool; SLEEPERS],
    }

    struct Model {
        world: Mutex<World>,
        changed: Condvar,
        /// The socket: what was requested, and what has arrived.
        socket: Mutex<(NotifyState, u32)>,
    }

    impl Model {
        fn world<R>(&self, change: impl FnOnce(&mut World) -> R) -> R {
            let result = change(&mut self.world.lock().unwrap_or_else(|_| unreachable!()));
            self.changed.notify_all();
            result
        }

        fn socket<R>(&self, then: impl FnOnce(&mut (NotifyState, u32)) -> R) -> R {
            then(&mut self.socket.lock().unwrap_or_else(|_| unreachable!()))
        }

        fn complete(&self) {
            self.world(|world| {
                world.completions += 1;
                world.events += u32::from(core::mem::take(&mut world.is_armed));
            });
        }

        /// Whether there is a message for this sleeper.
        fn poll(&self) -> bool {
            self.socket(|(notify, arrived)| {
                let found = self.world(|world| core::mem::take(&mut world.completions));
                if found > 0 {
                    notify.expect_event();
                }
                *arrived += found;
                arrived.checked_sub(1).map(|left| *arrived = left).is_some()
            })
        }

        /// Takes the event that is due and wakes the others.
        fn take_due(&self, own: usize) -> bool {
            self.socket(|(notify, _)| {
                let taken = notify.take_due(self);
                if taken {
                    self.world(|world| {
                        for (other, woken) in world.woken.iter_mut().enumerate() {
                            *woken |= other != own;
                        }
                    });
                }
                taken
            })
        }

        /// As `blocking::sleep_until`: arms, polls, sleeps until there is a message for this
        /// sleeper.
        fn receive(&self, own: usize) {
            loop {
                if self.take_due(own) && self.poll() {
                    return;
                }
                self.socket(|(notify, _)| assert!(notify.arm(self).is_ok()));
                if self.poll() {
                    return;
                }
                let mut world = self.world.lock().unwrap_or_else(|_| unreachable!());
                while world.events == 0 && !world.woken[own] {
                    world = self.changed.wait(world).unwrap_or_else(|_| unreachable!());
                }
                world.woken[own] = false;
                let has_event = world.events > 0;
                drop(world);
                if has_event {
                    self.socket(|(notify, _)| notify.expect_event());
                }
                if self.poll() {
                    return;
                }
            }
        }
    }

    impl Notifier for Model {
        fn arm(&self) -> Result<()> {
            self.world(|world| world.is_armed = true);
            Ok(())
        }

        fn take_event(&self) -> Result<()> {
            self.world(|world| {
                world.events = world.events.checked_sub(1).ok_or(Errno::EAGAIN)?;
                Ok(())
            })
        }
    }

    /// Two sleep, two messages come: whoever takes which event, both wake. (A sleeper that does not
    /// is a deadlock, which loom reports.)
    #[test]
    fn loom_no_sleeper_misses_its_message() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let model = Arc::new(Model {
                world: Mutex::default(),
                changed: Condvar::new(),
                socket: Mutex::default(),
            });
            let sleepers = [0, 1].map(|own| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.receive(own))
            });
            model.complete();
            model.complete();
            for sleeper in sleepers {
                assert!(sleeper.join().is_ok());
            }
        });
    }
}
