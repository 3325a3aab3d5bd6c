// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What sockets and descriptors report to the instances that have registrations of them.

use super::instance::{self, EPOLLS};
use crate::table::socket::{Observer, Watch};
use base::errno::preserve_errno;
use libc::c_int;

pub(crate) struct EpollObserver;

impl Observer for EpollObserver {
    fn carrier_changed(&self, watches: &[Watch]) {
        for watch in watches {
            if let Some(epoll) = instance::find(watch.instance) {
                epoll.place(watch.key);
            }
        }
    }

    fn left_to_kernel(&self, watches: &[Watch]) {
        for watch in watches {
            if let Some(epoll) = instance::find(watch.instance) {
                epoll.release(watch.key);
            }
        }
    }

    fn closed(&self, watches: &[Watch]) {
        for watch in watches {
            if let Some(epoll) = instance::find(watch.instance) {
                epoll.forget(watch.key);
            }
        }
    }

    fn number_closed(&self, fd: c_int) {
        if let Some(epoll) = EPOLLS.remove(fd) {
            preserve_errno(|| epoll.leave(fd));
        }
    }
}
