# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Non-blocking echo server on the selector named by the argument: one connection, until the peer ends it."""

import selectors
import socket
import sys

selector = getattr(selectors, sys.argv[1])()
server = socket.create_server(("10.9.0.1", 9100))
server.setblocking(False)
selector.register(server, selectors.EVENT_READ)
peer = None
waiting = b""
while True:
    for key, mask in selector.select(timeout=10):
        if key.fileobj is server:
            peer, _ = server.accept()
            peer.setblocking(False)
            selector.register(peer, selectors.EVENT_READ)
            continue
        if mask & selectors.EVENT_READ:
            try:
                data = peer.recv(65536)
            except BlockingIOError:
                continue
            if not data:
                sys.exit(0)
            waiting += data
        try:
            waiting = waiting[peer.send(waiting):] if waiting else b""
        except BlockingIOError:
            pass
        selector.modify(peer, selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting else 0))
