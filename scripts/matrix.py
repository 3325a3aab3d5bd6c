#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes MATRIX.md: every exported function, its symbol node, whether it works, what tests it.

`--check` compares instead and fails on a difference.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPORTS = ROOT / "src/export"
MAP = EXPORTS / "librdmacm.map"
TESTS = ("ctest", "tests", "benches", "fuzz")
SOURCES = {".c", ".cc", ".cpp", ".py", ".rs", ".sh", ""}


def promised():
    """(name, node) in the order of the map."""
    node = None
    for line in MAP.read_text().splitlines():
        if match := re.match(r"([A-Z_0-9.]+) \{", line):
            node = match[1]
        elif match := re.match(r"\t\t([a-z_0-9]+);", line):
            yield match[1], node


def bodies():
    """The text of each exported function."""
    found = {}
    for file in sorted(EXPORTS.rglob("*.rs")):
        text = file.read_text()
        for match in re.finditer(r'extern "C" fn (\w+)\(', text):
            end = text.find("\n}\n", match.start())
            found[match[1]] = (file.relative_to(EXPORTS), text[match.start():end])
    return found


def testers():
    """Words of each test file."""
    found = {}
    for folder in TESTS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            # Runners name functions without testing them.
            if re.search("/headers/|/target/|/ctest/lib/|/ctest/run$", str(file)):
                continue
            words = set(re.findall(r"\w+", file.read_text(errors="replace")))
            found[str(file.relative_to(ROOT))] = words
    return found


def table():
    functions, tests = bodies(), testers()
    lines = [
        "# Matrix",
        "",
        "Made by `scripts/matrix.py` from the map, the exports and the tests; `make test` fails when it",
        "is out of date. *ENOSYS*: present, so that the symbol table is whole, but always fails with",
        "ENOSYS. The programs of the lab (`lab/rows.d`) test functions beyond those named here.",
        "",
        "| function | node | defined in | state | tested by |",
        "|---|---|---|---|---|",
    ]
    counts = {"works": 0, "ENOSYS": 0}
    for name, node in promised():
        file, body = functions.get(name, ("-", "missing"))
        state = "ENOSYS" if "ENOSYS" in body else "works"
        counts[state] += 1
        by = [test for test, words in tests.items() if name in words]
        shown = ", ".join(f"`{test}`" for test in by[:3]) + (f" and {len(by) - 3} more" if len(by) > 3 else "")
        lines.append(f"| {name} | {node} | export/{file} | {state} | {shown or '-'} |")
    lines += ["", f"{counts['works']} functions work, {counts['ENOSYS']} answer ENOSYS.", ""]
    return "\n".join(lines)


def main():
    target = ROOT / "MATRIX.md"
    text = table()
    if "--check" in sys.argv[1:]:
        if not target.exists() or target.read_text() != text:
            sys.exit("MATRIX.md is out of date: run scripts/matrix.py")
        return
    target.write_text(text)


main()
