# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables of rows: tab-separated, a head line with the names of the columns, lines of # for directives and remarks."""

import re

COLUMNS = ("case", "server", "client", "expected")


def version(text):
    """6.1.0-57-amd64 -> (6, 1)."""
    numbers = re.findall(r"\d+", text)
    return tuple(int(number) for number in numbers[:2])


class Row:
    """One case: how it is run, and what each library makes of it."""

    def __init__(self, fields):
        self.case = fields["case"]
        self.server = fields["server"]
        self.client = fields["client"]
        self.expected = fields["expected"]
        self.note = fields.get("note", "")
        options = dict(pair.split("=", 1) for pair in fields.get("options", "").split())
        self.limit = float(options.pop("limit", 20))
        self.wait = float(options.pop("wait", 5))
        # Programs of another release take other options: the row is for this one only.
        self.programs = options.pop("programs", None)
        if options:
            raise SystemExit(f"{self.case}: unknown options {options}")
        # Columns named library@kernel hold what was seen, for example c44@6.1.
        self.seen = {name: value for name, value in fields.items() if "@" in name and value}

    def wanted(self, library, kernel):
        """The result that this library must have on this kernel."""
        if library.reference:
            # The column of this very release, or of another, for the newest kernel that is not newer than this one.
            best = max((rank for rank in map(self.rank(library, kernel), self.seen) if rank), default=None)
            if best:
                return self.seen[best[2]].split(":")[0]
        return for_kernel(self.expected, kernel)

    def rank(self, library, kernel):
        def of(name):
            series, on = name.split("@")
            return (series == library.series, version(on), name) if version(on) <= kernel else None

        return of


def for_kernel(expected, kernel):
    """pass>=7 means: fails on an older kernel, pass<7: may fail from that one on; whatever the library."""
    want, _, since = expected.partition(">=")
    if since and kernel < version(since):
        return "fails"
    want, _, before = want.partition("<")
    if before and kernel >= version(before):
        return "flaky"
    return want


class Table:
    def __init__(self):
        self.rows = []
        self.prepare = []
        self.need_packets = False
        self.again = None


def read(name):
    table = Table()
    head = None
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("#prepare:"):
                table.prepare.append(line.split(":", 1)[1].strip())
            elif line.startswith("#packets:"):
                table.need_packets = line.split(":", 1)[1].strip() == "required"
            elif line.startswith("#again:"):
                table.again = re.compile(line.split(":", 1)[1].strip())
            elif not line or line.startswith("#"):
                continue
            elif head is None:
                head = line.split("\t")
                missing = [column for column in COLUMNS if column not in head]
                if missing:
                    raise SystemExit(f"{name}: no column {', '.join(missing)}")
            else:
                fields = line.split("\t")
                if len(fields) < len(COLUMNS) or len(fields) > len(head):
                    raise SystemExit(f"{name}:{number}: {len(fields)} fields, {len(head)} columns")
                row = Row(dict(zip(head, fields)))
                row.need_packets = table.need_packets
                row.again = table.again
                table.rows.append(row)
    return table
