# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Messages, quoting, temporary files, packages. Sourced by run, rows and shell.
# shellcheck shell=bash

cache=${RDMACM_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdmacm-lab}
quiet=

say() { [ -n "$quiet" ] || printf 'lab: %s\n' "$*" >&2; }
# 125 tells the lab's own failure from the exit code of a command.
die() { printf 'lab: %s\n' "$*" >&2; exit 125; }

# One word for any POSIX shell; bash's own %q is not understood by dash.
quote() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# logged LOG COMMAND… runs a long step; a line every 10 s says that it is still alive.
logged() {
  local log=$1 ticker begin=$SECONDS rc=0
  shift
  # The sleep holds none of our files open when its loop is ended.
  (while sleep 10 >/dev/null 2>&1; do say "… $((SECONDS - begin)) s"; done) &
  ticker=$!
  "$@" >"$log" 2>&1 </dev/null || rc=$?
  kill "$ticker"
  wait "$ticker" 2>/dev/null || true
  return "$rc"
}

# failed LOG MESSAGE shows the end of the log, without the addresses in it.
failed() {
  tail -n 15 "$1" | sed 's#://[^ /]*#://…#g' >&2
  die "$2"
}

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

# One builder at a time: every item of the cache has a lock of its own, held while it is made.
with_lock() {
  local name=$1 fd rc=0
  shift
  mkdir -p "$cache"
  exec {fd}>"$cache/$name.lock"
  if ! flock -n "$fd"; then
    say "another run is preparing $name, waiting for it"
    flock -w 1800 "$fd" || die "gave up waiting for $cache/$name.lock"
  fi
  "$@" || rc=$?
  exec {fd}>&-
  return "$rc"
}

# need_programs PROGRAM:PACKAGE … installs what is missing, as root only.
need_programs() {
  local pair missing=()
  for pair; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
  done
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

install_packages() {
  command -v apt-get >/dev/null || die "this machine has no apt; please install: $*"
  [ "$(id -u)" = 0 ] || die "please install first: apt-get install $*"
  with_lock apt install_now "$@"
}

install_now() {
  local log=$cache/apt-install.log
  say "installing with apt: $*"
  logged "$log" apt_install "$@" && return
  say "reading the package lists again"
  { logged "$log" apt-get -q update && logged "$log" apt_install "$@"; } || failed "$log" "apt-get install $* failed"
}

apt_install() {
  # No service may be started by an install: the machine only lends its tree.
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 install "$@" </dev/null
}

# scratch sets work to a new folder in the cache; what is made there is renamed into place when it is whole.
scrap=()
scratch() {
  work=$(mktemp -d "$cache/tmp.XXXXXX")
  scrap+=("$work")
}

# Everything that a run must leave behind itself.
at_exit() {
  local pid
  for pid in ${qemu_pid:-}; do kill "$pid" 2>/dev/null || true; done
  wait
  [ ${#scrap[@]} -eq 0 ] || rm -rf "${scrap[@]}"
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
