# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The figures that need no device: the stub provider, and the soft device."""
import re
import statistics
import subprocess
from collections import Counter, defaultdict

import callgrind
import connections
from bench import SOFTDEV, LIBRARIES, OURS, OUT, environment, numbers, pairs, row

OF_LIBRARY = r"/librdmacm\.so"
LAYERS = {"c": "c", "inline": "ours", "exported": "ours"}


def helpers(smoke):
    rounds = 100 if smoke else 1000
    cost = defaultdict(dict)
    for layer, library in LAYERS.items():
        empty = 0
        for dump in callgrind.sections([OUT / f"helpers-{layer}", rounds], environment(library)):
            count = dump.total - dump.own_of("libstub")
            if dump.name.startswith("empty/"):
                empty = count
            elif dump.name:
                cost[dump.name][layer] = round((count - empty) / rounds)
    instructions = [row(name, one["c"], one["exported"], inline=one["inline"],
                        over=one["exported"] - one["c"]) for name, one in cost.items()]
    return [{"name": "helpers", "title": "Helpers: instructions per call, exported functions",
             "unit": "instructions", "extra": {"inline": "our inline layer", "over": "exported − C inline"},
             "note": "C: the C header's inline code. Ours: the exported function through the PLT.",
             "rows": instructions}]


def step_costs(alive):
    """Of each call: instructions with what it calls in libc, allocations; and of a whole cycle."""
    calls, cycle = defaultdict(dict), {}
    for library in LIBRARIES:
        seen = defaultdict(list)
        for dump in callgrind.sections([OUT / "manager", "calls", alive], environment(library, SOFTDEV)):
            if dump.name:
                cost = (dump.own_of(OF_LIBRARY) + dump.libc_for(OF_LIBRARY)
                        + dump.marshalling_for(OF_LIBRARY))
                seen[dump.name].append((cost, dump.allocations(OF_LIBRARY)))
        for name, costs in seen.items():
            calls[name][library] = tuple(statistics.median(column) for column in zip(*costs))
        # The program counts five cycles; opening and closing channels and listeners is no part of one.
        inside = [costs for name, costs in seen.items() if name not in OUTSIDE]
        cycle[library] = tuple(sum(one[i] for costs in inside for one in costs) / 5 for i in (0, 1))
    return calls, cycle


OUTSIDE = {"rdma_create_event_channel", "rdma_destroy_event_channel", "rdma_bind_addr", "rdma_listen"}


def manager(smoke):
    figures = []
    flat = []
    for alive in (1,) if smoke else (1, 100, 10000):
        calls, cycle = step_costs(alive)
        flat.append((alive, cycle))
        if alive == 1:
            for i, unit in enumerate(("instructions", "allocations")):
                figures.append({
                    "name": f"manager-{unit}", "unit": unit,
                    "title": f"Connection manager: {unit} per call, one id",
                    "note": "The library's own, those of libc on its behalf, and ibv_copy_…, by which the C library "
                            "converts structs that ours converts itself; without the soft device and libibverbs.",
                    "rows": [row("whole cycle", cycle["c"][i], cycle["ours"][i])]
                    + [row(name, one["c"][i], one["ours"][i]) for name, one in calls.items()]})
    figures.append({"name": "manager-alive", "unit": "instructions",
                    "title": "Connection manager: a whole cycle beside other ids",
                    "rows": [row(f"{alive} ids alive", one["c"][0], one["ours"][0]) for alive, one in flat]})
    rows = []
    for alive in (1,) if smoke else (1, 100, 10000):
        found = pairs([OUT / "manager", "cycles", alive, 20 if smoke else 1000], 1 if smoke else 10, SOFTDEV)
        rows.append({**found["cycle"], "case": f"{alive} ids alive"})
    figures.append({"name": "manager-time", "unit": "ns", "timed": True, "rows": rows,
                    "title": "Connection manager: processor time of a whole cycle, with the soft device's"})
    figures.append(contention(smoke))
    return figures


def futex_calls(library, threads, rounds):
    """futex calls by who asked for them: the innermost object of the stack that is not libc."""
    trace = OUT / f"futex-{library}-{threads}"
    subprocess.run(["strace", "-f", "-k", "-e", "trace=futex", "-o", trace, OUT / "manager", "threads",
                    str(threads), str(rounds)], env=strace_environment(library), check=True,
                   capture_output=True, timeout=300)
    asked, waiting = Counter(), False
    for line in trace.read_text(errors="replace").splitlines():
        if line.startswith(" > "):
            if waiting and not re.search(r"/(libc|libpthread|ld-linux[^/]*)\.so", line):
                asked[re.match(r" > ([^(]*)", line)[1].rsplit("/", 1)[-1]] += 1
                waiting = False
        else:
            waiting = "futex(" in line
    trace.unlink()
    return sum(count for name, count in asked.items() if name.startswith("librdmacm"))


