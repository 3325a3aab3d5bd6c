# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `lab`: the programs of `cm` that need no script, on a real kernel.

In a guest each runs once with the C library and once with ours, and what they print is compared.
Left out are programs that script the soft device. Those that differ on purpose run on ours alone, and
must not crash or hang: their right output is written for the soft device.
"""
import re
import subprocess
import time

import behaviours
from harness import compile_program, difference, environment, execute, must
from suite import Suite

LIMIT = 20
ADDRESSES = (["addr", "add", "10.77.0.1/24", "dev", "d0"], ["-6", "addr", "add", "fd00:77::1/64", "dev", "d0", "nodad"])
SCRIPTED = re.compile(r"^ \* (fake|env): |need_soft_device|rdmafake_|RDMAFAKE\(|\bfake\(", re.M)
# Numbers that a real kernel and device choose anew each time are left out, and the LIDs of RoCE
# paths, which mean nothing (QUERY_PATH tells parts of a hardware address there, QUERY_ROUTE zeros).
CHOSEN = ((r"\bqp [0-9a-f]+", "qp N"), (r"\bflow [0-9a-f]+ (hop|index)", r"flow N \1"),
          (r"slid [0-9a-f]+ dlid [0-9a-f]+", "slid N dlid N"))


def cases(names):
    found = [behaviours.Case(source) for source in behaviours.sources("cm")]
    return [case for case in found if not names or case.name in names]


def scripted(case):
    return bool(SCRIPTED.search(case.source.read_text()))


def compile_all(names, args):
    must(behaviours.compile_trace())
    for case in cases(names):
        if not scripted(case):
            must(case.compile())


def run_one(case, library):
    env = environment(**({"LD_LIBRARY_PATH": library} if library else {}))
    ended = execute([case.program], env, LIMIT)
    for pattern, instead in CHOSEN:
        ended.out = re.sub(pattern, instead, ended.out)
    return ended


def run(names, args, report):
    for address in ADDRESSES:
        subprocess.run(["ip", *address], check=True)
    time.sleep(3)
    for case in cases(names):
        if scripted(case):
            report.skip(case.name, "scripts the soft device")
            continue
        ours = run_one(case, args.lib)
        if ours.skipped:
            report.skip(case.name, ours.err.strip())
            continue
        # On a device without XRC the C library crashes in srq_xrc.
        if case.differs or case.theirs or case.name == "srq_xrc":
            if ours.crashed:
                report.bad(case.name, f"    ours ends badly\n{ours.said}")
            else:
                report.good(case.name, "(ours alone)")
            continue
        theirs = run_one(case, None)
        if ours.said != theirs.said:
            # Events of two channels may come in another order: once more.
            ours, theirs = run_one(case, args.lib), run_one(case, None)
        if ours.said == theirs.said:
            report.good(case.name, word="equal")
        else:
            report.bad(case.name, difference(theirs.said, ours.said, ("C library", "ours")))


SUITES = [Suite("lab", "the programs of cm that need no script, both libraries on a real kernel",
                lambda: [case.name for case in cases([])], run, quick=False, guest=True, prepare=compile_all)]
