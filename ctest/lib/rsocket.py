# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `rsocket`: programs that check what their calls give, a line `ok` or `not-ok` for each.

On the soft device they run on ours alone: not all of them end with the C library there. On a device
(--device) they run on the C library first: there a check may fail only where its name starts with
the id of a known fault; on ours none may fail.

Lines of a head comment:
  device: soft     only on the soft device, whose answers can be bent
  shared: yes      peers of their own process meet in a file of the soft device
  network: yes     asks the machine for the way, too: in a namespace that has the soft device's
                   address
  setting: NAME=N  a file of /etc/rdma/rsocket
  env: NAME=VALUE  in the environment, on ours
"""
import os
import re
import resource
import tempfile
from pathlib import Path

from harness import (CTEST, LAB_ADDRESS, OUT, SOFT_ADDRESS, SOFT_DEVICE, Head, compile_program, environment, execute,
                     make_soft_device, must, preloaded, programs_of)
from suite import Suite

LIMIT = 240
NAMESPACE = 'ip link set lo up && ip addr add "$0"/24 dev lo && exec "$@"'
# What may fail on the C library has the name of a fault.
OF_THE_C_LIBRARY, OF_OURS = r"^not-ok ([^REPC]|[REPC][^- ])", r"^not-ok "


class Case:
    def __init__(self, source):
        self.source, self.name = source, source.stem
        head = Head(source)
        self.soft = "soft" in head.all("device")
        self.shared, self.network = bool(head.all("shared")), bool(head.all("network"))
        self.settings, self.env = head.pairs("setting"), head.pairs("env")
        self.program = OUT / "rsocket" / self.name


def cases(names):
    found = [Case(source) for source in programs_of(CTEST / "rsocket")]
    return [case for case in found if not names or case.name in names]


def compile_all(names, args):
    for case in cases(names):
        must(compile_program(case.program, case.source))


def on_soft_device(case, env, command, work):
    env.update(RSOCKET_ADDRESS=SOFT_ADDRESS, RDMAFAKE_HEAP="2048")
    if case.shared:
        env["RDMAFAKE_SHARED"] = f"{work}/shared"
    if case.settings:
        for name, value in case.settings.items():
            (Path(work) / name).write_text(value + "\n")
        env["RDMAFAKE_MAP"] = f"/etc/rdma/rsocket={work}"
    command = preloaded(command, SOFT_DEVICE)
    if case.network:
        command = ["unshare", "-rn", "sh", "-c", NAMESPACE, SOFT_ADDRESS, *command]
    return command


def run_one(case, library, args):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with tempfile.TemporaryDirectory(prefix="rsocket-") as work:
        env, command = environment(), [case.program]
        if args.device:
            env["RSOCKET_ADDRESS"] = os.environ.get("RSOCKET_ADDRESS", LAB_ADDRESS)
        else:
            command = on_soft_device(case, env, command, work)
        if library:
            env.update(case.env, LD_LIBRARY_PATH=library)
        else:
            env["THEIRS"] = "1"
        return execute(command, env, args.limit or LIMIT, fds=(most, most), merge=True)


def judge(name, ended, fault, report):
    lines = ended.out.splitlines()
    for line in lines:
        if line.startswith("#"):
            report.say(line)
    report.passed += sum(line.startswith("ok ") for line in lines)
    for line in lines:
        if re.match(fault, line):
            report.bad(f"{name}: {line}")
    if ended.how not in ("exit 0", "exit 1"):
        report.bad(f"{name}: {ended.how}", "\n".join("    " + line for line in lines[-5:]))


def run(names, args, report):
    if not args.device:
        must(make_soft_device())
    for case in cases(names):
        if case.soft and args.device:
            report.skip(case.name, "needs the soft device")
            continue
        problem = compile_program(case.program, case.source)
        if problem:
            report.bad(case.name, problem)
            continue
        if args.device and not args.ours_only:
            report.say(f"{case.name} on the C library")
            judge(f"C {case.name}", run_one(case, None, args), OF_THE_C_LIBRARY, report)
        report.say(f"{case.name} on ours")
        judge(case.name, run_one(case, args.lib, args), OF_OURS, report)


SUITES = [Suite("rsocket", "rsockets: every check of every program", lambda: [case.name for case in cases([])], run,
                device=True, prepare=compile_all, limit=3600)]
