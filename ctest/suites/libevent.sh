#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The tests of libevent, which LIBEVENT_REGRESS names: the program test/regress of its sources, with 10.77.0.1 in the place
# of 127.0.0.1, and 0x0a4d0001 in that of INADDR_LOOPBACK and 0x7f000001, in test/regress*, so that they can go over the
# device. Each in a process of its own; what the clock decides is left out.
# needs-set: LIBEVENT_REGRESS
# rdma: 40
# limit: 400
$RUN "$LIBEVENT_REGRESS" :main/del_wait :main/del_notify :util/monotonic_prc :util/usleep >tests 2>&1
sed -n 's/^\([a-zA-Z0-9_\/]*\): \[forking\] OK$/result \1 ok/p; s/^\([a-zA-Z0-9_\/]*\): OK$/result \1 ok/p; s/^  \[\([a-zA-Z0-9_\/]*\) FAILED\]$/result \1 failed/p' tests
grep -B 8 "FAILED\]$" tests >&2
exit 0
