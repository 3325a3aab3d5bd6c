#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The tests of libevent: the program `regress` of its sources, named by LIBEVENT_REGRESS.
# needs-set: LIBEVENT_REGRESS
# rdma: 0
# limit: 900
$RUN "$LIBEVENT_REGRESS" --no-fork 2>&1 | sed -n 's/^\([a-z0-9_\/]*\): .*OK$/result \1 ok/p; s/^\([a-z0-9_\/]*\): .*FAILED.*$/result \1 failed/p'
exit 0
