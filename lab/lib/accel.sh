# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# How the guest's processor is made: KVM only where it has been seen to work.
# shellcheck shell=bash

acceleration=

choose_acceleration() {
  if [ -n "$icount" ]; then
    acceleration=icount
  elif [ -n "${RDMACM_LAB_ACCEL:-}" ]; then
    acceleration=$RDMACM_LAB_ACCEL
  elif kvm_works; then
    acceleration=kvm
  else
    acceleration=tcg
  fi
}

acceleration_arguments() {
  case $acceleration in
    kvm) printf '%s\n' -accel kvm -cpu host ;;
    # Guest time follows the instructions: figures do not move with the load of the machine. Idle, it follows
    # the clock: while a file is read from the host, it must not run on to the next time limit.
    icount) printf '%s\n' -accel tcg,thread=single -cpu max -icount shift=0,sleep=on ;;
    *) printf '%s\n' -accel tcg,thread=multi -cpu max ;;
  esac
}

# Some machines have /dev/kvm and yet run no ordinary guest: boot one once and remember the answer.
kvm_works() {
  local answer
  [ -w /dev/kvm ] || return
  answer=$cache/kvm-$( (uname -r; grep -m 1 'model name' /proc/cpuinfo) | sha256sum | cut -c1-16)
  [ -e "$answer" ] || with_lock kvm probe_kvm
  [ "$(cat "$answer")" = yes ]
}

probe_kvm() {
  local result=no
  [ ! -e "$answer" ] || return 0
  say "trying KVM, 15 s at most"
  if timeout 15 qemu-system-x86_64 -nodefaults -no-user-config -nographic -no-reboot -nic none -m 512M \
    -accel kvm -cpu host -kernel "$kernel_dir/vmlinux" -initrd "$initrd" \
    -append "console=ttyS0 quiet panic=-1 lab.probe" -serial stdio </dev/null 2>&1 | grep -q probe-ok; then
    result=yes
  fi
  say "KVM works: $result"
  echo "$result" >"$answer"
}
