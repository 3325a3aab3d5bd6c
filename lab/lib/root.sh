# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the guest sees: its root tree, the library under test, the command.
# shellcheck shell=bash

# Programs that every guest has; tables of rows ask for more.
packages=(iproute2 ibverbs-providers librdmacm1 rdmacm-utils)
# What the newest suite's root has: the newest C library, and all that the rows need.
newest_packages=(rdmacm-utils ibverbs-providers ibverbs-utils iproute2 kmod procps strace valgrind gdb
  gcc libc6-dev make libibverbs-dev librdmacm-dev perftest qperf iperf3 iperf netcat-openbsd netcat-traditional
  python3 curl redis-server redis-tools nginx-light)
siw_module=
programs_dir=

# prepare_lab gets everything into the cache that the options ask for.
prepare_lab() {
  case $timeout$smp in *[!0-9]*) die "--timeout and --smp take a number" ;; esac
  mkdir -p "$cache"
  # What a killed run left half made.
  find "$cache" -maxdepth 1 -name 'tmp.*' -mtime +1 -exec rm -rf {} +
  if [ "$device" = real ]; then prepare_real; return; fi
  need_programs qemu-system-x86_64:qemu-system-x86 busybox:busybox-static python3:python3 depmod:kmod zstd:zstd
  prepare_kernel "$kernel"
  [ -z "$siw" ] || prepare_siw
  case $root in
    host) root_dir=/; prepare_programs "${packages[@]}" ;;
    newest) prepare_newest_root; root_dir=$newest_root ;;
    *) die "--root is host or newest, not $root" ;;
  esac
}

# start_lab makes the job folder, into which the command goes; run_lab BEGIN runs it and sets code.
start_lab() {
  if [ "$device" = real ]; then start_real; else start_job; fi
  copy_library
}

run_lab() { if [ "$device" = real ]; then run_real; else boot "$1"; fi; }

prepare_newest_root() {
  local package
  with_newest_root
  for package in "${packages[@]}"; do
    # The library's package has another name there.
    case " ${newest_packages[*]} librdmacm1 " in *" $package "*) ;; *) die "the newest root lacks $package" ;; esac
  done
}

# with_newest_root sets newest_root, making it if need be.
with_newest_root() {
  newest_root=$cache/root-newest
  [ -d "$newest_root" ] || with_lock root-newest unpack_newest_root
}

unpack_newest_root() {
  [ -d "$newest_root" ] && return
  local work suite=sid
  ! is_ubuntu || suite=devel
  [ "$(id -u)" = 0 ] || die "only root can make the newest root"
  need_programs mmdebstrap:mmdebstrap
  other_suite "$suite"
  scratch
  say "making a root of $suite with ${#newest_packages[@]} packages, some minutes"
  logged "$work/log" mmdebstrap --mode=root --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$(IFS=,; echo "${newest_packages[*]}")" "$suite" "$work/tree" "$cache/apt-$suite/suites.sources" ||
    failed "$work/log" "cannot make the root"
  rm -rf "$work/tree/var/cache/apt" "$work/tree/var/lib/apt/lists"
  mv "$work/tree" "$newest_root"
  rm -rf "$work"
}

# The library is copied: a rebuild during the run does not change what is under test.
copy_library() {
  local file=$library preload
  [ -n "$library" ] || return 0
  mkdir "$job/lib"
  if [ -d "$library" ]; then
    for file in "$library"/librdmacm.so.1 "$library"/librdmacm.so; do
      [ ! -e "$file" ] || break
    done
    for preload in "$library"/librspreload.so "$library"/rsocket/librspreload.so; do
      [ ! -e "$preload" ] || cp -L "$preload" "$job/lib/librspreload.so"
    done
  fi
  [ -e "$file" ] || die "no librdmacm.so.1 in $library"
  cp -L "$file" "$job/lib/librdmacm.so.1"
}

# One argument is for the shell, several are the words of a command.
write_command() {
  local word
  if [ $# -eq 1 ]; then printf '%s\n' "$1"; return; fi
  printf exec
  for word; do printf ' %s' "$(quote "$word")"; done
  printf '\n'
}
