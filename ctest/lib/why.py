# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `why`: what the log says of the usual failures, and how lines are written. Ours alone.

docs/troubleshooting.md has a comment `<!-- failure: NAME; SCRIPT -->` before each block of lines: NAME is
an argument of ctest/why/failures.c, SCRIPT for the soft device; names that begin with `preload` run under the
preload library. The block must be what the run says; with
--accept it is replaced. Other programs of ctest/why check themselves.
"""
import re

import behaviours
import traces
from harness import (CTEST, OUT, ROOT, SOFT_DEVICE, Head, compile_program, difference, environment, execute, indented,
                     preloaded, programs_of)
from suite import Suite

PAGE = ROOT / "docs/troubleshooting.md"
BLOCK = re.compile(r"(<!-- failure: ([\w-]+)(?:; ?([^>]*?))? ?-->\n```text\n)(.*?)(```\n)", re.S)
LIMIT = 60
# What differs from run to run.
VARYING = [(r"(?m)^\S+Z rdmacm\[\d+:\d+\]", "TIME rdmacm[PID:PID]"), (r"0x[0-9a-f]{6,}", "ADDRESS"),
           (r":3276\d ->", ":PORT ->"), (r"\bid \d+", "id N"), (r"queue pair \d+", "queue pair N"),
           (r"\b\d+ kB may be locked", "N kB may be locked"),
           (r"socket: (\w+) \d+ fd \d+", r"socket: \1 N fd N")]


def plain(text):
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def compiled(name, report):
    program = OUT / "why" / name
    problem = compile_program(program, CTEST / "why" / f"{name}.c", behaviours.TRACE, [f"-I{CTEST / 'cm'}"])
    if problem:
        report.bad(name, problem)
    return None if problem else program


def failures(names, args, report):
    program = compiled("failures", report)
    page = PAGE.read_text()
    for match in BLOCK.finditer(page) if program else ():
        begin, name, script, expected, end = match.groups()
        if names and name not in names:
            continue
        env = environment(LD_LIBRARY_PATH=args.lib, RDMACM_LOG="1", RDMAFAKE=script or "")
        objects = [f"{args.lib}/librspreload.so"] if name.startswith("preload") else []
        ended = execute(preloaded([program, name], *objects, SOFT_DEVICE), env, LIMIT)
        said = plain(ended.err)
        if args.show:
            print(f"--- {name}:\n{ended.out}{ended.err}")
        if ended.code or not said:
            report.bad(name, f"    {ended.how}\n{indented(ended.out + ended.err)}")
        elif args.accept:
            page = page.replace(match.group(0), begin + said + end)
        elif said != expected:
            report.bad(name, difference(expected, said, ("docs/troubleshooting.md", "the log")))
        else:
            report.good(name)
    if args.accept:
        PAGE.write_text(page)


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
    return ["probes", "trace", *[match.group(2) for match in BLOCK.finditer(PAGE.read_text())], *others()]


def run(names, args, report):
    behaviours.build()
    if not names or set(names) - set(others()) - {"probes", "trace"}:
        failures(names, args, report)
    if not names or "probes" in names:
        probes(args, report)
    if not names or "trace" in names:
        traces.of_why(args, report)
    for name in others():
        if not names or name in names:
            itself(name, args, report)


SUITES = [Suite("why", "what the log says of the usual failures, compared with docs/troubleshooting.md; ours alone",
                programs, run)]
