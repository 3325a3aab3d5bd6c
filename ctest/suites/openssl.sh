#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# openssl s_server, s_client and s_time: handshakes, data, resumption, a connection after the other.
# needs: openssl
# rdma: 12
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2>/dev/null
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; cat out >&2; fi; }
$RUN openssl s_server -accept "$ADDRESS:4433" -cert cert.pem -key key.pem -rev -quiet >/dev/null 2>&1 &
first=$!
$RUN openssl s_server -accept "$ADDRESS:4434" -cert cert.pem -key key.pem -www -quiet >/dev/null 2>&1 &
second=$!
sleep 1
reverse() { (echo hello; sleep 1) | $RUN openssl s_client -connect "$ADDRESS:4433" -CAfile cert.pem -quiet -no_ign_eof "$@" 2>&1 | grep -q olleh; }
page() { (printf 'GET / HTTP/1.0\r\n\r\n'; sleep 1) | $RUN openssl s_client -connect "$ADDRESS:4434" -quiet -no_ign_eof "$@" 2>&1 | grep -q "HTTP/1.0 200"; }
try reverse-1.2 reverse -tls1_2
try reverse-1.3 reverse -tls1_3
try page-1.2 page -tls1_2
try page-1.3 page -tls1_3
try resumption sh -c "echo Q | $RUN openssl s_client -connect $ADDRESS:4434 -tls1_2 -reconnect 2>&1 | grep -q Reused"
try times sh -c "$RUN openssl s_time -connect $ADDRESS:4434 -new -time 2 -www /"
kill $first $second
wait 2>/dev/null
exit 0
