#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# An rsync daemon, which forks for each client: listing, a tree there and back, a change.
# needs: rsync
# rdma: 8
mkdir -p served here back
for i in 1 2 3 4 5 6 7 8; do head -c $((i * 40000)) /dev/urandom >here/$i; done
printf 'use chroot = no\nport = 8730\naddress = %s\n[tree]\npath = %s/served\nread only = no\nuid = %s\ngid = %s\n' \
	"$ADDRESS" "$PWD" "$(id -u)" "$(id -g)" >conf
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; cat out >&2; fi; }
$RUN rsync --daemon --no-detach --config=conf &
daemon=$!
sleep 1
there=rsync://$ADDRESS:8730/tree/
try listing $RUN rsync "rsync://$ADDRESS:8730/"
try upload $RUN rsync -a here/ "$there"
try uploaded diff -r here served
try download $RUN rsync -a "$there" back/
try downloaded diff -r here back
echo more >>here/5
try change $RUN rsync -ac --no-whole-file here/ "$there"
try changed diff -r here served
kill $daemon
wait 2>/dev/null
exit 0
