# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts what a suite finds, and prints a line for it."""
import re
import subprocess

ENDING = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


class Report:
    def __init__(self, quiet=False):
        # quiet: says only what failed.
        self.quiet = quiet
        self.passed = self.failed = self.skipped = 0

    def good(self, name, text="", word="passed"):
        self.passed += 1
        self._line(word, name, text)

    def bad(self, name, text=""):
        self.failed += 1
        self._line("FAILED", name)
        if text.strip():
            print(text.rstrip("\n"), flush=True)

    def skip(self, name, why):
        self.skipped += 1
        self._line("skipped", name, why)

    def say(self, text):
        if not self.quiet:
            print(text, flush=True)

    def _line(self, word, name, text=""):
        if not self.quiet or word == "FAILED":
            print(f"{word:8}{name}  {text}".rstrip(), flush=True)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def ending(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    def delegate(self, name, command, **options):
        """Runs a command that ends with such a line itself: what it prints goes on, its counts are
        taken over."""
        last = None
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                              errors="replace", **options) as child:
            for line in child.stdout:
                if last is not None:
                    print(last, flush=True)
                last = line.rstrip("\n")
        ending = ENDING.fullmatch(last or "")
        if not ending:
            return self.bad(name, f"{last or ''}\n    did not end with its counts (exit {child.returncode})")
        passed, failed, skipped = (int(number or 0) for number in ending.groups())
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped
        if child.returncode and not failed:
            self.bad(name, f"    exit {child.returncode}")
