# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Running one row: server, client, time limits, and the end of everything that was started."""

import ctypes
import glob
import os
import re
import signal
import subprocess
import time

import rows_ready

RESULT_COLUMNS = (
    "case", "library", "kernel", "verdict", "outcome", "expected", "seconds", "server", "client", "packets", "last_line",
)
PR_SET_CHILD_SUBREAPER = 36
# Seconds from power-on to the first row, measured on an idle machine without KVM.
USUAL_START = 9.0


class Library:
    def __init__(self, name, series, reference, folder, preload):
        """preload: None when no program gets one."""
        self.name = name
        self.series = series
        self.reference = reference
        self.folder = folder
        self.preload = preload


def reference_library():
    """The distribution's own, whatever else is installed; the series is its package version, c44 or c65."""
    files = glob.glob("/usr/lib/*/librdmacm.so.1.?.*.0")
    if not files:
        raise SystemExit("no librdmacm of the distribution here")
    folder = os.path.dirname(files[0])
    return Library("c", "c" + files[0].split(".")[-2], True, folder, folder + "/rsocket/librspreload.so")


def no_preload():
    """The distribution's library, and programs that use the kernel's sockets: what a row must do before it counts."""
    c = reference_library()
    return Library("native", "native", False, c.folder, None)


def library_under_test(folder):
    return Library("ours", "ours", False, folder, os.path.join(folder, "librspreload.so"))


class Result:
    def __init__(self):
        self.outcome = "fails"
        self.why = ""
        self.seconds = 0.0
        self.server_code = self.client_code = None
        self.server_tail = self.client_tail = ""
        self.packets = None
        self.clock_rate = 1.0

    def fields(self, row, library, kernel, want, word):
        tail = (self.client_tail.strip() or self.server_tail.strip()).splitlines()
        values = (row.case, library.name, kernel, word, self.outcome, want, f"{self.seconds:.2f}", self.server_code,
                  self.client_code, self.packets, tail[-1] if tail else "")
        return ["-" if value is None else str(value).replace("\t", " ") for value in values]


def code_of(returncode):
    """As a shell says it: 128 and the signal."""
    return 128 - returncode if returncode < 0 else returncode


def sent_packets():
    """Packets that went over RDMA, of all devices that count them; None if there is none."""
    total = None
    for name in glob.glob("/sys/class/infiniband/*/ports/*/hw_counters/sent_pkts"):
        with open(name, encoding="ascii") as file:
            total = (total or 0) + int(file.read())
    return total


def slowness():
    """How many times slower than on an idle machine the guest came up; limits are stretched by it."""
    if os.environ.get("RDMACM_LAB") != "guest":
        return 1.0
    with open("/proc/uptime", encoding="ascii") as file:
        uptime = float(file.read().split()[0])
    return min(5.0, max(1.0, uptime / USUAL_START))


class Runner:
    def __init__(self, logs, stretch):
        self.logs = logs
        self.stretch = stretch
        os.makedirs(logs, exist_ok=True)
        # Daemons that leave their parent become our children, so that they can be found and ended.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # On a real device the tables' own address and device name are replaced.
        self.replace = []
        if os.environ.get("RDMACM_LAB_ADDR"):
            self.replace.append(("10.9.0.1", os.environ["RDMACM_LAB_ADDR"]))
        if os.environ.get("RDMACM_LAB_DEVICE"):
            self.replace.append(("rxe0", os.environ["RDMACM_LAB_DEVICE"]))

    def prepare(self, table):
        for command in table.prepare:
            subprocess.run(["sh", "-c", command], check=True, timeout=120, stdin=subprocess.DEVNULL)

    def command(self, text, library):
        for old, new in self.replace:
            text = text.replace(old, new)
        # RS=1 before a program stands for the preload library of the library under test.
        return re.sub(r"\bRS=1 ", f"LD_PRELOAD={library.preload} " if library.preload else "", text)

    def start(self, text, library, log):
        environment = dict(os.environ, LD_LIBRARY_PATH=library.folder)
        return subprocess.Popen(["sh", "-c", self.command(text, library)], stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, start_new_session=True, env=environment)

    def run(self, row, library):
        result = Result()
        if "RS=1 " in row.server + row.client and library.preload and not os.path.exists(library.preload):
            result.why = "no librspreload.so beside the library"
            return result
        names = [os.path.join(self.logs, f"{row.case}.{library.name}.{side}") for side in ("server", "client")]
        before = sent_packets()
        begin = time.monotonic()
        server = None
        with open(names[0], "wb") as server_log, open(names[1], "wb") as client_log:
            if row.server != "-":
                listening = rows_ready.listeners()
                server = self.start(row.server, library, server_log)
                rows_ready.wait(server, listening, row.wait * self.stretch, 0.15 * self.stretch)
            client = self.start(row.client, library, client_log)
            try:
                result.client_code = code_of(client.wait(row.limit * self.stretch))
            except subprocess.TimeoutExpired:
                result.client_code = 124
            if server:
                # A server that ends by itself ends now; one that runs for ever is ended below.
                try:
                    result.server_code = code_of(server.wait(self.stretch if result.client_code == 0 else 0))
                except subprocess.TimeoutExpired:
                    pass
            self.end([process for process in (client, server) if process])
        result.seconds = time.monotonic() - begin
        after = sent_packets()
        if before is not None and after is not None:
            result.packets = after - before
        result.server_tail, result.client_tail = (tail(name) for name in names)
        judge(row, library, result)
        return result

    def end(self, processes):
        """Ends the process groups of a row, then whatever they left behind."""
        for sign, limit in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)):
            for process in processes:
                signal_group(process.pid, sign)
            until = time.monotonic() + limit
            while time.monotonic() < until and not all(gone(process) for process in processes):
                time.sleep(0.02)
        for _ in range(50):
            orphans = children()
            if not orphans:
                break
            for pid in orphans:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG)
                except (ProcessLookupError, ChildProcessError):
                    pass
            time.sleep(0.02)


def signal_group(pid, sign):
    try:
        os.killpg(pid, sign)
    except ProcessLookupError:
        pass


def gone(process):
    """The process has ended and so have all others of its group."""
    if process.poll() is None:
        return False
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    # A dead member that is our child by adoption must be taken in before the group is empty.
    try:
        os.waitpid(-process.pid, os.WNOHANG)
    except ChildProcessError:
        pass
    return False


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def tail(name):
    with open(name, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 2000))
        return file.read().decode(errors="replace")


def judge(row, library, result):
    """pass, fails, or tcp: ended well but nothing went over RDMA."""
    if result.client_code != 0:
        result.why = f"client {result.client_code}"
    elif result.server_code not in (None, 0):
        result.why = f"server {result.server_code}"
    elif row.need_packets and library.preload and result.packets == 0:
        result.outcome = "tcp"
        result.why = "TCP only"
    else:
        result.outcome = "pass"
