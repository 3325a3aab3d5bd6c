# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Instruction counts: runs a program under callgrind and reads the dump of each of its sections.

The self cost of a shared object is exact. What a library costs beyond that is what it calls in libc: the
inclusive cost of the calls that go from it to libc, with the calls counted by name (allocations, locks).
"""
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ALLOCATE = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
# "???" is a linkage table that callgrind has no name for: what it leads to, for a library here, is libc.
LIBC = re.compile(r"/(libc|libpthread|ld-linux-[\w-]+)\.so\.|^\?\?\?$")


class Dump:
    """One section: costs by object, and the calls between objects."""

    def __init__(self, text):
        self.name = ""
        self.total = 0
        self.own = Counter()
        self.cost_of_calls = Counter()
        self.calls = defaultdict(Counter)
        self.functions = Counter()
        self.converted = Counter()
        self._read(text)

    def _read(self, text):
        here = function = there = callee = None
        called = 0
        for line in text.splitlines():
            key, equals, value = line.partition("=")
            if line.startswith("desc: Trigger: Client Request: "):
                self.name = line[31:]
            elif line.startswith("summary: "):
                self.total = int(line[9:])
            elif equals and key == "ob":
                here = value
            elif equals and key == "fn":
                function = value
            elif equals and key == "cob":
                there = value
            elif equals and key == "cfn":
                callee = value
            elif equals and key == "calls":
                called = int(value.split()[0])
            elif re.match(r"[+\-*\d]", line):
                cost = int(line.split()[1])
                if callee is None:
                    self.own[here] += cost
                    self.functions[here, function] += cost
                else:
                    self.cost_of_calls[here, there or here] += cost
                    if callee.startswith("ibv_copy_"):
                        self.converted[here, callee] += cost
                    self.calls[here, there or here][callee.partition("@")[0]] += called
                    there = callee = None

    def own_of(self, pattern):
        return sum(cost for name, cost in self.own.items() if re.search(pattern, name or ""))

    def libc_for(self, pattern):
        return sum(cost for (here, there), cost in self.cost_of_calls.items()
                   if re.search(pattern, here or "") and LIBC.search(there or ""))

    def marshalling_for(self, pattern):
        """What libibverbs converts for one library is in the other library's own code."""
        return sum(cost for (here, name), cost in self.converted.items() if re.search(pattern, here or ""))

    def allocations(self, pattern):
        return sum(number for (here, there), names in self.calls.items()
                   if re.search(pattern, here or "") and LIBC.search(there or "")
                   for name, number in names.items() if name in ALLOCATE)

    def hottest(self, count=12):
        return [(name, Path(here or "?").name, cost)
                for (here, name), cost in self.functions.most_common(count) if cost]


def sections(command, env):
    """The dumps of a run in their order."""
    folder = Path(tempfile.mkdtemp(prefix="rdmacm-bench."))
    try:
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", "--compress-strings=no",
             "--compress-pos=no", f"--callgrind-out-file={folder}/dump", *map(str, command)],
            env=env, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        files = sorted(folder.glob("dump.*"), key=lambda path: int(path.suffix[1:]))
        return [Dump(path.read_text(errors="replace")) for path in files]
    finally:
        shutil.rmtree(folder)
