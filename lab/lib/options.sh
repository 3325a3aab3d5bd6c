# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Options that run, rows and shell share.
# shellcheck shell=bash

library=
timeout=300
kernel=distribution
root=host
smp=2
memory=3G
icount=
share=
siw=
netns=
keep=
console=
device=guest
[ "${RDMACM_LAB:-}" != host ] || device=real
variables=()

# shared_option takes the first of the words given and sets used to how many it took.
shared_option() {
  used=1
  case $1 in
    --c) library= ;;
    --icount) icount=1 ;;
    --siw) siw=1 ;;
    --netns) netns=1 ;;
    --keep) keep=1 ;;
    --quiet) quiet=1 ;;
    *) option_with_value "$@" ;;
  esac
}

option_with_value() {
  used=2
  case $1 in
    --lib | --timeout | --kernel | --root | --smp | --memory | --share | --env | --needs | --device) ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  [ $# -gt 1 ] || die "$1 needs a value"
  case $1 in
    --lib) library=$(realpath -e -- "$2") || die "no such library: $2" ;;
    --timeout) timeout=$2 ;;
    --kernel) kernel=$2 ;;
    --root) root=$2 ;;
    --smp) smp=$2 ;;
    --memory) memory=$2 ;;
    --share) share=$(realpath -e -- "$2") || die "no such folder: $2" ;;
    --env) variables+=("$2") ;;
    --needs) packages+=("$2") ;;
    --device) device=$2 ;;
  esac
  case $device in guest | real) ;; *) die "--device is guest or real, not $device" ;; esac
}
