"""Rules about events together: rows, flows, pairs, names of processes and threads."""

import bisect
import collections

from chrome_trace.reading import args_of, is_int, label, row_of
from chrome_trace.vocabulary import FLOW_CATEGORIES, LAUNCH_CATEGORIES, METADATA, WORK_CATEGORIES

MAX_DEPTH = 512


def check_nesting(trace, report):
    for row, slices in trace.rows().items():
        open_slices, deepest = [], 0
        for start, end, index in slices:
            while open_slices and open_slices[-1][0] <= start:
                open_slices.pop()
            if open_slices and end > open_slices[-1][0]:
                outer = open_slices[-1]
                report.fail(index, f"{label(trace.events[index])} overlaps event {outer[1]}, {label(trace.events[outer[1]])}, on pid/tid "
                                   f"{'/'.join(row)}: it ends {end - outer[0]} ns later")
                continue
            open_slices.append((end, index))
            if len(open_slices) > max(MAX_DEPTH, deepest):
                deepest = len(open_slices)
                if deepest == MAX_DEPTH + 1:
                    report.warn(index, f"pid/tid {'/'.join(row)} is nested deeper than {MAX_DEPTH}: some readers drop what is below")


def check_correlation(trace, report):
    for kind, categories in (("launch", LAUNCH_CATEGORIES), ("device", WORK_CATEGORIES)):
        seen = {}
        for index, event in trace.each("X"):
            if event.get("cat") not in categories:
                continue
            args = args_of(event)
            correlation = args.get("correlation")
            if not is_int(correlation):
                report.fail_ours(index, f'{label(event)}: a {event["cat"]} without an integer "correlation"')
            elif not args.get("graph node id"):  # one launch of a graph runs many kernels
                if seen.setdefault(correlation, index) != index:
                    report.fail(index, f"{label(event)}: correlation {correlation} is that of {kind} event {seen[correlation]} too")


def check_flows(trace, report):
    rows = trace.rows()
    starts = {row: [s[0] for s in slices] for row, slices in rows.items()}
    latest = {}  # row -> for each slice, the latest end up to it
    for row, slices in rows.items():
        ends = latest[row] = []
        for _, end, _ in slices:
            ends.append(max(end, ends[-1]) if ends else end)

    def covered(row, ns):
        at = bisect.bisect_right(starts.get(row, []), ns) - 1
        return at >= 0 and (latest[row][at] > ns or starts[row][at] == ns)

    started, ended = {}, collections.defaultdict(list)  # flow -> event, events: one launch can start several kernels
    for index, event in trace.each("s", "f"):
        flow = (repr(event.get("id")), event.get("cat"), event.get("name"))
        if not is_int(event.get("id")):
            report.fail(index, f"flow {label(event)}: id {event.get('id')!r} is no integer")
        if event.get("cat") not in FLOW_CATEGORIES:
            report.fail_ours(index, f"flow {label(event)}: cat {event.get('cat')!r} is neither ac2g nor fwdbwd")
        if event["ph"] == "f":
            ended[flow].append(index)
            if event.get("bp") != "e":
                report.fail(index, f'flow {label(event)}: bp is {event.get("bp")!r}, not "e"')
        elif started.setdefault(flow, index) != index:
            report.fail(index, f"flow {label(event)}: id {flow[0]} has another s, event {started[flow]}")
        if trace.times[index] and not covered(row_of(event), trace.times[index][0]):
            report.fail_ours(index, f"flow {label(event)}: no slice of pid/tid {'/'.join(row_of(event))} covers its ts")
    for flow, ends in ended.items():
        start = started.get(flow)
        for index in ends:
            if start is None:
                report.fail_ours(index, f"flow f {flow[1]}: id {flow[0]} has no s")
            elif trace.times[start] and trace.times[index] and trace.times[start] > trace.times[index]:
                report.fail_ours(index, f"flow f {flow[1]}: id {flow[0]} ends before it starts, in event {start}")
    for flow, index in started.items():
        if flow not in ended:
            report.fail_ours(index, f"flow s {flow[1]}: id {flow[0]} has no f")


def check_async(trace, report):
    open_ranges = collections.defaultdict(list)
    order = sorted((i for i, _ in trace.each("b", "e") if trace.times[i]), key=lambda i: trace.times[i][0])
    for index in order:
        event = trace.events[index]
        stack = open_ranges[repr(event.get("pid")), event.get("cat"), repr(event.get("id"))]
        if not isinstance(event.get("id"), (int, str)):
            report.fail(index, f"async {label(event)}: id {event.get('id')!r} is neither a number nor a string")
        if event["ph"] == "b":
            stack.append(index)
        elif not stack:
            report.fail(index, f"async {label(event)}: no b is open for id {event.get('id')!r}")
        elif trace.events[stack.pop()].get("name") != event.get("name"):
            report.fail(index, f"async {label(event)}: the b that is open for id {event.get('id')!r} has another name")
    for stack in open_ranges.values():
        for index in stack:
            report.fail(index, f"async {label(trace.events[index])}: no e for id {trace.events[index].get('id')!r}")


def check_metadata(trace, report):
    named = {"process_name": set(), "thread_name": set()}
    for index, event in trace.each("M"):
        key, kind = METADATA.get(event.get("name"), (None, None))
        if key is None:
            report.warn(index, f"metadata {event.get('name')!r} is unknown to readers")
        elif not isinstance(args_of(event).get(key), kind):
            report.fail(index, f"metadata {event['name']}: args {key!r} is no {kind.__name__}")
        if event.get("name") in named:
            named[event["name"]].add(row_of(event) if event["name"] == "thread_name" else row_of(event)[0])
    asked = set()
    for index, event in enumerate(trace.events):
        row = row_of(event)
        if event.get("ph") == "M" or isinstance(event.get("pid"), str):
            continue
        if row[0] not in named["process_name"] and row[0] not in asked:
            report.fail_ours(index, f"pid {row[0]} has no process_name")
        if event.get("ph") == "X" and row not in named["thread_name"] and row not in asked:
            report.fail_ours(index, f"pid/tid {'/'.join(row)} has no thread_name")
            asked.add(row)
        asked.add(row[0])


def check_marks(trace, report):
    if not report.numeric and not any(e.get("name") == "PyTorch Profiler (0)" and e.get("cat") == "Trace" for _, e in trace.each("X")):
        report.fail_ours(None, 'the span "PyTorch Profiler (0)", cat Trace, is missing')
    if not any(e.get("name") == "Record Window End" for _, e in trace.each("i")):
        report.fail_ours(None, 'the instant "Record Window End" is missing')
