#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# inside.sh TREE ROOT COMMAND… runs a command in another root, with TREE as its /mnt.
# To be called in a mount namespace of its own, which takes the mounts away with it.
set -e
mount --bind "$1" "$2/mnt"
mount --bind /proc "$2/proc"
shift
exec chroot "$@"
