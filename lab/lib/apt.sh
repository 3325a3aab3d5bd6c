# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Packages without installing them: a second suite beside the machine's own, and trees of unpacked packages.
# shellcheck shell=bash

# Given to every apt call; empty means the machine's own suite.
apt_options=()

own_suite() { apt_options=(); }

# other_suite SUITE… reads these suites from where the machine reads its own.
other_suite() {
  local id dir uri keyring suite
  id=$(IFS=-; echo "$*")
  dir=$cache/apt-$id
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  read -r uri keyring < <(own_mirror) || die "cannot tell where this machine reads its packages"
  case $keyring in *SIGNED_BY* | '') keyring=$(distribution_keyring) ;; esac
  for suite; do
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' "$uri" "$suite" "$keyring"
  done >"$dir/suites.sources"
  : >"$dir/status"
  apt_options=(-o "Dir::Etc::sourcelist=$dir/suites.sources" -o Dir::Etc::sourceparts=-
    -o Dir::Etc::preferences=- -o Dir::Etc::preferencesparts=- -o "Dir::State::status=$dir/status"
    -o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o APT::Default-Release=
    # A mirror may be a snapshot of some weeks ago.
    -o Acquire::Check-Valid-Until=false)
  [ -n "$(find "$dir/read" -mmin -1440 2>/dev/null)" ] && return
  say "reading the package lists of $*"
  logged "$dir/log" apt_get update || failed "$dir/log" "cannot read the suites $*"
  : >"$dir/read"
}

# The first archive that holds this release's main component, with its key.
own_mirror() {
  local codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # the names in $(…) are apt's
  apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI) $(SIGNED_BY)' 'Created-By: Packages' |
    awk -v name="$codename" '$1 == name && $2 == "main" { print $3, $4; exit }'
}

distribution_keyring() {
  local file
  for file in /usr/share/keyrings/{debian,ubuntu}-archive-keyring.gpg; do
    [ -e "$file" ] && { echo "$file"; return; }
  done
  die "no keyring of the distribution found"
}

# apt as a reader: nothing of it may ask, lock or touch the machine.
apt_get() { apt-get -q -y "${apt_options[@]}" -o Debug::NoLocking=1 "$@" </dev/null; }

# download_packages DIR PACKAGE… fetches exactly these.
download_packages() {
  local dir=$1
  shift
  say "downloading $*"
  # apt downloads into the folder that it runs in.
  logged "$dir/log" env -C "$dir" apt-get -q "${apt_options[@]}" download "$@" || failed "$dir/log" "download failed"
}

# download_missing DIR PACKAGE… fetches these and what they need, less what the machine has.
download_missing() {
  local dir=$1
  shift
  say "downloading $*"
  mkdir -p "$dir/partial"
  logged "$dir/log" apt_get -o "Dir::Cache::archives=$dir" --no-install-recommends --download-only install "$@" ||
    failed "$dir/log" "download failed (try apt-get update): $*"
}

# unpack_packages TREE DEB… leaves out all scripts of the packages.
unpack_packages() {
  local tree=$1 link file
  shift
  say "unpacking $(du -ch "$@" | awk 'END { print $1 }')B of packages"
  for link in bin sbin lib lib64; do
    mkdir -p "$tree/usr/$link"
    ln -s "usr/$link" "$tree/$link"
  done
  for file; do
    dpkg-deb --fsys-tarfile "$file" | tar -x --keep-directory-symlink -C "$tree"
  done
}

# prepare_programs PACKAGE… sets programs_dir to a tree with those that the machine lacks, or to nothing.
# The guest lays it over the machine's tree, so the machine itself stays as it is.
prepare_programs() {
  local package have lacking='' key=''
  programs_dir=
  for package; do
    # The version is in the key: an upgrade of the machine makes a new tree.
    have=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$package" 2>/dev/null) || have=
    case $have in installed\ *) ;; *) lacking=1 ;; esac
    key+="$package $have "
  done
  [ -n "$lacking" ] || return 0
  programs_dir=$cache/programs-$(printf %s "$key" | sha256sum | cut -c1-16)
  [ -d "$programs_dir" ] || with_lock "$(basename "$programs_dir")" unpack_programs "$@"
}

unpack_programs() {
  [ -d "$programs_dir" ] && return
  local work
  scratch
  own_suite
  download_missing "$work" "$@"
  unpack_packages "$work/tree" "$work"/*.deb
  mv "$work/tree" "$programs_dir"
  rm -rf "$work"
}
