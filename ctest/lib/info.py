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
from harness import (CTEST, OUT, ROOT, SOFT_ADDRESS, SOFT_DEVICE, compile_program, environment, execute, indented, must,
                     preloaded)
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
               r"transport: RoCE\n", rf"1 +{SOFT_ADDRESS} +RoCE v2", rf"{SOFT_ADDRESS} +fake0 +1\n", r"locked memory")
    runs.check("overview without a device", runs.run(device=False), 0, r"release: \d", r"devices: ")
    found = runs.json("overview as JSON")
    ports = [device["ports"][0]["port"] for device in found.get("devices", [])]
    (runs.report.good if ports == [1] else runs.report.bad)(f"JSON has the ports: {ports}")
    gids = [gid["address"] for device in found.get("devices", []) for gid in device["ports"][0]["GIDs"]]
    (runs.report.good if SOFT_ADDRESS in gids else runs.report.bad)(f"JSON has the GIDs: {gids}")


def configuration(runs):
    env = runs.env()
    env["RS_STATS"] = "yes"
    ended = execute([PROGRAM, "-c"], env, LIMIT)
    runs.check("configuration", ended, 0, r"variable: RDMACM_LOG_FILE\n", r"variable: RS_STATS\n.*\n +now: yes",
               r"file: /etc/rdma/rsocket/mem_default\n +default: 131072")


def route(runs):
    runs.check("route", runs.run("route", SOFT_ADDRESS), 0, r"device: fake0\n +port: 1", rf"source: {SOFT_ADDRESS}")
    runs.check("no route", runs.run("route", "192.0.2.77"), 1, r"carried by: nothing", r"why: ")
    runs.check("route over a port that is down", runs.run("route", "10.77.0.1", script="device name=fake0 type=roce "
               "ip=10.77.0.1/24 state=down"), 1, r"device: fake0\n", r"why not: fake0 port 1 is down: ip link set dev")
    runs.check("a name that is none", runs.run("route", "no.such.name.invalid"), 1, r"why: no\.such\.name")


