#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Ruby's own tests of sockets, net/http, drb and open-uri, which RUBY_TESTS names: test/runner.rb of its sources, with
# 10.77.0.1 in the place of 127.0.0.1 and "localhost" in test/socket, test/drb, test/net and tool/lib, so that they can go
# over the device.
# needs: ruby
# needs-set: RUBY_TESTS
# rdma: 40
# limit: 300
test=$(dirname "$RUBY_TESTS")
for part in socket/test_tcp socket/test_udp socket/test_basicsocket socket/test_nonblock socket/test_socket socket/test_unix \
	socket/test_ancdata socket/test_sockopt net/http drb/test_drb open-uri; do
	where=$test/$part
	[ -d "$where" ] || where=$where.rb
	timeout 60 $RUN ruby -I"$test/lib" -I"$test/../tool/lib" "$RUBY_TESTS" -v "$where" >tests 2>&1
	# A test whose name is in the list of failures has failed.
	awk -v part="$part" '
		/^ *\[ *[0-9]+\/[0-9]+\] / { sub(/^ *\[ *[0-9]+\/[0-9]+\] /, ""); sub(/#<.*/, ""); seen[$1] = 1; next }
		/^ *[0-9]+\) (Failure|Error|Skipped):/ { kind = $2; getline; name = $1; sub(/:$/, "", name); how[name] = kind }
		END { for (name in seen) if (how[name] !~ /Skipped/) print "result " part "/" name, how[name] ? "failed" : "ok" }' tests
	grep -E -A 6 "^ *[0-9]+\) (Failure|Error):" tests >&2
done
exit 0
