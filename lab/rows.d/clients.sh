#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Files for the rows of other projects' clients: jobs of fio, DAPL's settings, UCX's example, a target for iSER.
set -e
cd /tmp
cat >fio-server.fio <<END
[global]
ioengine=rdma
port=8889
bs=64k
size=4m
[server]
rw=read
iodepth=16
END
for verb in write read send; do
	cat >"fio-$verb.fio" <<END
[global]
ioengine=rdma
hostname=10.9.0.1
port=8889
verb=$verb
bs=64k
size=4m
[client]
rw=write
iodepth=1
END
done
# Four pairs of jobs, each with a port of its own.
for side in server write; do
	{
		sed -n '1,/^\[[sc]/p' "fio-$side.fio" | sed -e '$d' -e '/^port/d'
		for job in 1 2 3 4; do
			printf '[job%s]\nport=889%s\n' "$job" "$job"
			sed -n '/^rw/,$p' "fio-$side.fio"
		done
	} >"fio-$side-4.fio"
done
net=$(cat /sys/class/infiniband/rxe0/parent)
echo "$net u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"$net 0\" \"\"" >dat.conf
echo "$net" >dapl-device
# It includes a file that may stand beside it, or not be packaged.
example=/usr/share/doc/libucx-dev/examples
cc -O1 -w -I"$example" -o ucp_client_server "$example/ucp_client_server.c" -lucp -lucs
# An alternative, of which no package's script has told here.
ln -sf /usr/lib/libpsm1/libpsm_infinipath.so.1.16 /usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1
dd if=/dev/urandom of=disk bs=1M count=4 2>/dev/null
