# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# A parent accepts and sends its sockets to a program of its own (socket.send_fds), which says what it finds.
import socket
import subprocess
import sys

if sys.argv[1] == "child":
    way = socket.socket(fileno=0)
    while True:
        data, fds, _, _ = socket.recv_fds(way, 1, 1)
        if not fds:
            break
        with socket.socket(fileno=fds[0]) as found:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            question = found.recv(100)
            text = (question.decode(), found.family.name, found.type.name, found.proto, found.getsockname(), found.getpeername())
            found.sendall(repr(text).encode())
    sys.exit()
address = sys.argv[1]
server = socket.create_server((address, 0))
own, other = socket.socketpair()
child = subprocess.Popen([sys.executable, __file__, "child"], stdin=other)
other.close()
clients = []
for number in range(3):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(server.getsockname())
    accepted, _ = server.accept()
    client.setblocking(True)
    client.sendall(b"question %d" % number)
    socket.send_fds(own, [b"f"], [accepted.fileno()])
    accepted.close()
    got = client.makefile("rb").read().decode()
    print(got)
    want = (f"question {number}", "AF_INET", "SOCK_STREAM", socket.IPPROTO_TCP, server.getsockname(), client.getsockname())
    assert got == repr(want), want
own.close()
child.wait()
