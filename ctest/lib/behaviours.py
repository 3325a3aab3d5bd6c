# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suites `cm` and `addrinfo`: programs that run on the C library and on ours, on the soft device.

A program is compiled once, against the system's headers, and runs with both libraries; output and
exit code must be the same. A program that differs on purpose says so in its head comment (`differs:
C-18`, the number of a fault in docs/faults.md, or a few words) and has the right output beside it in NAME.expected; then ours must give exactly that,
and the C library must not.

Other lines of a head comment:
  fake: SCRIPT      script of the soft device (several lines are joined)
  env: NAME=VALUE   in the environment of both
  theirs: hangs     the C library is given 3 seconds only
  theirs: varies    the C library fails now and then: only ours is held to NAME.expected
  theirs: absent    the C library of the distribution lacks the function: ours alone runs, and
                    NAME.expected is what a newer C library says, or what a function of our own is to say
  sanitizer: no     not with --wrap or --preload, where the check itself objects to what is tested

A program that cannot run here exits with 77 and is skipped; its last line says why.
"""
from harness import (CTEST, OUT, SOFT_DEVICE, Head, compile_program, difference, environment, execute, in_order,
                     make_soft_device, must, preloaded, programs_of)
from suite import Suite

# What the programs of cm are linked with.
TRACE_SOURCES = [CTEST / "cm" / "trace.c", CTEST / "cm" / "ids.c"]
TRACE = [OUT / f"{source.stem}.o" for source in TRACE_SOURCES]
LIMIT, SHORT_LIMIT = 30, 3


class Case:
    def __init__(self, source):
        self.source, self.name = source, source.stem
        head = Head(source)
        self.differs = ", ".join(head.all("differs"))
        self.script = "\n".join(head.all("fake"))
        self.env = head.pairs("env")
        self.theirs = head.all("theirs")
        self.sanitizer = "no" not in head.all("sanitizer")
        self.expected = source.with_suffix(".expected")
        self.program = OUT / source.parent.name / self.name

    def compile(self):
        objects = TRACE if self.source.parent.name == "cm" else []
        return compile_program(self.program, self.source, objects)


def sources(folder):
    return programs_of(CTEST / folder, *(source.stem for source in TRACE_SOURCES))


def compile_trace(objects=TRACE, flags=()):
    problems = (compile_program(target, source, flags=flags) for target, source in zip(objects, TRACE_SOURCES))
    return next((problem for problem in problems if problem), None)


def build():
    must(make_soft_device())
    must(compile_trace())


def run(case, library, args):
    env = environment(**case.env, RDMAFAKE=case.script)
    command = [*args.emulator.split(), case.program]
    if not library:
        return execute(preloaded(command, SOFT_DEVICE), env, SHORT_LIMIT if "hangs" in case.theirs else args.limit or LIMIT)
    env.update(LD_LIBRARY_PATH=library, CTEST_STRICT="1")
    objects = [*args.preload.split(), SOFT_DEVICE]
    return execute(preloaded([*args.wrap.split(), *command], *objects), env, args.limit or LIMIT)


def judge(case, args):
    """Gives (verdict, explanation); verdict is equal, differs, skipped or FAILED."""
    problem = case.compile()
    if problem:
        return "FAILED", problem
    ours = run(case, args.lib, args)
    if ours.skipped:
        return "skipped", ((ours.err or ours.out).strip().splitlines() or [""])[-1]
    alone = args.ours_only or "absent" in case.theirs or "varies" in case.theirs
    theirs = None if alone else run(case, None, args).said
    if args.show:
        print(f"--- {case.name}, ours:\n{ours.said}{ours.err}--- theirs:\n{theirs}")
    if args.accept and (case.differs or "absent" in case.theirs):
        case.expected.write_text(ours.said)
    if case.differs:
        if not case.expected.exists():
            return "FAILED", f"    {case.expected.name} is missing; ours says:\n{ours.said}"
        expected = case.expected.read_text()
        if ours.said != expected:
            return "FAILED", difference(expected, ours.said, (f"{case.name}: expected", "ours")) + "\n" + ours.err
        if theirs == expected:
            return "FAILED", f"    the difference ({case.differs}) is gone: remove it"
        return "differs", f"as named: {case.differs}"
    if "absent" in case.theirs and not case.expected.exists():
        return "FAILED", f"    {case.expected.name} is missing (--accept writes it); ours says:\n{ours.said}"
    if case.expected.exists():
        if "absent" not in case.theirs:
            return "FAILED", f"    {case.expected.name} without a `differs:` line"
        theirs = case.expected.read_text()
    if theirs is not None and ours.said != theirs:
        return "FAILED", difference(theirs, ours.said, (f"{case.name}: C library, or expected", "ours")) + "\n" + ours.err
    if ours.how != "exit 0":
        return "FAILED", f"    ended badly\n{ours.said}\n{ours.err}"
    return "equal", "" if theirs is not None else "(ours alone)"


def suite(folder, about):
    def programs():
        return [source.stem for source in sources(folder)]

    def start(names, args, report):
        build()
        cases = [Case(s) for s in sources(folder) if not names or s.stem in names]
        if args.wrap or args.preload:
            for case in cases:
                if not case.sanitizer:
                    report.skip(case.name, "the sanitizer objects to what is tested")
            cases = [case for case in cases if case.sanitizer]
        count = {"equal": 0, "differs": 0}
        for case, (verdict, text) in in_order(lambda c: judge(c, args), cases, args.jobs):
            if verdict in count:
                count[verdict] += 1
                report.good(case.name, text, verdict)
            elif verdict == "skipped":
                report.skip(case.name, text)
            else:
                report.bad(case.name, text)
        report.say(f"{count['equal']} equal outputs, {count['differs']} purposeful differences")

    return Suite(folder, about, programs, start)


SUITES = [suite("cm", "connection manager, both libraries on the soft device, outputs compared"),
          suite("addrinfo", "address resolution, both libraries on the soft device, outputs compared")]
