# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Whether the guest's clock keeps time.

On a busy machine without KVM a guest of two processors has lived through 409 seconds while the machine's clock
told 58: every time limit in it is then too short, and what fails says nothing. The guest's real-time clock is the
machine's, also then.
"""
import time

RTC = "/sys/class/rtc/rtc0/since_epoch"
# Seconds below which the real-time clock, which counts whole ones, is too coarse.
LEAST = 5.0
TOO_FAST = 1.5


def machine_seconds():
    """None where there is no such clock: on a real device of this machine."""
    try:
        with open(RTC, encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return None


class Watch:
    def __init__(self):
        self.own, self.machine = time.monotonic(), machine_seconds()

    def rate(self):
        """How many times too fast the clock has run since then, at least."""
        own, machine = time.monotonic() - self.own, machine_seconds()
        if machine is None or self.machine is None or own < LEAST:
            return 1.0
        return max(1.0, own / (machine - self.machine + 1))
