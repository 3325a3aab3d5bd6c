# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Echo client: sends blocks of several sizes and wants each back unchanged."""

import socket

peer = socket.create_connection(("10.9.0.1", 9100), timeout=8)
for size in (1, 100, 4096, 65536, 200000):
    block = bytes(n % 251 for n in range(size))
    peer.sendall(block)
    back = b""
    while len(back) < size:
        part = peer.recv(65536)
        assert part, "the server hung up"
        back += part
    assert back == block, f"{size} bytes came back changed"
peer.close()
print("echo ok")
