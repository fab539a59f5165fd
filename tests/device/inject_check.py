#!/usr/bin/env python3
"""An unmodified CUDA program under injection, in all the ways that it can end: kernels that it launched against kernels in the capture.

    inject_check.py --inject LIBXSP_INJECT.SO --program INJECTED_LAUNCHES --export DEVICE_EXPORT [--folder FOLDER] [--seconds S]

Two ways in: CUDA_INJECTION64_PATH, and LD_PRELOAD. A line for each case. Where the program ends in good order nothing may be missing; where it is killed, and
where _exit cannot be intercepted, what was launched in the last moments may be: what was launched half a second before the end may not.
"""

import argparse
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
KERNEL = "counted_kernel"
SLOTS_BEFORE_THE_END = 5  # of a tenth of a second: may be lost with a kill

# name, how the program ends, exit status, whether all must be there by (injection, preloading)
CASES = [
    ("normal", "return", 3, (True, True)),
    ("exit", "exit", 3, (True, True)),
    ("quick_exit", "quick_exit", 3, (True, True)),
    ("_exit", "_exit", 3, (False, True)),
    ("abort", "abort", -signal.SIGABRT, (False, False)),
    ("kill -9", "wait", -signal.SIGKILL, (False, False)),
    ("api range", "return", 3, (True, True)),
]


def counted(path):
    """Launched in all, marked, and launched half a second before the end."""
    words = struct.unpack_from("<1027Q", Path(path).read_bytes())
    launched, marked, slots = words[:3]
    until = 0
    for slot in range(max(0, slots - SLOTS_BEFORE_THE_END)):
        until = max(until, words[3 + slot])
    return launched, marked, until


def kernels_in(capture, options, folder):
    trace = folder / "trace.json"
    command = [options.export, str(capture), str(trace)]
    if Path(options.export).name == "xsp":
        command = [options.export, "export", str(capture), "-o", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True)
    if not trace.exists():
        return None, f"cannot be read: {(done.stderr or done.stdout).strip()[-200:]}"
    events = json.loads(trace.read_text())
    names = [event["name"] for event in events["traceEvents"] if event.get("cat") == "kernel"]
    trace.unlink()
    return sum(KERNEL in name for name in names), ""


def run(options, folder, way, case):
    name, end, _, _ = case
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("XSP_", "XSIGMA_PROFILER_")) and key not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH")}
    environment[way] = str(Path(options.inject).resolve())
    environment["XSIGMA_PROFILER_FILE"] = str(folder / "run.%p.xst")
    command = [options.program, str(folder / "counts"), str(options.seconds), end]
    if name == "api range":
        environment["XSP_CAPTURE_RANGE"] = "api"
        command.append("marks")
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if end == "wait":
        process.stdout.readline()
        time.sleep(2)
        process.kill()
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def check(options, way, case):
    name, end, expected_status, complete = case
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        began = time.time()
        status, out, err = run(options, folder, way, case)
        took = time.time() - began
        if status == SKIPPED:
            print(out.strip())
            sys.exit(SKIPPED)
        launched, marked, until = counted(folder / "counts")
        captures = sorted(folder.glob("*.xst"))
        faults = []
        found = None
        if len(captures) != 1:
            faults.append(f"{len(captures)} captures")
        else:
            found, why = kernels_in(captures[0], options, folder)
            faults += [why] if why else []
        expected = marked if name == "api range" else launched
        if status != expected_status:
            faults.append(f"exit status {status}, not {expected_status}")
        if end != "wait" and out != "launching\n":
            faults.append(f"stdout is {out!r}")
        if found is not None:
            all_there = complete[0 if way == "CUDA_INJECTION64_PATH" else 1]
            if all_there and found != expected:
                faults.append("not all are there" if found < expected else "more than were launched")
            if not all_there and not until <= found <= launched:
                faults.append(f"fewer than the {until} of half a second before the end" if found < until else "more than were launched")
        verdict = "ok" if not faults else "FAILED: " + "; ".join(faults)
        short = {"CUDA_INJECTION64_PATH": "injection", "LD_PRELOAD": "preload"}[way]
        print(f"{short:10} {name:11} launched {expected:7}  in the capture {found if found is not None else '-':>7}  {took:5.1f} s  {verdict}", flush=True)
        said = err.strip().splitlines()
        for line in said if faults else said[-1:]:
            print(f"           | {line[:200]}")
        return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("inject", "program", "export"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--folder", default=None, help="where temporary files go")
    parser.add_argument("--seconds", type=float, default=1.2, help="how long the program launches")
    parser.add_argument("--only", default="", help="cases, separated by commas")
    options = parser.parse_args()
    wanted = [case for case in CASES if not options.only or case[0] in options.only.split(",")]
    results = [check(options, way, case) for way in ("CUDA_INJECTION64_PATH", "LD_PRELOAD") for case in wanted]
    print(f"inject_check: {results.count(True)} of {len(results)} cases are right")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
