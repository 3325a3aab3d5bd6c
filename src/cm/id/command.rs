// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Commands about an id. What the kernel refuses goes to the log with the id and its addresses.

use super::cm_id::Id;
use crate::uapi::{self, Command, Query};
use base::because;
use base::errno::{Errno, Result};
use zerocopy::FromZeros;

impl Id {
    /// Sends a command without an answer.
    #[inline]
    pub(crate) fn send<C: Command>(&self, command: C) -> Result<()> {
        uapi::send(self.fd()?, command).map_err(|error| self.refused(C::NAME, error))
    }

    /// As `send`, for a large command, see `uapi::send_filled`. `fill` gives its own reasons.
    #[inline]
    pub(crate) fn send_filled<C: Command + FromZeros>(
        &self,
        fill: impl FnOnce(&mut C),
    ) -> Result<()> {
        let filled = |command: &mut C| {
            fill(command);
            Ok(())
        };
        uapi::send_filled(self.fd()?, filled).map_err(|error| self.refused(C::NAME, error))
    }

    /// Sends a command and returns its answer.
    #[inline]
    pub(crate) fn call<Q: Query>(&self, command: Q) -> Result<Q::Response> {
        uapi::call(self.fd()?, command).map_err(|error| self.refused(Q::NAME, error))
    }

    /// As `call`, for a large answer.
    #[inline]
    pub(crate) fn call_into<Q: Query>(&self, command: Q, answer: &mut Q::Response) -> Result<()> {
        uapi::call_into(self.fd()?, command, answer).map_err(|error| self.refused(Q::NAME, error))
    }

    /// The reason of a command's failure, for the log; the error itself.
    #[cold]
    #[inline(never)]
    pub(crate) fn refused(&self, command: &str, error: Errno) -> Errno {
        match uapi::explain(command, error) {
            Some(reason) => because!(error, *self, "the kernel refuses {command}: {reason}"),
            None => because!(error, *self, "the kernel refuses {command}"),
        }
    }
}
