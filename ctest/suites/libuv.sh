#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The tests of libuv, which UV_RUN_TESTS names: the program test/run-tests of its sources, with 10.77.0.1 in the place of
# 127.0.0.1 in test/*.[ch], so that they can go over the device. They do not run as root.
# needs: setpriv
# needs-set: UV_RUN_TESTS
# rdma: 100
# limit: 400
as=
[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
ln -s "$(dirname "$UV_RUN_TESTS")" test
# A test that hangs ends by itself.
$as $RUN "$UV_RUN_TESTS" >tests 2>&1
sed -n 's/^ok [0-9]* - \([a-z0-9_]*\).*$/result \1 ok/p; s/^not ok [0-9]* - \([a-z0-9_]*\).*$/result \1 failed/p' tests
grep -A 12 "^not ok" tests >&2
exit 0