def doctor(runs):
    runs.check("check: all is well", runs.run("check"), 0, r"devices: ok", r"connection manager: ok")
    broken = {
        "no device": ("nodevices", 1, r"devices: FAILED\n.*\n +remedy: load the driver"),
        "an iWARP device": ("device name=iw0 type=iwarp ip=10.77.0.1/24", 0, r"port: ok\n +found: iw0 port 1"),
        "a port that is down": ("device name=fake0 type=roce ip=10.77.0.1/24 state=down", 1,
                                r"port: warning\n +found: fake0 port 1 is down\n +remedy: ip link set dev \w+ up(.*\n)*- ports: FAILED\n"),
        "one port that is up": ("device name=fake0 type=roce ip=10.77.0.1/24 state=down; device name=fake1 type=roce ip=10.78.0.1/24",
                                0, r"fake0 port 1 is down\n(.*\n)*.*found: fake1 port 1, RoCE, active"),
        "link-local addresses alone": ("device name=fake0 type=roce ip=fe80::7/64", 0,
                                       r"GIDs: warning\n +found: fake0 port 1 has link-local addresses only\n +remedy: give"),
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
            if os.path.exists("/proc/net/if_inet6"):
                runs.check("ping by IPv6", runs.run("ping", "fd00:77::1"), 0, r"connect \(us\): \d")
            runs.check("ping", ended, 0, r"rsockets:\n +connect \(us\): \d", r"ids:\n +connect \(us\): \d",
                       r"64 KiB there and back \(MB/s\): \d")
        finally:
            server.kill()
    runs.check("ping where nobody serves", runs.run("ping", SOFT_ADDRESS, "-p", "9"), 1, r"rsockets:\n +failed: rconnect: Connection refused.*\n +remedy: .*nobody listens on port 9 of",
               r"ids:\n +failed: rdma_connect: Connection refused.*\n +remedy: .*nobody listens on port 10 of")
    runs.check("ping without a route", runs.run("ping", "192.0.2.77"), 1, r"failed: rconnect: ", r"remedy: .*(route|no RDMA device)")
    ended = runs.run("ping", "10.77.0.9", script="peer 10.77.0.9; kernel unreachable=ETIMEDOUT")
    runs.check("ping of a silent host", ended, 1, r"remedy: 10\.77\.0\.9 does not answer: .*4791")
    ended = runs.run("serve", "192.0.2.77")
    wanted = r"192\.0\.2\.77:7471: rbind: .*: no RDMA device has the address \("
    (runs.report.good if ended.code == 1 and re.search(wanted, ended.err) else runs.report.bad)(
        "serve on a foreign address", indented(ended.err))


def wrong(runs):
    ended = runs.run("dance")
    runs.check("a wrong command line", ended, 2)
    (runs.report.good if "Usage: rdmacm-info" in ended.err else runs.report.bad)("says the usage")
    runs.check("help", runs.run("--help"), 0, r"Usage: rdmacm-info", r"serve +Echo for ping")


# ctest/info/top.c runs beside what looks at it.
TOP = OUT / "info" / "top"
SCRIPT = "device name=fake0 type=roce ip=10.77.0.1/24; peer 10.77.0.9; kernel unreachable=ETIMEDOUT"


# UDP and TCP want the address of the soft device on an interface.
WITH_ADDRESS = ["unshare", "-n", "--", "sh", "-ec", """
ip link set lo up
ip link add d0 type ifb 2>/dev/null || ip link add d0 type dummy 2>/dev/null || ip link add d0 type veth peer name d1
ip link set d0 up
ip addr add 10.77.0.1/24 dev d0
exec "$@"
""", "sh"]


class Counting:
    """The program, step by step."""

    def __init__(self, runs, part, *objects, before=(), **variables):
        self.runs, self.part = runs, part
        env = dict(environment(LD_LIBRARY_PATH=runs.args.lib, RDMAFAKE=SCRIPT, RDMACM_STATS="1"), **variables)
        command = [str(word) for word in [*before, *preloaded([TOP, part], *objects, SOFT_DEVICE)]]
        self.child = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.child.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()

    def says(self, word):
        """Waits for a step's line; the process in it."""
        line = self.child.stdout.readline().split()
        if line[:-1] != word.split():
            self.runs.report.bad(f"top {self.part}: {line} instead of {word}")
            return self.pid
        return int(line[-1])

    def step(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def top(self, pid=None):
        ended = self.runs.run("--json", "top", str(pid or self.pid), device=False)
        try:
            return json.loads(ended.out)["counters"]
        except (ValueError, KeyError):
            return {"error": ended.out + ended.err}

    def holds(self, name, wanted, pid=None):
        found = self.top(pid)
        wrong = {key: found.get(key, found.get("error")) for key, value in wanted.items() if found.get(key) != value}
        if wrong:
            self.runs.report.bad(f"top {self.part}: {name}", f"    {wrong}\n    instead of {wanted}")
        else:
            self.runs.report.good(f"top {self.part}: {name}")
        return found


def top_counts(runs):
    with Counting(runs, "ids") as run:
        run.says("connected")
        run.holds("a connection", {
            "ids.now": 6, "ids.made": 8, "queue pairs.now": 2, "queue pairs.made": 2, "connections.made": 1,
            "connections.accepted": 1, "connections.rejected, status": {}, "connections.failed": {},
            "commands.refused by the kernel": {"EACCES": 2}, "events.ADDR_RESOLVED": 1, "events.ROUTE_RESOLVED": 1,
            "events.CONNECT_REQUEST": 1, "events.ESTABLISHED": 2, "events.REJECTED": 0, "rsockets.opened": 0})
        run.step()
        run.says("failed")
        run.holds("failures", {
            "ids.now": 3, "ids.made": 12, "queue pairs.now": 0, "queue pairs.made": 6, "connections.made": 1,
            "connections.rejected, status": {"8": 3}, "connections.failed": {"ETIMEDOUT": 1}, "events.REJECTED": 3,
            "events.UNREACHABLE": 1, "commands.refused by the kernel": {"EACCES": 2}})
    with Counting(runs, "bytes") as run:
        run.says("moved")
        total = 203000
        found = run.holds("rsockets", {
            "rsockets.now": 2, "rsockets.opened": 5, "rsockets.connected": 1, "rsockets.accepted": 1,
            "rsockets.not connected": {"ECONNREFUSED": 2}, "rsockets.lost": {}, "rsockets.bytes in": total,
            "rsockets.bytes out": total, "pool.parts": 3})
        pairs = found.get("rsockets.messages in"), found.get("rsockets.messages out")
        sound = pairs[0] == pairs[1] and pairs[0] > 3 and found.get("rsockets.completions", 0) >= pairs[0]
        sound = sound and found.get("rsockets.waits", 0) > 0 and found.get("rsockets.sleeps", 0) > 0
        (runs.report.good if sound else runs.report.bad)(f"top bytes: messages {pairs}, completions, waits")
        run.step()
        run.says("closed")
        run.holds("closed", {"rsockets.now": 0, "rsockets.opened": 5, "queue pairs.now": 0, "ids.now": 0})
    if execute([*WITH_ADDRESS, "true"], runs.env(), LIMIT).code:
        return runs.report.skip("top: datagrams and preloaded sockets", "no network namespace can be made")
    with Counting(runs, "datagrams", before=WITH_ADDRESS) as run:
        run.says("moved")
        run.holds("four", {"rsockets.now": 2, "rsockets.bytes in": 2000, "rsockets.bytes out": 2000,
                           "rsockets.messages in": 4, "rsockets.messages out": 4})
    with Counting(runs, "sockets", f"{runs.args.lib}/librspreload.so", before=WITH_ADDRESS) as run:
        run.says("moved")
        run.holds("preload", {"preload.bytes in by RDMA": 4321, "preload.bytes out by RDMA": 4321,
                              "preload.bytes in by the kernel": 2222, "preload.bytes out by the kernel": 2222,
                              "rsockets.bytes in": 4321, "preload.failed, RDMA is required": 0,
                              "preload.by the kernel": 3, "preload.by RDMA": 3, "preload.why: loopback": 3})


def top_processes(runs):
    """Fork, exec, closed descriptors, kill, other users, several processes, other layouts."""
    good, bad = runs.report.good, runs.report.bad
    with Counting(runs, "forks") as run:
        child = run.says("child")
        run.says("parent")
        run.holds("the parent", {"ids.now": 1, "ids.made": 1})
        run.holds("the child", {"ids.now": 1, "ids.made": 2}, child)
        run.step()
        run.says("well")
        run.holds("the parent later", {"ids.now": 1, "ids.made": 1})
    with Counting(runs, "executes") as run:
        run.says("before")
        run.holds("before", {"ids.now": 1})
        run.step()
        run.says("after")
        runs.check("top: after exec nothing counts", runs.run("top", str(run.pid), device=False), 1)
        left = [os.readlink(f"/proc/{run.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{run.pid}/fd")]
        (bad if any("rdmacm-stats" in name for name in left) else good)(f"top: exec keeps no page")
    with Counting(runs, "closes") as run:
        run.says("closed")
        run.holds("before the next call, by its memory", {"ids.made": 0})
        run.step()
        run.says("used")
        run.holds("the library in use", {"ids.now": 3, "ids.made": 3})
        run.step()
        run.says("again")
        run.holds("closed in use", {"ids.now": 1, "ids.made": 4})
    with Counting(runs, "forks") as first, Counting(runs, "ids") as second:
        first.says("child"), first.says("parent"), second.says("connected")
        ended = runs.run("--json", "top", device=False)
        found = {one["process"]: one["ids"] for one in json.loads(ended.out)}
        fine = found.get(first.pid) == 1 and found.get(second.pid) == 6
        (good if fine else bad)("top: the list has both processes")
        runs.check("top: the list as text", runs.run("top", device=False), 0, rf"{second.pid}  top .* 6 ")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", PROGRAM]
        if os.getuid() == 0 and execute([*nobody, "-V"], runs.env(), LIMIT).code == 0:
            ended = execute([*nobody, "top", second.pid], runs.env(), LIMIT)
            fine = ended.code == 1 and "may not be looked at" in ended.err
            (good if fine else bad)("top: another user is refused", indented(ended.out + ended.err))
            ended = execute([*nobody, "--json", "top"], runs.env(), LIMIT)
            (good if ended.out == "[]\n" else bad)("top: another user's list is empty", indented(ended.out))
        modes = {os.stat(f"/proc/{second.pid}/fd/{fd}").st_mode & 0o777
                 for fd in os.listdir(f"/proc/{second.pid}/fd")
                 if "rdmacm-stats" in os.readlink(f"/proc/{second.pid}/fd/{fd}")}
        (good if modes == {0o600} else bad)(f"top: the page is its user's alone: {modes}")
        folders = ["/dev/shm", "/tmp", "/run", runs.shared]
        before = {folder: set(os.listdir(folder)) for folder in folders}
        second.child.kill()
        second.child.wait()
        left = [name for folder in folders for name in set(os.listdir(folder)) - before[folder] if "stats" in name]
        (bad if left else good)(f"top: nothing is left of a killed process {left}")
        ended = runs.run("top", str(second.pid), device=False)
        (good if ended.code == 1 and "no process" in ended.err else bad)("top: a killed process is gone",
                                                                         indented(ended.out + ended.err))
    with Counting(runs, "later", RDMACM_STATS="0") as run:
        run.says("open to all")
        runs.check("top: a page that others could write", runs.run("top", str(run.pid), device=False), 1)
        run.step()
        run.says("there")
        run.holds("a later layout", {"ids.now": 12, "packets.on the moon": 34, "shapes.round": None,
                                     "packets.lost": {"EPIPE": 78}})
    with Counting(runs, "waits", RDMACM_STATS="0") as run:
        run.says("after")
        runs.check("top: a process that does not count", runs.run("top", str(run.pid), device=False), 1)


def top_text(runs):
    with Counting(runs, "ids") as run:
        run.says("connected")
        runs.check("top --once", runs.run("top", "--once", str(run.pid), device=False), 0,
                   rf"^process {run.pid} \(top\), \d+ s\nids\n  now +6\n  made +8\n", r"refused by the kernel EACCES +2\n")
        command = [str(PROGRAM), "top", str(run.pid)]
        with subprocess.Popen(command, env=runs.env(), stdout=subprocess.PIPE, text=True) as shown:
            time.sleep(0.5)
            run.step()
            run.says("failed")
            time.sleep(1)
            run.child.kill()
            run.child.wait()
            out = shown.communicate(timeout=LIMIT)[0]
        wanted = [r"  made +8\n", r"  made +12 +\d\.\d/s\n", r"rejected, status 8 +3 +\d\.\d/s\n", r"has ended"]
        missing = [text for text in wanted if not re.search(text, out)]
        if missing or "\x1b" in out or shown.returncode:
            runs.report.bad(f"top: each second (without {missing})", indented(out))
        else:
            runs.report.good("top: each second, with rates, until the process ends")


PARTS = {"overview": overview, "configuration": configuration, "route": route, "check": doctor, "ping": ping,
         "top_counts": top_counts, "top_processes": top_processes, "top_text": top_text,
         "trace": lambda runs: traces.of_info(runs.args, runs.report), "wrong": wrong}


def run(names, args, report):
    behaviours.build()
    must(compile_program(TOP, CTEST / "info" / "top.c", behaviours.TRACE, [f"-I{CTEST / 'cm'}"]))
    if not PROGRAM.exists():
        return report.bad("rdmacm-info", "    not built: run make")
    with tempfile.TemporaryDirectory(prefix="rdmacm-info.") as shared:
        os.chmod(shared, 0o700)
        for name in names or PARTS:
            PARTS[name](Runs(args, report, shared))
    return None


SUITES = [Suite("info", "rdmacm-info on the soft device, whole and broken; ours alone", lambda: list(PARTS), run)]
