#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Redis: its benchmark, pipelined and with many clients, and a replica.
# needs: redis-server redis-benchmark redis-cli
# rdma: 20
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; tail -n 5 out >&2; fi; }
cli() { port=$1; shift; $RUN redis-cli -h "$ADDRESS" -p "$port" "$@"; }
until_is() { wanted=$1; shift; for i in $(seq 50); do [ "$("$@")" = "$wanted" ] && return 0; sleep 0.2; done; "$@"; return 1; }
mkdir first second
$RUN redis-server --bind "$ADDRESS" --port 6390 --save "" --protected-mode no --dir "$PWD/first" >first.log 2>&1 &
first=$!
try ready until_is PONG cli 6390 ping
bench() { $RUN redis-benchmark -h "$ADDRESS" -p 6390 -q "$@" | grep -q "requests per second"; }
try few bench -n 2000 -c 4 -t set,get
try many bench -n 2000 -c 40 -t set,lpush
try pipelined bench -n 5000 -c 4 -P 16 -t set,get
try large bench -n 200 -c 2 -d 200000 -t set,get
timeout 60 $RUN redis-cli -h "$ADDRESS" -p 6390 subscribe word >told &
subscriber=$!
try subscribed until_is "word 1" sh -c "$RUN redis-cli -h $ADDRESS -p 6390 pubsub numsub word | xargs"
publish() { for i in 1 2 3 4 5 6 7 8 9 10; do timeout 10 $RUN redis-cli -h "$ADDRESS" -p 6390 publish word "number $i" || return 1; done; }
try publish publish
try published until_is 10 grep -c "number" told
kill $subscriber
$RUN redis-server --bind "$ADDRESS" --port 6391 --save "" --protected-mode no --dir "$PWD/second" --replicaof "$ADDRESS" 6390 >second.log 2>&1 &
second=$!
try replica until_is PONG cli 6391 ping
cli 6390 set word value >/dev/null
try replicated until_is value cli 6391 get word
kill $first $second
wait 2>/dev/null
exit 0
