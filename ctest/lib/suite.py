# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a suite is, and where it runs: here, or in a guest of the lab."""
import os
import shlex
from dataclasses import dataclass
from typing import Callable

from harness import ROOT, RUN, in_guest


@dataclass
class Suite:
    name: str
    # One line for `--list`.
    about: str
    # The names that may follow the suite's; which of them run when none does.
    programs: Callable
    # run(names, args, report)
    run: Callable
    usual: Callable = None
    # In the default run.
    quick: bool = True
    # Needs a device of a real kernel: without one around, a guest is booted for it.
    guest: bool = False
    # May do so: --device.
    device: bool = False
    # prepare(names, args) here, before the guest: compiling there takes long.
    prepare: Callable = None
    # Options of lab/run that its guest needs.
    lab: str = ""
    # Seconds for the guest.
    limit: int = 1800

    def chosen(self, names):
        return names or (self.usual or self.programs)()

    def start(self, names, args, report):
        if (self.guest or args.device) and not in_guest():
            if self.prepare:
                self.prepare(names, args)
            command = [ROOT / "lab" / "run", "--lib", args.lib, "--timeout", self.limit, *shlex.split(self.lab),
                       *shlex.split(args.lab), "--",
                       RUN, *args.forwarded, self.name, *names]
            return report.delegate(self.name, command, cwd=ROOT)
        if in_guest():
            # There is the library that the guest was given.
            args.lib = os.environ.get("LD_LIBRARY_PATH") or args.lib
        return self.run(names, args, report)
