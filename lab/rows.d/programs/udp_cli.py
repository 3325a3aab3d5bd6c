# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Datagram client: wants each datagram back, the last one ends the server."""

import socket

peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.settimeout(8)
for data in (b"a", b"b" * 100, b"c" * 1000, b"end"):
    peer.sendto(data, ("10.9.0.1", 9200))
    back, _ = peer.recvfrom(2048)
    assert back == data, f"{len(data)} bytes came back changed"
print("datagrams ok")
