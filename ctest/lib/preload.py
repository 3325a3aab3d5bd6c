# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suites `preload` and `preload-over-c`: socket programs, natively and under the preload library.

A program is compiled once. It runs twice on the kernel's own TCP and UDP, which must agree with each
other, then preloaded, with the soft device for the kernel and libibverbs; the output must be the
same. Everything happens in a network namespace, where an ordinary interface has the addresses of the
soft device. That counts the queue pairs that went live: a program that ran well over TCP has failed.

With --device it is a real device instead, whose packets are counted.

`preload-over-c` runs our preload library on the distribution's librdmacm. That of rdma-core 44 hangs
where a listener is polled, and fails in datagrams, half-closed connections and more, so only programs
that need none of that are run.

Lines of a head comment:
  rdma: N          at least so many queue pairs (two for a connection); 2 without the line,
                   0: none may be made
  native: no       tests what only the preload library has: it judges itself, by lines of `not-ok`
  env: NAME=VALUE  in the environment, preloaded
  fake: STATEMENT  script of the soft device (several lines are joined)
  config: RULE     a line of /etc/rdma/rsocket/preload_config
  fortify: yes     compiled with the checked functions of glibc
  limit: SECONDS   instead of 30
  fds: N           instead of a limit of 1024 descriptors
  over-c: yes      runs with `preload-over-c`, too
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import (CTEST, OUT, RUN, SOFT_DEVICE, Head, compile_program, difference, environment, execute, in_order,
                      indented, make_soft_device, must, programs_of)
from suite import Suite

# Wrong calls are part of what is tested.
CFLAGS = ["-Wno-unused-result", "-Wno-nonnull", "-Wno-stringop-overflow"]
INSIDE = "CTEST_PRELOAD_INSIDE"
LIMIT = 30
# The lab's addresses; the last is nobody's.
LAB = ("10.9.0.1", "fd00:9::1", "10.9.0.9")
# The interface has the addresses of the soft device, a neighbour that never answers, and a /etc/rdma
# of our own.
SETUP = """
set -e
ip link set lo up
ip link add d0 type ifb 2>/dev/null || ip link add d0 type dummy 2>/dev/null || ip link add d0 type veth peer name d1
ip link set d0 up
ip addr add 10.77.0.1/24 dev d0
ip -6 addr add fd00:77::1/64 dev d0 nodad
ip neigh add 10.77.0.9 lladdr 02:00:00:00:00:09 dev d0 nud permanent
mount --make-rprivate /
mkdir -p /etc/rdma
mount -t tmpfs none /etc/rdma
mkdir /etc/rdma/rsocket
exec "$@"
"""


class Case:
    def __init__(self, source, args):
        self.source, self.name = source, source.stem
        head = Head(source)
        self.rdma = int(head.first("rdma", "2"))
        self.native = "no" not in head.all("native")
        self.env = head.pairs("env")
        self.script = "\n".join(head.all("fake"))
        self.config = head.all("config")
        self.limit = int(head.first("limit", LIMIT))
        self.fds = int(head.first("fds", 1024))
        self.over_c = bool(head.all("over-c"))
        self.flags = [*CFLAGS, *(["-O2", "-D_FORTIFY_SOURCE=2"] if head.all("fortify") else [])]
        if args.device:
            names = zip(("HERE", "HERE6", "NOBODY"), LAB)
            self.flags += [f'-D{name}="{address}"' for name, address in names]
        self.program = OUT / ("preload-device" if args.device else "preload") / self.name

    def compile(self):
        return compile_program(self.program, self.source, flags=self.flags, libs=["-lpthread"])


def sources():
    return programs_of(CTEST / "preload")


def compile_all(names, args):
    for source in sources():
        if not names or source.stem in names:
            must(Case(source, args).compile())


def sent_packets():
    """Packets that real devices have sent."""
    counters = Path("/sys/class/infiniband").glob("*/ports/*/hw_counters/sent_pkts")
    return sum(int(counter.read_text()) for counter in counters)


class Run:
    """One run of a program: how it ended, and its live queue pairs."""

    def __init__(self, case, args, preload):
        with tempfile.TemporaryDirectory(prefix="preload-") as work:
            env, log = environment(), Path(work) / "log"
            if preload:
                env.update(self.preload(case, args, work), RDMAFAKE_LOG=str(log))
            command = [case.program]
            if case.config:
                # The program's own view of /etc/rdma/rsocket.
                command = ["unshare", "-m", "sh", "-c", 'mount --bind . /etc/rdma/rsocket && exec "$0"', *command]
            before = sent_packets()
            self.ended = execute(command, env, (args.limit or case.limit) * args.scale, cwd=work,
                                 fds=(case.fds, max(case.fds, 4096)))
            commands = log.read_text(errors="replace") if log.exists() else ""
            self.pairs = len(re.findall(r"modify_qp \w+ state=3 ", commands))
            self.packets = sent_packets() - before
        self.said, self.how = self.ended.said, self.ended.how

    def preload(self, case, args, work):
        shown = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True)
        distribution = "/usr/lib/" + shown.stdout.strip()
        library = distribution if args.theirs or args.over_c else args.lib
        object_ = f"{distribution}/rsocket/librspreload.so" if args.theirs else f"{args.lib}/librspreload.so"
        env = dict(case.env, RDMAFAKE_SHARED=f"{work}/kernel", LD_LIBRARY_PATH=library, RDMAFAKE=case.script,
                   LD_PRELOAD=object_ if args.device else f"{object_} {SOFT_DEVICE}")
        if case.config:
            (Path(work) / "preload_config").write_text("\n".join(case.config) + "\n")
        return env


