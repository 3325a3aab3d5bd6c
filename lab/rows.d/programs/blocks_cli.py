# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Client of the echo servers: several connections at once, each sends a block, ends its side, and wants all back.

usage: blocks_cli.py PORT [CONNECTIONS [SIZE]]
"""

import socket
import sys
import threading

port = int(sys.argv[1])
connections = int(sys.argv[2]) if len(sys.argv) > 2 else 4
size = int(sys.argv[3]) if len(sys.argv) > 3 else 100000
good = []


def talk(number):
    block = bytes((n * 7 + number) % 251 for n in range(size))
    with socket.create_connection(("10.9.0.1", port), timeout=30) as peer:
        peer.settimeout(30)
        sender = threading.Thread(target=lambda: (peer.sendall(block), peer.shutdown(socket.SHUT_WR)))
        sender.start()
        back = b""
        while part := peer.recv(65536):
            back += part
        sender.join()
        assert back == block, f"{size} bytes came back as {len(back)}"
    good.append(number)


threads = [threading.Thread(target=talk, args=(number,)) for number in range(connections)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if len(good) != connections:
    sys.exit(f"{len(good)} of {connections} connections")
print(f"{connections} connections, {size} bytes each")
