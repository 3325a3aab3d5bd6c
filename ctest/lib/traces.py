# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces of RDMACM_TRACE: what is in them, how they are written, and what rdmacm-info makes of them.

Parts of the suites `info` (`trace`) and `why` (`trace`), with the program ctest/traced/traced.c.
"""
import collections
import json
import os
import re
import statistics
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import behaviours
import preload
from harness import CTEST, OUT, ROOT, SOFT_DEVICE, compile_program, environment, execute, indented, preloaded

INFO = ROOT / "build" / "rdmacm-info"
LIMIT = 120
PROGRAM = OUT / "traced" / "traced"
ACTIVE = ["resolve address", "resolve route", "connect", "established", "disconnect", "close"]


class Runs:
    """Runs of the program, each with a trace in a folder of its own."""

    def __init__(self, lib, report):
        self.lib, self.report = lib, report
        self.folder = tempfile.TemporaryDirectory(prefix="rdmacm-trace.")
        self.path = Path(self.folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def say(self, good, name, wrong=""):
        return self.report.good(name) if good else self.report.bad(name, indented(str(wrong)))

    def run(self, *words, file="trace.json", code=0, before=(), **more):
        env = environment(LD_LIBRARY_PATH=self.lib, RDMACM_TRACE=str(self.path / file), **more)
        ended = execute(preloaded([*before, PROGRAM, *words], SOFT_DEVICE), env, LIMIT)
        if ended.code != code:
            self.report.bad(f"traced {' '.join(map(str, words))} ({ended.how})", indented(ended.out + ended.err))
        return ended

    def read(self, file="trace.json", is_ended=True):
        """The records of a file, which has to be whole JSON."""
        try:
            text = (self.path / file).read_text()
            return json.loads(text if is_ended else text + "]")
        except (OSError, ValueError) as error:
            self.report.bad(f"{file} is JSON", f"    {error}")
            return []

    def info(self, *words):
        return execute([INFO, *words], environment(LD_LIBRARY_PATH=self.lib), LIMIT)


class Lane:
    def __init__(self, name, args):
        self.name, self.args, self.open, self.phases, self.marks = name, args, [name], [], []


def lanes_of(records):
    """Lanes by process and number; what is wrong with their nesting."""
    lanes, wrong = {}, []
    for record in records:
        if record["ph"] not in "ben":
            continue
        key = (record["pid"], record["id2"]["local"])
        lane, name = lanes.get(key), record["name"]
        if record["ph"] == "b" and lane is None:
            lanes[key] = Lane(name, record.get("args", {}))
        elif lane is None or not lane.open:
            wrong.append(f"{record} in no lane")
        elif record["ph"] == "b":
            if len(lane.open) != 1:
                wrong.append(f"{record} inside {lane.open}")
            lane.open.append(name)
            lane.phases.append([name, record["ts"], None, record.get("args", {})])
        elif record["ph"] == "n":
            lane.marks.append(name)
        else:
            if lane.open.pop() != name:
                wrong.append(f"{record} ends another")
            if lane.open:
                lane.phases[-1][2] = record["ts"]
    return lanes, wrong


def names(lane):
    return [phase[0] for phase in lane.phases]


def in_order(records):
    """Records but spans are in the order of their times."""
    times = [record["ts"] for record in records if record["ph"] != "X"]
    return all(one <= other for one, other in zip(times, times[1:]))


def contents(runs):
    """Phases of ids and rsockets: order, nesting, values."""
    runs.run("pair")
    records = runs.read()
    lanes, wrong = lanes_of(records)
    runs.say(not wrong and all(not lane.open for lane in lanes.values()), "trace: slices are nested and end", wrong)
    runs.say(in_order(records), "trace: records are in order")
    found = sorted(map(names, lanes.values()))
    wanted = sorted([ACTIVE, ["accept", "established", "close"], ["listen", "close"]])
    runs.say(found == wanted, "trace: phases of a pair of ids", found)
    client = next((lane for lane in lanes.values() if names(lane) == ACTIVE), Lane("", {}))
    times = [time for phase in client.phases for time in phase[1:3]]
    runs.say(times and times == sorted(times), "trace: phases follow each other", times)
    events = [mark.removeprefix("RDMA_CM_EVENT_") for mark in client.marks]
    runs.say(events == ["ADDR_RESOLVED", "ROUTE_RESOLVED", "ESTABLISHED", "DISCONNECTED"], "trace: events", events)
    peers = [phase[3].get("peer") for phase in client.phases if phase[0] in ("resolve address", "established")]
    runs.say(len(set(peers)) == 1 and str(peers[0]).startswith("10.77.0.1:"), "trace: the peer's address", peers)
    last = records[-1] if records else {}
    runs.say(last.get("name") == "end of the trace", "trace: has an end", last)

    runs.run("refused")
    lanes, wrong = lanes_of(runs.read())
    runs.say([names(lane) for lane in lanes.values()] == [["resolve address", "resolve route", "connect", "close"]] and
             not wrong, "trace: phases of a refused connection", [names(lane) for lane in lanes.values()])

    runs.run("rsockets", 1)
    records = runs.read()
    lanes, wrong = lanes_of(records)
    found = sorted(map(names, lanes.values()))
    wanted = sorted([ACTIVE[:4] + ["close"], ["accept", "established", "close"], ["listen", "close"]])
    runs.say(found == wanted and not wrong, "trace: phases of rsockets", found)
    runs.say(all(re.fullmatch(r"rsocket \d+", lane.name) for lane in lanes.values()), "trace: a lane is an rsocket's")
    closes = [phase[3] for lane in lanes.values() for phase in lane.phases if phase[0] == "close"]
    moved = sorted((end.get("sent"), end.get("received"), end.get("sends")) for end in closes)
    runs.say(moved == [(0, 0, 0), (1000, 1000, 1), (1000, 1000, 1)], "trace: bytes", moved)
    runs.say(all(end["completions"] > 0 for end in closes if end["sent"]), "trace: completions", closes)
    waits = [record for record in records if record["ph"] == "X" and record["name"] == "wait"]
    runs.say(waits and all(wait["args"]["lane"] in {key for _, key in lanes} and wait["dur"] >= 10 for wait in waits),
             "trace: waits have their lane", waits)
    runs.say("what a peer sends" not in (runs.path / "trace.json").read_text(), "trace: no data of the peer's")


def sockets(runs):
    """Sockets of the preload library: descriptor and peer."""
    if os.geteuid() != 0:
        return runs.report.skip("trace: sockets of the preload library", "needs root, for an interface")
    script = ("import socket,threading\n"
              "l=socket.create_server(('10.77.0.1',7802))\n"
              "t=threading.Thread(target=lambda:l.accept()[0].recv(4))\nt.start()\n"
              "c=socket.create_connection(('10.77.0.1',7802))\nc.sendall(b'four')\nt.join()\nprint(c.fileno())\n")
    env = environment(LD_LIBRARY_PATH=runs.lib, RDMACM_TRACE=str(runs.path / "preload.json"))
    command = preloaded(["python3", "-c", script], f"{runs.lib}/librspreload.so", SOFT_DEVICE)
    ended = execute(["unshare", "-n", "-m", "sh", "-c", preload.SETUP, "sh", *command], env, LIMIT)
    records = runs.read("preload.json")
    lanes, wrong = lanes_of(records)
    found = [record["args"]["descriptor"] for record in records if record["name"] == "carries"]
    good = ended.code == 0 and not wrong and len(set(found)) == 3 and int(ended.out) in found
    runs.say(good, "trace: descriptors of the preload library's sockets", f"{ended.out}{ended.err}{found}{wrong}")
    shown = runs.info("trace", runs.path / "preload.json").out
    runs.say(f"(descriptor {ended.out.strip()}) -> 10.77.0.1:7802" in shown, "info trace: descriptor and peer", shown)
    return None


def picture(runs):
    """rdmacm-info trace: the numbers of the trace, and a picture of bounded size."""
    runs.run("rsockets", 20)
    records = runs.read()
    lanes, _ = lanes_of(records)
    ended = runs.info("--json", "trace", runs.path / "trace.json")
    try:
        said = json.loads(ended.out)
    except ValueError as error:
        return runs.say(False, "info trace: JSON", f"{error}: {ended.out}{ended.err}")
    runs.say(len(said["connections"]) == len(lanes) == 41, "info trace: a row for each lane", len(said["connections"]))
    times = collections.defaultdict(list)
    for lane in lanes.values():
        for name, begin, end, _ in lane.phases:
            times[name].append(end - begin)
    table = {row["phase"]: row for row in said["phases"]}
    for phase, name in {"resolve": "resolve address", "route": "resolve route", "connect": "connect", "accept": "accept",
                        "established": "established", "close": "close"}.items():
        row = table.get(phase, {})
        wanted = [len(times[name]), sum(times[name]), statistics.median(times[name]), max(times[name])]
        found = [row.get(key, -1) for key in ("count", "total (us)", "median", "longest")]
        runs.say(all(abs(one - other) <= 1 for one, other in zip(wanted, found)), f"info trace: {phase}",
                 f"{wanted} {found}")
    runs.say((said["bytes sent by rsockets"], said["bytes received by rsockets"]) == (40000, 40000), "info trace: bytes",
             said["bytes sent by rsockets"])
    runs.say((said["records"], said["records lost"]) == (len(records), 0), "info trace: records", said["records"])
    outcomes = collections.Counter(row["outcome"] for row in said["connections"])
    runs.say(outcomes == {"ended": 40, "listener": 1}, "info trace: outcomes", outcomes)
    drawn(runs, runs.path / "trace.svg", 41, "41 lanes")
    text = runs.info("trace", runs.path / "trace.json", "-n", "5", "-o", runs.path / "few.svg")
    runs.say(text.code == 0 and "and 1 more (--json has all)" in text.out, "info trace: text", text.out + text.err)
    drawn(runs, runs.path / "few.svg", 5, "36 of 41 are left out")
    runs.say(runs.info("trace", runs.path / "none.json").code == 1, "info trace: no file")
    (runs.path / "empty.json").write_text("[\n]\n")
    runs.say("no id and no rsocket" in runs.info("trace", runs.path / "empty.json").err, "info trace: an empty trace")


def processes(runs):
    """Of several processes, each lane says whose it is; of ids no bytes are counted."""
    files = [runs.path / f"{name}.json" for name in "ab"]
    for file in files:
        runs.run("once", file=file.name)
    rows = json.loads(runs.info("--json", "trace", *files).out or '{"connections": []}')["connections"]
    numbers = {row["process"] for row in rows}
    runs.say(len(numbers) == 2 and all(row["sent"] is None for row in rows), "info trace: ids have no bytes", rows)
    words = (runs.path / "a.svg").read_text()
    runs.say(all(f">{number}: {rows[0]['connection'].split()[0]}" in words for number in numbers),
             "info trace: lanes say their process", words)


def drawn(runs, file, lanes, note):
    """A picture is well-formed and has so many lanes."""
    try:
        root = xml.etree.ElementTree.parse(file).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return runs.say(False, f"{file.name} is XML", error)
    found = [part for part in root.iter("{http://www.w3.org/2000/svg}g") if part.get("class") == "lane"]
    words = " ".join("".join(part.itertext()) for part in root.iter("{http://www.w3.org/2000/svg}text"))
    return runs.say(len(found) == lanes and note in words and "established" in words,
                    f"{file.name}: {lanes} lanes, legend and note", f"{len(found)} lanes: {words[:200]}")


def thousands(runs):
    """Thousands of lanes: all in the trace, a bounded picture. On a busy machine records may be lost, and counted:
    then once more."""
    for _ in range(5):
        runs.run("rsockets", 1000)
        records = runs.read()
        if not slices(records)[1]:
            break
    lanes, wrong = lanes_of(records)
    runs.say(len(lanes) == 2001 and not wrong, "trace: two thousand lanes", f"{len(lanes)} {wrong[:3]}")
    ended = runs.info("trace", runs.path / "trace.json")
    runs.say(ended.code == 0 and len(ended.out.splitlines()) < 100, "info trace: the table is bounded", ended.err)
    drawn(runs, runs.path / "trace.svg", 60, "1941 of 2001 are left out")
    size = (runs.path / "trace.svg").stat().st_size if (runs.path / "trace.svg").exists() else 0
    runs.say(0 < size < 300000, "info trace: the picture is bounded", size)


def slices(records):
    """Slices, and records that the trace says are lost."""
    lost = sum(record["args"]["count"] for record in records if record["name"] == "records lost")
    return sum(record["ph"] in "be" for record in records), lost


def writing(runs):
    """Whole records of many threads; none lost, or counted."""
    made = int(runs.run("many", 500).out or 0)
    found, lost = slices(runs.read())
    runs.say(made == 2000 and found + lost == 4 * made, "trace: records of threads", f"{made} {found} {lost}")
    threads = {record["tid"] for record in runs.read() if record["ph"] == "b"}
    runs.say(len(threads) == 4, "trace: each with its thread", threads)
    mode = (runs.path / "trace.json").stat().st_mode & 0o777
    runs.say(mode == 0o600, "trace: for the user alone", oct(mode))

    # A disk that takes nothing for a while: the file is whole at any time.
    made = int(runs.run("full", 3000).out or 0)
    found, lost = slices(runs.read())
    runs.say(lost > 0 and found + lost == 4 * (made + 1), "trace: a full disk loses records and says how many",
             f"{made} {found} {lost}")
    shown = runs.info("--json", "trace", runs.path / "trace.json").out
    runs.say(f'"records lost":{lost}' in shown, "info trace: says how many were lost", shown[-300:])

    killed = runs.run("kill", 5, code=-9)
    lanes, wrong = lanes_of(runs.read(is_ended=False))
    runs.say(killed.code == -9 and len(lanes) == 11 and not wrong, "trace: of a killed process", f"{len(lanes)} {wrong}")
    ended = runs.info("trace", runs.path / "trace.json")
    runs.say("without an end" in ended.out and " open" in ended.out, "info trace: of a killed process", ended.out)


def forks(runs):
    made = runs.run("fork", 50, file="own.%p.json").out.split()
    files = sorted(runs.path.glob("own.*.json"))
    counts = sorted(slices(runs.read(file.name))[0] for file in files)
    runs.say(made == ["200", "200"] and counts == [800, 804], "trace: a file of each process", f"{made} {counts}")
    for file in files:
        own = {record["pid"] for record in runs.read(file.name)}
        runs.say(own == {int(file.name.split(".")[1])}, "trace: its own records alone", own)
    runs.run("fork", 50)
    records = runs.read()
    runs.say(slices(records)[0] == 804 and len({record["pid"] for record in records}) == 1,
             "trace: without %p a child says nothing", slices(records))


def files(runs):
    """What is written, and what is not."""
    data = runs.path / "data"
    runs.run("closed", DATA=str(data))
    runs.say(data.stat().st_size == 0 and slices(runs.read())[0] == 8, "trace: never in another file",
             data.stat().st_size)
    target = runs.path / "target"
    target.write_text("kept")
    for name, make in {"link.json": lambda place: place.symlink_to(target), "hard.json": lambda place: os.link(target, place),
                       "pipe.json": os.mkfifo, "folder.json": os.mkdir}.items():
        make(runs.path / name)
        ended = runs.run("once", file=name)
        wanted = f"no trace (RDMACM_TRACE) in {runs.path / name}: "
        runs.say(wanted in ended.err and target.read_text() == "kept", f"trace: not into {name}", ended.err)
    ended = runs.run("once", file="missing/trace.json")
    runs.say("missing/trace.json: its folder does not exist: ENOENT" in ended.err, "trace: not without a folder", ended.err)
    runs.run("once")
    runs.run("once")
    runs.say(slices(runs.read())[0] == 4, "trace: a file that is there is written anew")
    with open(runs.path / "busy.json", "w") as other:
        import fcntl
        fcntl.flock(other, fcntl.LOCK_EX)
        ended = runs.run("once", file="busy.json")
        runs.say("another process writes the file" in ended.err, "trace: not beside another process", ended.err)
    if os.geteuid() == 0:
        place = runs.path / "others.json"
        place.touch()
        os.chown(place, 65534, 65534)
        ended = runs.run("once", file=place.name)
        runs.say("no trace" in ended.err and not place.stat().st_size, "trace: not into another user's file", ended.err)


def run(parts, args, report):
    behaviours.build()
    problem = compile_program(PROGRAM, CTEST / "traced" / "traced.c", behaviours.TRACE, [f"-I{CTEST / 'cm'}"])
    if problem:
        return report.bad("traced", problem)
    with Runs(args.lib, report) as runs:
        for part in parts:
            part(runs)
    return None


def of_info(args, report):
    run([contents, sockets, picture, processes, thousands], args, report)


def of_why(args, report):
    run([writing, forks, files], args, report)
