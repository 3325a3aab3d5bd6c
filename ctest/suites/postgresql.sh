#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# PostgreSQL, which forks for each client, and pgbench: transactions, selects, a connection for each transaction.
# needs: pgbench setpriv
# rdma: 20
# limit: 240
bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | tail -n 1)
# All as one user: the soft device is each user's own.
as=
[ "$(id -u)" = 0 ] && as="setpriv --reuid=postgres --regid=postgres --clear-groups"
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; tail -n 5 out >&2; fi; }
$as "$bin/initdb" -D "$PWD/data" -A trust -U postgres --no-sync >/dev/null 2>&1
echo "host all all $ADDRESS/24 trust" >>data/pg_hba.conf
$as $RUN "$bin/postgres" -D "$PWD/data" -h "$ADDRESS" -k "$PWD" -F >server.log 2>&1 &
server=$!
ready() { for _ in $(seq 100); do $as $RUN "$bin/pg_isready" -q -h "$ADDRESS" && return 0; sleep 0.2; done; return 1; }
bench() { $as $RUN pgbench -h "$ADDRESS" -U postgres "$@" postgres; }
try ready ready
try fill bench -i -q -s 1
try transactions bench -n -c 4 -t 50
try selects bench -n -S -c 8 -j 2 -t 200
try prepared bench -n -S -M prepared -c 4 -t 200
try connections bench -n -S -C -c 4 -t 10
try dump $as sh -c "$RUN $bin/pg_dump -h $ADDRESS -U postgres postgres | grep -q pgbench_accounts"
kill -INT $server
wait $server
echo "result end $([ $? = 0 ] && echo ok || echo failed)"
exit 0
