#!/bin/sh
# Files for the preload rows: a small web tree, input, settings for nginx, and the echo programs.
set -e
mkdir -p /tmp/www
echo hello >/tmp/www/x
head -c 300000 /dev/urandom >/tmp/www/f
head -c 262144 /dev/urandom >/tmp/in
cp "$LAB_ROWS"/programs/*.py /tmp/
cat >/tmp/ngx_epoll.conf <<'END'
daemon off;
master_process off;
user root;
pid /tmp/nginx.pid;
error_log stderr;
events { use epoll; worker_connections 64; }
http {
    access_log off;
    client_body_temp_path /tmp/ngx-body;
    proxy_temp_path /tmp/ngx-proxy;
    fastcgi_temp_path /tmp/ngx-fastcgi;
    uwsgi_temp_path /tmp/ngx-uwsgi;
    scgi_temp_path /tmp/ngx-scgi;
    server { listen 10.9.0.1:8081; root /tmp/www; }
}
END
