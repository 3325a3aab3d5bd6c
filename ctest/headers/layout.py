#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares our headers with another set: sizes, offsets, constants, prototypes, names.

Usage: layout.py OURS THEIRS NEW

Everything that the headers in THEIRS declare must be the same in OURS, and what only OURS has must be as
the lines in the file NEW say. `layout.py --print OURS THEIRS` prints the lines of the latter.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ["rdma/rdma_cma.h", "rdma/rdma_verbs.h", "rdma/rsocket.h", "rdma/rdma_cma_abi.h",
           "infiniband/acm.h", "infiniband/ib.h"]
# Of our own making, no part of the C library's interface.
OWN = re.compile(r"RDMACM_|rdmacm_")


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}{text or ''}")
    return done.stdout


def own_lines(folder, header):
    """The header's own lines after preprocessing, with its #define lines."""
    path = str(Path(folder, header))
    output = run("cc", "-std=gnu11", "-E", "-dD", "-I", folder, path)
    lines, inside = [], False
    for line in output.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            inside = marker[1] == path
        elif inside:
            lines.append(line)
    return lines


def blocks(text):
    """Top-level declarations, each with its braces, and without its semicolon."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += {"{": 1, "}": -1}.get(char, 0)
        ends_body = char == "}" and depth == 0 and "(" in text[start:at].split("{")[0]
        if (char == ";" and depth == 0) or ends_body:
            yield " ".join(text[start:at + 1].rstrip(";").split())
            start = at + 1


def members(body, prefix=""):
    """Paths of all members of a struct's body; those of anonymous unions without a step."""
    for one in blocks(body):
        one = one.replace("__extension__", "").strip()
        nested = re.match(r"(?:struct|union) ?\w* ?\{(.*)\} ?(\w*)$", one)
        if nested:
            step = f"{prefix}{nested[2]}." if nested[2] else prefix
            if nested[2]:
                yield prefix + nested[2], True
            yield from members(nested[1], step)
        else:
            for name in re.sub(r"\(\*(\w+)\)\(.*\)", r"\1", one).split(","):
                found = re.search(r"(\w+) ?((?:\[[^\]]*\])*)$", name.strip())
                sized = not re.fullmatch(r"\[0?\]", found[2] or "x")
                yield prefix + found[1], sized


def read(folder):
    """What a set of headers declares: a statement that prints each name, and each prototype."""
    prints, prototypes = {}, {}
    for header in HEADERS:
        if not Path(folder, header).exists():
            continue
        lines = own_lines(folder, header)
        for line in lines:
            macro = re.match(r"#define (\w+) (.+)", line)
            if macro and not re.match(r"ib_u\.|extern|.*__attribute__", macro[2]):
                prints[macro[1]] = value(macro[1])
        text = "\n".join(line for line in lines if not line.startswith("#"))
        text = re.sub(r'extern "C" \{', "", text)
        for one in blocks(text):
            one = one.replace("__extension__ ", "")
            if enum := re.match(r"enum ?(\w*) ?\{(.*)\}$", one):
                for item in enum[2].split(","):
                    if name := item.split("=")[0].strip():
                        prints[name] = value(name)
                if enum[1]:
                    prints[f"enum {enum[1]}"] = size(f"enum {enum[1]}")
            elif struct := re.match(r"((?:struct|union) \w+) ?\{(.*)\}$", one):
                prints[struct[1]] = size(struct[1])
                for path, sized in members(struct[2]):
                    prints[f"{struct[1]}.{path}"] = offset(struct[1], path, sized)
            elif "(" in one and not one.startswith(("typedef", "extern inline", "extern __inline__")):
                # Also the inline functions of either side: what counts is the type.
                head = one.split("{")[0].strip()
                head = re.sub(r"^(static|inline|__inline__|extern) ", "", re.sub(r"^static ", "", head))
                head = re.sub(r"__attribute__\(\(.*?\)\) ?", "", head)
                name = re.search(r"(\w+) ?\(", head)[1]
                prototypes[name] = head
    return prints, prototypes


def value(name):
    return f'printf("{name} = %lld\\n", (long long)({name}));'


def size(name):
    return f'printf("{name}: %zu bytes, aligned to %zu\\n", sizeof({name}), _Alignof({name}));'


def offset(struct, path, sized):
    bytes_ = f"sizeof((({struct} *)0)->{path})" if sized else "(size_t)0"
    return f'printf("{struct}.{path}: at %zu, %zu bytes\\n", offsetof({struct}, {path}), {bytes_});'


def program(folder, statements, declarations=()):
    there = [header for header in HEADERS if Path(folder, header).exists()]
    return "\n".join([f"#include <{header}>" for header in there]
                     + ["#include <stddef.h>", "#include <stdio.h>", *declarations,
                        "int main(void) {", *statements, "return 0; }", ""])


def values(folder, statements):
    with tempfile.TemporaryDirectory() as work:
        binary = f"{work}/layout"
        run("cc", "-std=gnu11", "-w", "-I", folder, "-x", "c", "-o", binary, "-",
            text=program(folder, statements))
        return run(binary).splitlines()


def main():
    printing = sys.argv[1] == "--print"
    ours_folder, theirs_folder = sys.argv[2 if printing else 1:][:2]
    ours, our_prototypes = read(ours_folder)
    theirs, their_prototypes = read(theirs_folder)
    new = [name for name in ours if name not in theirs and not OWN.match(name)]
    added = values(ours_folder, [ours[name] for name in new])
    if printing:
        print("\n".join(added))
        return
    failures = [f"only the other headers have {name}" for name in theirs if name not in ours]
    shared = [name for name in theirs if name in ours]
    expected = values(theirs_folder, [theirs[name] for name in shared])
    # Their statements, so that a member that we lack does not go unseen.
    found = values(ours_folder, [theirs[name] for name in shared])
    failures += [f"ours {f!r}, theirs {e!r}" for f, e in zip(found, expected) if f != e]
    allowed = set(Path(sys.argv[3]).read_text().splitlines())
    failures += [f"not in {sys.argv[3]}: {line}" for line in added if line not in allowed]
    failures += [f"no prototype of {name}" for name in their_prototypes if name not in our_prototypes]
    # A prototype may be repeated if the types are the same: the compiler compares them.
    statics = {"rdma_seterrno", "ib_addr_any", "ib_addr_loopback", "ib_addr_set", "ib_addr_cmp"}
    repeated = [head + ";" for name, head in their_prototypes.items()
                if name in our_prototypes and name not in statics]
    done = subprocess.run(["cc", "-std=gnu11", "-fsyntax-only", "-I", ours_folder, "-x", "c", "-"],
                          input=program(ours_folder, [], repeated), capture_output=True, text=True)
    if done.returncode:
        failures += [line for line in done.stderr.splitlines() if "error" in line]
    for failure in failures:
        print(f"FAIL layout: {failure}")
    print(f"layout: {len(shared)} values and {len(repeated)} prototypes compared, {len(added)} new ones")
    if len(shared) < 300 or len(repeated) < 70:
        sys.exit("FAIL layout: too few, the reader is broken")
    sys.exit(1 if failures else 0)


main()
