# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `headers`: the headers in C and C++, and what is installed with them.

The checks are in ctest/headers."""
import os

from harness import CTEST, ROOT
from suite import Suite

QUICK = ("alone", "layout", "inline", "install", "ffi", "languages", "examples", "pages")
LONG = ("ffi-lab", "sources", "package", "debian13", "newest")
# Files of their own.
SCRIPTS = ("languages", "examples", "sources", "package", "debian13", "newest")


def run(names, args, report):
    env = dict(os.environ, LAB=args.lab, **({"VERBOSE": "1"} if args.verbose else {}))
    for name in names or QUICK:
        command = [CTEST / "headers" / name] if name in SCRIPTS else [CTEST / "headers" / "suite", name]
        report.delegate(f"headers {name}", ["bash", *command], cwd=ROOT, env=env)


SUITES = [Suite("headers", "headers, inline layer, manual pages; in guests packages and other people's sources",
                lambda: [*QUICK, *LONG], run, usual=lambda: list(QUICK))]
