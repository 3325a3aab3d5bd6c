# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Is the server listening yet? Asked of the kernel, so that a row waits no longer than it must."""

import subprocess
import time


def listeners():
    """Everything that listens: RDMA ids, TCP sockets, and bound UDP sockets."""
    found = set()
    for name, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        with open(f"/proc/net/{name}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == state:
                    found.add((name, words[1], words[9]))
    ids = subprocess.run(["rdma", "resource", "show", "cm_id"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         timeout=10, check=False, text=True)
    found.update(line for line in ids.stdout.splitlines() if "LISTEN" in line)
    return found


def wait(server, before, limit, pause):
    """Until something new listens, the server has ended, or the limit (a server may listen to nothing visible)."""
    end = time.monotonic() + limit
    while time.monotonic() < end and server.poll() is None:
        if listeners() - before:
            # It is seen a moment before it answers, and a second listener may follow.
            time.sleep(pause)
            return
        time.sleep(0.05)
