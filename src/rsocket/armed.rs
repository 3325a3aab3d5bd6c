//! Whether a completion queue was asked for an event that has not been seen yet.
//!
//! A sleeper asks, looks once more, and sleeps on the descriptor of the events. Any thread may take the
//! event; who takes it wakes the others, who saw it too, or slept through it.

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

/// See the module text.
#[derive(Default)]
pub(super) struct Armed(bool);

impl Armed {
    /// Asks, if that has not been done; a look must follow before any sleep.
    pub(super) fn arm(&mut self, queue: &impl Notifier) -> Result<()> {
        if !self.0 {
            queue.arm()?;
            self.0 = true;
        }
        Ok(())
    }

    pub(super) fn is_armed(&self) -> bool {
        self.0
    }

    /// Takes the event. False when there is none: another thread was first.
    pub(super) fn take_event(&mut self, queue: &impl Notifier) -> bool {
        let taken = queue.take_event().is_ok();
        self.0 &= !taken;
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

        /// As `waiting::sleep_until`: arms, looks, sleeps until there is a message for this sleeper.
        fn receive(&self, own: usize) {
            loop {
                self.socket(|(armed, _)| assert!(armed.arm(self).is_ok()));
                let got = self.socket(|(_, arrived)| {
                    *arrived += self.world(|world| std::mem::take(&mut world.completions));
                    arrived.checked_sub(1).map(|left| *arrived = left).is_some()
                });
                if got {
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
                    self.socket(|(armed, _)| {
                        if armed.take_event(self) {
                            self.world(|world| {
                                for (other, woken) in world.woken.iter_mut().enumerate() {
                                    *woken |= other != own;
                                }
                            });
                        }
                    });
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