def judge_run(case, run, native, args):
    """What is wrong with a preloaded run, or None."""
    tail = run.ended.tail()
    if native and run.said != native.said:
        return difference(native.said, run.said, ("native", "preloaded")) + "\n" + tail
    bad = [line for line in run.said.splitlines() if line.startswith("not-ok")]
    if bad or run.how != "exit 0":
        return "\n".join("    " + line for line in bad + run.said.splitlines()[-4:]) + "\n" + tail
    if args.device:
        return "    nothing went over RDMA" if case.rdma and not run.packets else None
    if run.pairs < case.rdma or (case.rdma == 0 and run.pairs):
        return f"    {run.pairs} queue pairs went live, {case.rdma} were expected"
    return None


def judge(case, args):
    """Gives (problem or None, text, live queue pairs)."""
    problem = case.compile()
    if problem:
        return problem, "", 0
    native = None
    if case.native:
        native, again = Run(case, args, False), Run(case, args, False)
        if native.how != "exit 0" or "not-ok" in native.said:
            return "    fails natively\n" + indented(native.said + native.ended.err), "", 0
        if native.said != again.said:
            return "    varies natively\n" + difference(native.said, again.said, ("first", "second")), "", 0
    if args.native:
        return None, "" if native else "preloaded only", 0
    for number in range(args.repeat):
        run = Run(case, args, True)
        if args.show:
            print(f"--- {case.name}\n{run.said}{run.ended.err}", flush=True)
        problem = judge_run(case, run, native, args)
        if problem:
            return (f"    run {number + 1}\n" if args.repeat > 1 else "") + problem, "", run.pairs
    if args.device:
        return None, f"{run.packets} packets", run.packets
    return None, f"{run.pairs} queue pairs", run.pairs


def left_out(case, args):
    """Why a program cannot run, or None."""
    if args.over_c and not case.over_c:
        return "the C library fails in it"
    if args.device and (case.script or case.config):
        return "needs the soft device or a /etc/rdma of its own"
    return None


def in_namespace(suite, names, args, report):
    """This suite again, in namespaces of its own, so that addresses are free to use."""
    root = [] if os.geteuid() == 0 else ["-r"]
    report.delegate(suite, ["unshare", *root, "-n", "-m", "sh", "-c", SETUP, "sh", sys.executable, RUN, *args.forwarded,
                            suite, *names], env=dict(os.environ, **{INSIDE: "1"}))


def run(suite, names, args, report):
    for tool in ("cc", "ip", "unshare"):
        if not shutil.which(tool):
            must(f"{suite} cannot run without {tool}")
    args.over_c = suite == "preload-over-c"
    if not args.device and not os.environ.get(INSIDE):
        return in_namespace(suite, names, args, report)
    if not args.device:
        must(make_soft_device())
    args.lib = os.path.abspath(args.lib)
    if not args.theirs and not args.native and not Path(args.lib, "librspreload.so").exists():
        must(f"no librspreload.so in {args.lib}: nothing can be tested")
    cases = []
    for case in [Case(source, args) for source in sources()]:
        why = left_out(case, args)
        if names and case.name not in names:
            continue
        if why:
            report.skip(case.name, why)
        else:
            cases.append(case)
    pairs = over_rdma = 0
    # A device's packets are counted for one program at a time.
    jobs = 1 if args.device else min(2, args.jobs)
    for case, (problem, text, live) in in_order(lambda c: judge(c, args), cases, jobs):
        pairs, over_rdma = pairs + live, over_rdma + (live > 0)
        if problem:
            report.bad(case.name, problem)
        else:
            report.good(case.name, text)
    report.say(f"{over_rdma} programs used RDMA, {pairs} {'packets' if args.device else 'queue pairs'}")


def suite(name, about):
    return Suite(name, about, lambda: [source.stem for source in sources()],
                 lambda names, args, report: run(name, names, args, report), device=True, prepare=compile_all)


SUITES = [suite("preload", "socket programs natively and under the preload library, outputs compared"),
          suite("preload-over-c", "those of them that can, with our preload library on the C library")]
