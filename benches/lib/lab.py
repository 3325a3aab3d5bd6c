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
import programs
import sockets
from bench import LIBRARIES, environment, pairs, row

LIMIT = 2400
# Of one program; a library that is slower than that has no figure, and the table says so.
RUN = 100


def measure(wanted, smoke):
    """Boots one guest for all figures; gives them and the machine."""
    with tempfile.TemporaryDirectory(prefix="rdmacm-bench.") as folder:
        result = Path(folder) / "result.json"
        needs = [word for name in programs.NEEDS for word in ("--needs", name)] if "programs" in wanted else []
        subprocess.run([bench.ROOT / "lab" / "run", "--c", *needs, "--timeout", str(LIMIT), "--share", folder, "--",
                        "python3", "-B", __file__, str(result), "smoke" if smoke else "full", *wanted],
                       check=True)
        found = json.loads(result.read_text())
    return found["figures"], {**found["machine"], "guest": "emulated, soft-RoCE"}


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


def connections(smoke):
    rows = []
    program = bench.OUT / "manager"
    for threads, at_once, total in ((1, 1, 4),) if smoke else ((1, 1, 100), (4, 1, 100), (1, 1000, 1000), (4, 250, 1000)):
        words = [program, "crowds" if at_once > 1 else "threads", threads, total // threads]
        timed(rows, f"{threads} × {at_once}", "connections/s", words, 1 if smoke else 10 if at_once == 1 else 3,
              more_is_better=True)
    found = {library: system_calls(library, 4 if smoke else 20) for library in LIBRARIES}
    return [{"name": "connections", "title": "Connections per second, both sides", "unit": "1/s", "timed": True,
             "more_is_better": True, "rows": rows,
             "note": "Threads × connections that each has alive at the same time; from resolving to destroying. One at a "
                     "time: 100 of them one after the other. Of the others 16 are asked for at once in each thread."},
            {"name": "commands", "title": "System calls per connection, both sides", "unit": "calls",
             "command": "strace -f -y",
             "rows": [row("commands of the connection manager", found["c"][0], found["ours"][0]),
                      row("all system calls", found["c"][1], found["ours"][1])]}]


def system_calls(library, rounds):
    """Commands and all calls of one connection: the difference of two runs leaves out what is done once."""
    seen = []
    trace = Path("/tmp/calls")
    for count in (rounds, 2 * rounds):
        subprocess.run(["strace", "-f", "-y", "-o", trace, bench.OUT / "manager", "threads", "1", str(count)],
                       env=environment(library), check=True, capture_output=True, timeout=200)
        lines = [line for line in trace.read_text(errors="replace").splitlines()
                 if "(" in line and "resumed>" not in line]
        seen.append((sum(" write(" in line and "/rdma_cm>" in line for line in lines), len(lines)))
    return [(more - less) / rounds for less, more in zip(*seen)]


FIGURES = {"connections": connections, "sockets": lambda smoke: sockets.figures(smoke, timed),
           "programs": programs.figures}


def move_in():
    """Programs and libraries into the guest's memory: the host's files are slow to read, and may change."""
    place = Path("/tmp/bench")
    shutil.copytree(bench.OUT, place, ignore=shutil.ignore_patterns("results", "fake"))
    for name in ("librdmacm.so.1", "librspreload.so"):
        shutil.copy(bench.OURS / name, place)
    bench.OUT = bench.OURS = place


def in_guest(result, how, *wanted):
    import report
    os.environ["BENCH_ADDRESS"] = os.environ["RDMACM_LAB_ADDR"]
    move_in()
    figures = []
    for name in wanted:
        begin = time.monotonic()
        figures += FIGURES[name](how == "smoke")
        print(f"{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    Path(result).write_text(json.dumps({"figures": figures, "machine": report.machine()}))


if __name__ == "__main__":
    in_guest(*sys.argv[1:])
