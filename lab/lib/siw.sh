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
  local work series=${kernel_version%%[-+]*} needs headers source
  series=$(cut -d. -f1,2 <<<"$series")
  need_programs make:make gcc:gcc
  kernel_suite "$kernel"
  headers=linux-headers-$kernel_version
  mapfile -t needs < <(packages_below "$headers" '^linux-(headers|kbuild)-[0-9]')
  scratch
  download_packages "$work" "$headers" "${needs[@]}" "linux-source-$series"
  unpack_packages "$work/tree" "$work"/*.deb
  say "building siw for $kernel_version"
  source=$work/tree/usr/src
  tar -xf "$source/linux-source-$series.tar.xz" -C "$work" --wildcards '*/drivers/infiniband/sw/siw/*'
  # The headers name their common part by its installed path.
  sed -i "s#/usr/src/#$source/#g" "$source/$headers/Makefile"
  logged "$work/log" make -s -C "$source/$headers" M="$(echo "$work"/linux-source-*/drivers/infiniband/sw/siw)" \
    CONFIG_RDMA_SIW=m modules || failed "$work/log" "siw does not build for $kernel_version"
  mv "$work"/linux-source-*/drivers/infiniband/sw/siw/siw.ko "$siw_module"
  rm -rf "$work"
}
