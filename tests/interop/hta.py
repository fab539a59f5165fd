#!/usr/bin/env python3
"""Loads a folder of traces, one for each rank of a job, into Holistic Trace Analysis and compares what it finds with what the files say.

    hta.py --cache FOLDER [--ranks N] [--steps N] TRACES

Ranks, threads, steps, the iteration of each event, counts by category and name, durations, the common start and the device's busy time have
to agree. Exit status 0: they do; 1: they do not; 77: the package cannot be installed here (a line says why). TRACES holds traces and no
other .json or .gz file. The package goes into a virtual environment of its own.
"""

import argparse
import collections
import decimal
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import tool_cache

# Holistic Trace Analysis, called traceinsight since 0.6; without the notebook server, which it declares and the analysis does not use.
PACKAGE = "traceinsight==0.6.1"
NEEDED = ["numpy==2.2.6", "pandas==2.2.3", "networkx==3.4.2", "plotly==5.24.1", "pydot==3.0.4", "psutil==6.1.1", "PyYAML==6.0.2"]
LOAD_LIMIT_S = 300


def find_python(cache):
    """The python of a virtual environment that has the package."""
    folder = cache / f"hta-py{sys.version_info.major}.{sys.version_info.minor}"
    python, ready = folder / "bin" / "python", folder / "ready"
    wanted = "\n".join([PACKAGE, *NEEDED])
    with tool_cache.locked(cache, folder.name):
        if ready.is_file() and ready.read_text() == wanted:
            return python
        shutil.rmtree(folder, ignore_errors=True)
        print(f"installing {PACKAGE} and what it needs into a virtual environment", flush=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--no-compile",
               "--only-binary", ":all:", "--retries", "1", "--timeout", "60"]
        try:
            tool_cache.fetch([sys.executable, "-m", "venv", folder], "python3 -m venv")
            tool_cache.fetch([*pip, *NEEDED], "pip install")
            tool_cache.fetch([*pip, "--no-deps", PACKAGE], "pip install")
        except tool_cache.Unavailable:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        ready.write_text(wanted)
    return python


# ---- what the files say ----

def to_ns(number):
    return int(decimal.Decimal(number) * 1000)


def busy_ns(intervals):
    """The length of the union."""
    total, until = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Expected:
    """One trace, as far as the analysis looks at it: slices with a category, the profiler's own span aside."""

    def __init__(self, path):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            trace = json.load(file, parse_float=decimal.Decimal)
        self.rank = trace["distributedInfo"]["rank"]
        self.base_ns = trace["baseTimeNanoseconds"]
        self.slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]
        self.steps = [(to_ns(e["ts"]), to_ns(e["ts"]) + to_ns(e["dur"]), int(e["name"].split("#")[1]))
                      for e in self.slices if e["name"].startswith("ProfilerStep#")]
        self.start_ns = min(to_ns(e["ts"]) for e in self.slices)
        self.dur_ns = sum(to_ns(e["dur"]) for e in self.slices)
        self.launches = {e["args"]["correlation"]: e for e in self.slices if self.is_host(e) and "correlation" in e.get("args", {})}

    @staticmethod
    def is_host(event):
        return event.get("args", {}).get("stream", -1) < 0

    def step_of(self, event):
        """The step that a slice belongs to, -1 for none: where it begins, or where what launched it begins."""
        if not self.is_host(event):
            event = self.launches.get(event["args"].get("correlation"))
        found = [number for start, end, number in self.steps if event and start <= to_ns(event["ts"]) < end]
        return found[-1] if found else -1

    def device_work(self):
        """Intervals of what was launched until the last step ended."""
        last = max((end for _, end, _ in self.steps), default=None)
        for event in self.slices:
            launch = None if self.is_host(event) else self.launches.get(event["args"].get("correlation"))
            if launch and (last is None or to_ns(launch["ts"]) <= last):
                yield to_ns(event["ts"]), to_ns(event["ts"]) + to_ns(event["dur"])

    def count(self, key):
        return {str(name): number for name, number in collections.Counter(map(key, self.slices)).items()}


# ---- the comparison ----

def differences(files, loaded):
    """files: Expected of each; loaded: what hta_load.py printed."""
    ranks = sorted(e.rank for e in files)
    if ranks != sorted(map(int, loaded)):
        yield f"ranks {ranks} in the files, {sorted(map(int, loaded))} found"
        return
    start_ns = min(e.start_ns for e in files)
    for expected in files:
        found = loaded[str(expected.rank)]
        exact = {
            "categories": expected.count(lambda e: e["cat"]),
            "names": expected.count(lambda e: e["name"]),
            "threads": sorted([pid, tid] for pid, tid in {(e["pid"], e["tid"]) for e in expected.slices}),
            "steps": sorted(number for _, _, number in expected.steps),
            "iterations": expected.count(expected.step_of),
            "bad_args": [],
        }
        for what, wanted in exact.items():
            if found[what] != wanted:
                yield f"rank {expected.rank}: {what}: {wanted} in the file, {found[what]} found"
        # The analysis computes in doubles: a time is off by up to half a nanosecond, before it is summed.
        slack_us = 0.01 + 0.001 * len(expected.slices)
        near = {"dur_us": expected.dur_ns / 1000, "start_us": (expected.start_ns - start_ns) / 1000,
                "start_unix_ns": expected.base_ns + start_ns}
        work = list(expected.device_work())
        if work:
            near["busy_us"] = busy_ns(work) / 1000
        for what, wanted in near.items():
            if abs(found.get(what, float("inf")) - wanted) > slack_us * (1000 if what.endswith("_ns") else 1):
                yield f"rank {expected.rank}: {what}: {wanted} in the file, {found.get(what)} found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", required=True, metavar="FOLDER", help="keeps the virtual environment; $XSIGMA_INTEROP_CACHE goes first")
    parser.add_argument("--ranks", type=int, metavar="N", help="how many ranks there have to be")
    parser.add_argument("--steps", type=int, metavar="N", help="how many steps each rank has to have")
    parser.add_argument("traces", type=Path, metavar="TRACES", help="a folder with one trace of each rank")
    options = parser.parse_args()
    paths = sorted(p for p in options.traces.iterdir() if p.name.endswith((".json", ".gz"))) if options.traces.is_dir() else []
    if not paths:
        print(f"FAILED: there is no trace in {options.traces}")
        return 1
    python = find_python(tool_cache.cache_folder(options.cache))
    # -I: this folder is not searched for modules, the package is called like this file.
    done = subprocess.run([python, "-I", "-X", "utf8", Path(__file__).with_name("hta_load.py"), options.traces], capture_output=True,
                          encoding="utf-8", timeout=LOAD_LIMIT_S, env={**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"})
    if done.returncode:
        print(f"FAILED: the traces cannot be loaded: {done.stderr.strip()[-2000:]}")
        return 1
    files = [Expected(path) for path in paths]
    failures = list(differences(files, json.loads(done.stdout)))
    if options.ranks not in (None, len(files)):
        failures.append(f"{len(files)} traces, expected are {options.ranks}")
    failures += [f"rank {e.rank}: {len(e.steps)} steps, expected are {options.steps}" for e in files
                 if options.steps not in (None, len(e.steps))]
    for failure in failures:
        print(f"FAILED {options.traces}: {failure}")
    if not failures:
        print(f"ok {options.traces}: ranks {', '.join(str(e.rank) for e in files)}; "
              f"{sum(len(e.slices) for e in files)} events, steps {sorted({n for e in files for _, _, n in e.steps})}")
    return len(failures)


if __name__ == "__main__":
    tool_cache.run(main)
