//! Whether a completion queue was asked for an event that has not been seen yet.
//!
//! A sleeper asks, looks once more, and sleeps on the descriptor of the events. What woke it is left
//! there while it uses what has come: the event is taken before the next one is asked for, when nobody
//! waits for an answer. Any thread may take it; who does wakes the others, who saw it too, or slept
//! through it.

use crate::error::Result;
use crate::verbs::CompletionQueue;

/// What tells of completions.
pub(super) trait Notifier {
    /// Asks for an event with the next completion.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Asked,
    /// Something has come since: the event waits, or is about to. Only a guess, because what came may
    /// have been there before the question.
    Due,
}

/// See the module text.
#[derive(Default)]
pub(super) struct Armed(State);

impl Armed {
    /// Asks, if that has not been done; a look must follow before any sleep.
    pub(super) fn arm(&mut self, queue: &impl Notifier) -> Result<()> {
        if self.0 == State::Idle {
            queue.arm()?;
            self.0 = State::Asked;
        }
        Ok(())
    }

    pub(super) fn is_armed(&self) -> bool {
        self.0 != State::Idle
    }

    /// Something has come.
    #[inline]
    pub(super) fn expect_event(&mut self) {
        if self.0 == State::Asked {
            self.0 = State::Due;
        }
    }

    /// Takes the event that is due. False when there is none, or not yet.
    pub(super) fn take_due(&mut self, queue: &impl Notifier) -> bool {
        self.0 == State::Due && self.take_event(queue)
    }

    /// Takes the event. False when there is none: another thread was first.
    pub(super) fn take_event(&mut self, queue: &impl Notifier) -> bool {
        let taken = queue.take_event().is_ok();
        self.0 = match self.0 {
            State::Asked | State::Due if !taken => State::Asked,
            _ => State::Idle,
        };
        taken
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use crate::error::Errno;
    use loom::sync::{Condvar, Mutex};
    use loom::thread;
    use std::sync::Arc;

    const SLEEPERS: usize = 2;

    /// The device, its event channel, and the descriptors that sleepers have: one lock, one bell.
    #[derive(Default)]
    struct World {
        completions: u32,
        is_armed: bool,
        events: u32,
        woken: [bool; SLEEPERS],
    }

    struct Model {
        world: Mutex<World>,
        bell: Condvar,
        /// The socket: what was asked for, and what has arrived.
        socket: Mutex<(Armed, u32)>,
    }

    impl Model {
        fn world<R>(&self, change: impl FnOnce(&mut World) -> R) -> R {
            let result = change(&mut self.world.lock().unwrap_or_else(|_| unreachable!()));
            self.bell.notify_all();
            result
        }

        fn socket<R>(&self, then: impl FnOnce(&mut (Armed, u32)) -> R) -> R {
            then(&mut self.socket.lock().unwrap_or_else(|_| unreachable!()))
        }

        fn complete(&self) {
            self.world(|world| {
                world.completions += 1;
                world.events += u32::from(std::mem::take(&mut world.is_armed));
            });
        }

        /// Whether there is a message for this sleeper.
        fn look(&self) -> bool {
            self.socket(|(armed, arrived)| {
                let found = self.world(|world| std::mem::take(&mut world.completions));
                if found > 0 {
                    armed.expect_event();
                }
                *arrived += found;
                arrived.checked_sub(1).map(|left| *arrived = left).is_some()
            })
        }

        /// Takes the event that is due and wakes the others.
        fn take_due(&self, own: usize) -> bool {
            self.socket(|(armed, _)| {
                let taken = armed.take_due(self);
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

        /// As `waiting::sleep_until`: arms, looks, sleeps until there is a message for this sleeper.
        fn receive(&self, own: usize) {
            loop {
                if self.take_due(own) && self.look() {
                    return;
                }
                self.socket(|(armed, _)| assert!(armed.arm(self).is_ok()));
                if self.look() {
                    return;
                }
                let mut world = self.world.lock().unwrap_or_else(|_| unreachable!());
                while world.events == 0 && !world.woken[own] {
                    world = self.bell.wait(world).unwrap_or_else(|_| unreachable!());
                }
                world.woken[own] = false;
                let has_event = world.events > 0;
                drop(world);
                if has_event {
                    self.socket(|(armed, _)| armed.expect_event());
                }
                if self.look() {
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

    /// Two sleep, two messages come: whoever takes which event, both wake. (A sleeper that does not is a
    /// deadlock, which loom reports.)
    #[test]
    fn loom_no_sleeper_misses_its_message() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let model = Arc::new(Model {
                world: Mutex::default(),
                bell: Condvar::new(),
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
