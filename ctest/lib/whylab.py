# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `why-lab`: the usual failures, the example of docs/probes.md and rdmacm-info, on devices of a kernel."""
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import failures
import infolab
from harness import ROOT, environment, execute, indented, must
from suite import Suite

PROBES = ROOT / "docs/probes.md"
# The addresses of the soft device, and a network that no RDMA device is on.
PREPARE = """
ip addr add 10.77.0.1/24 dev d0
ip link add plain type dummy
ip addr add 198.51.100.1/24 dev plain
ip link set plain up
ip route add 192.0.2.0/24 dev plain
mount -t tracefs tracefs /sys/kernel/tracing || true
mount -t debugfs debugfs /sys/kernel/debug || true
"""
SILENT, LAST = "silent-host", "no-device"


def usual_failures(names, args, report):
    """Each on both libraries. Those that take minutes run beside the others; the devices go at the end."""
    page = failures.Page()
    chosen = [name for name in page.names() if not names or name in names]
    ended = {}

    def both(name):
        ended[name] = [failures.run(name, args.lib, theirs=theirs) for theirs in (False, True)]

    beside = threading.Thread(target=both, args=(SILENT,))
    if SILENT in chosen:
        beside.start()
    for name in chosen:
        if name not in (SILENT, LAST):
            both(name)
    if SILENT in chosen:
        beside.join()
    if LAST in chosen:
        for link in os.listdir("/sys/class/infiniband"):
            subprocess.run(["rdma", "link", "delete", link], check=True)
        both(LAST)
    for name in chosen:
        failures.check(page, name, ended[name][0], [failures.KERNEL, failures.SOFT], args, report)
    if not names:
        theirs = failures.their_lines(page, ((name, ended[name][1]) for name in chosen))
        if args.show:
            print(theirs)
        page.compare(theirs, "", [failures.THEIRS_ON_KERNEL, failures.THEIRS], args, report)


def probes(args, report):
    """The example of the page counts a connection that is made and one that is refused."""
    example = re.search(r"^bpftrace -e '\n(.*?)^}'$", PROBES.read_text(), re.M | re.S).group(1) + "}"
    example = re.sub(r"usdt:\S+librdmacm.so.1:", f"usdt:{os.path.realpath(args.lib)}/librdmacm.so.1:", example)
    if not shutil.which("bpftrace"):
        return report.skip("probes", "there is no bpftrace")
    env = environment(LD_LIBRARY_PATH=args.lib)
    with subprocess.Popen(["bpftrace", "-e", example], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as tracer:
        first = tracer.stdout.readline()
        time.sleep(5)
        refused = execute(["rping", "-c", "-a", "10.77.0.1", "-p", "7999"], env, 60)
        with subprocess.Popen(["rping", "-s", "-a", "10.77.0.1", "-C", "1"], env=env, stdout=subprocess.DEVNULL) as server:
            time.sleep(3)
            made = execute(["rping", "-c", "-a", "10.77.0.1", "-C", "1"], env, 60)
            server.kill()
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=60)
    if args.show:
        print(first + out + err)
    wanted = [rf"@us\[{word}\]: *\n\S+ \S+ +1 \|" for word in ("established", "failed")]
    if refused.code and not made.code and all(re.search(pattern, out) for pattern in wanted):
        return report.good("probes")
    return report.bad("probes", indented(f"{first}{out}{err}{refused.said}{made.said}{made.err}"))


def run(names, args, report):
    subprocess.run(["sh", "-ec", PREPARE], check=True, stderr=subprocess.DEVNULL)
    time.sleep(3)
    if not names or "probes" in names:
        probes(args, report)
    if not names or "info" in names:
        infolab.run(args, report)
    if not names or set(names) - {"probes", "info"}:
        usual_failures(names, args, report)


SUITES = [Suite("why-lab", "the same on a kernel's devices: both libraries, rdmacm-info, probes",
                lambda: ["probes", "info", *failures.Page().names()], run, quick=False, guest=True,
                prepare=lambda names, args: must(failures.compiled()), lab="--siw --needs bpftrace")]
