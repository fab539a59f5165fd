#!/usr/bin/env python3
"""A training loop under torch.profiler and, in a process of its own, under our injection: the same work, and what each costs a step.

    torch_compare.py --inject LIBXSP_INJECT.SO --export DEVICE_EXPORT --folder FOLDER [--rounds N] [--steps N]

The loop is seeded and warmed up; recorded is what lies between two points at which the device is idle, which our injection knows by cudaProfilerStart
and cudaProfilerStop. Kernels, copies and fills are compared name by name and count by count. Step time: each way runs in several processes, which take
turns; a figure is the median of all chunks of steps. Exit status 1: something differs, or a step costs more with ours than with torch.profiler;
77: there is no torch or no device here (a line says which).
"""

import argparse
import collections
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
WAYS = {"bare": "no profiler", "torch": "torch.profiler, CPU and CUDA", "torch_cuda": "torch.profiler, CUDA", "ours": "ours, by injection"}
WARM_UP_STEPS = 20
CHUNK_STEPS = 20
LIMIT_S = 240


# ---- the loop, in a process of its own ----

def make_step():
    """A step of training: convolutions and a perceptron, copies of both kinds in, a fill, a loss that comes back."""
    import torch

    torch.manual_seed(7)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    device = torch.device("cuda")
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(32 * 16 * 16, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
    pinned = torch.randn(64, 3, 32, 32).pin_memory()
    pageable = torch.randint(0, 10, (64,))
    scratch = torch.empty(1 << 16, device=device)
    copy = torch.empty_like(scratch)

    def step():
        x = pinned.to(device, non_blocking=True)
        y = pageable.to(device)
        scratch.zero_()
        copy.copy_(scratch)
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def run_loop(step, steps):
    """Milliseconds per step, of each chunk. The device is idle before and after."""
    import torch

    times = []
    for _ in range(steps // CHUNK_STEPS):
        start = time.perf_counter()
        for _ in range(CHUNK_STEPS):
            loss = step()
        loss.item()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1000 / CHUNK_STEPS)
    return times


def worker(way, steps, trace):
    import torch

    step = make_step()
    run_loop(step, max(WARM_UP_STEPS, CHUNK_STEPS))
    torch.cuda.synchronize()
    start = time.perf_counter()
    profiler = None
    if way.startswith("torch"):
        from torch.profiler import ProfilerActivity, profile
        profiler = profile(activities=[ProfilerActivity.CUDA] if way == "torch_cuda" else [ProfilerActivity.CPU, ProfilerActivity.CUDA])
        profiler.start()
    elif way == "ours":
        torch.cuda.check_error(torch.cuda.cudart().cudaProfilerStart())
    started = time.perf_counter()
    times = run_loop(step, steps)
    stopping = time.perf_counter()
    if profiler:
        profiler.stop()
    elif way == "ours":
        torch.cuda.check_error(torch.cuda.cudart().cudaProfilerStop())
    stopped = time.perf_counter()
    if profiler and trace:
        profiler.export_chrome_trace(trace)
    print("RESULT " + json.dumps({"ms": times, "start_ms": (started - start) * 1000, "stop_ms": (stopped - stopping) * 1000}), flush=True)


# ---- the comparison ----

def normalised(name):
    """Blanks aside: demanglers differ in them."""
    return re.sub(r"\s+", "", name)


def differences(theirs, ours):
    """(name, their count, our count) of all that differ. Names are those of theirs where there is one."""
    spelling = {normalised(name): name for name in [*ours, *theirs]}
    left, right = collections.Counter(), collections.Counter()
    for counts, names in ((left, theirs), (right, ours)):
        for name, count in names.items():
            counts[normalised(name)] += count
    return sorted((spelling[name], left[name], right[name]) for name in left | right if left[name] != right[name])


def counts_of(path):
    """{category: {name: count}} of a trace."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    counts = {kind: collections.Counter() for kind in WORK}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in counts:
            counts[event["cat"]][event["name"]] += 1
    return counts


def compare(theirs, ours):
    failed = False
    print(f"{'between the same two points':<40} {'torch.profiler':>15} {'ours':>10} {'names':>7}")
    for kind in WORK:
        wrong = differences(theirs[kind], ours[kind])
        print(f"  {kind:<38} {sum(theirs[kind].values()):>15} {sum(ours[kind].values()):>10} {len(theirs[kind]):>7}{'   FAILED' if wrong else ''}")
        for name, their_count, our_count in wrong:
            print(f"      {their_count:>7} {our_count:>7}  {name}")
        failed |= bool(wrong) or (kind != "gpu_memset" and not theirs[kind])
    return failed


# ---- the processes ----

class Processes:
    def __init__(self, options):
        self.options = options
        self.folder = Path(options.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, way, number):
        """What the process of that way measured, and the path of its capture or trace; or None, and the reason has been printed."""
        environment = {key: value for key, value in os.environ.items() if key not in ("CUDA_INJECTION64_PATH", "XSIGMA_PROFILER_FILE", "XSP_CAPTURE_RANGE")}
        trace = None
        if way == "ours":
            trace = self.folder / f"ours_{number}.xst"
            trace.unlink(missing_ok=True)
            environment.update(CUDA_INJECTION64_PATH=str(Path(self.options.inject).resolve()), XSIGMA_PROFILER_FILE=str(trace), XSP_CAPTURE_RANGE="api")
        elif way != "bare":
            trace = self.folder / f"{way}_{number}.json"
        command = [sys.executable, __file__, "--worker", way, "--steps", str(self.options.steps)] + (["--trace", str(trace)] if way.startswith("torch") else [])
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
        result = next((line[7:] for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
        if done.returncode or not result:
            print(f"FAILED: the process under {WAYS[way]} ended with status {done.returncode}:\n{done.stdout[-3000:]}")
            return None, trace
        others = [line for line in done.stdout.splitlines() if not line.startswith("RESULT ")]
        if others and number == 0:
            print(f"  {way} says: " + "\n    ".join(others[:10]))
        return json.loads(result), trace

    def exported(self, capture):
        """The capture as JSON; the injection may have put a process id into its name."""
        found = sorted([capture] if capture.exists() else capture.parent.glob(capture.stem + "*.xst"), key=lambda path: path.stat().st_size)
        if not found:
            print(f"FAILED: no capture was left at {capture}")
            return None
        target = capture.with_suffix(".json")
        done = subprocess.run([self.options.export, str(found[-1]), str(target)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"  {done.stdout.strip()}")
        return target if target.exists() else None


def print_times(measured):
    """True if ours is cheaper than torch.profiler's cheapest."""
    medians = {way: statistics.median(ms for run in runs for ms in run["ms"]) for way, runs in measured.items() if runs}
    print(f"{'a step, median of all chunks':<40} {'ms':>8} {'added':>8} {'least':>8} {'most':>8} {'start':>9} {'stop':>9}")
    for way, runs in measured.items():
        if runs:
            all_ms = [ms for run in runs for ms in run["ms"]]
            print(f"  {WAYS[way]:<38} {medians[way]:>8.3f} {medians[way] - medians['bare']:>8.3f} {min(all_ms):>8.3f} {max(all_ms):>8.3f} "
                  f"{statistics.median(run['start_ms'] for run in runs):>6.0f} ms {statistics.median(run['stop_ms'] for run in runs):>6.0f} ms")
    theirs = [medians[way] for way in ("torch", "torch_cuda") if way in medians]
    if "ours" not in medians or not theirs:
        return False
    print(f"  ours adds {medians['ours'] - medians['bare']:.3f} ms, torch.profiler {min(theirs) - medians['bare']:.3f} ms or more")
    return medians["ours"] < min(theirs)


def driver(options):
    processes = Processes(options)
    measured = {way: [] for way in WAYS}
    traces, failed = {}, False
    for number in range(options.rounds):
        for way in list(WAYS)[number % len(WAYS):] + list(WAYS)[:number % len(WAYS)]:
            result, trace = processes.run(way, number)
            if result:
                measured[way].append(result)
                traces.setdefault(way, trace)
            failed |= result is None
    ours = processes.exported(traces["ours"]) if traces.get("ours") else None
    if traces.get("torch") and ours:
        failed |= compare(counts_of(traces["torch"]), counts_of(ours))
    else:
        print("FAILED: there is nothing to compare")
        failed = True
    if measured["bare"] and not print_times(measured):
        print("FAILED: a step costs no less with ours than with torch.profiler")
        failed = True
    print(f"{'FAILED' if failed else 'ok'} torch_compare: {options.steps} steps")
    return 1 if failed else 0


def reason_to_skip():
    found = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"], capture_output=True, text=True)
    if found.returncode:
        return "no PyTorch here: " + (found.stderr.strip().splitlines() or ["no reason given"])[-1]
    print(f"torch {found.stdout.strip()}")
    return None if found.stdout.split()[-1] == "True" else "PyTorch finds no CUDA device"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inject", metavar="LIBRARY")
    parser.add_argument("--export", metavar="PROGRAM", help="makes a trace of a capture: PROGRAM FILE.xst TRACE.json")
    parser.add_argument("--folder", default="torch_compare", metavar="FOLDER", help="gets the traces")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--worker", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker, options.steps, options.trace)
    reason = reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        return 77
    if not options.inject or not Path(options.inject).exists() or not options.export:
        print(f"FAILED torch_compare: --inject and --export are needed, and {options.inject} has to exist")
        return 1
    return driver(options)


if __name__ == "__main__":
    sys.exit(main())