def strace_environment(library):
    """strace itself must not run on the soft device: `env` sets it for the program alone."""
    return environment(library, SOFTDEV)


def contention(smoke):
    rows = []
    for threads in (2,) if smoke else (1, 2, 4):
        rounds = 5 if smoke else 50
        found = {library: futex_calls(library, threads, rounds) for library in LIBRARIES}
        rows.append(row(f"{threads} threads", found["c"] / threads / rounds, found["ours"] / threads / rounds))
    return {"name": "manager-locks", "title": "Connection manager: futex calls of the library per cycle",
            "unit": "calls", "rows": rows, "command": "strace -f -k -e trace=futex",
            "note": "Threads with ids of their own. A call is the library's when it is the innermost object above libc."}


def system_calls(library, *arguments):
    summary = OUT / f"calls-{library}"
    subprocess.run(["strace", "-f", "-c", "-U", "calls", "-o", summary, OUT / "first", *arguments],
                   env=environment(library, SOFTDEV), check=True, capture_output=True, timeout=60)
    total = int(summary.read_text().split()[-2 if summary.read_text().rstrip().endswith("total") else -1])
    summary.unlink()
    return total


def first(smoke):
    cost, calls, heap = {}, {}, {}
    for library in LIBRARIES:
        dump = next(one for one in callgrind.sections([OUT / "first"], environment(library, SOFTDEV))
                    if one.name == "first")
        cost[library] = dump.total - dump.own_of("librdmafake")
        calls[library] = system_calls(library) - system_calls(library, "none")
        heap[library] = numbers([OUT / "manager", "memory", 100 if smoke else 1000],
                                environment(library, OUT / "libheap.so", SOFTDEV))
    timed = pairs([OUT / "first"], 1 if smoke else 20, SOFTDEV)
    return [
        {"name": "first-use", "title": "First use: from dlopen to a ready event channel",
         "unit": "instructions or calls",
         "note": "With the dynamic linker and libibverbs, without the soft device's instructions.",
         "rows": [row("instructions", cost["c"], cost["ours"]), row("system calls", calls["c"], calls["ours"])]},
        {"name": "first-use-time", "title": "First use: processor time", "unit": "µs", "timed": True,
         "rows": [{**timed["processor"], "case": "dlopen to channel"}]},
        {"name": "memory", "title": "Heap bytes of the library", "unit": "bytes",
         "rows": [row(f"per {name}", heap["c"][name], heap["ours"][name]) for name in heap["c"]]},
    ]


# Calls of a round, where there are several (BURST of messages.c).
BURST = 8


def messages(smoke):
    rounds = 10 if smoke else 100
    cost = defaultdict(dict)
    for library in LIBRARIES:
        for dump in callgrind.sections([OUT / "messages", rounds], environment(library, SOFTDEV)):
            if dump.name:
                calls = rounds * (1 if " one" in dump.name else BURST)
                cost[dump.name][library] = round((dump.own_of(OF_LIBRARY) + dump.libc_for(OF_LIBRARY)) / calls)
    return [{"name": "messages", "title": "rsockets: instructions of a call, 64 bytes", "unit": "instructions",
             "note": "The library's own and those of libc on its behalf; without the soft device. Nobody waits.",
             "rows": [row(name, one["c"], one["ours"]) for name, one in cost.items()]}]


def preloads():
    """The preload library of each side; the C library's lies beside its other files."""
    folder = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    return {"none": None, "c": f"/usr/lib/{folder}/rsocket/librspreload.so", "ours": OURS / "librspreload.so"}


def preload(smoke):
    rounds = 20 if smoke else 100
    cost = defaultdict(dict)
    for side, library in preloads().items():
        env = environment("ours" if side == "ours" else "c", *([library] if library else []))
        for dump in callgrind.sections([OUT / "descriptors", rounds], env):
            if dump.name:
                cost[dump.name][side] = round(dump.total / rounds)
    rows = [row(name, one["c"] - one["none"], one["ours"] - one["none"], plain=one["none"])
            for name, one in cost.items()]
    return [{"name": "preload", "title": "librspreload: instructions added to a call on an ordinary descriptor",
             "unit": "instructions", "rows": rows, "extra": {"plain": "the call without preload"}}]


FIGURES = {"helpers": helpers, "manager": manager, "first": first, "messages": messages, "preload": preload,
           "rsockets": connections.on_soft_device}
