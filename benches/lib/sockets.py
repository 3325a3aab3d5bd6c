# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rsockets in the guest: throughput, latency, waiting, memory."""
import subprocess
import sys
import time

import bench
from bench import LIBRARIES, environment, numbers, row, summary

SIZES = (("64", "64 B", 5000), ("4096", "4 KiB", 3000), ("65536", "64 KiB", 400), ("1048576", "1 MiB", 40))
# Sockets, rounds of a library that is fast enough for them, pairs.
CROWDS = ((1, 200, 10), (100, 100, 4), (400, 50, 3), (1000, 50, 3))

# What is traced, and how often.
ONCE = (("message of 64 B", ("throughput", 64), 1000), ("message of 4 KiB", ("throughput", 4096), 500),
        ("round trip", ("latency", 1), 200))


def figures(smoke, timed, system_calls):
    program = bench.OUT / "sockets"
    through, messages, cost, trips, held = [], [], [], [], []
    for size, name, count in SIZES[:1] if smoke else SIZES:
        found = timed(through, name, "MB/s", [program, "throughput", size, 5 if smoke else count],
                      1 if smoke else 10, more_is_better=True)
        if found:
            messages.append({**found["messages/s"], "case": name})
            used = found["processor"]
            # Less is better here: the pairs were read the other way round.
            cost.append({"case": name, "c": used["c"], "ours": used["ours"]})
    for size in ("1",) if smoke else ("1", "64"):
        timed(trips, f"{size} B", "round trip", [program, "latency", size, 10 if smoke else 300], 1 if smoke else 10)
    timed(held, "connected", "resident", [program, "memory", 5 if smoke else 50], 1 if smoke else 2)
    calls = []
    for name, words, rounds in ONCE[:1] if smoke else ONCE:
        # A tenth more of messages is sent to warm up.
        each = 1.1 if words[0] == "throughput" else 1
        c, ours = (system_calls(library, 50 if smoke else rounds, program, *words)[1] / each for library in LIBRARIES)
        calls.append(row(name, c, ours))
    wakes, alone = [], []
    for crowd in ((2, 5, 1),) if smoke else CROWDS:
        wake_ups(wakes, alone, program, *crowd)
    each = {"unit": "MB/s", "timed": True}
    return [{"name": "socket-throughput", "title": "rsockets: throughput", "more_is_better": True,
             "rows": through, **each},
            {"name": "socket-messages", "title": "rsockets: messages per second", "more_is_better": True,
             "rows": messages, **each, "unit": "1/s"},
            {"name": "socket-cost", "title": "rsockets: processor time of both sides", "rows": cost, **each,
             "unit": "ns/byte"},
            {"name": "socket-latency", "title": "rsockets: round trip", "rows": trips, **each, "unit": "µs"},
            {"name": "socket-wake-up", "title": "rsockets: send, wake-up and receive, processor time",
             "rows": wakes, **each, "unit": "µs",
             "note": "One active among so many connected sockets. rselect has no row for 1,000: a socket has two descriptors "
                     "on either library, and a set of select ends at 1,024."},
            {"name": "socket-wait", "title": "rsockets: a wait that finds one ready, processor time", "rows": alone,
             "unit": "µs", "timed": True,
             "note": "The wait without the message and the sleep, whose cost in the kernel is the same for both libraries."},
            {"name": "socket-calls", "title": "rsockets: system calls of both sides", "rows": calls, "unit": "calls",
             "command": "strace -f -y", "note": "Of a message or a round trip: posts, events, and sleeps. Does not move with "
                                                "the load, but under strace nobody finds an answer without a sleep."},
            {"name": "socket-memory", "title": "rsockets: resident memory per idle socket", "rows": held,
             "unit": "bytes"}]


def wake_ups(wakes, alone, program, count, rounds, turns):
    """All ways to wait on the same sockets, because connecting them takes longest."""
    begin = time.monotonic()
    seen = {library: [] for library in LIBRARIES}
    for turn in range(turns):
        for library in LIBRARIES if turn % 2 == 0 else reversed(LIBRARIES):
            try:
                seen[library].append(numbers([program, "wake-up", count, rounds], environment(library), 300))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"FAILED wake-up {count} {library}: {error}", file=sys.stderr, flush=True)
                wakes.append(row(f"1 of {count}: failed", None, None))
                return
    told = []
    for rows, kind in ((wakes, ""), (alone, " alone")):
        for way in ("rpoll", "rselect", "repoll"):
            c, ours = ([one[way + kind] for one in seen[library] if way + kind in one] for library in LIBRARIES)
            if c and ours:
                rows.append({**summary(c, ours), "case": f"{way}, 1 of {count}"})
                told.append(f"{way}{kind} {rows[-1]['c']:.4g}/{rows[-1]['ours']:.4g}")
    print(f"1 of {count}: {', '.join(told)}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
