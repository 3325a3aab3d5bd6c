#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run rows of client and server commands and compare the results with what the table expects.

usage: rows.py [--both | --native] [--library PATH] [--out DIR] TABLE... [-- CASE...]
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clocks
import rows_exec
import rows_table

TRIES = 3

class Tally:
    """Counts of the words that lines begin with."""

    def __init__(self):
        self.count = {"pass": 0, "FAIL": 0, "expected-fail": 0, "later": 0, "other": 0}

    def add(self, word):
        self.count[word] += 1

    def closing(self):
        n = self.count
        text = f"{n['pass']} passed, {n['FAIL']} failed, {n['expected-fail']} expected failures"
        text += f", {n['later']} left to later issues" if n["later"] else ""
        return text + (f", {n['other']} for other programs" if n["other"] else "")


def verdict(want, outcome):
    """The first word of a line. want: pass, fails, tcp, flaky or later:NUMBER."""
    if want.startswith("later:"):
        return "later"
    if want == "flaky":
        return "pass" if outcome == "pass" else "expected-fail"
    if outcome == want:
        return "pass" if want == "pass" else "expected-fail"
    return "FAIL"


def describe(row, result, want):
    """What a reader wants to know beyond the first word."""
    parts = []
    if result.outcome != "pass":
        parts.append(result.why)
    if want.startswith("later:"):
        parts.append(f"issue {want[6:]}: {result.outcome}" + (", take the mark off" if result.outcome == "pass" else ""))
    elif result.outcome == "pass" and want in ("fails", "tcp"):
        parts.append("passes, but was expected to fail")
    if result.number > 1:
        parts.append(f"try {result.number} after the program's own race, or a clock that ran too fast")
    if result.clock_rate >= clocks.TOO_FAST:
        parts.append(f"the guest's clock ran {result.clock_rate:.1f} times too fast")
    if result.packets is not None:
        parts.append(f"{result.packets} packets")
    return ", ".join(parts)


def show_output(result, lines):
    for side, text in (("server", result.server_tail), ("client", result.client_tail)):
        for line in text.splitlines()[-lines:]:
            print(f"      {side}: {line[:200]}")


def run_tries(row, library, runner, want):
    """The result of a row. A program's own race, known by what it prints, gets two more tries, and so does a row during
    which the guest's clock ran too fast; the line says so."""
    for number in range(1, TRIES + 1):
        watch = clocks.Watch()
        result = runner.run(row, library)
        result.number = number
        result.clock_rate = watch.rate()
        known = row.again and row.again.search(result.server_tail + result.client_tail)
        known = known or result.clock_rate >= clocks.TOO_FAST
        if result.outcome == "pass" or want != "pass" or not known:
            break
    return result


def run_row(row, libraries, kernel, runner, tally, record, verbose):
    results = {}
    for library in libraries:
        want = row.wanted(library, kernel)
        result = run_tries(row, library, runner, want)
        word = verdict(want, result.outcome)
        results[library.name] = result
        # Of two libraries only the one under test counts; it may never do worse than the reference just did.
        judged = library is libraries[-1]
        if judged and len(libraries) == 2 and word == "expected-fail" and want != "flaky":
            if results[libraries[0].name].outcome == "pass":
                word = "FAIL"
        if not judged and word == "FAIL":
            word = "differs"
        label = f"{library.name}:{row.case}" if len(libraries) == 2 else row.case
        print(f"{word} {label}  {result.seconds:.1f} s  {describe(row, result, want)}".rstrip(), flush=True)
        if result.outcome != "pass" and (verbose or word in ("FAIL", "differs", "later")):
            show_output(result, 4)
        record(row, library, result, want, word)
        if judged:
            tally.add(word)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--both", action="store_true")
    parser.add_argument("--native", action="store_true", help="no library: RS=1 means nothing")
    parser.add_argument("--library", help="folder of the library under test")
    parser.add_argument("--out", required=True, help="folder for results and logs")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("tables", nargs="+")
    argv = sys.argv[1:]
    cases = []
    if "--" in argv:
        cases = argv[argv.index("--") + 1 :]
        argv = argv[: argv.index("--")]
    options = parser.parse_args(argv)

    libraries = []
    if options.native:
        libraries.append(rows_exec.no_preload())
    elif options.both or not options.library:
        libraries.append(rows_exec.reference_library())
    if options.library and not options.native:
        libraries.append(rows_exec.library_under_test(options.library))
    kernel = rows_table.version(os.uname().release)
    stretch = rows_exec.slowness()
    if stretch > 1.2:
        print(f"the guest came up slowly: all limits are {stretch:.1f} times longer", file=sys.stderr)
    runner = rows_exec.Runner(os.path.join(options.out, "logs"), stretch)
    programs = rows_exec.reference_library().series[1:]
    tally = Tally()
    found = set()
    with open(os.path.join(options.out, "results.tsv"), "w", encoding="utf-8") as out:
        print(*rows_exec.RESULT_COLUMNS, sep="\t", file=out)

        def record(row, library, result, want, word):
            print(*result.fields(row, library, os.uname().release, want, word), sep="\t", file=out, flush=True)

        for name in options.tables:
            table = rows_table.read(name)
            runner.prepare(table)
            for row in table.rows:
                if cases and row.case not in cases:
                    continue
                found.add(row.case)
                if row.programs and row.programs != programs:
                    print(f"other {row.case}  for the programs of release {row.programs}, these are of {programs}")
                    tally.add("other")
                    continue
                run_row(row, libraries, kernel, runner, tally, record, options.verbose)
    for case in cases:
        if case not in found:
            print(f"FAIL {case}  no such case")
            tally.add("FAIL")
    print(tally.closing())
    return 1 if tally.count["FAIL"] or not found else 0


if __name__ == "__main__":
    sys.exit(main())
