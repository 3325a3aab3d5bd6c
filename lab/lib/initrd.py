#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write an initramfs: busybox, an init script, and modules in the order in which they must be loaded.

usage: initrd.py MODULE_DIR BUSYBOX INIT BOOT_MODULES RDMA_MODULES OUT
"""

import lzma
import os
import struct
import subprocess
import sys


def module_files(directory):
    """Module name -> (path, paths of what it needs), from modules.dep."""
    table = {}
    with open(os.path.join(directory, "modules.dep"), encoding="ascii") as deps:
        for line in deps:
            path, needs = line.split(":")
            table[module_name(path)] = (path, needs.split())
    return table


def module_name(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def load_order(table, names):
    """The files for the names, every one after what it needs. A name that is not there is built in."""
    order = []
    for name in names:
        path, needs = table.get(name, (None, []))
        if path is None:
            continue
        # modules.dep lists the needs with the deepest one last.
        for file in [*reversed(needs), path]:
            if file not in order:
                order.append(file)
    return order


def plain_module(path):
    """The module's bytes without compression: the guest's own decompression would cost it seconds."""
    if path.endswith(".xz"):
        with lzma.open(path) as file:
            return unsigned(file.read())
    if path.endswith(".zst"):
        return unsigned(subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout)
    with open(path, "rb") as file:
        return unsigned(file.read())


def unsigned(data):
    """Without its signature, which the guest would spend time on: magic text, before it a head whose end is the length."""
    magic = b"~Module signature appended~\n"
    if not data.endswith(magic):
        return data
    end = len(data) - len(magic) - 12
    return data[: end - struct.unpack_from(">I", data, end + 8)[0]]


class Cpio:
    """The newc format, with owner 0 and time 0, so that the same input gives the same bytes."""

    def __init__(self, out):
        self.out = out
        self.count = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.count += 1
        fields = [self.count, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields)
        self.pad(head + name.encode() + b"\0")
        self.pad(data)

    def pad(self, data):
        self.out.write(data + b"\0" * (-len(data) % 4))

    def end(self):
        self.add("TRAILER!!!", 0)


def main(directory, busybox, init, boot, rdma, out):
    table = module_files(directory)
    with open(out, "wb") as file:
        cpio = Cpio(file)
        for name in ("bin", "dev", "proc", "sys", "modules", "lower", "programs", "rw", "root"):
            cpio.add(name, 0o40755)
        cpio.add("dev/console", 0o20600, device=(5, 1))
        with open(busybox, "rb") as data:
            cpio.add("bin/busybox", 0o100755, data.read())
        with open(init, "rb") as data:
            cpio.add("init", 0o100755, data.read())
        stored = set()
        for group, names in (("boot", boot.split()), ("rdma", rdma.split())):
            files = [path for path in load_order(table, names) if path not in stored]
            stored.update(files)
            for path in files:
                cpio.add("modules/" + module_name(path), 0o100644, plain_module(os.path.join(directory, path)))
            cpio.add("modules/order." + group, 0o100644, "".join(module_name(path) + "\n" for path in files).encode())
        cpio.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
