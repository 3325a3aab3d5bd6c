#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A connection from Python by ctypes alone: no C header, no compiled glue.

Usage: connect.py LIBRARY ADDRESS PORT [listen|connect]

Two threads are the two sides; with a fourth word this process is one of them. The listener sends where its memory is with rdma_post_sendv, the other reads
it with rdma_post_readv, says so with a send, and both disconnect.
"""
import ctypes as c
import errno
import os
import struct
import sys
import threading

IBV_QPT_RC = 2
IBV_SEND_SIGNALED = 2
IBV_WC_SUCCESS = 0
RAI_PASSIVE = 1
RDMA_PS_TCP = 0x106
TEXT = b"memory that a Python program reads from another one"


class AddrInfo(c.Structure):
    _fields_ = [("flags", c.c_int), ("family", c.c_int), ("qp_type", c.c_int), ("port_space", c.c_int),
                ("src_len", c.c_uint32), ("dst_len", c.c_uint32), ("src", c.c_void_p), ("dst", c.c_void_p),
                ("src_name", c.c_char_p), ("dst_name", c.c_char_p), ("route_len", c.c_size_t),
                ("route", c.c_void_p), ("connect_len", c.c_size_t), ("connect", c.c_void_p),
                ("next", c.c_void_p)]


class QpInit(c.Structure):
    _fields_ = [("context", c.c_void_p), ("send_cq", c.c_void_p), ("recv_cq", c.c_void_p),
                ("srq", c.c_void_p), ("max_send_wr", c.c_uint32), ("max_recv_wr", c.c_uint32),
                ("max_send_sge", c.c_uint32), ("max_recv_sge", c.c_uint32), ("max_inline", c.c_uint32),
                ("qp_type", c.c_int), ("sq_sig_all", c.c_int)]


class Region(c.Structure):
    _fields_ = [("context", c.c_void_p), ("pd", c.c_void_p), ("addr", c.c_void_p), ("length", c.c_size_t),
                ("handle", c.c_uint32), ("lkey", c.c_uint32), ("rkey", c.c_uint32)]


class Piece(c.Structure):
    _fields_ = [("addr", c.c_uint64), ("length", c.c_uint32), ("lkey", c.c_uint32)]


class Completion(c.Structure):
    _fields_ = [("wr_id", c.c_uint64), ("status", c.c_int), ("opcode", c.c_int), ("vendor", c.c_uint32),
                ("byte_len", c.c_uint32), ("rest", c.c_uint8 * 64)]


def load(path):
    """The functions with their C types; each is looked up as a symbol."""
    library = c.CDLL(path, use_errno=True)
    pointer, integer = c.c_void_p, c.c_int
    buffers = [pointer, pointer, c.POINTER(Piece), integer]
    remote = [integer, c.c_uint64, c.c_uint32]
    types = {
        "rdma_getaddrinfo": [c.c_char_p, c.c_char_p, c.POINTER(AddrInfo), c.POINTER(pointer)],
        "rdma_freeaddrinfo": [pointer],
        "rdma_create_ep": [c.POINTER(pointer), pointer, pointer, c.POINTER(QpInit)],
        "rdma_destroy_ep": [pointer],
        "rdma_listen": [pointer, integer],
        "rdma_get_request": [pointer, c.POINTER(pointer)],
        "rdma_accept": [pointer, pointer],
        "rdma_connect": [pointer, pointer],
        "rdma_disconnect": [pointer],
        "rdma_reg_msgs": [pointer, pointer, c.c_size_t],
        "rdma_reg_read": [pointer, pointer, c.c_size_t],
        "rdma_dereg_mr": [pointer],
        "rdma_post_recvv": buffers,
        "rdma_post_sendv": buffers + [integer],
        "rdma_post_readv": buffers + remote,
        "rdma_get_send_comp": [pointer, c.POINTER(Completion)],
        "rdma_get_recv_comp": [pointer, c.POINTER(Completion)],
        "rdma_get_local_addr": [pointer],
        "rdma_get_peer_addr": [pointer],
    }
    for name, arguments in types.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = integer
    for name in ("rdma_reg_msgs", "rdma_reg_read"):
        getattr(library, name).restype = c.POINTER(Region)
    for name in ("rdma_get_local_addr", "rdma_get_peer_addr"):
        getattr(library, name).restype = pointer
    library.rdma_freeaddrinfo.restype = library.rdma_destroy_ep.restype = None
    return library


library = load(sys.argv[1])
address, port = sys.argv[2].encode(), sys.argv[3].encode()
listening = threading.Event()
failures = []


def do(name, *arguments, result=0):
    got = getattr(library, name)(*arguments)
    if got != result:
        raise OSError(c.get_errno(), f"{name}: {os.strerror(c.get_errno())}")


def endpoint(flags):
    hints, found, id = AddrInfo(flags=flags, port_space=RDMA_PS_TCP), c.c_void_p(), c.c_void_p()
    attributes = QpInit(max_send_wr=4, max_recv_wr=4, max_send_sge=2, max_recv_sge=2, qp_type=IBV_QPT_RC)
    do("rdma_getaddrinfo", address, port, hints, c.byref(found))
    do("rdma_create_ep", c.byref(id), found, None, attributes)
    library.rdma_freeaddrinfo(found)
    return id


def register(how, id, memory):
    region = getattr(library, how)(id, memory, len(memory))
    if not region:
        raise OSError(c.get_errno(), how)
    return region


def pieces(memory, region, *sizes):
    """Consecutive parts of one buffer as a list for the device."""
    start, parts = c.addressof(memory), []
    for size in sizes:
        parts.append(Piece(start, size, region.contents.lkey))
        start += size
    return (Piece * len(parts))(*parts), len(parts)


def complete(how, id, context):
    done = Completion()
    do(how, id, done, result=1)
    if done.status != IBV_WC_SUCCESS or done.wr_id != context:
        raise OSError(errno.EIO, f"{how}: status {done.status}, wr_id {done.wr_id}")
    return done.byte_len


def listen():
    listener, id = endpoint(RAI_PASSIVE), c.c_void_p()
    do("rdma_listen", listener, 1)
    listening.set()
    if only:
        print("listening", flush=True)
    do("rdma_get_request", listener, c.byref(id))
    offered, told = c.create_string_buffer(TEXT), c.create_string_buffer(16)
    answer = c.create_string_buffer(16)
    offered_region = register("rdma_reg_read", id, offered)
    told_region, answer_region = register("rdma_reg_msgs", id, told), register("rdma_reg_msgs", id, answer)
    do("rdma_post_recvv", id, 1, *pieces(answer, answer_region, 16))
    do("rdma_accept", id, None)
    struct.pack_into("=QII", told, 0, c.addressof(offered), offered_region.contents.rkey, len(TEXT))
    # Address and key from two places, as one message.
    do("rdma_post_sendv", id, 2, *pieces(told, told_region, 8, 8), IBV_SEND_SIGNALED)
    complete("rdma_get_send_comp", id, 2)
    complete("rdma_get_recv_comp", id, 1)
    if answer.value != b"thanks":
        raise ValueError(answer.value)
    do("rdma_disconnect", id)
    for region in (offered_region, told_region, answer_region):
        do("rdma_dereg_mr", region)
    library.rdma_destroy_ep(id)
    library.rdma_destroy_ep(listener)


def connect():
    listening.wait(30)
    id = endpoint(0)
    told, read = c.create_string_buffer(16), c.create_string_buffer(64)
    told_region, read_region = register("rdma_reg_msgs", id, told), register("rdma_reg_msgs", id, read)
    do("rdma_post_recvv", id, 3, *pieces(told, told_region, 4, 12))
    do("rdma_connect", id, None)
    for how in ("rdma_get_local_addr", "rdma_get_peer_addr"):
        if c.cast(getattr(library, how)(id), c.POINTER(c.c_uint16)).contents.value not in (2, 10):
            raise ValueError(how)
    if complete("rdma_get_recv_comp", id, 3) != 16:
        raise ValueError("short message")
    remote, key, size = struct.unpack("=QII", told)
    do("rdma_post_readv", id, 4, *pieces(read, read_region, 10, size - 10), IBV_SEND_SIGNALED, remote, key)
    complete("rdma_get_send_comp", id, 4)
    if read.value != TEXT:
        raise ValueError(read.value)
    read.value = b"thanks"
    do("rdma_post_sendv", id, 5, *pieces(read, read_region, 16), IBV_SEND_SIGNALED)
    complete("rdma_get_send_comp", id, 5)
    do("rdma_disconnect", id)
    for region in (told_region, read_region):
        do("rdma_dereg_mr", region)
    library.rdma_destroy_ep(id)


def side(work):
    try:
        work()
    except Exception as error:
        failures.append(f"{work.__name__}: {error}")
        # The other side would wait for ever.
        print("\n".join(failures), file=sys.stderr, flush=True)
        os._exit(1)


only = sys.argv[4] if len(sys.argv) > 4 else ""
if only == "connect":
    listening.set()
threads = [threading.Thread(target=side, args=(work,)) for work in (listen, connect) if only in ("", work.__name__)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("python: connected, sent, read, disconnected")
