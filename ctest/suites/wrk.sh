#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# wrk against a server in Node.js: many connections of several threads, kept and not.
# needs: wrk node
# rdma: 20
$RUN node "$SUITES/server.js" "$ADDRESS" 8090 &
server=$!
sleep 2
# Some requests, and no error of a socket.
load() { $RUN wrk -t2 -c"$1" -d3s ${2:+-H "Connection: $2"} "http://$ADDRESS:8090/" >out 2>&1 && ! grep -q "Socket errors\|Non-2xx" out && ! grep -q "^ *0 requests" out; }
try() { name=$1; shift; if "$@"; then echo "result $name ok"; else echo "result $name failed"; cat out >&2; fi; }
try kept-2 load 2
try kept-32 load 32
try single load 4 close
kill $server
wait 2>/dev/null
exit 0
