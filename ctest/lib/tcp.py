# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `tcp`: the same calls on TCP sockets, on rsockets, and on sockets under the preload library.

One program (`ctest/tcp`) plays a scenario in one of three modes and prints a line for each check. TCP
and UDP of the kernel run first and are the oracle: the other two modes must print the same, but for
the lines of `ctest/tcp/differences`. An unlisted difference fails, and so does a listed one that is
none any more, or is another one.

`differences` has a reason in square brackets, with its text, and below it the checks that differ for it:

    [reason] Why, in a sentence or two;
        further lines are indented.
    MODE SCENARIO.CHECK: what TCP says | what the mode says

MODE is rsocket, preload, or * for both. What varies from run to run is `one or another`; TCP's own word may
be among them, until the race is gone. A scenario that ends by other means than TCP's is a difference
of its check `ended`; its checks that were not reached are then none.

With --accept the file is written anew from what the named scenarios say (all, without names): what is
not in it yet comes last, without a reason.

Everything happens in a network namespace, as for the suite `preload`. Under the preload library the
queue pairs that went live are counted: a scenario that ran over TCP has failed. Where clients connect before
anybody accepts (`.queued`) it is TCP there by design.
"""
import os
import re
import tempfile
from pathlib import Path

import preload
from harness import (CTEST, OUT, SOFT_DEVICE, compile_program, environment, execute, in_order, make_soft_device, must,
                     programs_of)
from suite import Suite

FOLDER = CTEST / "tcp"
PROGRAM = OUT / "tcp" / "tcp"
DIFFERENCES = FOLDER / "differences"
MODES = ("rsocket", "preload")
LIMIT = 30
ABSENT = "(not reached)"
OR = " or "
UNSORTED = "unsorted"


def build():
    """Gives what went wrong, or None."""
    sources = [source for source in programs_of(FOLDER) if source.stem != "main"]
    objects = [(PROGRAM.parent / source.stem).with_suffix(".o") for source in sources]
    for source, target in zip(sources, objects):
        problem = compile_program(target, source, flags=preload.CFLAGS)
        if problem:
            return problem
    return compile_program(PROGRAM, FOLDER / "main.c", objects, preload.CFLAGS, ["-lpthread", "-ldl"])


class Scenario:
    def __init__(self, line):
        self.name, kernel_only, pairs, queued = line.split()
        self.kernel_only, self.queued, self.pairs = kernel_only == "1", queued == "1", int(pairs)


def scenarios():
    ended = execute([PROGRAM, "--list"], environment(), 10)
    return [Scenario(line) for line in ended.out.splitlines()]


class Differences:
    """What is listed: (mode, check) to (reason, what TCP says, what the mode says)."""

    LINE = re.compile(r"(\*|\w+) ([\w.-]+): (.*?) \| (.*)")

    def __init__(self):
        self.reasons, self.listed = {}, {}
        reason = None
        for number, line in enumerate(DIFFERENCES.read_text().splitlines() if DIFFERENCES.exists() else [], 1):
            if not line or line.startswith("#"):
                continue
            head, found = re.match(r"\[([\w-]+)\] (.*)", line), self.LINE.fullmatch(line)
            if head:
                reason = head[1]
                self.reasons[reason] = [line]
            elif reason and line.startswith("    "):
                self.reasons[reason].append(line)
            elif reason and found:
                for mode in MODES if found[1] == "*" else (found[1],):
                    if (mode, found[2]) in self.listed or mode not in MODES:
                        must(f"{DIFFERENCES}:{number}: {found[2]} is there twice, or has no mode")
                    self.listed[mode, found[2]] = (reason, found[3], found[4])
            else:
                must(f"{DIFFERENCES}:{number}: cannot be read: {line}")

    def expected(self, mode, said):
        """What the mode is to say where TCP says that."""
        return {check: self.listed.get((mode, check), (None, value, value))[2].split(OR)[0]
                for check, value in said.items()}

    def write(self, found, names):
        """`found` is of these scenarios; what others have stays."""
        kept = {key: value for key, value in self.listed.items() if key[1].split(".")[0] not in names}
        for key, (theirs, ours) in found.items():
            reason, *values = self.listed.get(key, (UNSORTED, theirs, ours))
            kept[key] = (reason if values == [theirs, ours] else UNSORTED, theirs, ours)
        head = "\n".join(line for line in DIFFERENCES.read_text().splitlines() if line.startswith("#"))
        text = [head] if head else []
        for reason in [*self.reasons, *([] if UNSORTED in self.reasons else [UNSORTED])]:
            of_reason = {}
            for (mode, check), (why, *values) in kept.items():
                if why == reason:
                    of_reason.setdefault((check, *values), []).append(mode)
            if not of_reason:
                continue
            text += ["", *self.reasons.get(reason, [f"[{reason}] No reason yet."])]
            text += [f"{'*' if len(modes) == 2 else modes[0]} {check}: {theirs} | {ours}"
                     for (check, theirs, ours), modes in sorted(of_reason.items())]
        DIFFERENCES.write_text("\n".join(text) + "\n")


class Run:
    """One scenario in one mode: its checks, and how it ended."""

    def __init__(self, scenario, mode, args, expected=None):
        with tempfile.TemporaryDirectory(prefix="tcp-") as work:
            log = Path(work) / "log"
            env = environment()
            if expected is not None:
                says = Path(work) / "says"
                says.write_text("".join(f"{check}: {value}\n" for check, value in expected.items()))
                objects = [*([f"{args.lib}/librspreload.so"] if mode == "preload" else []), SOFT_DEVICE]
                env.update(TCP_SAYS=str(says), LD_LIBRARY_PATH=args.lib, LD_PRELOAD=" ".join(map(str, objects)),
                           RDMAFAKE="peer 10.77.0.9; delay UNREACHABLE ms=60000 always", RDMAFAKE_SHARED=f"{work}/kernel", RDMAFAKE_LOG=str(log))
            ended = execute([PROGRAM, mode, scenario.name], env, (args.limit or LIMIT) * args.scale, cwd=work,
                            fds=(1024, 4096))
            commands = log.read_text(errors="replace") if log.exists() else ""
        self.pairs = len(re.findall(r"modify_qp \w+ state=3 ", commands))
        self.how, self.err = ended.how, ended.tail()
        self.said = dict(line.split(": ", 1) for line in ended.out.splitlines() if ": " in line)
        self.said[f"{scenario.name}.ended"] = ended.how


def compare(mode, oracle, run, differences):
    """(differences found, complaints, listed differences) of a mode."""
    found, complaints, listed = {}, [], 0
    [ended] = [check for check in run.said if check.endswith(".ended")]
    cut_short = run.said[ended] != oracle[ended]
    for check in dict.fromkeys([*oracle, *run.said]):
        theirs, ours = oracle.get(check, ABSENT), run.said.get(check, ABSENT)
        known = differences.listed.get((mode, check))
        varies = known and known[1] == theirs and OR in known[2]
        if varies and ours in known[2].split(OR):
            found[mode, check] = known[1:]
            listed += 1
            continue
        if theirs == ours or (cut_short and ours == ABSENT):
            if known and not cut_short:
                complaints.append(f"{check}: {theirs}, as TCP: is listed as a difference")
            continue
        found[mode, check] = (theirs, ours)
        if known and known[1:] == (theirs, ours):
            listed += 1
        elif known:
            complaints.append(f"{check}: {theirs} | {ours}, listed as {known[1]} | {known[2]}")
        else:
            complaints.append(f"{check}: {theirs} | {ours}")
    return found, complaints, listed


class Outcome:
    def __init__(self):
        self.found, self.complaints, self.checks, self.listed = {}, [], 0, 0
        # The oracle itself is wrong.
        self.broken = False


def play(scenario, args, differences):
    outcome = Outcome()
    native = Run(scenario, "tcp", args)
    if native.how != "exit 0" or f"{scenario.name}.stopped" in native.said:
        outcome.complaints.append(f"tcp: {native.how} {native.said.get(scenario.name + '.stopped', '')}\n{native.err}")
        outcome.broken = True
        return outcome
    outcome.checks = len(native.said) - 1
    for mode in MODES:
        if scenario.kernel_only and mode == "rsocket":
            continue
        run = Run(scenario, mode, args, differences.expected(mode, native.said))
        found, complaints, listed = compare(mode, native.said, run, differences)
        outcome.found.update(found)
        outcome.listed += listed
        outcome.complaints += [f"{mode} {line}" for line in complaints]
        if complaints and run.err:
            outcome.complaints.append(run.err)
        wanted = 0 if scenario.queued and mode == "preload" else scenario.pairs
        if run.pairs < wanted and run.how == "exit 0":
            outcome.complaints.append(f"{mode}: {run.pairs} queue pairs went live, {wanted} were expected")
    return outcome


def unlimited_errors():
    """UDP is to hear of each datagram that nobody takes: the kernel sends no more of these messages than so many a second."""
    for name, value in ("icmp_ratelimit", "0"), ("icmp_msgs_per_sec", "10000"), ("icmp_msgs_burst", "10000"):
        try:
            Path("/proc/sys/net/ipv4", name).write_text(value)
        except OSError:
            # An older kernel has it for all namespaces.
            pass


def run(names, args, report):
    if not os.environ.get(preload.INSIDE):
        return preload.in_namespace("tcp", names, args, report)
    must(make_soft_device())
    must(build())
    unlimited_errors()
    args.lib = os.path.abspath(args.lib)
    known = scenarios()
    chosen = [one for one in known if not names or one.name in names]
    differences = Differences()
    found, checks, listed = {}, 0, 0
    # They sleep most of the time.
    for scenario, outcome in in_order(lambda one: play(one, args, differences), chosen * args.repeat, 2 * args.jobs):
        found.update(outcome.found)
        checks, listed = checks + outcome.checks, listed + outcome.listed
        text = f"{outcome.checks} checks" + (f", {outcome.listed} listed differences" if outcome.listed else "")
        if outcome.complaints and (outcome.broken or not args.accept):
            report.bad(scenario.name, "\n".join("    " + line for line in outcome.complaints))
        else:
            report.good(scenario.name, text)
    strange = {check for _, check in differences.listed if check.split(".")[0] not in {one.name for one in known}}
    if strange:
        report.bad("differences", "\n".join(f"    no such scenario: {check}" for check in sorted(strange)))
    if args.accept:
        differences.write(found, {one.name for one in chosen})
    report.say(f"{len(chosen)} scenarios, {checks} checks, {listed} listed differences")


def names_of_scenarios():
    must(build())
    return [one.name for one in scenarios()]


SUITES = [Suite("tcp", "the same calls on TCP, on rsockets and under the preload library; TCP is right",
                names_of_scenarios, run, quick=False)]
