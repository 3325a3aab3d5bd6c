# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `why`: what the log says of the usual failures (failures.py), and how lines are written.

Other programs of ctest/why check themselves.
"""
import re

import behaviours
import failures
import traces
from harness import (CTEST, OUT, ROOT, SOFT_DEVICE, Head, compile_program, environment, execute, indented, must, preloaded,
                     programs_of)
from suite import Suite

LIMIT = 60


def compiled(name, report):
    program = OUT / "why" / name
    problem = compile_program(program, CTEST / "why" / f"{name}.c", behaviours.TRACE, [f"-I{CTEST / 'cm'}"])
    if problem:
        report.bad(name, problem)
    return None if problem else program


def usual_failures(names, args, report):
    must(failures.compiled())
    page = failures.Page()
    chosen = [name for name in page.names() if not names or name in names]
    for name in chosen:
        ended = failures.run(name, args.lib, page.script(name))
        failures.check(page, name, ended, [failures.SOFT], args, report)
    if not names and not args.ours_only:
        theirs = [(name, failures.run(name, args.lib, page.script(name), theirs=True)) for name in chosen]
        page.compare(failures.their_lines(page, theirs), "", [failures.THEIRS], args, report)


def itself(name, args, report):
    """A program that checks its own lines and exits with 0."""
    program = compiled(name, report)
    if not program:
        return
    env = environment(**Head(CTEST / "why" / f"{name}.c").pairs("env"), LD_LIBRARY_PATH=args.lib)
    ended = execute(preloaded([program], SOFT_DEVICE), env, LIMIT)
    if ended.code == 0:
        report.good(name)
    else:
        report.bad(f"{name} ({ended.how})", indented(ended.out + ended.err))


def probes(args, report):
    """The shipped file has each point of docs/probes.md, once or more, with its arguments."""
    rows = re.findall(r"^\| `rdmacm:(\w+)` \| ([^|]*) \|", (ROOT / "docs/probes.md").read_text(), re.M)
    notes = execute(["readelf", "-n", f"{args.lib}/librdmacm.so.1"], environment(), LIMIT).out
    found = re.findall(r"Provider: rdmacm\s+Name: (\w+)\s+Location: 0x0*([1-9a-f]\w*).*\s+Arguments: ?(.*)", notes)
    for name, arguments in rows:
        counts = {len(given.split()) for point, _, given in found if point == name}
        if counts == {arguments.count(",") + 1}:
            report.good(f"probe {name}")
        else:
            report.bad(f"probe {name}", f"    arguments: {counts}")


def others():
    return [source.stem for source in programs_of(CTEST / "why", "failures")]


def programs():
    return ["probes", "trace", *failures.Page().names(), *others()]


def run(names, args, report):
    behaviours.build()
    if not names or set(names) - set(others()) - {"probes", "trace"}:
        usual_failures(names, args, report)
    if not names or "probes" in names:
        probes(args, report)
    if not names or "trace" in names:
        traces.of_why(args, report)
    for name in others():
        if not names or name in names:
            itself(name, args, report)


SUITES = [Suite("why", "what the log says of the usual failures, compared with docs/troubleshooting.md",
                programs, run)]
