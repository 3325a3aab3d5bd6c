# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `streams`: the commands that the C library and ours write to rdma_cm, byte for byte.

Each scenario is a program of ctest/cm, run with RDMAFAKE_LOG. Pointers (the address of the answer and
of an option's value) and uids are replaced by their order of appearance; the probe for native
addresses of the C library is left out, since ours asks only when it needs to know. Commands are
compared id by id, because the order between ids is the program's. Where ours sends fewer, the missing
ones are listed; a command that only ours sends, or one with other bytes, fails.
"""
import collections
import struct
import sys
import tempfile
from pathlib import Path

import behaviours
from harness import CTEST, SOFT_DEVICE, environment, execute, must, preloaded
from suite import Suite

SCENARIOS = """
id_create_port_spaces bind_v4 bind_v6 bind_port_zero listen_backlogs resolve_addr_source
resolve_route_roce resolve_route_ib resolve_route_iwarp connect_accept_rc connect_private_data_lengths
accept_private_data_lengths connect_depths connect_own_qp connect_ib connect_iwarp connect_v6
reject_with_data reject_ece disconnect_both_orders ud_sidr ud_own_qp ud_reject migrate_fresh
migrate_connected multicast_several multicast_flags options_id options_levels options_ack_timeout
options_ib_path native_connection ece_application_qp ece_library_qp qp_ud srq_xrc connect_no_param_qp accept_no_param_qp
""".split()
NAMES = dict(enumerate("""CREATE_ID DESTROY_ID BIND_IP RESOLVE_IP RESOLVE_ROUTE QUERY_ROUTE CONNECT
LISTEN ACCEPT REJECT DISCONNECT INIT_QP_ATTR GET_EVENT GET_OPTION SET_OPTION NOTIFY JOIN_IP_MCAST
LEAVE_MCAST MIGRATE_ID QUERY BIND RESOLVE_ADDR JOIN_MCAST RESOLVE_IB_SERVICE WRITE_CM_EVENT""".split()))
RECORD = struct.Struct("=IIIIiIIIiiII")
MAGIC = 0x52465231
CREATE, DESTROY, QUERY_ROUTE, GET_EVENT, MIGRATE, QUERY, BIND = 0, 1, 5, 12, 18, 19, 20

# Where in the body of a command the kernel's id stands, and which bytes are pointers, uids or
# descriptors: (offset of the id or None, [(offset, length)...]). The frame header is compared whole.
LAYOUT = {
    0: (None, [(0, 8), (8, 8)]), 1: (8, [(0, 8)]), 4: (0, []), 5: (8, [(0, 8)]), 6: (280, []),
    7: (0, []), 8: (288, [(0, 8)]), 9: (0, []), 10: (0, []), 11: (8, [(0, 8)]), 12: (None, [(0, 8)]),
    14: (8, [(0, 8)]), 15: (0, []), 17: (None, [(0, 8)]), 18: (8, [(0, 8), (12, 4)]), 19: (8, [(0, 8)]),
    20: (0, []), 21: (0, []), 22: (16, [(0, 8), (8, 8)]), 23: (0, []), 24: (0, []),
}
# Where the kernel tells a new id in its answers.
ANSWER_ID = {0: 0}


def read_log(path):
    data = path.read_bytes()
    at = 0
    while at < len(data):
        record = RECORD.unpack_from(data, at)
        at += RECORD.size
        if record[0] != MAGIC:
            sys.exit(f"{path}: no record at {at}")
        request = data[at:at + record[10]]
        at += record[10]
        answer = data[at:at + record[11]]
        at += record[11]
        yield record[5], record[6:8], request, answer


def is_probe(commands):
    """The C library asks once whether native addresses work: an id that binds to one and goes."""
    return (commands and commands[0][0] == CREATE and len(commands) <= 8 and
            any(cmd == BIND and body[12:14] == struct.pack("=H", 27) for cmd, body in commands))


def streams(path):
    """The commands of each id in order of their making, with what may differ blanked."""
    lives = []
    current = {}
    for cmd, sizes, request, answer in read_log(path):
        if cmd == GET_EVENT:
            if len(answer) >= 16:
                # A connection request makes an id: its number is in the event.
                event, = struct.unpack_from("=I", answer, 12)
                if event == 4:
                    new = struct.unpack_from("=I", answer, 8)[0]
                    current[new] = []
                    lives.append(current[new])
            continue
        frame = bytearray(request)
        where, blanks = LAYOUT.get(cmd, (None, []))
        for offset, length in blanks:
            frame[offset:offset + length] = b"\0" * length
        handle = None
        if cmd == CREATE:
            handle = struct.unpack_from("=I", answer)[0] if len(answer) >= 4 else None
            life = []
            lives.append(life)
            if handle is not None:
                current[handle] = life
        elif where is not None and len(request) >= where + 4:
            handle = struct.unpack_from("=I", request, where)[0]
            frame[where:where + 4] = b"\0" * 4
            life = current.setdefault(handle, [])
        else:
            # LEAVE_MCAST names the membership; it belongs to the newest id.
            life = lives[-1] if lives else []
            frame[8:12] = b"\0" * 4
        if cmd == CREATE:
            life = lives[-1]
        # What the header says of the sizes is part of the command.
        life.append((cmd, struct.pack("=HH", *sizes) + bytes(frame)))
    return [life for life in lives if not is_probe(life)]


def label(entry):
    cmd, frame = entry
    text = NAMES.get(cmd, str(cmd))
    if cmd == QUERY and len(frame) >= 20:
        text += f"({('ADDR', 'PATH', 'GID', 'SERVICE')[struct.unpack_from('=I', frame, 16)[0] & 3]})"
    if cmd == 11 and len(frame) >= 20:
        text += f"({struct.unpack_from('=I', frame, 16)[0]})"
    return text


# Ours asks for the same with one command where the C library needs two or three.
INSTEAD = {QUERY_ROUTE: {QUERY}}


def compare(theirs, ours, fewer, verbose):
    """Problems of one id's stream; fills what ours leaves out."""
    problems = []
    at = 0
    for entry in ours:
        rest = theirs[at:]
        if entry in rest:
            skip = rest.index(entry)
            for left_out in rest[:skip]:
                fewer[label(left_out)] += 1
            at += skip + 1
        elif entry[0] in INSTEAD and any(e[0] in INSTEAD[entry[0]] for e in rest):
            fewer[f"{label(entry)} instead"] += 1
        else:
            same = [e for e in rest if label(e) == label(entry)]
            problems.append(f"{label(entry)}: " + ("other bytes" if same else "only ours sends it"))
            if same and verbose:
                problems += [f"  C    {same[0][1].hex()}", f"  ours {entry[1].hex()}"]
            if same:
                at += rest.index(same[0]) + 1
    for left_out in theirs[at:]:
        fewer[label(left_out)] += 1
    return problems


def record(case, library, folder):
    log = Path(folder) / ("ours" if library else "theirs")
    env = environment(**case.env, RDMAFAKE=case.script, RDMAFAKE_LOG=str(log))
    if library:
        env["LD_LIBRARY_PATH"] = library
    ended = execute(preloaded([case.program], SOFT_DEVICE), env, 60)
    if ended.code != 0:
        sys.exit(f"ctest/run: {case.name} with {library or 'the C library'}: {ended.how}")
    return streams(Path(f"{log}.bin"))


def run(names, args, report):
    behaviours.build()
    total = collections.Counter()
    for name in names or SCENARIOS:
        case = behaviours.Case(CTEST / "cm" / f"{name}.c")
        must(case.compile())
        with tempfile.TemporaryDirectory() as folder:
            theirs = record(case, None, folder)
            ours = record(case, args.lib, folder)
        fewer = collections.Counter()
        problems = []
        if len(theirs) != len(ours):
            problems.append(f"{len(theirs)} ids of the C library, {len(ours)} of ours")
        for one, other in zip(theirs, ours):
            problems += compare(one, other, fewer, args.verbose)
        total += fewer
        count = f"{sum(map(len, theirs))} commands of the C library, {sum(map(len, ours))} of ours"
        if problems:
            report.bad(f"{name}  {count}", "\n".join("    " + line for line in problems))
        else:
            text = ", ".join(f"{n} {what}" for what, n in sorted(fewer.items()))
            report.good(name, count + (f"; ours leaves out {text}" if text else ""), "equal")
    report.say("left out altogether: " + ", ".join(f"{n} {what}" for what, n in sorted(total.items())))


SUITES = [Suite("streams", "the commands that both libraries write to rdma_cm, byte for byte",
                lambda: [s.stem for s in behaviours.sources("cm")], run, usual=lambda: SCENARIOS)]
