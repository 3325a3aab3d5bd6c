# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rdmacm-info on the devices of a kernel, rxe and siw: what does not differ from run to run."""
import json
import os
import re
import subprocess

from harness import ROOT, environment, execute, indented

PROGRAM = ROOT / "build" / "rdmacm-info"
LIMIT = 120
# Addresses of the guest (lab/guest/devices), and what carries them.
ROCE, ROCE6, IWARP, FOREIGN, SILENT = "10.9.0.1", "fd00:9::1", "10.10.0.1", "192.0.2.1", "10.9.0.77"
MEASURED = [rf"{way}:\n +connect \(us\): \d+.*\n +round trip of 64 bytes.*\d\n( +.*\n)+ +64 KiB there and back \(MB/s\): \d"
            for way in ("rsockets", "ids")]


class Runs:
    def __init__(self, args, report):
        self.args, self.report, self.env = args, report, environment(LD_LIBRARY_PATH=args.lib)

    def run(self, *words, **more):
        ended = execute([PROGRAM, *words], dict(self.env, **more), LIMIT)
        if self.args.show:
            print(f"--- rdmacm-info {' '.join(words)} {more or ''}\n{ended.out}{ended.err}({ended.how})")
        return ended

    def check(self, name, code, words, *wanted, absent="(os error 0)"):
        ended = self.run(*words)
        said = ended.out + ended.err
        missing = [text for text in wanted if not re.search(text, said)]
        if ended.code == code and not missing and absent not in said:
            self.report.good(f"rdmacm-info {name}")
        else:
            self.report.bad(f"rdmacm-info {name} ({ended.how}, without {missing})", indented(said))


def of_roce(runs):
    runs.check("on rxe", 0, [], r"librdmacm: .*\(this library\)", r"rdma_cm ABI: 4\n",
               r"name: rxe0\n +transport: RoCE\n", rf"\d +{re.escape(ROCE)} +RoCE v2 +d0", rf"\d +{ROCE6} +RoCE v2 +d0",
               rf"\n +{re.escape(ROCE)} +rxe0 +1\n", rf"\n +{ROCE6} +rxe0 +1\n")
    runs.check("check on rxe", 0, ["check"], r"devices: ok\n +found: .*rxe0", r"port: ok\n +found: rxe0 port 1, RoCE, active",
               r"connection manager: ok\n", absent="FAILED")
    for address in ROCE, ROCE6:
        runs.check(f"route {address}", 0, ["route", address], rf"IP route: from {address} over d0\n",
                   rf"device: rxe0\n +port: 1\n +source: {address}\n")


def of_iwarp(runs):
    runs.check("on siw", 0, [], r"name: siw0\n +transport: iWARP\n",
               r"state: active\n(.*\n)* +interface: d1\n +hardware address: (\w\w:){5}\w\w\n",
               rf"\n +{re.escape(IWARP)} +siw0 +1\n", absent="siw0 port 1 has no")
    runs.check("check on siw", 0, ["check"], r"port: ok\n +found: siw0 port 1, iWARP, active", absent="FAILED")
    runs.check(f"route {IWARP}", 0, ["route", IWARP], rf"IP route: from {IWARP} over d1\n", rf"device: siw0\n +port: 1\n")


def without_route(runs):
    runs.check("route to a foreign address", 1, ["route", FOREIGN], r"carried by: nothing\n",
               r"why: the route leaves over plain, and no RDMA device is on it \(devices: .*rxe0")
    runs.check("route to loop-back", 1, ["route", "127.0.0.1"], r"why: loop-back addresses are on no device")


def pings(runs, addresses):
    runs.check("ping where nobody serves", 1, ["ping", ROCE], r"failed: rconnect: Connection refused", r"rdmacm-info serve",
               r"failed: rdma_connect: Connection refused")
    runs.check("ping of a silent host", 1, ["ping", SILENT], rf"remedy: {re.escape(SILENT)} does not answer", r"4791")
    runs.check("ping over no device", 1, ["ping", FOREIGN], r"failed: rconnect: ", r"remedy: the route leaves over plain")
    with subprocess.Popen([str(PROGRAM), "serve"], env=runs.env, stdout=subprocess.PIPE, text=True) as server:
        try:
            for _ in "46":
                runs.report.say(server.stdout.readline().strip())
            for address in addresses:
                runs.check(f"ping {address}", 0, ["ping", address], *MEASURED)
            runs.check("serve twice", 1, ["serve"], r":7471: rbind: .*: another program .*, a second `rdmacm-info serve`\?")
        finally:
            server.kill()
    runs.check("serve on a foreign address", 1, ["serve", FOREIGN], r"no RDMA device has the address")


def in_json(runs, devices):
    """Text and JSON say the same."""
    for words in ([], ["check"], ["route", ROCE], ["-c"]):
        ended = runs.run("--json", *words)
        try:
            found = json.loads(ended.out)
        except ValueError as error:
            runs.report.bad(f"rdmacm-info --json {words}: {error}", indented(ended.out))
            continue
        good = {"": lambda: {device["name"] for device in found["devices"]} == devices and
                any(gid["address"] == ROCE for gid in found["devices"][0]["ports"][0]["GIDs"]),
                "check": lambda: {entry["state"] for entry in found} <= {"ok", "warning"},
                "route": lambda: found["carried by"]["device"] == "rxe0",
                "-c": lambda: {entry["variable"] for entry in found["environment"]} > {"RDMACM_LOG"}}[(words or [""])[0]]
        (runs.report.good if good() else runs.report.bad)(f"rdmacm-info --json {' '.join(words)}")


def run(args, report):
    runs = Runs(args, report)
    devices = set(os.listdir("/sys/class/infiniband"))
    of_roce(runs)
    if "siw0" in devices:
        of_iwarp(runs)
    runs.check("-c", 0, ["-c"], r"variable: RDMACM_LOG\n +default: off\n +now: not set\n")
    without_route(runs)
    pings(runs, [ROCE, ROCE6, *([IWARP] if "siw0" in devices else [])])
    in_json(runs, devices)
