# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `interop`: rstream, riostream and rcopy between the C library and ours, in both directions.

RCOPY_MEGABYTES is the size of the file that rcopy copies.
"""
import filecmp
import os
import subprocess
import tempfile
import time
from pathlib import Path

from harness import LAB_ADDRESS, environment, execute
from suite import Suite

LIMIT = 90
SIZES = (1, 3, 64, 2047, 2048, 65535, 65536, 65537, 131072, 1048576, 4194304)
DIRECTIONS = (("ours", "theirs"), ("theirs", "ours"))


def transfers():
    """(name, program, options of both sides)"""
    for size in SIZES:
        count = 4 if size > 100000 else 20
        yield f"rstream-{size}", "rstream", ["-S", size, "-I", 4, "-C", count, "-T", "v"]
    for mode in "abn":
        for program in ("rstream", "riostream"):
            yield f"{program}-{mode}", program, ["-S", 4096, "-I", 20, "-C", 20, "-T", mode]
    yield "riostream-v", "riostream", ["-S", 65536, "-I", 4, "-C", 10, "-T", "v"]
    yield "keepalive", "rstream", ["-S", 4096, "-I", 20, "-C", 20, "-k", 1]


def names():
    return [name for name, _, _ in transfers()] + ["rcopy"]


def side(which, args):
    return environment(**({"LD_LIBRARY_PATH": args.lib} if which == "ours" else {}))


def listens():
    shown = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True)
    return "state LISTEN" in shown.stdout


def pair(name, sides, server, client, args, report):
    """A server, and a client that starts when it listens. A server that ends must end well."""
    limit = args.limit or LIMIT
    server_side, client_side = sides
    about = f"{name}: server {server_side}, client {client_side}"
    serves_on = server[0] == "rcopy"
    with tempfile.TemporaryFile("w+", errors="replace") as said, \
            subprocess.Popen([str(word) for word in server], env=side(server_side, args), stdin=subprocess.DEVNULL,
                             stdout=said, stderr=said) as running:
        begin = time.monotonic()
        while not listens() and time.monotonic() - begin < 15:
            time.sleep(0.1)
        ended = execute(client, side(client_side, args), limit, merge=True)
        problem = None if ended.code == 0 else f"client: {ended.how}"
        if not problem and not serves_on:
            try:
                code = running.wait(max(0, limit - (time.monotonic() - begin)))
                problem = f"server: exit {code}" if code else None
            except subprocess.TimeoutExpired:
                problem = "server: hangs"
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
        said.seek(0)
        last = said.read().splitlines()[-3:] + ended.out.splitlines()[-3:]
    if problem:
        report.bad(about, "\n".join("    " + line for line in [problem, *last]))
    else:
        report.good(about)


def copy(address, args, report):
    megabytes = int(os.environ.get("RCOPY_MEGABYTES", 8))
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "source", Path(work) / "copy"
        source.write_bytes(os.urandom(megabytes << 20))
        for sides in DIRECTIONS:
            target.unlink(missing_ok=True)
            pair(f"rcopy-{megabytes}M", sides, ["rcopy"], ["rcopy", source, f"{address}:{target}"], args, report)
            if target.exists() and filecmp.cmp(source, target, shallow=False):
                report.good(f"rcopy-{megabytes}M: the copy is the same")
            else:
                report.bad(f"rcopy-{megabytes}M: the copy differs")


def run(chosen, args, report):
    address = os.environ.get("RSOCKET_ADDRESS", LAB_ADDRESS)
    for name, program, options in transfers():
        for sides in DIRECTIONS if not chosen or name in chosen else ():
            pair(name, sides, [program, "-b", address, *options], [program, "-s", address, *options], args, report)
    if not chosen or "rcopy" in chosen:
        copy(address, args, report)


SUITES = [Suite("interop", "rsocket programs of the distribution, one library on each side, in a guest",
                names, run, quick=False, guest=True)]
