#!/usr/bin/env python3
"""Draws a stretch of a trace as a picture: a row per thread, slices by depth, counters below.

    draw_trace.py TRACE.json OUT.svg [--from MS] [--to MS] [--title TEXT]

Times are milliseconds since the first slice. The pictures in docs/images are made with it, from traces that the profiler has recorded.
"""

import argparse
import gzip
import json
from html import escape

WIDTH, LEFT, RIGHT, LANE, GAP = 1000, 118, 24, 24, 14
COLOURS = ["#4e79a7", "#d9731a", "#3f8f46", "#b8860b", "#d1495b", "#8e5ea2", "#3d8b8b", "#8a6248", "#5b6fd0", "#6b7440", "#7d7d7d"]
FONT = "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\""
CHARACTER = 6.7  # width of one at 11 px


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def kind(name):
    """What "step 1" and "step 2" have in common."""
    return name.rstrip("0123456789# ")


class Picture:
    def __init__(self, trace, first_ms, last_ms):
        events = [e for e in trace["traceEvents"] if isinstance(e.get("pid"), int)]
        slices = [e for e in events if e["ph"] == "X"]
        origin = min(e["ts"] for e in slices)
        self.first = first_ms * 1000
        self.last = last_ms * 1000 if last_ms is not None else max(e["ts"] + e["dur"] for e in slices) - origin
        for event in events:
            event["at"] = event.get("ts", 0) - origin
        self.names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.slices = [e for e in slices if e["at"] < self.last and e["at"] + e["dur"] > self.first]
        self.counters = [e for e in events if e["ph"] == "C"]
        self.colours = self.choose_colours()
        self.out = []

    def x(self, at):
        at = min(max(at, self.first), self.last)
        return LEFT + (at - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT)

    def choose_colours(self):
        """The names that fill most of the picture get colours of their own; when those run out, the last serves the rest."""
        spent = {}
        for event in self.slices:
            spent[kind(event["name"])] = spent.get(kind(event["name"]), 0) + event["dur"]
        return {name: COLOURS[min(i, len(COLOURS) - 1)] for i, name in enumerate(sorted(spent, key=lambda name: (-spent[name], name)))}

    def text(self, x, y, words, size=11, fill="#57606a", anchor="start", weight="normal"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>')

    def thread(self, tid, top):
        """Draws one thread's slices; gives the height that they take."""
        ends, deepest = [], 0
        for event in sorted((e for e in self.slices if e["tid"] == tid), key=lambda e: (e["at"], -e["dur"])):
            while ends and event["at"] >= ends[-1]:
                ends.pop()
            depth = len(ends)
            ends.append(event["at"] + event["dur"])
            deepest = max(deepest, depth)
            left, right = self.x(event["at"]), self.x(event["at"] + event["dur"])
            width = max(right - left - 1, 0.6)
            y = top + depth * LANE
            self.out.append(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{LANE - 2}" rx="2" fill="{self.colours[kind(event["name"])]}">'
                            f'<title>{escape(event["name"])}: {event["dur"]:.1f} µs</title></rect>')
            fits = int((width - 5) / CHARACTER)
            if fits >= min(len(event["name"]), 4):
                label = event["name"] if len(event["name"]) <= fits else event["name"][: fits - 1] + "…"
                self.text(left + 4, y + 15, label, fill="#ffffff")
        return (deepest + 1) * LANE

    def shown_counters(self):
        return sorted({e["name"] for e in self.counters if self.first <= e["at"] < self.last})

    def counter(self, name, top, height=44):
        samples = sorted((e["at"], float(next(iter(e["args"].values())))) for e in self.counters if e["name"] == name)
        before = [value for at, value in samples if at <= self.first]
        points = [(self.first, before[-1] if before else 0.0)] + [(at, value) for at, value in samples if self.first < at < self.last]
        most = max(value for _, value in points) or 1
        path, last_y = f"M {self.x(self.first):.1f} {top + height}", top + height
        for at, value in points:
            y = top + height - value / most * (height - 4)
            path += f" L {self.x(at):.1f} {last_y:.1f} L {self.x(at):.1f} {y:.1f}"
            last_y = y
        path += f" L {self.x(self.last):.1f} {last_y:.1f} L {self.x(self.last):.1f} {top + height} Z"
        self.out.append(f'<path d="{path}" fill="#76b7b2" fill-opacity="0.55" stroke="#4b8f8a" stroke-width="1"/>')
        self.text(WIDTH - RIGHT, top + 2, f"max {most:g}", 10, anchor="end")
        return height

    def axis(self, top, bottom):
        span = (self.last - self.first) / 1000
        step = next(s for s in (m * 10**e for e in range(-3, 5) for m in (1, 2, 5)) if span / s <= 8)
        lines = []
        tick = (int(self.first / 1000 / step) + 1) * step
        while tick < self.last / 1000:
            x = self.x(tick * 1000)
            lines.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#d8dee4" stroke-width="1"/>')
            self.text(x, bottom + 14, f"{tick:g} ms", 10, anchor="middle")
            tick += step
        self.out[0:0] = lines

    def draw(self, title):
        top = 56 if title else 20
        y = top
        threads = sorted({e["tid"] for e in self.slices}, key=lambda tid: min(e["at"] for e in self.slices if e["tid"] == tid))
        for tid in threads:
            name = self.names.get(tid, str(tid))
            self.text(16, y + 15, name[name.find("(") + 1 :].rstrip(")")[:14], 12, "#24292f", weight="600")
            y += self.thread(tid, y) + GAP
        for name in self.shown_counters():
            self.text(16, y + 15, name[:14], 12, "#24292f", weight="600")
            y += self.counter(name, y) + GAP
        self.axis(top - 6, y)
        if title:
            self.text(16, 30, title, 13, "#24292f", weight="600")
        height = y + 26
        body = "\n".join(self.out)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" {FONT}>\n'
                f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="#ffffff" stroke="#d0d7de"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("out")
    parser.add_argument("--from", dest="first", type=float, default=0.0, metavar="MS")
    parser.add_argument("--to", dest="last", type=float, metavar="MS")
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    with open(arguments.out, "w", encoding="utf-8") as file:
        picture = Picture(read(arguments.trace), arguments.first, arguments.last)
        file.write(picture.draw(arguments.title))
    print(f"{arguments.out}: {len(picture.slices)} slices of {len({e['tid'] for e in picture.slices})} threads, {len(picture.shown_counters())} counters")


if __name__ == "__main__":
    main()
