#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Node.js: net, http, cluster and dgram, each in a process of its own.
# needs: node
# rdma: 20
for name in echo half-open large many keep-alive agents refused timeout cluster datagrams tls destroy; do
	if timeout 30 $RUN node "$SUITES/node.js" "$ADDRESS" "$name" >out 2>&1; then
		echo "result $name ok"
	else
		echo "result $name failed"
		tail -n 5 out >&2
	fi
done
exit 0
