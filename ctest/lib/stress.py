# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suites `stress` and `sanitize`: the programs of ctest/stress, ours alone.

`sanitize` builds the library with rustc's unstable -Zsanitizer, which the pinned compiler gives with
RUSTC_BOOTSTRAP=1; the standard library is not instrumented. The run time is gcc's.
"""
import argparse
import os
import subprocess

import behaviours
from harness import (CTEST, OUT, ROOT, SOFT_DEVICE, compile_program, environment, execute, indented, make_soft_device,
                     must, preloaded)
from report import Report
from suite import Suite

TARGET = "x86_64-unknown-linux-gnu"
BUILDS = os.environ.get("CTEST_TARGET", f"{ROOT}/target/sanitize")
RUNTIME = {"thread": "libtsan.so.2", "address": "libasan.so.8"}
# Seconds for each.
PROGRAMS = {"cycles": 900, "forks": 300}


def compile_stress(name, folder, objects=(), flags=()):
    program = OUT / folder / name
    return program, compile_program(program, CTEST / "stress" / f"{name}.c", [*behaviours.TRACE, *objects], flags)


def result(report, name, ended):
    if ended.code == 0:
        return report.good(name)
    return report.bad(f"{name} ({ended.how})", indented("\n".join(ended.out.splitlines()[-60:])))


def stress(names, args, report):
    behaviours.build()
    for name in names or PROGRAMS:
        program, problem = compile_stress(name, "stress")
        if problem:
            report.bad(name, problem)
            continue
        ended = execute(preloaded([program], SOFT_DEVICE), environment(LD_LIBRARY_PATH=args.lib),
                        args.limit or PROGRAMS[name], merge=True)
        result(report, f"{name}: {ended.out.splitlines()[0] if ended.out else ''}", ended)


class Sanitized:
    """The library and the soft device with one sanitizer, in OUT/SANITIZER."""

    def __init__(self, sanitizer, report):
        self.sanitizer, self.report, self.folder = sanitizer, report, OUT / sanitizer
        self.trace = [self.folder / target.name for target in behaviours.TRACE]
        self.names = self.folder / "names.o"
        self.device = self.folder / "softdev" / "librdmafake.so"

    def build(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        flags = f"-Zsanitizer={self.sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer"
        target = f"{BUILDS}-{self.sanitizer}"
        done = subprocess.run(["cargo", "build", "--quiet", "--locked", "--lib", "--target", TARGET], cwd=ROOT,
                              env=dict(os.environ, RUSTC_BOOTSTRAP="1", RUSTFLAGS=flags, CARGO_TARGET_DIR=target),
                              capture_output=True, text=True)
        library = self.folder / "librdmacm.so.1"
        library.unlink(missing_ok=True)
        library.symlink_to(f"{target}/{TARGET}/debug/librdmacm.so")
        sanitize = [f"-fsanitize={self.sanitizer}"]
        problem = (done.stderr if done.returncode else None) or \
            make_soft_device(self.device.parent, f"-O1 -g -fsanitize={self.sanitizer}") or \
            behaviours.compile_trace(self.trace, sanitize) or \
            compile_program(self.names, CTEST / "stress" / "tsan_names.c", flags=["-fno-builtin"])
        name = f"build with the {self.sanitizer} sanitizer"
        if problem:
            self.report.bad(name, problem)
            return False
        self.report.good(name)
        # A sanitizer that is not there finds nothing.
        symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True).stdout
        there = f"__{self.sanitizer[0]}san_init" in symbols
        (self.report.good if there else self.report.bad)(f"the library has the {self.sanitizer} sanitizer")
        return there

    def run(self, name, rounds):
        program = self.folder / name
        problem = compile_program(program, CTEST / "stress" / f"{name}.c", [*self.trace, self.names],
                                  [f"-fsanitize={self.sanitizer}", "-rdynamic"])
        if problem:
            return self.report.bad(name, problem)
        env = environment(LD_LIBRARY_PATH=str(self.folder), STRESS_ROUNDS=str(rounds),
                          TSAN_OPTIONS=f"exitcode=66 suppressions={CTEST}/stress/tsan.supp",
                          ASAN_OPTIONS="detect_leaks=1:exitcode=67")
        ended = execute(preloaded([program], RUNTIME[self.sanitizer], self.device), env, 300, merge=True)
        return result(self.report, f"{self.sanitizer} sanitizer: {name}, {rounds} rounds", ended)


def tsan(args, report):
    library = Sanitized("thread", report)
    if library.build():
        for name, rounds in (("first", 1), ("threads", 50), ("signals", 50)):
            library.run(name, rounds)


def asan(args, report):
    library = Sanitized("address", report)
    if not library.build():
        return
    for name, rounds in (("threads", 100), ("cycles", 200), ("signals", 50)):
        library.run(name, rounds)
    # (Forks are not run here: the sanitizer itself holds its allocator locked across them.)
    # Programs that leave ids behind on purpose would be told as leaks: the soft device counts what
    # is left.
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0:exitcode=67"
    its = argparse.Namespace(**dict(vars(args), ours_only=True, limit=120, lib=str(library.folder),
                                    preload=RUNTIME["address"], show=False, accept=False))
    inner = Report(quiet=True)
    for suite in behaviours.SUITES:
        suite.run([], its, inner)
    del os.environ["ASAN_OPTIONS"]
    name = f"address sanitizer: conformance, {inner.ending()}"
    (report.bad if inner.failed else report.good)(name)


def valgrind(args, report):
    behaviours.build()
    for name in ("cycles", "threads", "signals"):
        program, problem = compile_stress(name, "stress")
        if problem:
            report.bad(name, problem)
            continue
        command = ["valgrind", "--quiet", "--error-exitcode=68", "--leak-check=full",
                   "--errors-for-leak-kinds=definite", program]
        env = environment(LD_LIBRARY_PATH=args.lib, STRESS_ROUNDS="10", LD_PRELOAD=str(SOFT_DEVICE))
        result(report, f"valgrind memcheck: {name}", execute(command, env, 500, merge=True))


PARTS = {"tsan": tsan, "asan": asan, "valgrind": valgrind}


def sanitize(names, args, report):
    for name in names or PARTS:
        PARTS[name](args, report)


SUITES = [Suite("stress", "leaks of thousands of connections, forks among busy threads; ours alone",
                lambda: list(PROGRAMS), stress),
          Suite("sanitize", "the same and more under the thread and address sanitizers and valgrind",
                lambda: list(PARTS), sanitize, quick=False)]
