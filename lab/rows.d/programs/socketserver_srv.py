# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Echo server of the socketserver module, named by the argument: ThreadingTCPServer or ForkingTCPServer."""

import socketserver
import sys


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)


class Server(getattr(socketserver, sys.argv[1])):
    allow_reuse_address = True
    request_queue_size = 64


Server(("10.9.0.1", 9300), Echo).serve_forever()
