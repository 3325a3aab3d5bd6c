#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# vsftpd, which forks for each client and again for its privileges, changes its root and limits its memory: listing,
# files there and back, with data connections from either side.
# needs: vsftpd curl
# rdma: 8
# heap: 16
mkdir -p served/in empty
head -c 3000000 /dev/urandom >served/large
head -c 5000 /dev/urandom >served/small
chmod 755 . served empty && chmod 777 served/in && chmod 644 served/large served/small
# Its sessions limit their addresses to 200 MB: the device's memory and the arenas of malloc must fit in.
export MALLOC_ARENA_MAX=1
printf '%s\n' listen=YES listen_port=2121 listen_address="$ADDRESS" background=NO anonymous_enable=YES no_anon_password=YES \
	anon_root="$PWD/served" secure_chroot_dir="$PWD/empty" nopriv_user=nobody write_enable=YES anon_upload_enable=YES \
	anon_umask=022 anon_mkdir_write_enable=YES pasv_address="$ADDRESS" xferlog_enable=NO >conf
$RUN vsftpd "$PWD/conf" >server.log 2>&1 &
server=$!
sleep 1
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; tail -n 5 out >&2; fi; }
there=ftp://$ADDRESS:2121
get() { $RUN curl -sS --max-time 15 "$@"; }
try listing sh -c "$RUN curl -sS --max-time 15 $there/ | grep -q small"
try small sh -c "$RUN curl -sS --max-time 15 $there/small | cmp - served/small"
try large sh -c "$RUN curl -sS --max-time 15 $there/large | cmp - served/large"
try active sh -c "$RUN curl -sS --max-time 15 -P $ADDRESS $there/large | cmp - served/large"
try upload get -T served/large "$there/in/"
try uploaded cmp served/large served/in/large
try several get -o 1 "$there/small" -o 2 "$there/large" -o 3 "$there/in/large"
try same cmp 2 3
kill $server
wait 2>/dev/null
exit 0
