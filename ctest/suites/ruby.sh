#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Ruby: sockets, net/http with WEBrick, drb, TLS and forks, each in a process of its own.
# needs: ruby
# rdma: 200
for name in echo lines large many nonblock accept_loop refused timeout fork spawn udp http drb tls; do
	if timeout 30 $RUN ruby "$SUITES/ruby.rb" "$ADDRESS" "$name" >out 2>&1; then
		echo "result $name ok"
	else
		echo "result $name failed"
		head -n 5 out >&2
	fi
done
exit 0
