# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Everything that run, rows and shell are made of.
# shellcheck shell=bash

for part in common options apt kernel siw root accel qemu real; do
  # shellcheck source=/dev/null
  . "$lab/lib/$part.sh"
done

# manual COMMAND prints its chapter of the README.
manual() { awk -v name="$1" '/^## / { on = index($0, "lab/" name) } on' "$lab/README.md"; }
