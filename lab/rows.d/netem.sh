#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# netem.sh "RULE" COMMAND: runs a command while both ends of the veth pair treat what they send as the rule of tc-netem(8) says.
rule=$1
# shellcheck disable=SC2086  # the words of the rule
tc qdisc replace dev va root netem $rule && ip netns exec n1 tc qdisc replace dev vb root netem $rule || exit 3
sh -c "$2"
code=$?
tc qdisc del dev va root
ip netns exec n1 tc qdisc del dev vb root
exit $code
