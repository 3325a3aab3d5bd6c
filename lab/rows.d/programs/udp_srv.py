# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Datagram echo server: ends with a datagram that says so."""

import socket

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("10.9.0.1", 9200))
while True:
    data, peer = server.recvfrom(2048)
    server.sendto(data, peer)
    if data == b"end":
        break
