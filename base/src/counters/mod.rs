// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Counters of the process (`RDMACM_STATS`), which `rdmacm-info top` reads while it runs.
//!
//! They lie in a memory file that the process has mapped, and whose descriptor it holds: the reader opens
//! it by `/proc/PID/fd`, as the same user. It goes with the process, however that ends. Without
//! `RDMACM_STATS` there is none, and each place that counts costs a load and a test.
//!
//! Each library has a page of its own. The names in both are the same, and a reader adds them.
//!
//! | file | what |
//! |---|---|
//! | `live` | how many of something there are now |
//! | `page` | the page of this process |
//! | `layout` | what a reader finds in it |

pub mod layout;
mod live;
mod page;

pub use live::Live;
pub(crate) use page::in_child;
pub use page::{Words, check, count, is_on, start};
