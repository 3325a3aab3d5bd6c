# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `observations`: what the soft device does is what soft-RoCE of two kernels does.

One program writes a line an observation. It runs here on the soft device and in a guest of each kernel.
`ctest/observations/differences` has those that differ: their values, and why they may. A difference that
is not in it fails, and one in it that is none any more fails, too.
"""
import subprocess

from harness import (CTEST, OUT, ROOT, SOFT_DEVICE, compile_program, environment, execute, make_soft_device, must, preloaded)
from suite import Suite

FOLDER = CTEST / "observations"
PROGRAM = OUT / "observations" / "observations"
# There is no fewer, or the program has ended early.
LEAST = 350
LIMIT = 300
KERNELS = ("distribution", "newest")
GUEST = ("ip addr add 10.77.0.1/24 dev d0 && ip -6 addr add fd00:77::1/64 dev d0 nodad && sleep 3; exec {program}")


def compile_all():
    must(make_soft_device())
    objects = []
    for source in [*sorted(FOLDER.glob("*.c")), CTEST / "cm" / "trace.c", CTEST / "cm" / "ids.c"]:
        if source.stem != "main":
            objects.append(OUT / "observations" / f"{source.stem}.o")
            must(compile_program(objects[-1], source))
    must(compile_program(PROGRAM, FOLDER / "main.c", objects))


def on_soft_device(args):
    return execute(preloaded([PROGRAM], SOFT_DEVICE), environment(LD_LIBRARY_PATH=args.lib), LIMIT).out


def on_kernel(kernel, args):
    command = [ROOT / "lab" / "run", "--quiet", "--lib", args.lib, "--kernel", kernel, "--timeout", LIMIT, "--",
               GUEST.format(program=PROGRAM)]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True).stdout


def read(text):
    """The value of each observation. A name that comes twice is a mistake of the program's."""
    found = {}
    for line in text.splitlines():
        name, colon, value = line.rpartition(": ")
        if colon:
            assert name not in found, f"two observations are named {name!r}"
            found[name] = value
    return found


def known():
    """name: (the values, the reason); a line without a tab is the reason of those that follow."""
    found, reason = {}, ""
    for line in (FOLDER / "differences").read_text().splitlines():
        if "\t" not in line:
            reason = line
            continue
        name, *values = line.split("\t")
        found[name] = (tuple(values), reason)
    return found


def run(names, args, report):
    compile_all()
    seen = [read(on_soft_device(args)), *(read(on_kernel(kernel, args)) for kernel in KERNELS)]
    places = ("soft device", *KERNELS)
    for place, values in zip(places, seen):
        if len(values) < LEAST:
            report.bad(place, f"    {len(values)} observations, of {LEAST} at least")
        else:
            report.good(place, f"({len(values)} observations)")
    expected, equal = known(), 0
    for name in dict.fromkeys(name for values in seen for name in values):
        values = tuple(observed.get(name, "-") for observed in seen)
        (wanted, reason) = expected.pop(name, (None, ""))
        if len(set(values)) == 1 and not wanted:
            equal += 1
        elif values == wanted:
            report.good(name, f"(differs: {reason})")
        else:
            table = "\n".join(f"    {place}: {value}" for place, value in zip(places, values))
            report.bad(name, table + (f"\n    expected: {wanted}" if wanted else ""))
    for name in expected:
        report.bad(name, "    is in the list of differences, but was not observed")
    report.good(f"{equal} observations", "(equal in all three places)")


SUITES = [Suite("observations", "what the soft device does is what soft-RoCE of two kernels does", lambda: [], run,
                quick=False)]
