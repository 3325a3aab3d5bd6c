# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The guest itself: one qemu, one job folder, one exit code.
# shellcheck shell=bash

# start_job makes the folder through which host and guest talk, and sets job_inside and lib_inside to paths there.
start_job() {
  job=$(mktemp -d "${TMPDIR:-/tmp}/rdmacm-lab.XXXXXX")
  job_inside=/run/lab/job
  lib_inside=/run/lab/lib
  if [ -n "$keep" ]; then say "the job folder is $job"; else scrap+=("$job"); fi
  mkdir "$job/boot"
  cp "$lab"/guest/* "$job/boot/"
  [ -z "$siw_module" ] || cp "$siw_module" "$job/boot/siw.ko"
  : >"$job/out"
  : >"$job/err"
}

write_settings() {
  local pair
  printf 'LAB_TIMEOUT=%s\nLAB_SIW=%s\nLAB_NETNS=%s\nLAB_CONSOLE=%s\n' "$timeout" "$siw" "$netns" "$console"
  printf 'LAB_CWD=%s\n' "$(quote "$PWD")"
  printf 'LAB_SHARE=%s\n' "$(quote "$share")"
  [ ${#variables[@]} -eq 0 ] || for pair in "${variables[@]}"; do printf 'export %s\n' "$(quote "$pair")"; done
}

# fs_device TAG PATH OPTIONS: a folder of the host for the guest.
fs_device() {
  # A comma in a path would end the option: qemu reads two as one.
  printf '%s\n' -fsdev "local,id=$1,path=${2//,/,,},security_model=none,$3" -device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
}

qemu_arguments() {
  printf '%s\n' -nodefaults -no-user-config -nographic -no-reboot -nic none -m "$memory" -smp "$smp" \
    -kernel "$kernel_dir/vmlinux" -initrd "$initrd" -device virtio-rng-pci \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off no_timer_check tsc=reliable cryptomgr.notests random.trust_cpu=on"
  acceleration_arguments
  fs_device root "$root_dir" readonly=on,multidevs=remap
  fs_device modules "$kernel_dir/modules" readonly=on
  fs_device job "$job" multidevs=remap
  [ -z "$programs_dir" ] || fs_device programs "$programs_dir" readonly=on
  [ -z "$share" ] || fs_device share "$share" multidevs=remap
}

# boot BEGIN runs the guest to its end, passes its output on while it comes, and sets code.
boot() {
  local arguments
  choose_acceleration
  write_settings >"$job/boot/settings"
  mapfile -t arguments < <(qemu_arguments)
  if [ -n "$console" ]; then
    boot_console
  else
    boot_job "$1"
  fi
  if [ -e "$job/rc" ]; then
    code=$(cat "$job/rc")
    [ ! -s "$job/complaints" ] || say "the guest's kernel complained: $(head -n 3 "$job/complaints")"
  else
    code=125
    printf 'lab: the guest ended without a result; last lines of its console:\n' >&2
    cat "$job/qemu" "$job/console" 2>/dev/null | tail -n 20 >&2
    grep 'Kernel panic' "$job/console" >&2 || true
  fi
}

# take_turn waits until one of the places for guests is free. Guests that share a processor run into each other's
# time limits. The lock ends with this process and its guest, however they end.
take_turn() {
  local places=${RDMACM_LAB_GUESTS:-$(($(nproc) / 2))} queue place told=
  case $places in '' | *[!0-9]*) die "RDMACM_LAB_GUESTS is a number, not $places" ;; esac
  # Only the first of those who wait looks for a place, so that nobody waits for ever.
  exec {queue}>"$cache/guest.queue.lock"
  flock -n "$queue" || { told=1; say "waiting for another guest to end"; flock "$queue"; }
  while true; do
    for ((place = 0; place < (places > 0 ? places : 1); place++)); do
      exec {turn}>"$cache/guest.$place.lock"
      flock -n "$turn" && { exec {queue}>&-; return; }
      exec {turn}>&-
    done
    [ -n "$told" ] || say "waiting for another guest to end"
    told=1
    sleep 1
  done
}

# The terminal belongs to the guest, ^C too.
boot_console() {
  take_turn
  say "booting $kernel_version ($acceleration); leave the shell to power off"
  qemu-system-x86_64 "${arguments[@]}" -chardev stdio,id=console,signal=off -serial chardev:console || true
}

boot_job() {
  take_turn
  say "booting $kernel_version ($acceleration, $smp processors, $memory)"
  qemu-system-x86_64 "${arguments[@]}" -serial "file:$job/console" </dev/null >"$job/qemu" 2>&1 &
  qemu_pid=$!
  tail -q -s 0.1 -n +1 --pid="$qemu_pid" -f "$job/out" &
  tail -q -s 0.1 -n +1 --pid="$qemu_pid" -f "$job/err" >&2 &
  wait_up "$1"
  wait_exit
  wait
  qemu_pid=
}

wait_up() {
  local waited=0
  until [ -e "$job/up" ] || [ -e "$job/rc" ]; do
    kill -0 "$qemu_pid" 2>/dev/null || return 0
    waited=$((waited + 1))
    case $waited in
      *00) say "… $((waited / 10)) s" ;;
    esac
    [ "$waited" -lt 1800 ] || { say "the guest did not start within 3 minutes"; kill "$qemu_pid"; return 0; }
    sleep 0.1
  done
  say "guest up after $(since "$1") s"
}

# The guest ends the job itself at its limit; the limit here is for a guest that hangs.
wait_exit() {
  local end=$((SECONDS + timeout + 30))
  while kill -0 "$qemu_pid" 2>/dev/null; do
    if [ "$timeout" -gt 0 ] && [ "$SECONDS" -gt "$end" ]; then
      say "the guest does not answer, ending it"
      kill -9 "$qemu_pid"
    fi
    sleep 0.1
  done
}
