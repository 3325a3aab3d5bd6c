# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `faults`: every step of an rsocket's life fails once.

A life (`ctest/faults/lives.c`) is lived undisturbed first, and says how often librdmacm makes each call of
libc, each verb and each command of rdma_cm. Then it is lived once for each of these calls and each error
that it can have, in a process of its own, where that call fails; and once for each event that comes late,
twice, never, or after a command that does not bring it. After it the same life is lived undisturbed in that process.

Wrong is a crash, a hang (30 s), a success that is none, a failure of the second life, and what is left at
the end: descriptors, and objects of the device (not of one whose destroying failed).

Calls that are made often fail at the first FIRST of their occurrences, and at some of the others. The suite
`faults-sample` has a few occurrences of each.
"""
import errno
import os
import re
import tempfile

from harness import (CTEST, OUT, SOFT_ADDRESS, SOFT_DEVICE, compile_program, environment, execute, in_order,
                     make_soft_device, must, preloaded)
from rsocket import NAMESPACE
from suite import Suite

FOLDER = CTEST / "faults"
PROGRAM = OUT / "faults" / "life"
LIVES = ("stream", "listener", "datagram", "set")
LIMIT = 70
FIRST, OTHERS = 24, 8

ERRORS = {
    "libc": {
        "mmap": "ENOMEM EPERM", "munmap": "ENOMEM", "eventfd": "EMFILE ENOMEM", "epoll_create1": "EMFILE ENOMEM",
        "epoll_ctl": "ENOMEM ENOSPC", "epoll_wait": "EINTR", "ppoll": "EINTR ENOMEM", "read": "EINTR EAGAIN EIO",
        "write": "EAGAIN EINTR", "close": "EINTR EIO", "open": "EMFILE ENOENT EACCES", "fcntl": "EMFILE",
        "socket": "EMFILE ENOBUFS EAFNOSUPPORT", "bind": "EADDRINUSE EADDRNOTAVAIL", "connect": "ENETUNREACH EAGAIN",
        "getsockname": "ENOBUFS", "setsockopt": "ENOPROTOOPT ENOMEM", "send": "ENOBUFS EAGAIN",
        "sendmsg": "ENOBUFS EAGAIN ECONNREFUSED EINTR", "recv": "EAGAIN EINTR", "recvfrom": "EAGAIN EINTR ECONNREFUSED",
        "pthread_create": "EAGAIN", "pthread_key_create": "EAGAIN",
    },
    "verb": {
        "get_device_list": "ENOMEM ENOSYS", "open_device": "ENOMEM EACCES ENODEV", "query_device": "ENOMEM EIO",
        "query_port": "ENOMEM EIO", "query_gid": "ENOMEM EIO", "alloc_pd": "ENOMEM", "reg_mr": "ENOMEM EPERM EFAULT",
        "dereg_mr": "EBUSY EIO", "create_comp_channel": "EMFILE ENOMEM", "destroy_comp_channel": "EBUSY",
        "create_cq": "ENOMEM EINVAL", "destroy_cq": "EBUSY EIO", "create_qp": "ENOMEM EINVAL", "modify_qp": "EINVAL EIO ENOMEM",
        "destroy_qp": "EBUSY EIO", "post_send": "ENOMEM EINVAL EIO", "post_recv": "ENOMEM EINVAL", "poll_cq": "EIO",
        "req_notify_cq": "ENOMEM EIO", "get_cq_event": "EAGAIN EINTR EIO", "create_ah": "ENOMEM EINVAL", "destroy_ah": "EIO",
        "dealloc_pd": "EBUSY",
    },
    "cmd": {
        "CREATE_ID": "ENOMEM ENODEV", "DESTROY_ID": "EIO ENODEV", "BIND": "EADDRINUSE EADDRNOTAVAIL ENODEV",
        "BIND_IP": "EADDRINUSE ENODEV", "RESOLVE_IP": "ENETUNREACH ENODEV", "RESOLVE_ADDR": "ENETUNREACH EHOSTUNREACH ENODEV",
        "RESOLVE_ROUTE": "ENOMEM EHOSTUNREACH EINVAL", "QUERY_ROUTE": "ENODEV", "QUERY": "ENODEV ENOMEM",
        "CONNECT": "ENOMEM EINVAL EADDRNOTAVAIL", "LISTEN": "EADDRINUSE ENOMEM", "ACCEPT": "ENOMEM EINVAL",
        "REJECT": "EINVAL", "DISCONNECT": "EINVAL ENOMEM", "INIT_QP_ATTR": "EINVAL ENOMEM", "GET_EVENT": "ENOMEM EIO EAGAIN",
        "SET_OPTION": "EINVAL ENOMEM", "NOTIFY": "EINVAL", "MIGRATE_ID": "ENOMEM EINVAL",
    },
}
# The command that brings each event about.
EVENTS = {"ADDR_RESOLVED": "RESOLVE_ADDR", "ROUTE_RESOLVED": "RESOLVE_ROUTE", "CONNECT_REQUEST": None,
          "CONNECT_RESPONSE": "CONNECT", "ESTABLISHED": "ACCEPT", "DISCONNECTED": "DISCONNECT"}
# Events that come when nobody expects them, after each of these commands.
STRAY = ("ADDR_ERROR ROUTE_ERROR CONNECT_ERROR UNREACHABLE REJECTED ESTABLISHED DISCONNECTED DEVICE_REMOVAL "
         "ADDR_CHANGE TIMEWAIT_EXIT").split()
COMMANDS = "BIND_IP LISTEN RESOLVE_ADDR RESOLVE_ROUTE CONNECT ACCEPT DISCONNECT".split()
# What stays when these fail is the kernel's.
LEAVES = {"verb:dereg_mr", "verb:destroy_comp_channel", "verb:destroy_cq", "verb:destroy_qp", "verb:destroy_ah",
          "verb:dealloc_pd", "cmd:DESTROY_ID", "libc:munmap"}


class Fault:
    def __init__(self, life, kind, call, number, how, words):
        self.life, self.kind, self.call, self.number, self.how, self.words = life, kind, call, number, how, words
        self.site = f"{kind}:{call}"

    def __str__(self):
        return f"{self.life} {self.site} {self.number} {self.how}"


def live(life, words, args):
    with tempfile.TemporaryDirectory(prefix="faults-") as work:
        env = environment(LD_LIBRARY_PATH=args.lib, RDMACM_POOL_SIZE="0", RDMAFAKE_MAP=f"/etc/rdma/rsocket={work}")
        for name, value in SETTINGS.items():
            with open(f"{work}/{name}", "w") as file:
                file.write(f"{value}\n")
        command = preloaded([PROGRAM, life, *words], SOFT_DEVICE)
        if life == "datagram":
            # They ask the machine for the way, too.
            command = ["unshare", "-rn", "sh", "-c", NAMESPACE, SOFT_ADDRESS, *command]
        return execute(command, env, LIMIT)


# Small, so that there is little to do between the faults.
SETTINGS = {"mem_default": 65536, "wmem_default": 65536, "sqsize_default": 32, "rqsize_default": 32, "polling_time": 5}


def left_of(ended):
    found = re.search(r"^left (.*)$", ended.out, re.MULTILINE)
    return {name: int(count) for name, count in (pair.split("=") for pair in found[1].split())} if found else None


def numbers(count, sample):
    """The occurrences of a call that fail."""
    if sample:
        return sorted({1, (count + 1) // 2})
    if count <= FIRST + OTHERS:
        return range(1, count + 1)
    step = (count - FIRST) / OTHERS
    return sorted({*range(1, FIRST + 1), *(FIRST + round(step * i) for i in range(1, OTHERS + 1))})


def faults_of(life, counts, sample):
    for kind, calls in ERRORS.items():
        for call, errors in calls.items():
            count = counts.get(f"{kind}:{call}", 0)
            for number in numbers(count, sample) if count else ():
                for error in errors.split()[:1 if sample else None]:
                    if kind == "libc":
                        words = ["libc", call, str(number), str(getattr(errno, error))]
                    elif kind == "verb":
                        words = ["script", f"verbs {call} errno={error} nth={number}"]
                    else:
                        words = ["script", f"fail {call} errno={error} nth={number}"]
                    yield Fault(life, kind, call, number, error, words)
    for event, command in EVENTS.items():
        for number in (1,) if sample else (1, 2, 3, 4):
            yield Fault(life, "event", event, number, "never", ["script", f"drop {event} nth={number}"])
            yield Fault(life, "event", event, number, "late", ["script", f"delay {event} ms=300 nth={number}"])
            if command:
                words = ["script", f"inject {command} event={event} nth={number}"]
                yield Fault(life, "event", event, number, "twice", words)
    for command in COMMANDS:
        count = counts.get(f"cmd:{command}", 0)
        for event in STRAY:
            for number in range(1, min(count, 1 if sample else 3) + 1):
                words = ["script", f"inject {command} event={event} nth={number}"]
                yield Fault(life, "event", event, number, f"stray after {command}", words)


def judge(fault, ended, usual):
    """What is wrong, or None."""
    lines = [line for line in ended.out.splitlines() if line.startswith("wrong")]
    if ended.how not in ("exit 0", "exit 1"):
        lines.append("hangs" if "14" in ended.how or "ALRM" in ended.how or ended.how == "hangs" else ended.how)
        lines += ended.err.splitlines()[-5:]
    left = left_of(ended)
    if left and fault.site not in LEAVES:
        more = [f"{name} {left[name]}, usually {usual[name]}" for name in left if left[name] > usual[name]]
        if more:
            lines.append("left: " + ", ".join(more))
    return "\n".join("    " + line for line in lines) or None


def play(sample):
    def run(names, args, report):
        must(make_soft_device())
        sources = [FOLDER / "hooks.c", FOLDER / "lives.c"]
        objects = [(PROGRAM.parent / source.stem).with_suffix(".o") for source in sources]
        for source, target in zip(sources, objects):
            must(compile_program(target, source))
        must(compile_program(PROGRAM, FOLDER / "main.c", objects, ["-rdynamic"]))
        args.lib = os.path.abspath(args.lib)
        total = 0
        for life in names or LIVES:
            ended = live(life, [], args)
            usual = left_of(ended)
            if ended.how != "exit 0" or not usual:
                report.bad(life, f"    undisturbed: {ended.how}\n{ended.out[-2000:]}{ended.err[-2000:]}")
                continue
            counts = {site: int(count) for site, count in re.findall(r"^count (\S+) (\d+)$", ended.out, re.MULTILINE)}
            faults = list(faults_of(life, counts, sample))
            failed, bad, missed = {}, 0, 0
            for fault, ended in in_order(lambda one: live(one.life, one.words, args), faults, 2 * args.jobs):
                problem = judge(fault, ended, usual)
                if problem:
                    bad += 1
                    report.bad(str(fault), problem)
                else:
                    report.passed += 1
                failed.setdefault(fault.site, []).append(fault)
                missed += fault.kind == "libc" and "hit 0" in ended.out
            total += len(faults)
            report.say(f"{life}: {len(faults)} faults in {len(failed)} kinds of calls and events, {missed} not reached, {bad} not survived")
        report.say(f"{total} faults")
    return run


SUITES = [Suite("faults", "every call of an rsocket's life fails once, each event comes late, twice, never, or unasked",
                lambda: list(LIVES), play(False), quick=False),
          Suite("faults-sample", "some of them", lambda: list(LIVES), play(True))]
