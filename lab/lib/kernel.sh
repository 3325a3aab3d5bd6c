# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Kernels: found with apt, unpacked in the cache, with an initramfs of our own.
# shellcheck shell=bash

# Modules that the guest loads before it has a root.
boot_modules="virtio_pci virtio_rng 9pnet_virtio 9p overlay"
# Modules for RDMA. Those that a kernel has built in, or lacks, are passed over.
rdma_modules="dummy veth crc32_generic crc32_pclmul crc32c_generic libcrc32c ib_uverbs ib_umad rdma_ucm rdma_rxe"

# prepare_kernel NAME sets kernel_dir to a folder with vmlinux, version and modules/, and initrd to a file.
prepare_kernel() {
  [ "$(dpkg --print-architecture)" = amd64 ] || die "the lab knows amd64 machines only"
  case $1 in *[!a-z0-9-]* | '') die "--kernel is distribution, newest, or the name of a suite" ;; esac
  kernel_dir=$cache/kernel-$1
  [ -d "$kernel_dir" ] || with_lock "kernel-$1" unpack_kernel "$1"
  kernel_version=$(cat "$kernel_dir/version")
  prepare_initrd
}

unpack_kernel() {
  [ -d "$kernel_dir" ] && return
  local found work version image
  kernel_suite "$1"
  find_kernel
  scratch
  download_packages "$work" "${found[@]}"
  unpack_packages "$work/tree" "$work"/*.deb
  version=$(cd "$work/tree/lib/modules" && echo *)
  # Newer packages keep the kernel among its modules.
  for image in "$work/tree/boot/vmlinuz-$version" "$work/tree/lib/modules/$version/vmlinuz"; do
    [ -e "$image" ] && break
  done
  [ -e "$image" ] || die "no kernel with modules in ${found[*]}"
  # Newer packages lack the lists that depmod warns about; the guest does without.
  depmod -b "$work/tree" "$version" 2>"$work/log" || failed "$work/log" "depmod failed for $version"
  mkdir "$work/kernel"
  # A packed kernel starts as well, only slower.
  python3 "$lab/lib/vmlinux.py" "$image" "$work/kernel/vmlinux" || cp "$image" "$work/kernel/vmlinux"
  mv "$work/tree/lib/modules/$version" "$work/kernel/modules"
  echo "$version" >"$work/kernel/version"
  mv "$work/kernel" "$kernel_dir"
  rm -rf "$work"
}

# kernel_suite NAME points apt at the packages of a kernel.
kernel_suite() {
  case $1 in
    distribution) own_suite ;;
    # The suites that have newer kernels than a release.
    newest) if is_ubuntu; then other_suite devel; else other_suite stable-backports sid; fi ;;
    *) other_suite "$1" ;;
  esac
}

is_ubuntu() { grep -q '^ID=ubuntu' /etc/os-release; }

# find_kernel fills found, reading the lists of a new machine first if need be.
find_kernel() {
  local meta=linux-image-amd64
  ! is_ubuntu || meta=linux-image-generic
  mapfile -t found < <(packages_below "$meta" "$kernel_parts")
  if [ ${#found[@]} -eq 0 ] && [ "$(id -u)" = 0 ]; then
    say "reading the package lists"
    apt-get -q "${apt_options[@]}" update >/dev/null 2>&1 || true
    mapfile -t found < <(packages_below "$meta" "$kernel_parts")
  fi
  [ ${#found[@]} -gt 0 ] || die "apt knows no package $meta (try apt-get update)"
}

# A kernel is a set of packages: all those below the meta package that have a version in their name.
kernel_parts='^linux-(image|image-unsigned|binary|modules|modules-extra)-[0-9]'

# packages_below PACKAGE PATTERN lists what it depends on, at any depth, as long as the names match.
packages_below() {
  local todo=("$1") seen=' ' package need
  while [ ${#todo[@]} -gt 0 ]; do
    package=${todo[0]}
    todo=("${todo[@]:1}")
    while read -r need; do
      case $seen in *" $need "*) continue ;; esac
      seen+="$need "
      todo+=("$need")
      echo "$need"
    done < <(apt-cache "${apt_options[@]}" depends --important "$package" 2>/dev/null |
      awk -v pattern="$2" '$1 ~ /Depends:$/ && $2 ~ pattern { print $2 }')
  done
}

# The initramfs is made anew whenever something that goes into it changed.
prepare_initrd() {
  local stamp
  stamp=$(cat "$lab/guest/init" "$lab/lib/kernel.sh" "$lab/lib/initrd.py" | sha256sum | cut -c1-16)
  initrd=$kernel_dir/initrd-$stamp
  [ -e "$initrd" ] || with_lock "initrd-$(basename "$kernel_dir")" build_initrd
  # Those of older labs go when nobody used them for a week.
  touch "$initrd"
  find "$kernel_dir" -name 'initrd-*' -mtime +7 -delete
}

build_initrd() {
  [ -e "$initrd" ] && return
  say "making the initramfs for $kernel_version"
  python3 "$lab/lib/initrd.py" "$kernel_dir/modules" "$(command -v busybox)" "$lab/guest/init" \
    "$boot_modules" "$rdma_modules" "$initrd.tmp" || die "cannot make the initramfs"
  mv "$initrd.tmp" "$initrd"
}
