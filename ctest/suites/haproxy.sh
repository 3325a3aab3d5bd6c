#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# haproxy in front of a server in Node.js: HTTP/1.1 kept and closed, plain TCP, large bodies, a server that is gone.
# needs: haproxy node curl
# rdma: 20
head -c 3000000 /dev/urandom >large
cat >conf <<END
global
	nbthread 2
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
frontend kept
	bind $ADDRESS:8100
	default_backend servers
frontend closed
	bind $ADDRESS:8101
	option httpclose
	default_backend closing
frontend nobody
	bind $ADDRESS:8103
	default_backend gone
listen plain
	bind $ADDRESS:8104
	mode tcp
	option splice-auto
	server one $ADDRESS:8190
backend servers
	http-reuse always
	server one $ADDRESS:8190
backend closing
	option http-server-close
	server one $ADDRESS:8190
backend gone
	server one $ADDRESS:8199
END
$RUN node -e 'require("http").createServer((q, a) => { let n = 0; q.on("data", (b) => n += b.length).on("end", () => a.end(n ? `${n}` : "x".repeat(+q.url.slice(1) || 5))); }).listen(8190, process.argv[1])' "$ADDRESS" &
server=$!
sleep 1
$RUN haproxy -db -f conf >/dev/null 2>&1 &
proxy=$!
sleep 1
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; tail -n 5 out >&2; fi; }
get() { $RUN curl -sS --max-time 20 "$@"; }
url() { for i in 1 2 3 4 5 6 7 8; do echo "http://$ADDRESS:$1/$i"; done; }
# Eight bodies of 1 to 8 bytes.
eight() { port=$1; shift; [ "$(get "$@" $(url "$port") | wc -c)" = 36 ]; }
parallel() { for i in 1 2 3 4 5 6; do get -o "body.$i" "http://$ADDRESS:$1/$((i * 10000))" & done; sleep 3; [ "$(cat body.* | wc -c)" = 210000 ]; }
try kept eight 8100
try closed eight 8101
try close-of-client eight 8100 -H "Connection: close"
try plain eight 8104
try parallel parallel 8100
try download sh -c "[ \$($RUN curl -sS --max-time 30 http://$ADDRESS:8100/4000000 | wc -c) = 4000000 ]"
try download-plain sh -c "[ \$($RUN curl -sS --max-time 30 http://$ADDRESS:8104/4000000 | wc -c) = 4000000 ]"
try upload sh -c "[ \$($RUN curl -sS --max-time 30 --data-binary @large http://$ADDRESS:8100/) = 3000000 ]"
try upload-plain sh -c "[ \$($RUN curl -sS --max-time 30 --data-binary @large http://$ADDRESS:8104/) = 3000000 ]"
try gone sh -c "$RUN curl -sS -o /dev/null -w '%{http_code}' --max-time 30 http://$ADDRESS:8103/ | grep -q 503"
kill $proxy $server
wait 2>/dev/null
exit 0
