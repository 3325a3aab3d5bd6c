# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The figures that need a kernel with RDMA: started on the host, measured in a guest (lab/run).

In the guest this file is the program: `python3 benches/lib/lab.py RESULT smoke|full figures…`.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench
import connections as rsockets
import programs
import sockets
from bench import LIBRARIES, environment, pairs, row

LIMIT = 2700
# The guest's clock counts instructions, its own and the kernel's: figures do not move with the load of the machine.
STEADY = ("--smp", "1", "--icount")
# Of one program; a library that is slower than that has no figure, and the table says so.
RUN = 200
# The newest C library, because rdma-core 44 hangs beyond four accepted rsockets; it has no ab, so programs have the other.
GUESTS = (("newest", ("connections", "rsockets", "sockets")), ("host", ("programs",)))


def measure(wanted, smoke):
    """Boots a guest for each root; gives the figures and the machine."""
    figures, machine = [], {}
    for root, mine in GUESTS:
        if names := [name for name in wanted if name in mine]:
            found = in_new_guest(root, names, smoke)
            figures += [{**figure, "library": found["library"]} for figure in found["figures"]]
            machine = found["machine"]
    return figures, {**machine, "guest": "one emulated processor whose clock counts instructions, 1 ns each; soft-RoCE"}


def in_new_guest(root, names, smoke):
    """The guest shares a folder with this tree's benches and libraries; a root may have nothing else of them."""
    with tempfile.TemporaryDirectory(prefix="rdmacm-bench.") as folder:
        place = Path(folder)
        shutil.copytree(bench.SOURCE.parent / "lib", place / "benches" / "lib")
        shutil.copytree(bench.OUT, place / "build" / "bench", ignore=shutil.ignore_patterns("results", "softdev"))
        for name in ("librdmacm.so.1", "librspreload.so"):
            shutil.copy(bench.OURS / name, place / "build")
        needs = [word for name in programs.NEEDS for word in ("--needs", name)] if "programs" in names else []
        subprocess.run([bench.ROOT / "lab" / "run", *STEADY, "--c", "--root", root, *needs, "--timeout", str(LIMIT),
                        "--share", folder, "--", "python3", "-B", place / "benches" / "lib" / "lab.py",
                        place / "result.json", "smoke" if smoke else "full", *names], check=smoke)
        return json.loads((place / "result.json").read_text())


def timed(rows, case, name, command, count, **more):
    """One row; a bench that one of the libraries cannot do says so in its row, and why in the log."""
    begin = time.monotonic()
    try:
        found = pairs(command, count, limit=RUN, **more)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"FAILED {case}: {error}", file=sys.stderr, flush=True)
        rows.append(row(f"{case}: failed", None, None))
        return {}
    rows.append({**found[name], "case": case})
    told = " ".join(f"{key} {one['c']:.4g}/{one['ours']:.4g}" for key, one in found.items())
    print(f"{case}: {told}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return found


# Threads, connections that are alive at the same time in each, all of them.
CONNECTIONS = ((1, 1, 60), (4, 1, 60), (1, 1000, 1000), (4, 250, 1000))


def connections(smoke):
    rows = []
    program = bench.OUT / "manager"
    for threads, at_once, total in ((1, 1, 4),) if smoke else CONNECTIONS:
        words = [program, "crowds" if at_once > 1 else "threads", threads, total // threads]
        timed(rows, f"{threads} × {at_once}", "connections/s", words, 1 if smoke else 10 if at_once == 1 else 2,
              more_is_better=True)
    found = {library: system_calls(library, 4 if smoke else 20, program, "threads", 1) for library in LIBRARIES}
    return [{"name": "connections", "title": "Connections per second, both sides", "unit": "1/s", "timed": True,
             "more_is_better": True, "rows": rows,
             "note": "Threads × connections that each has alive at the same time; from resolving to destroying. One at a "
                     "time: 60 of them one after the other. Of the others 16 are asked for at once in each thread."},
            {"name": "commands", "title": "System calls per connection, both sides", "unit": "calls",
             "command": "strace -f -y",
             "rows": [row("commands of the connection manager", found["c"][0], found["ours"][0]),
                      row("all system calls", found["c"][1], found["ours"][1])]}]


def system_calls(library, rounds, *command):
    """Of one round: commands of the connection manager, and all calls. The difference of two runs leaves out what is
    done once."""
    seen = []
    trace = Path(programs.PLACE) / "calls"
    for count in (rounds, 2 * rounds):
        subprocess.run(["strace", "-f", "-y", "-o", trace, *map(str, command), str(count)],
                       env=environment(library), check=True, capture_output=True, timeout=200)
        lines = [line for line in trace.read_text(errors="replace").splitlines()
                 if "(" in line and "resumed>" not in line]
        seen.append((sum(" write(" in line and "/rdma_cm>" in line for line in lines), len(lines)))
    return [(more - less) / rounds for less, more in zip(*seen)]


FIGURES = {"connections": connections, "rsockets": lambda smoke: rsockets.in_guest(smoke, system_calls),
           "sockets": lambda smoke: sockets.figures(smoke, timed, system_calls),
           "programs": programs.figures}


def move_in():
    """Programs and libraries into the guest's memory: shared files are slow to read."""
    place = Path(programs.PLACE)
    shutil.copytree(bench.OUT, place)
    for name in ("librdmacm.so.1", "librspreload.so"):
        shutil.copy(bench.OURS / name, place)
    bench.OUT = bench.OURS = place


def in_guest(result, how, *wanted):
    import report
    os.environ["BENCH_ADDRESS"] = os.environ["RDMACM_LAB_ADDR"]
    move_in()
    library = next(Path("/usr/lib").glob("*/librdmacm.so.1.?.*.0")).name.split(".")[-2]
    figures = []
    for name in wanted:
        begin = time.monotonic()
        figures += FIGURES[name](how == "smoke")
        print(f"{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        # After each: what was measured before a guest's end is worth keeping.
        found = {"figures": figures, "machine": report.machine(), "library": f"rdma-core {library}"}
        Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    in_guest(*sys.argv[1:])
