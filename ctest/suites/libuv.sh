#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The tests of libuv: the program `uv_run_tests` of its sources, named by UV_RUN_TESTS.
# needs-set: UV_RUN_TESTS
# rdma: 0
# limit: 900
cd "$(dirname "$UV_RUN_TESTS")" || exit 1
$RUN "$UV_RUN_TESTS" 2>&1 | sed -n 's/^ok [0-9]* - \([a-z0-9_]*\).*$/result \1 ok/p; s/^not ok [0-9]* - \([a-z0-9_]*\).*$/result \1 failed/p'
exit 0
