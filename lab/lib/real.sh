# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Instead of a guest: this machine, where it has an RDMA device of its own.
# shellcheck shell=bash

prepare_real() {
  local device
  [ -e /dev/infiniband/rdma_cm ] || die "--device real: this machine has no /dev/infiniband/rdma_cm"
  device=${RDMACM_LAB_DEVICE:-$(cd /sys/class/infiniband 2>/dev/null && printf '%s\n' * | head -n 1)}
  [ -e "/sys/class/infiniband/$device" ] || die "--device real: no RDMA device in /sys/class/infiniband"
  [ -n "${RDMACM_LAB_ADDR:-}" ] || die "--device real: give the address of $device in RDMACM_LAB_ADDR"
  [ -z "$siw$netns$share$icount" ] || die "--device real runs on this machine: no --siw, --netns, --share, --icount"
  variables+=("RDMACM_LAB_DEVICE=$device" "RDMACM_LAB_ADDR=$RDMACM_LAB_ADDR")
  need_programs python3:python3 rdma:iproute2
}

start_real() {
  job=$(mktemp -d "${TMPDIR:-/tmp}/rdmacm-lab.XXXXXX")
  job_inside=$job
  lib_inside=$job/lib
  scrap+=("$job")
  mkdir "$job/boot"
  cp "$lab"/guest/*.py "$job/boot/"
}

run_real() {
  local limit=()
  [ "$timeout" -eq 0 ] || limit=(timeout -k 5 "$timeout")
  code=0
  (
    [ ! -d "$job/lib" ] || export LD_LIBRARY_PATH=$job/lib
    export RDMACM_LAB=host "${variables[@]}"
    exec "${limit[@]}" sh "$job/boot/command" </dev/null
  ) || code=$?
}
