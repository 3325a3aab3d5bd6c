# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Soft iWARP: Debian builds no such module, but its source package has the source.
# shellcheck shell=bash

# prepare_siw sets siw_module to a module file, or to nothing where the kernel brings its own.
prepare_siw() {
  siw_module=
  ! grep -q '/siw\.ko' "$kernel_dir/modules/modules.dep" || return 0
  siw_module=$kernel_dir/siw.ko
  [ -e "$siw_module" ] || with_lock "siw-$(basename "$kernel_dir")" build_siw
}

build_siw() {
  [ -e "$siw_module" ] && return
  local work series needs headers build
  series=$(cut -d. -f1,2 <<<"${kernel_version%%[-+]*}")
  headers=linux-headers-$kernel_version
  kernel_suite "$kernel"
  mapfile -t needs < <(packages_below "$headers" '^linux-(headers|kbuild)-[0-9]')
  scratch
  download_packages "$work" "$headers" "${needs[@]}" "linux-source-$series"
  unpack_packages "$work/tree" "$work"/*.deb
  say "unpacking the source of siw"
  tar -xf "$work/tree/usr/src/linux-source-$series.tar.xz" -C "$work/tree" --strip-components=1 \
    --wildcards '*/drivers/infiniband/sw/siw/*'
  rm "$work/tree/usr/src/linux-source-$series.tar.xz"
  choose_builder
  say "building siw for $kernel_version"
  # The headers name their common part by its installed path.
  sed -i "s#/usr/src/#$build/usr/src/#g" "$work/tree/usr/src/$headers/Makefile"
  logged "$work/log" "${builder[@]}" make -s -C "$build/usr/src/$headers" M="$build/drivers/infiniband/sw/siw" \
    CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= modules || failed "$work/log" "siw does not build for $kernel_version"
  mv "$work/tree/drivers/infiniband/sw/siw/siw.ko" "$siw_module"
  rm -rf "$work"
}

# A kernel wants the compiler of its own suite: the machine's, or the one in the newest root.
# Sets builder to what stands before make, and build to where make finds the tree.
choose_builder() {
  if [ "$kernel" = distribution ]; then
    need_programs make:make gcc:gcc
    builder=()
    build=$work/tree
  else
    with_newest_root
    builder=(unshare --mount sh "$lab/lib/inside.sh" "$work/tree" "$newest_root")
    build=/mnt
  fi
}
