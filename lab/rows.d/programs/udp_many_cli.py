# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Connected datagram client of udp_srv.py: sizes up to 1400 bytes, names looked at, the last one ends the server."""

import socket

peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.settimeout(8)
peer.connect(("10.9.0.1", 9200))
assert peer.getpeername() == ("10.9.0.1", 9200)
for number in range(50):
    data = bytes([number]) * (1 + number * 28)
    peer.send(data)
    assert peer.recv(2048) == data
peer.send(b"end")
assert peer.recv(2048) == b"end"
print("50 datagrams")
