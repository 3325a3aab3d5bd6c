#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# git daemon, which forks for each client: listing, cloning, fetching and pushing.
# needs: git
# rdma: 8
export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
git config --global user.name t && git config --global user.email t@example.org
git config --global init.defaultBranch main && git config --global safe.directory '*'
git init -q --bare served/one.git
git clone -q served/one.git work 2>/dev/null
head -c 400000 /dev/urandom >work/file
git -C work add file && git -C work commit -qm one && git -C work push -q origin HEAD:main
try() { name=$1; shift; if "$@" >out 2>&1; then echo "result $name ok"; else echo "result $name failed"; cat out >&2; fi; }
$RUN git daemon --listen="$ADDRESS" --port=9418 --base-path=served --export-all --reuseaddr --enable=receive-pack served &
daemon=$!
sleep 1
remote=git://$ADDRESS/one.git
try listing $RUN git ls-remote --exit-code "$remote" main
try clone $RUN git clone -q "$remote" copy
try same cmp work/file copy/file
head -c 300000 /dev/urandom >work/second
git -C work add second && git -C work commit -qm two
try push $RUN git -C work push -q "$remote" HEAD:main
try fetch $RUN git -C copy pull -q
try second cmp work/second copy/second
kill $daemon
wait 2>/dev/null
exit 0
