# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The usual failures: ctest/why/failures.c on both libraries, and docs/troubleshooting.md, which shows what they say.

The page has a comment `<!-- failure: NAME; SCRIPT -->` before each block of lines: NAME is an argument of the
program, SCRIPT for the soft device; names that begin with `preload` run under the preload library. A comment
`<!-- kernel: NAME -->` stands before the lines of a kernel's device where they are others. At `<!-- the C library -->` stands
what the C library writes for the same program. With --accept a block is replaced.
"""
import re

import behaviours
from harness import CTEST, OUT, ROOT, SOFT_DEVICE, compile_program, difference, environment, execute, indented, preloaded

PAGE = ROOT / "docs/troubleshooting.md"
PROGRAM = OUT / "why" / "failures"
BLOCK = r"(<!-- {}(?:; ?([^>]*?))? ?-->\n```text\n)(.*?)(```\n)"
SOFT, KERNEL = "failure: {}", "kernel: {}"
THEIRS, THEIRS_ON_KERNEL = "the C library", "the C library on a kernel"
# A kernel gives up on a silent host after more than a minute.
LIMIT = 180
# What differs from run to run.
VARYING = [(r"(?m)^\S+Z rdmacm\[\d+:\d+\]", "TIME rdmacm[PID:PID]"), (r"0x[0-9a-f]{6,}", "ADDRESS"),
           (r":\d+ ->", ":PORT ->"), (r"\bid \d+", "id N"), (r"queue pair \d+", "queue pair N"),
           (r"\b\d+ kB are registered", "N kB are registered"), (r"vendor error \d+", "vendor error N"),
           (r"socket: (\w+) \d+ fd \d+", r"socket: \1 N fd N")]
# The distribution's preload library, under any architecture's folder.
THEIR_PRELOAD = "/usr/$LIB/rsocket/librspreload.so"


def plain(text):
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def compiled():
    behaviours.build()
    return compile_program(PROGRAM, CTEST / "why" / "failures.c", behaviours.TRACE, [f"-I{CTEST / 'cm'}"])


class Page:
    def __init__(self):
        self.text = PAGE.read_text()

    def names(self):
        return re.findall(r"<!-- failure: ([\w-]+)", self.text)

    def block(self, kind, name=""):
        return re.search(BLOCK.format(kind.format(name)), self.text, re.S)

    def script(self, name):
        found = self.block(SOFT, name)
        return found and found.group(2) or ""

    def compare(self, said, name, kinds, args, report):
        """With the block of the first of these kinds that there is."""
        label = name or kinds[0]
        found = next(filter(None, (self.block(kind, name) for kind in kinds)), None)
        if not found:
            return report.bad(label, "    docs/troubleshooting.md has no block")
        begin, _, expected, end = found.groups()
        if args.accept and said != expected:
            self.text = self.text.replace(found.group(0), begin + said + end)
            PAGE.write_text(self.text)
        elif said != expected:
            return report.bad(label, difference(expected, said, ("docs/troubleshooting.md", "the log")))
        return report.good(label)


def run(name, library, script=None, theirs=False):
    """On the soft device with its script, or, without one, on the device that there is."""
    env = environment(RDMACM_LOG="1", **({} if script is None else {"RDMAFAKE": script}),
                      **({} if theirs else {"LD_LIBRARY_PATH": library}))
    objects = [THEIR_PRELOAD if theirs else f"{library}/librspreload.so"] if name.startswith("preload") else []
    objects += [] if script is None else [SOFT_DEVICE]
    return execute(preloaded([PROGRAM, name], *objects) if objects else [PROGRAM, name], env, LIMIT)


def check(page, name, ended, kinds, args, report):
    said = plain(ended.err)
    if args.show:
        print(f"--- {name}:\n{ended.out}{ended.err}")
    if ended.skipped:
        report.skip(name, ended.err.strip())
    elif ended.code or not said:
        report.bad(name, f"    {ended.how}\n{indented(ended.out + ended.err)}")
    else:
        page.compare(said, name, kinds, args, report)


def their_lines(page, ended_by_name):
    """A line for each failure: what the C library writes, or that it writes nothing."""
    lines = []
    for name, ended in ended_by_name:
        if ended.skipped:
            # As it is where it can run.
            lines.append(re.search(rf"(?m)^{name}: (.*)", page.block(THEIRS).group(3)).group())
            continue
        said = " / ".join(plain(ended.err).splitlines()) or "nothing"
        last = (ended.out.splitlines() or [""])[-1]
        outcome = re.match(r"event \S+ status \S+", last) or re.search(r"(?:HELPER\()?(\w+)\)?\(.*(: [^:]+)", last)
        seen = (" ".join(outcome.groups()).replace(" :", ":") or outcome.group()) if outcome else last
        lines.append(f"{name}: {said}; the program sees {seen if ended.code == 0 else ended.how}")
    return "".join(line + "\n" for line in lines)
