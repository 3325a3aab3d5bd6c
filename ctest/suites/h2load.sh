#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# h2load against a server of HTTP/2 in Node.js: streams in one connection, and several connections.
# needs: h2load node
# rdma: 20
$RUN node "$SUITES/server.js" "$ADDRESS" 8091 2 &
server=$!
sleep 2
try() { name=$1; shift; if $RUN h2load "$@" "http://$ADDRESS:8091/" >out 2>&1 && grep -q " 0 failed, 0 errored" out; then echo "result $name ok"; else echo "result $name failed"; cat out >&2; fi; }
try one -n 500 -c 1 -m 1
try streams -n 2000 -c 2 -m 50
try connections -n 1000 -c 20 -m 4
kill $server
wait 2>/dev/null
exit 0
