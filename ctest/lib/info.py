# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `info`: rdmacm-info on the soft device, on broken set-ups of it, and with no device at all."""
import json
import os
import re
import resource
import subprocess
import tempfile
import time

import behaviours
import traces
from harness import ROOT, SOFT_ADDRESS, SOFT_DEVICE, environment, execute, indented, preloaded
from suite import Suite

PROGRAM = ROOT / "build" / "rdmacm-info"
LIMIT = 60


class Runs:
    def __init__(self, args, report, shared):
        self.args, self.report, self.shared = args, report, shared

    def env(self, script=""):
        return environment(LD_LIBRARY_PATH=self.args.lib, RDMAFAKE=script, RDMAFAKE_SHARED=f"{self.shared}/kernel")

    def run(self, *words, script="", device=True):
        command = [PROGRAM, *words]
        env = self.env(script)
        if script:
            # A kernel of its own, with devices of its own.
            env.pop("RDMAFAKE_SHARED")
        return execute(preloaded(command, SOFT_DEVICE) if device else command, env, LIMIT)

    def check(self, name, ended, code, *wanted):
        missing = [text for text in wanted if not re.search(text, ended.out)]
        if ended.code == code and not missing:
            return self.report.good(name)
        return self.report.bad(f"{name} ({ended.how}, without {missing})", indented(ended.out + ended.err))

    def json(self, name, *words, device=True):
        ended = self.run("--json", *words, device=device)
        try:
            self.report.good(name)
            return json.loads(ended.out)
        except ValueError as error:
            self.report.bad(f"{name}: {error}", indented(ended.out))
            return {}


def overview(runs):
    runs.check("overview", runs.run(), 0, r"librdmacm: .*\(this library\)", r"name: fake0", r"state: active",
               rf"1 {SOFT_ADDRESS} \(RoCE v2", rf"{SOFT_ADDRESS} \(fake0 port 1\)", r"locked memory")
    runs.check("overview without a device", runs.run(device=False), 0, r"release: \d", r"devices: ")
    found = runs.json("overview as JSON")
    ports = [device["ports"][0]["port"] for device in found.get("devices", [])]
    (runs.report.good if ports == [1] else runs.report.bad)(f"JSON has the ports: {ports}")


def configuration(runs):
    env = runs.env()
    env["RS_STATS"] = "yes"
    ended = execute([PROGRAM, "-c"], env, LIMIT)
    runs.check("configuration", ended, 0, r"variable: RDMACM_LOG_FILE\n", r"variable: RS_STATS\n.*\n +now: yes",
               r"file: /etc/rdma/rsocket/mem_default\n +default: 131072")


def route(runs):
    runs.check("route", runs.run("route", SOFT_ADDRESS), 0, r"device: fake0\n +port: 1", rf"source: {SOFT_ADDRESS}")
    runs.check("no route", runs.run("route", "192.0.2.77"), 1, r"carried by: nothing", r"why: ")
    runs.check("a name that is none", runs.run("route", "no.such.name.invalid"), 1, r"why: no\.such\.name")


def doctor(runs):
    runs.check("check: all is well", runs.run("check"), 0, r"devices: ok", r"connection manager: ok")
    broken = {
        "no device": ("nodevices", 1, r"devices: FAILED\n.*\n +remedy: load the driver"),
        "an iWARP device": ("device name=iw0 type=iwarp ip=10.77.0.1/24", 0, r"port: ok\n +found: iw0 port 1"),
        "a port that is down": ("device name=fake0 type=roce ip=10.77.0.1/24 state=down", 0,
                                r"port: warning\n +found: fake0 port 1 is down\n +remedy: set the network interface up"),
        "no right to open the device": ("verbs open_device dev=fake0 errno=EACCES always", 1,
                                        r"device: FAILED\n +found: fake0 cannot be opened: Permission denied"),
        "no node of the connection manager": ("fail node errno=ENOENT always", 1,
                                              r"connection manager: FAILED\n.*No such file"),
    }
    for name, (script, code, wanted) in broken.items():
        runs.check(f"check: {name}", runs.run("check", script=script), code, wanted)
    old = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    with_little = ["prlimit", "--memlock=65536", PROGRAM, "check"]
    ended = execute(preloaded(with_little, SOFT_DEVICE), runs.env(), LIMIT)
    runs.check("check: little locked memory", ended, 0, r"locked memory: warning\n +found: 64 kB.*\n +remedy: ulimit -l")
    assert resource.getrlimit(resource.RLIMIT_MEMLOCK) == old


def ping(runs):
    command = [str(word) for word in preloaded([PROGRAM, "serve"], SOFT_DEVICE)]
    with subprocess.Popen(command, env=runs.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            deadline = time.monotonic() + 20
            ended = runs.run("ping", SOFT_ADDRESS)
            while ended.code and time.monotonic() < deadline:
                time.sleep(0.2)
                ended = runs.run("ping", SOFT_ADDRESS)
            runs.check("ping", ended, 0, r"rsockets:\n +connect \(us\): \d", r"ids:\n +connect \(us\): \d",
                       r"64 KiB there and back \(MB/s\): \d")
        finally:
            server.kill()
    runs.check("ping where nobody serves", runs.run("ping", SOFT_ADDRESS, "-p", "9"), 1, r"failed: Connection refused")


def wrong(runs):
    ended = runs.run("dance")
    runs.check("a wrong command line", ended, 2)
    (runs.report.good if "usage: rdmacm-info" in ended.err else runs.report.bad)("says the usage")
    runs.check("help", runs.run("--help"), 0, r"usage: rdmacm-info", r"serve \[ADDRESS\]")


PARTS = {"overview": overview, "configuration": configuration, "route": route, "check": doctor, "ping": ping,
         "trace": lambda runs: traces.of_info(runs.args, runs.report), "wrong": wrong}


def run(names, args, report):
    behaviours.build()
    if not PROGRAM.exists():
        return report.bad("rdmacm-info", "    not built: run make")
    with tempfile.TemporaryDirectory(prefix="rdmacm-info.") as shared:
        os.chmod(shared, 0o700)
        for name in names or PARTS:
            PARTS[name](Runs(args, report, shared))
    return None


SUITES = [Suite("info", "rdmacm-info on the soft device, whole and broken; ours alone", lambda: list(PARTS), run)]
