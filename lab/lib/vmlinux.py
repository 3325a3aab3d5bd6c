#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Take the plain kernel out of a bzImage: QEMU starts it directly, and the guest need not unpack it.

usage: vmlinux.py BZIMAGE OUT
"""

import gzip
import lzma
import struct
import subprocess
import sys


def payload(image):
    """The compressed kernel, found by the fields of the boot protocol (2.08 or later)."""
    if image[0x202:0x206] != b"HdrS":
        raise ValueError("not a bzImage")
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    return image[start : start + length]


def unpack(data):
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data[:-4])
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        # The last four bytes are the size, not part of the stream.
        return subprocess.run(["zstd", "-dcq"], input=data[:-4], check=True, stdout=subprocess.PIPE).stdout
    raise ValueError("unknown compression")


def main(source, out):
    with open(source, "rb") as file:
        kernel = unpack(payload(file.read()))
    if not kernel.startswith(b"\x7fELF"):
        raise ValueError("no ELF kernel inside")
    with open(out, "wb") as file:
        file.write(kernel)


if __name__ == "__main__":
    main(*sys.argv[1:])
