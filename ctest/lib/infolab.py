# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""rdmacm-info on a kernel's devices."""


def run(args, report):
    return None
