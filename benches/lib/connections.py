# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rsocket connections: made, used for a byte each way, and closed; one after the other, many at once, beside others."""
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bench
from bench import LIBRARIES, environment, numbers, row, summary

# What is printed for it, arguments, connections, pairs.
CASES = (("one after the other", ("one", 0), 60, 10), ("64 in flight", ("crowd", 64), 300, 3),
         ("beside 1,000 open ones", ("one", 1000), 60, 3))
MANY = (("the last 1,000 of 10,000", ("one", 0), 10000, 1), ("1,000 in flight", ("crowd", 1000), 1000, 1))
# Of one run; on a library that takes longer, or that fails, the row has no figure.
LIMIT = 400


def told(case, *words):
    print(f"{case}: {' '.join(map(str, words))}", file=sys.stderr, flush=True)


def measured(case, words, count, turns, field, *preload):
    """Both libraries in turn; a library that cannot do it has no figure."""
    seen = {library: [] for library in LIBRARIES}
    for turn in range(turns):
        for library in LIBRARIES if turn % 2 == 0 else reversed(LIBRARIES):
            with tempfile.TemporaryDirectory(prefix="rdmacm-bench.") as folder:
                env = environment(library, *preload)
                env |= {"RDMAFAKE_SHARED": str(Path(folder) / "kernel")} if preload else {}
                try:
                    found = numbers([bench.OUT / "connections", *words, count], env, 30 if preload else LIMIT)
                    seen[library].append(found[field])
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    told(case, "FAILED", library, error)
        if not all(seen.values()):
            break
    c, ours = seen.values()
    told(case, c, ours)
    if c and ours:
        return {**summary(c, ours), "case": case}
    return row(case, *(statistics.median(one) if one else None for one in (c, ours)))


def raw(words, field, count, turns, scale, *preload):
    """The same without rsockets: what a connection costs at least."""
    found = bench.pairs([bench.OUT / "manager", *words, count], turns, *preload)[field]
    return row("the raw connection", scale(found["c"]), scale(found["ours"]))


def in_guest(smoke, system_calls):
    rows = [raw(("threads", 1), "connections/s", 4 if smoke else 60, 1, lambda value: 1e3 / value)]
    for case, words, count, turns in CASES[:1] if smoke else CASES:
        rows.append(measured(case, words, 10 if smoke else count, 1 if smoke else turns, "one"))
    many = [measured(*one, "last tenth") for one in (() if smoke else MANY)]
    calls = [row("of a connection", *(system_calls(library, 10 if smoke else 20, bench.OUT / "connections", "one", 0)[1]
                                      for library in LIBRARIES))]
    title = "rsocket connections"
    return [{"name": "socket-connections", "title": f"{title}: connect, a byte each way, close", "unit": "ms",
             "timed": True, "rows": rows + many,
             "note": "The raw connection is the connection manager's alone: a queue pair of four entries, no buffers, no "
                     "byte."},
            {"name": "socket-connection-calls", "title": f"{title}: system calls of both sides", "unit": "calls",
             "command": "strace -f -y", "rows": calls}]


def on_soft_device(smoke):
    """Processor time of both sides: the device's locks and its log are in it."""
    device = bench.SOFTDEV
    rows = [raw(("cycles", 1), "cycle", 20 if smoke else 300, 1 if smoke else 5, lambda value: value / 1e6, device)]
    for case, words, count, turns in CASES[:1] if smoke else CASES:
        rows.append(measured(case, words, 10 if smoke else count, 1 if smoke else turns, "processor", device))
    return [{"name": "soft-connections", "title": "rsocket connections: processor time of both sides, with the soft device's",
             "unit": "ms", "timed": True, "rows": rows,
             "note": "Connect, a byte each way, close. The raw connection is the connection manager's alone. The C library "
                     "of the distribution cannot do the cases without a figure: it loses connections, or waits for ever."}]
