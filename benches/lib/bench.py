# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the figures share: building the programs, running one on either library, pairs and their ratios."""
import os
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "benches" / "c"
OUT = ROOT / "build" / "bench"
OURS = ROOT / "build"
SOFTDEV = OUT / "softdev" / "librdmafake.so"
LIBRARIES = ("c", "ours")
CC = ["cc", "-O2", "-g", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter",
      f"-I{ROOT / 'ctest' / 'include'}"]
SYSTEM = ["-lrdmacm", "-libverbs", "-lpthread", "-ldl"]


def compile_one(name, source, *options):
    # In a place of its own first: two runs at once must not see half a file.
    part = OUT / f"{name}.{os.getpid()}"
    subprocess.run([*CC, "-o", part, SOURCE / source, *options], check=True)
    part.rename(OUT / name)


def build():
    """Each program is built once, against the C library; only the helpers need their header's variants."""
    if not (OURS / "librdmacm.so.1").exists():
        raise SystemExit("benches/run: no build/librdmacm.so.1: run make first")
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "--silent", "-C", ROOT / "softdev", f"OUT={SOFTDEV.parent}"], check=True)
    shared = ["-fPIC", "-shared"]
    compile_one("libstub.so", "stub.c", *shared)
    compile_one("libheap.so", "heap.c", *shared)
    stub = [f"-L{OUT}", "-lstub", f"-Wl,-rpath,{OUT}"]
    ours = [f"-I{ROOT / 'include'}", f"-L{OURS}"]
    compile_one("helpers-c", "helpers.c", *stub, *SYSTEM)
    compile_one("helpers-inline", "helpers.c", *ours, *stub, *SYSTEM)
    compile_one("helpers-exported", "helpers.c", "-DRDMACM_EXPORTED_HELPERS", *ours, *stub, *SYSTEM)
    compile_one("manager", "manager.c", *SYSTEM)
    compile_one("first", "first.c", "-ldl")
    compile_one("descriptors", "descriptors.c")
    compile_one("sockets", "sockets.c", *SYSTEM)
    compile_one("messages", "messages.c", *SYSTEM)
    compile_one("connections", "connections.c", *SYSTEM)


def environment(library, *preload):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "RDMA"))}
    keep["LD_BIND_NOW"] = "1"
    if library == "ours":
        keep["LD_LIBRARY_PATH"] = str(OURS)
    if preload:
        keep["LD_PRELOAD"] = " ".join(map(str, preload))
    return keep


def numbers(command, env, limit=120):
    """The lines `name value` that a bench prints."""
    done = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True,
                          timeout=limit)
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        name, _, value = line.rpartition(" ")
        found[name] = float(value)
    return found


def row(case, c, ours, **more):
    return {"case": case, "c": c, "ours": ours, **more}


def better(figure, entry):
    """Above 1: ours is better. None where a side is zero or could not be measured."""
    if entry["c"] is None or entry["ours"] is None:
        return None
    above, below = (entry["ours"], entry["c"]) if figure.get("more_is_better") else (entry["c"], entry["ours"])
    return above / below if below else None


def pairs(command, count, *preload, more_is_better=False, limit=120):
    """Both libraries in turn, `count` times; median of each, and the middle half of the ratios."""
    seen = {library: [] for library in LIBRARIES}
    for turn in range(count):
        # Who goes first changes, so that neither always finds the warmer machine.
        for library in LIBRARIES if turn % 2 == 0 else reversed(LIBRARIES):
            seen[library].append(numbers(command, environment(library, *preload), limit))
    return {name: summary([one[name] for one in seen["c"]], [one[name] for one in seen["ours"]],
                          more_is_better) for name in seen["c"][0]}


def summary(c, ours, more_is_better=False):
    ratios = sorted((b / a if more_is_better else a / b) for a, b in zip(c, ours) if a and b)
    entry = row("", statistics.median(c), statistics.median(ours), pairs=len(ratios))
    if ratios:
        entry["ratio"] = statistics.median(ratios)
        entry["low"], entry["high"] = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    return entry
