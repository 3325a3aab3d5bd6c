# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the suites share: folders, the compiler, the soft device, programs with a time limit."""
import concurrent.futures
import difflib
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

CTEST = Path(__file__).resolve().parents[1]
ROOT = CTEST.parent
RUN = CTEST / "run"
SOFTDEV = ROOT / "softdev"
OUT = Path(os.environ.get("CTEST_OUT", ROOT / "build" / "ctest"))
SOFT_DEVICE = OUT / "softdev" / "librdmafake.so"
# The address of the soft device, and of the guest's.
SOFT_ADDRESS, LAB_ADDRESS = "10.77.0.1", os.environ.get("RDMACM_LAB_ADDR", "10.9.0.1")
CC = os.environ.get("CC", "cc").split()
CFLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
          "-Wno-unused-parameter", f"-I{CTEST / 'include'}", f"-I{SOFTDEV}"]
LIBS = ["-lrdmacm", "-libverbs", "-lpthread", "-ldl"]
# A program starts without what the caller has set for one of the libraries or devices.
OWN_VARIABLES = ("RDMA", "LD_", "CTEST_", "RS_", "RSOCKET_")
# How a program says that it cannot run here.
SKIPPED = 77


def in_guest():
    return "RDMACM_LAB_ADDR" in os.environ


class Head:
    """The lines `key: value` in the comment at the head of a program."""

    def __init__(self, source):
        text = source.read_text()
        self.text = text[:text.find("*/")]

    def all(self, key):
        return [m.strip() for m in re.findall(rf"^ \* {key}: (.*)$", self.text, re.M)]

    def first(self, key, otherwise=""):
        return (self.all(key) or [otherwise])[0]

    def pairs(self, key):
        return dict(pair.split("=", 1) for pair in self.all(key))


def newer(target, sources):
    return target.exists() and all(target.stat().st_mtime >= s.stat().st_mtime for s in sources)


def shared_headers():
    return [*sorted((CTEST / "include").glob("*.h")), SOFTDEV / "rdmafake.h"]


def compile_program(target, source, objects=(), flags=(), libs=LIBS):
    """Compiles unless the program is newer than all that it is made of; gives what went wrong, or
    None. The same binary serves both libraries."""
    depends = [source, *objects, *source.parent.glob("*.h"), *shared_headers()]
    if newer(target, depends):
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    what = ["-c"] if target.suffix == ".o" else []
    # Under a name of its own first: a run beside this one must not see half a program.
    part = target.with_name(f"{target.stem}.{os.getpid()}.part")
    command = [*CC, *CFLAGS, *flags, *what, "-o", part, source, *objects, *([] if what else libs)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    part.replace(target)
    return None


def make_soft_device(folder=SOFT_DEVICE.parent, cflags=None):
    """Builds the soft device into a folder; gives what went wrong, or None."""
    command = ["make", "--silent", "-C", SOFTDEV, f"OUT={folder}", f"CC={' '.join(CC)}",
               *([f"CFLAGS={cflags}"] if cflags else []), f"{folder}/librdmafake.so"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else None


def must(problem):
    """For what a whole suite rests on."""
    if problem:
        sys.exit(f"ctest/run: {problem.rstrip()}")


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
    return dict(env, LC_ALL="C", **more)


class Ended:
    """What a program printed and how it ended."""

    def __init__(self, out, err, code):
        self.out, self.err, self.code = out, err, code

    @property
    def how(self):
        if self.code is None:
            return "hangs"
        return f"exit {self.code}" if self.code >= 0 else f"signal {-self.code}"

    @property
    def skipped(self):
        return self.code == SKIPPED

    @property
    def crashed(self):
        return self.code is None or self.code < 0

    @property
    def said(self):
        return f"{self.out}({self.how})\n"

    def tail(self, lines=5):
        return "\n".join("    stderr: " + line for line in self.err.splitlines()[-lines:])


def execute(command, env, limit, cwd=None, fds=None, merge=False):
    """Runs a program. All that it starts is in a group of its own, and ends with it at the limit."""
    before = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, fds)) if fds else None
    with subprocess.Popen([str(word) for word in command], env=env, cwd=cwd, preexec_fn=before,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT if merge else subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True) as child:
        try:
            out, err = child.communicate(timeout=limit)
            code = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            (out, err), code = child.communicate(), None
    return Ended(out, err or "", code)


def preloaded(command, *objects):
    """A command that alone is preloaded, not the tools that start it."""
    return ["env", f"LD_PRELOAD={' '.join(map(str, objects))}", *command]


def difference(left, right, names):
    lines = difflib.unified_diff(left.splitlines(), right.splitlines(), *names, lineterm="", n=2)
    return "\n".join("    " + line for line in lines)


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


def in_order(function, items, jobs):
    """Pairs of an item and its result, in the items' order, several at once."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(items, pool.map(function, items))


def programs_of(folder, *not_these):
    return [s for s in sorted(folder.glob("*.c")) if s.stem not in not_these]
