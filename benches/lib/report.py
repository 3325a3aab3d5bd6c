# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Results as JSON, a Markdown table and an SVG plot for each figure."""
import datetime
import json
import os
import platform
import subprocess
from html import escape

from bench import ROOT, better

FOLDER = ROOT / "docs" / "benchmarks"


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release(),
            "load": round(os.getloadavg()[0], 1)}


def commit():
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "src", "include"], capture_output=True, text=True)
    return name + (" with changes" if changed.stdout else "")


def write(kind, command, made_at, figures, where, folder=FOLDER):
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        figure["commit"] = made_at
    figures = merged(folder / f"{kind}.json", figures)
    result = {"command": command, "commit": made_at, "date": datetime.date.today().isoformat(),
              "machine": where, "figures": figures}
    (folder / f"{kind}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    (folder / f"{kind}.md").write_text(markdown(kind, result))
    for figure in figures:
        (folder / f"{figure['name']}.svg").write_text(plot(figure))


def merged(known, figures):
    """A part of the figures replaces its own among those that are there."""
    new = {figure["name"]: figure for figure in figures}
    old = json.loads(known.read_text())["figures"] if known.exists() else []
    kept = [new.pop(figure["name"], figure) for figure in old]
    return kept + list(new.values())


def number(value):
    if value is None:
        return "–"
    if isinstance(value, int) or float(value).is_integer() or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def ratio_of(figure, entry):
    return entry.get("ratio", better(figure, entry))


def markdown(kind, result):
    where = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    lines = [f"# Results of `{result['command']}`", "",
             f"Commit {result['commit']}, {result['date']}. {where[0].upper()}{where[1:]}.",
             "Made by that command; [README.md](README.md) says what is measured, and what stands in the way",
             "where a ratio is below 1. Ratios above 1: ours is better.", ""]
    for figure in result["figures"]:
        extra = figure.get("extra", {})
        spread = any("low" in entry for entry in figure["rows"])
        head = ["case", f"{figure.get('beside', 'C')} ({figure['unit']})", "ours", *extra.values(), "ratio"] + ["middle half, pairs"] * spread
        lines += [f"## {figure['title']}", "", f"![{figure['title']}]({figure['name']}.svg)", ""]
        lines += [figure["note"], ""] if "note" in figure else []
        lines += [f"`{figure['command']}`", ""] if "command" in figure else []
        other = figure.get("commit", result["commit"])
        made = [f"commit {other}"] * (other != result["commit"])
        made += [f"the C library of {figure['library']}"] if "library" in figure else []
        lines += [f"Measured with {' and '.join(made)}.", ""] if made else []
        lines += ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
        for entry in figure["rows"]:
            ratio = ratio_of(figure, entry)
            cells = [entry["case"], number(entry["c"]), number(entry["ours"])]
            cells += [number(entry.get(name)) for name in extra]
            cells += ["–" if ratio is None else f"{ratio:.2f}"]
            if spread:
                cells += [f"{entry['low']:.2f} to {entry['high']:.2f}, {entry['pairs']}" if "low" in entry else "–"]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def plot(figure):
    """Bars in pairs; the longest of a figure has the full length, small ones keep a sliver."""
    rows = figure["rows"]
    left, width, step = 250, 380, 40
    largest = max([max(entry["c"] or 0, entry["ours"] or 0) for entry in rows] or [1]) or 1
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{60 + step * len(rows)}" '
             'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>',
             f'<text x="10" y="20" font-size="14">{escape(figure["title"])} ({escape(figure["unit"])})</text>',
             '<rect x="10" y="30" width="10" height="10" fill="#888"/><text x="24" y="39">'
             f'{escape(figure.get("beside", "C library"))}</text>'
             '<rect x="100" y="30" width="10" height="10" fill="#c4501b"/><text x="114" y="39">ours</text>']
    for place, entry in enumerate(rows):
        y = 54 + step * place
        parts.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{escape(entry["case"])}</text>')
        for line, (who, colour) in enumerate((("c", "#888"), ("ours", "#c4501b"))):
            value = entry[who]
            length = max(1, width * (value or 0) / largest)
            parts.append(f'<rect x="{left}" y="{y + 13 * line}" width="{length:.0f}" height="11" fill="{colour}"/>'
                         f'<text x="{left + length + 4:.0f}" y="{y + 13 * line + 10}">{number(value)}</text>')
    return "\n".join(parts) + "\n</svg>\n"
