#!/usr/bin/env python3
"""Holds a trace of `conservation` to what the program launched: counts by name, and for each piece of work its call, its op, its user scope.

    check_links.py TRACE.json[.gz]

Exit status 0: all of it is so; 1: it is not, and a table says what.
"""

import bisect
import collections
import gzip
import json
import sys

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
EXAMPLES = 5


def ns(text):
    """Microseconds with up to three decimals, as nanoseconds: a double has too few digits."""
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def plain_name(name):
    """void scale<int>(unsigned int*) -> scale<int>; Memcpy HtoD (Pinned -> Device) -> Memcpy HtoD"""
    return name.removeprefix("void ").partition("(")[0].strip()


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=str)


class Span:
    __slots__ = ("name", "row", "start", "end", "args")

    def __init__(self, event):
        self.name, self.row, self.args = event["name"], (event["pid"], event["tid"]), event.get("args", {})
        self.start = ns(event["ts"])
        self.end = self.start + ns(event["dur"])


class Cover:
    """Finds spans that hold a given one: by row, those of one name, which do not hold each other."""

    def __init__(self):
        self.rows = collections.defaultdict(list)

    def add(self, key, span):
        self.rows[key].append((span.start, span.end))

    def ready(self):
        for spans in self.rows.values():
            spans.sort()

    def holds(self, key, start, end, slack=0):
        spans = self.rows.get(key, [])
        at = bisect.bisect_right(spans, (start + slack, sys.maxsize)) - 1
        return at >= 0 and spans[at][1] + slack >= end


class Trace:
    def __init__(self, trace):
        self.expected = trace.get("deviceTest")
        self.ledger = trace.get("xsigmaLedger", {})
        self.work, self.calls, self.scopes = [], collections.defaultdict(list), {}
        self.user_scopes, self.annotations = Cover(), Cover()
        self.flow_starts, self.flow_ends = set(), collections.defaultdict(set)
        for event in trace["traceEvents"]:
            phase, kind = event["ph"], event.get("cat")
            if phase == "X" and kind in WORK:
                self.work.append(Span(event))
            elif phase == "X" and kind in CALLS:
                span = Span(event)
                self.calls[span.args.get("correlation")].append(span)
            elif phase == "X" and kind in ("cpu_op", "user_annotation"):
                span = Span(event)
                if "External id" in span.args:
                    self.scopes[span.args["External id"]] = span
                if kind == "user_annotation":
                    self.user_scopes.add((span.row, span.name), span)
            elif phase == "X" and kind == "gpu_user_annotation":
                span = Span(event)
                self.annotations.add((span.row, span.name), span)
            elif phase == "s" and kind == "ac2g":
                self.flow_starts.add(event["id"])
            elif phase == "f" and kind == "ac2g":
                self.flow_ends[(event["pid"], event["tid"]), ns(event["ts"])].add(event["id"])
        self.user_scopes.ready()
        self.annotations.ready()


class Findings:
    def __init__(self):
        self.rows = []
        self.failed = False

    def count(self, what, faults, of, must_be_zero=True):
        bad = must_be_zero and len(faults) > 0
        self.failed |= bad
        self.rows.append(f"  {what:<62} {len(faults):>9} of {of:>9}{'   FAILED' if bad else ''}")
        self.rows += [f"      {fault}" for fault in faults[:EXAMPLES]] if bad else []


def check_counts(trace, findings):
    wanted = collections.Counter(trace.expected["kernels"]) + collections.Counter(trace.expected.get("transfers", {}))
    found = collections.Counter(plain_name(work.name) for work in trace.work)
    if "transfers" not in trace.expected:
        found = collections.Counter({name: count for name, count in found.items() if name in wanted})
    faults = [f"{name}: {wanted[name]} launched, {found[name]} in the trace" for name in sorted(wanted | found) if wanted[name] != found[name]]
    findings.count("names whose count differs", faults, len(wanted))


def check_links(trace, findings):
    no_call, early, no_op, wrong_scope, no_annotation, other_row, no_flow = [], [], [], [], [], [], []
    for work in trace.work:
        words = f"{work.name} at {work.start} on {work.row}"
        names = trace.expected["scopes"].get(plain_name(work.name), [])
        calls = trace.calls.get(work.args.get("correlation"), [])
        if not calls:
            no_call.append(words)
        elif work.start < min(call.start for call in calls):
            early.append(f"{words}: {min(call.start for call in calls) - work.start} ns before {calls[0].name}")
        op = trace.scopes.get(work.args.get("External id"))
        if op is None:
            no_op.append(f"{words}: External id {work.args.get('External id')}")
        elif not any(trace.user_scopes.holds((op.row, name), op.start, op.end) for name in names):
            wrong_scope.append(f"{words}: {op.name} is not inside {' or '.join(names)}")
        if not trace.flow_ends[work.row, work.start] & trace.flow_starts:
            no_flow.append(words)
        # A row beside the stream's own may hold it where kernels overlap.
        if not any(trace.annotations.holds((work.row, name), work.start, work.end, 2) for name in names):
            other_row.append(words)
            rows = [row for row, name in trace.annotations.rows if name in names and row[0] == work.row[0]]
            if not any(trace.annotations.holds((row, name), work.start, work.end, 2) for row in rows for name in names):
                no_annotation.append(words)
    total = len(trace.work)
    findings.count("without the call that asked for them", no_call, total)
    findings.count("that begin before that call", early, total)
    findings.count("without an op", no_op, total)
    findings.count("whose op is not inside the user scope that launched them", wrong_scope, total)
    findings.count("without an arrow from their call", no_flow, total)
    findings.count("that no gpu_user_annotation of that scope covers", no_annotation, total)
    findings.count("… or one on another row only", other_row, total, must_be_zero=False)


def check_ledger(trace, findings):
    def numbers(value, path):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from numbers(inner, f"{path}.{key}")
        elif isinstance(value, (int, str)) and ("drop" in path or "lost" in path or "pending" in path) and str(value) not in ("0", ""):
            yield f"{path.removeprefix('.')} = {value}"
    findings.count("losses in the ledger", list(numbers({k: v for k, v in trace.ledger.items() if k != "threads"}, "")), 0)


def main():
    trace = Trace(load(sys.argv[1]))
    findings = Findings()
    if not trace.expected or not trace.work:
        print(f"FAILED links: {sys.argv[1]} " + ("has no work of a device in it" if trace.expected else "says nothing of what was launched (deviceTest)"))
        return 1
    check_counts(trace, findings)
    if "scopes" in trace.expected:
        check_links(trace, findings)
    check_ledger(trace, findings)
    print("kernels, copies and fills")
    print("\n".join(findings.rows))
    print(f"{'FAILED' if findings.failed else 'ok'} links: {len(trace.work)} pieces of work")
    return 1 if findings.failed else 0


if __name__ == "__main__":
    sys.exit(main())
