#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Files for the preload rows: a small web tree, input, settings for nginx, and the echo programs.
set -e
mkdir -p /tmp/www
echo hello >/tmp/www/x
head -c 300000 /dev/urandom >/tmp/www/f
head -c 20971520 /dev/urandom >/tmp/www/big
head -c 262144 /dev/urandom >/tmp/in
cp "$LAB_ROWS"/programs/*.py "$LAB_ROWS"/programs/*.js /tmp/
# nginx NAME PORT PROCESSES: one process, or a master with workers.
nginx_settings() {
	cat >"/tmp/$1.conf" <<END
daemon off;
$3
user root;
pid /tmp/$1.pid;
error_log stderr;
events { use epoll; worker_connections 64; }
http {
    access_log off;
    sendfile on;
    client_body_temp_path /tmp/ngx-body;
    proxy_temp_path /tmp/ngx-proxy;
    fastcgi_temp_path /tmp/ngx-fastcgi;
    uwsgi_temp_path /tmp/ngx-uwsgi;
    scgi_temp_path /tmp/ngx-scgi;
    server { listen 10.9.0.1:$2; root /tmp/www; }
}
END
}
nginx_settings ngx_epoll 8081 'master_process off;'
nginx_settings ngx_workers 8082 'worker_processes 2;'

# A repository's owner, and a small program to compile.
cat >/tmp/hello.c <<'END'
#include <stdio.h>
int main(void) { return puts("hello") < 0; }
END
