#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the list of all lines that the libraries write at level warn or error into docs/diagnostics.md.

usage: scripts/diagnostics.py [--check]

The lines are those of fail!, because!, unusable! and log!(Warn | Error, …) in the sources. --check compares.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/diagnostics.md"
BEGIN, END = "<!-- made by scripts/diagnostics.py -->\n", "<!-- end of what is made -->\n"
FOLDERS = ("src", "rspreload/src", "base/src")
CALL = re.compile(r'\b(fail|because|unusable|log)!\(\s*((?:[^"()]|\([^()"]*\))*?)"((?:[^"\\]|\\.)*)"', re.S)
PARTS = {"cm": "Connection manager (`cm`)", "verbs": "Devices and libibverbs (`verbs`)",
         "addrinfo": "Names and routes (`addrinfo`)", "rsocket": "rsockets (`rsocket`)",
         "preload": "The preload library (`preload`)"}


def part_of(file):
    """As base::log::Part::of."""
    path = str(file.relative_to(ROOT))
    if path.startswith("rspreload"):
        return "preload"
    for name, folders in {"rsocket": ("rsocket",), "addrinfo": ("addrinfo",), "verbs": ("verbs", "device")}.items():
        if any(f"/{folder}/" in path or f"/{folder}." in path for folder in folders):
            return "rsocket" if "/export/rsocket" in path else name
    return "cm"


def placeholder(match):
    name = re.match(r"\w*", match.group(1)).group(0)
    return name.upper() if name and not name.isdigit() else "…"


def text_of(literal):
    text = re.sub(r"\\\n\s*", "", literal)
    text = text.replace('\\"', '"').replace("\\\\", "\\").replace("{{", "{").replace("}}", "}")
    return re.sub(r"\{([^{}]*)\}", placeholder, text)


def lines():
    """(part, errno, text) of each line that is written at level warn or error."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.rs")):
            if "/log/" in str(file):
                continue
            code = re.sub(r"^\s*//[^\n]*", "", file.read_text().split("#[cfg(test)]")[0], flags=re.M)
            for macro, before, literal in CALL.findall(code):
                first = before.split(",")[0].strip()
                if macro == "log" and first not in ("Warn", "Error"):
                    continue
                yield part_of(file), first if macro in ("fail", "unusable") else "", text_of(literal)


def table():
    found = {}
    for part, errno, text in lines():
        found.setdefault(part, set()).add((text, errno))
    out = []
    for part, title in PARTS.items():
        out.append(f"\n### {title}\n\n| line | errno |\n|---|---|\n")
        for text, errno in sorted(found.get(part, ())):
            cell = text.replace("|", "\\|").replace("<", "&lt;")
            out.append(f"| {cell} | {errno} |\n")
    return "".join(out) + "\n"


def main():
    page = PAGE.read_text()
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE.name}: the marks of what is made are missing")
    head, rest = page.split(BEGIN)
    made = head + BEGIN + table() + END + rest.split(END)[1]
    if "--check" in sys.argv[1:]:
        if made != page:
            sys.exit("docs/diagnostics.md is not what the sources say: scripts/diagnostics.py")
        return
    PAGE.write_text(made)


main()
