# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Counts what the header tests find. Sourced; `part` is what their names begin with.
# shellcheck shell=bash

part=
passed=0 failed=0 skipped=0
# Set where there are too many to name those that are right.
terse=

ok() {
  passed=$((passed + 1))
  [ -n "$terse" ] && [ -z "${VERBOSE:-}" ] || echo "ok   $part$*"
}

bad() {
  failed=$((failed + 1))
  echo "FAIL $part$*"
}

skip() { # name, why
  skipped=$((skipped + 1))
  echo "SKIPPED $part$1: $2"
}

# The last line, and the exit code.
ending() {
  local more=
  [ "$skipped" = 0 ] || more=", $skipped skipped"
  echo "$passed passed, $failed failed$more"
  [ "$failed" = 0 ]
}
