#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# nginx, a master and two workers, which inherit the listeners or have one each: pages, kept connections, large bodies
# there and back, a proxy, a change of settings, and its end.
# needs: nginx curl ab
# rdma: 60
mkdir -p logs www/up tmp
chmod -R 777 .
head -c 4000000 /dev/urandom >www/large
echo hello >www/page
# Its workers would be another user's, for whom there is another soft device, and have no environment.
[ "$(id -u)" = 0 ] && user="user root;"
cat >conf <<END
$user
env RDMAFAKE; env RDMAFAKE_SHARED; env RDMAFAKE_LOG; env RDMAFAKE_HEAP;
worker_processes 2;
daemon off;
pid $PWD/pid;
error_log $PWD/logs/error;
events { worker_connections 200; }
http {
	access_log off;
	client_body_temp_path tmp/body;
	proxy_temp_path tmp/proxy;
	fastcgi_temp_path tmp/fastcgi;
	uwsgi_temp_path tmp/uwsgi;
	scgi_temp_path tmp/scgi;
	client_max_body_size 10m;
	sendfile on;
	server { listen $ADDRESS:8110; root $PWD/www; location /up { dav_methods PUT; } }
	server { listen $ADDRESS:8111 reuseport; root $PWD/www; }
	server { listen $ADDRESS:8112; location / { proxy_pass http://$ADDRESS:8110; } }
}
END
$RUN nginx -p "$PWD" -c "$PWD/conf" &
server=$!
sleep 1
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; tail -n 5 out >&2; fi; }
get() { $RUN curl -sS --max-time 20 "$@"; }
pages() { [ "$(get "http://$ADDRESS:$1/page" "http://$ADDRESS:$1/page" "http://$ADDRESS:$1/page" | sort | uniq -c | tr -s ' ')" = " 3 hello" ]; }
large() { get "http://$ADDRESS:$1/large" | cmp - www/large; }
bench() { $RUN ab -q -s 20 "$@" >bench 2>&1 && grep -q "^Failed requests: *0$" bench || { cat bench; return 1; }; }
for port in 8110 8111 8112; do
	try pages-$port pages $port
	try large-$port large $port
	try kept-$port bench -k -n 400 -c 10 "http://$ADDRESS:$port/page"
	try closed-$port bench -n 100 -c 5 "http://$ADDRESS:$port/page"
done
try upload get -T www/large "http://$ADDRESS:8110/up/copy"
try uploaded cmp www/large www/up/copy
kill -HUP $server
sleep 1
try reloaded pages 8110
try reloaded-large large 8111
kill -QUIT $server
wait $server
echo "result end $([ $? = 0 ] && echo ok || echo failed)"
exit 0
