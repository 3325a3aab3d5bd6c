# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Blocking echo server: one connection, until the peer ends it."""

import socket

server = socket.create_server(("10.9.0.1", 9100))
peer, _ = server.accept()
while data := peer.recv(65536):
    peer.sendall(data)
peer.close()
