"""The figures that need a kernel with RDMA: started on the host, measured in a guest (lab/run).

In the guest this file is the program: `python3 benches/lib/lab.py RESULT smoke? figures…`.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import LIBRARIES, OUT, ROOT, environment, pairs, row

LIMIT = 1500


def measure(wanted, smoke):
    """Boots one guest for all figures; gives them and the machine."""
    with tempfile.TemporaryDirectory(prefix="rdmacm-bench.") as folder:
        result = Path(folder) / "result.json"
        subprocess.run([ROOT / "lab" / "run", "--c", "--timeout", str(LIMIT), "--share", folder, "--",
                        "python3", "-B", __file__, str(result), "smoke" if smoke else "full", *wanted],
                       check=True)
        found = json.loads(result.read_text())
    return found["figures"], {**found["machine"], "guest": "emulated, soft-RoCE"}


def timed(rows, case, name, command, smoke, **more):
    """One row; a bench that one of the libraries cannot do says so in its row and in the notes."""
    try:
        found = pairs(command, 1 if smoke else 10, limit=200, **more)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"FAILED {case}: {error}", file=sys.stderr, flush=True)
        rows.append(row(f"{case}: failed", None, None))
        return {}
    rows.append({**found[name], "case": case})
    print(f"{case}: {found[name]}", file=sys.stderr, flush=True)
    return found


def connections(smoke):
    rows = []
    for threads, rounds in ((1, 1),) if smoke else ((1, 1), (1, 100), (1, 1000), (4, 250)):
        timed(rows, f"{threads} × {rounds}", "connections/s", [OUT / "manager", "threads", threads, rounds],
              smoke or rounds >= 250, more_is_better=True)
    commands = {library: kernel_commands(library, 4 if smoke else 20) for library in LIBRARIES}
    return [{"name": "connections", "title": "Connections per second, both sides", "unit": "1/s", "timed": True,
             "more_is_better": True, "rows": rows,
             "note": "Threads × connections one after the other in each, from resolving to destroying."},
            {"name": "commands", "title": "Kernel commands per connection, both sides", "unit": "commands",
             "command": "strace -f -e trace=write -P /dev/infiniband/rdma_cm",
             "rows": [row("connect, accept, disconnect", commands["c"], commands["ours"])]}]


def kernel_commands(library, rounds):
    """Of one connection: the difference of two runs leaves out what is done once."""
    seen = []
    for count in (rounds, 2 * rounds):
        trace = Path("/tmp/commands")
        subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=write", "-P", "/dev/infiniband/rdma_cm",
                        OUT / "manager", "threads", "1", str(count)],
                       env=environment(library), check=True, capture_output=True, timeout=200)
        seen.append(trace.read_text().count("write("))
    return (seen[1] - seen[0]) / rounds


def sockets(smoke):
    program = OUT / "sockets"
    through, messages, cost, trips, wakes, held = [], [], [], [], [], []
    for size, name, count in (("64", "64 B", 5000), ("4096", "4 KiB", 2000), ("65536", "64 KiB", 300),
                              ("1048576", "1 MiB", 30)):
        found = timed(through, name, "MB/s", [program, "throughput", size, 5 if smoke else count], smoke,
                      more_is_better=True)
        if found:
            messages.append({**found["messages/s"], "case": name})
            used = found["processor"]
            # Less is better here: the pairs were read the other way round.
            cost.append({"case": name, "c": used["c"], "ours": used["ours"]})
        if smoke:
            break
    for size in ("1",) if smoke else ("1", "64"):
        timed(trips, f"{size} B", "round trip", [program, "latency", size, 10 if smoke else 300], smoke)
    for way, count in ((("poll", 1),) if smoke else
                       (("poll", 1), ("poll", 100), ("poll", 1000), ("select", 1), ("select", 100))):
        timed(wakes, f"r{way}, 1 of {count}", "wake-up", [program, way, count, 5 if smoke else 100],
              smoke or count == 1000)
    timed(held, "connected", "resident", [program, "memory", 5 if smoke else 50], True)
    each = {"unit": "MB/s", "timed": True}
    return [{"name": "socket-throughput", "title": "rsockets: throughput", "more_is_better": True,
             "rows": through, **each},
            {"name": "socket-messages", "title": "rsockets: messages per second", "more_is_better": True,
             "rows": messages, **each, "unit": "1/s"},
            {"name": "socket-cost", "title": "rsockets: processor time of both sides", "rows": cost, **each,
             "unit": "ns/byte"},
            {"name": "socket-latency", "title": "rsockets: round trip", "rows": trips, **each, "unit": "µs"},
            {"name": "socket-wake-up", "title": "rsockets: send, wake-up and receive, processor time",
             "rows": wakes + own_sets(program, smoke), **each, "unit": "µs",
             "note": "One active among so many connected sockets. repoll is no function of this C library: "
                     "beside it stands that library's rpoll of as many."},
            {"name": "socket-memory", "title": "rsockets: resident memory per idle socket", "rows": held,
             "unit": "bytes"}]


def own_sets(program, smoke):
    """repoll on ours against rpoll on the C library."""
    from bench import numbers
    rows = []
    for count in () if smoke else (1, 100, 1000):
        try:
            c = numbers([program, "poll", count, 100], environment("c"), 200)["wake-up"]
            ours = numbers([program, "repoll", count, 100], environment("ours"), 200)["wake-up"]
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"FAILED repoll {count}: {error}", file=sys.stderr, flush=True)
            rows.append(row(f"repoll, 1 of {count}: failed", None, None))
            continue
        rows.append(row(f"repoll, 1 of {count}", c, ours))
    return rows


FIGURES = {"connections": connections, "sockets": sockets}


def in_guest(result, how, *wanted):
    import os
    import report
    os.environ["BENCH_ADDRESS"] = os.environ["RDMACM_LAB_ADDR"]
    figures = [figure for name in wanted for figure in FIGURES[name](how == "smoke")]
    Path(result).write_text(json.dumps({"figures": figures, "machine": report.machine()}))


if __name__ == "__main__":
    in_guest(*sys.argv[1:])
