# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `suites`: servers and clients of other projects, and their own test suites, under the preload library.

Each script of ctest/suites runs three times in a network namespace: natively, with the library and no device, and with
the library and the soft device. It says `result NAME ok` or `result NAME failed` for each thing that it tries. What is
ok natively must be ok in the other two runs, or stand with its reason in ctest/suites/differences.tsv; what stands there
and does not differ any more is a failure, too, unless its reason begins with "Sometimes": the clock decides.

The runner gives $ADDRESS (of the soft device), $RUN (to be put before what is preloaded), and an empty folder to run in.

Lines of a head comment:
  needs: COMMAND…    without one of them the script does not run, and that is said loudly
  needs-set: NAME    the same for a variable that names a program which no package has
  rdma: N            at least so many queue pairs with the soft device; 2 without the line
  heap: MEGABYTES    of the soft device, instead of 1024
  limit: SECONDS     for one run, instead of 120
"""
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from harness import CTEST, RUN, SOFT_ADDRESS, SOFT_DEVICE, environment, execute, make_soft_device, must
from preload import INSIDE, in_namespace
from suite import Suite

FOLDER = CTEST / "suites"
RESULT = re.compile(r"^result (.+) (ok|failed)$", re.M)
LIMIT = 120
# How a run is called in the list of differences, and the soft device's script; None: nothing is preloaded.
RUNS = (("native", None), ("no-device", "nodevices"), ("device", ""))


class Script:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        head = re.match(r"(?:#.*\n)*", path.read_text()).group(0)
        self.keys = {key: value.strip() for key, value in re.findall(r"^# ([a-z-]+): (.*)$", head, re.M)}
        self.rdma, self.limit = int(self.keys.get("rdma", 2)), int(self.keys.get("limit", LIMIT))
        self.heap = int(self.keys.get("heap", 1024))

    def missing(self):
        found = [word for word in self.keys.get("needs", "").split() if not shutil.which(word)]
        variable = self.keys.get("needs-set")
        if variable and not os.access(os.environ.get(variable, ""), os.X_OK):
            found.append(f"${variable}")
        return " ".join(found)


def scripts():
    return [Script(path) for path in sorted(FOLDER.glob("*.sh"))]


def differences():
    """{(suite, run, result): reason}"""
    lines = (FOLDER / "differences.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {(suite, run, result): reason for suite, run, result, reason in rows}


class Ran:
    def __init__(self, script, device, args):
        with tempfile.TemporaryDirectory(prefix="suite-") as work:
            os.chmod(work, 0o777)
            before, log = "env", Path(work) / "log"
            if device is not None:
                os.mkdir(f"{work}/shared", 0o777)
                os.chmod(f"{work}/shared", 0o777)
                log = Path(work) / "shared" / "log"
                before = (f"env LD_LIBRARY_PATH={args.lib} RDMAFAKE={device} RDMAFAKE_SHARED={work}/shared/kernel "
                          f"RDMAFAKE_LOG={log} RDMAFAKE_HEAP={script.heap}")
                before += f" LD_PRELOAD={args.lib}/librspreload.so:{SOFT_DEVICE}"
            folder = Path(work) / "run"
            folder.mkdir(mode=0o777)
            folder.chmod(0o777)
            env = environment(ADDRESS=SOFT_ADDRESS, RUN=before, SUITES=str(FOLDER))
            self.ended = execute(["sh", script.path], env, script.limit * args.scale, cwd=folder, fds=(4096, 4096))
            commands = log.read_text(errors="replace") if log.exists() else ""
        self.pairs = len(re.findall(r"modify_qp \w+ state=3 ", commands))
        self.results = dict(RESULT.findall(self.ended.out))

    def good(self):
        return {name for name, how in self.results.items() if how == "ok"}


def judge(script, args, known):
    """What is wrong, and the counts of the three runs."""
    ran = {name: Ran(script, device, args) for name, device in RUNS}
    native, wrong = ran["native"], []
    counts = ", ".join(f"{name} {len(run.good())} of {len(native.results)}" for name, run in ran.items())
    if args.show:
        for name, run in ran.items():
            print(f"--- {script.name}, {name}\n{run.ended.said}{run.ended.err}", flush=True)
    if not native.good() or native.ended.how != "exit 0":
        return [f"natively: {native.ended.how}, {len(native.good())} of {len(native.results)}", native.ended.tail()], counts
    for name, _ in RUNS[1:]:
        run = ran[name]
        if run.ended.how != "exit 0":
            wrong.append(f"{name}: {run.ended.how}")
        for result in sorted(native.results):
            differs = result in native.good() and result not in run.good()
            reason = known.get((script.name, name, result))
            if differs and not reason:
                wrong.append(f"{name}: {result} {run.results.get(result, 'has no result')}")
            elif reason and not differs and not reason.startswith("Sometimes"):
                wrong.append(f"{name}: {result} does not differ any more: differences.tsv")
        if len(wrong) > 0:
            wrong.append(run.ended.tail())
    pairs = ran["device"].pairs
    if pairs < script.rdma:
        wrong.append(f"device: {pairs} queue pairs went live, {script.rdma} were expected")
    return wrong, f"{counts}; {pairs} queue pairs"


def run(names, args, report):
    for tool in ("ip", "unshare"):
        if not shutil.which(tool):
            must(f"suites cannot run without {tool}")
    if not os.environ.get(INSIDE):
        return in_namespace("suites", names, args, report)
    must(make_soft_device())
    args.lib = os.path.abspath(args.lib)
    known, not_run = differences(), []
    for script in scripts():
        if names and script.name not in names:
            continue
        missing = script.missing()
        if missing:
            not_run.append(script.name)
            report.skip(script.name, f"NOT RUN: there is no {missing}")
            continue
        wrong, text = judge(script, args, known)
        if wrong:
            report.bad(script.name, "\n".join("    " + line for line in [text, *wrong] if line.strip()))
        else:
            report.good(script.name, text)
    if not_run:
        report.say(f"{len(not_run)} SUITES WERE NOT RUN: {' '.join(not_run)}")


SUITES = [Suite("suites", "servers and test suites of other projects: natively, without a device, on the soft device",
                lambda: [script.name for script in scripts()], run, quick=False)]
