#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Prints docs/preload-programs.md: ordinary programs without a preload library, with the C library's, with ours.

usage: scripts/preload_programs.py NATIVE.tsv... -- OURS.tsv... [-- OTHER.tsv...] > docs/preload-programs.md

The arguments are results of lab/rows --tsv: of `--native`, of `--lib build`, and of that on other kernels, which are only
counted. What the C library does stands in the tables of lab/rows.d. A later file of results replaces what an earlier one says
of the same row.
"""
import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = (
    ("preload", "Both sides preloaded", "A row passes only if packets went over RDMA; `tcp`: it ended well without."),
    ("preload-mixed", "One side preloaded", "`s_`: only the server is, `c_`: only the client, `b_`: the server and one of two clients."),
    ("preload-ordinary", "Programs without a network", "The output must be the same as without the preload library."),
)
C = "c44@6.1"
# Run for the first table alone, once and without a native run of the same programs beside it.
NEWEST_C = "c65@7"


def results(names):
    """What was seen last of each case."""
    seen = {}
    for name in names:
        with open(name, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                seen[row["case"]] = row
    return seen


def table(name):
    lines = (ROOT / "lab" / "rows.d" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in lines if line and not line.startswith("#")), delimiter="\t",
                               quoting=csv.QUOTE_NONE))


def word(row):
    if not row:
        return "not run"
    if row["outcome"] == "fails":
        code = row["client"] if row["client"] not in ("0", "-") else row["server"]
        return f"fails ({code})"
    return row["outcome"]


def theirs(text):
    """As the tables have it: `fails:124`."""
    outcome, _, code_ = (text or "not run").partition(":")
    return f"{outcome} ({code_})" if code_ else outcome


def packets(row):
    return row["packets"] if row and row["packets"] != "-" else ""


def code(text):
    return f"`{text}`".replace("|", "\\|") if text != "-" else ""


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    lists = [[]]
    for name in sys.argv[1:]:
        if name == "--":
            lists.append([])
        else:
            lists[-1].append(name)
    native, ours, *others = map(results, lists)
    kernels = sorted({row["kernel"] for row in [*native.values(), *ours.values()]})
    print("# Ordinary programs under the preload library\n")
    print(f"Seen in the lab's guest (kernel {', '.join(kernels)}, soft-RoCE, two processors without KVM), by `lab/rows`. The rows")
    print("are in `lab/rows.d`; `RS=1` stands for `LD_PRELOAD` of the preload library. Columns: without a preload library, with")
    print("the C library's of rdma-core 44, that of rdma-core 65 (one run on a kernel 7, with the programs of Debian sid), with")
    print("ours, and the packets that ours sent over RDMA. In brackets: the exit code, 124 for the time limit.")
    print("This page is made by `scripts/preload_programs.py` from the results of those runs.")
    for other in others:
        passed = sum(word(row) == "pass" for row in other.values())
        print(f"\nOn kernel {', '.join(sorted({row['kernel'] for row in other.values()}))}: {passed} of {len(other)} rows that were run pass with ours.")
    for name, title, text in TABLES:
        rows = table(name)
        count = [sum(word(source.get(row["case"])) == "pass" for row in rows) for source in (native, ours)]
        known = [column for column in (C, NEWEST_C) if any(row.get(column) for row in rows)]
        of_c = [(column[1:3], sum((row[column] or "") in ("pass", "flaky") for row in rows)) for column in known]
        of_c = ", ".join(f"{passed} with the C library's ({release})" for release, passed in of_c)
        print(f"\n## {title}\n\n{text}\nOf {len(rows)}: {count[0]} pass without, {of_c}, {count[1]} with ours.\n")
        names = " | ".join(f"C {column[1:3]}" for column in known)
        print(f"| case | server | client | native | {names} | ours | packets |\n|{'---|' * (6 + len(known))}")
        for row in rows:
            mine = ours.get(row["case"])
            of_c = " | ".join(theirs(row[column]) for column in known)
            print(f"| {row['case']} | {code(row['server'])} | {code(row['client'])} | {word(native.get(row['case']))} | {of_c} |"
                  f" {word(mine)} | {packets(mine)} |")


if __name__ == "__main__":
    main()
