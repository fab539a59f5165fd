"""Rules about each event alone."""

import decimal
import math
import re

from chrome_trace.reading import Real, args_of, is_int, is_number, label
from chrome_trace.vocabulary import CATEGORIES, DEVICE_CATEGORIES, OP_CATEGORIES, PHASES, STRING_PIDS, WORK_CATEGORIES

EXACT_NS = 2**53  # up to here a double holds each nanosecond


def to_ns(value, name, index, report):
    """A time in nanoseconds, or None where it is none."""
    if not is_number(value):
        return report.fail(index, f"{name} {value!r} is no number")
    text = value.text if isinstance(value, Real) else str(value)
    if not re.fullmatch(r"-?\d+\.\d{3}", text):
        report.fail_ours(index, f"{name} {text} does not have three decimals")
    ns = round(decimal.Decimal(text) * 1000)
    if ns < 0:
        report.fail(index, f"{name} {text} is negative")
    elif ns >= EXACT_NS:
        report.fail(index, f"{name} {text} is 2^53 ns or more: a double no longer holds each nanosecond")
    return ns


def check_times(trace, report):
    for index, event in enumerate(trace.events):
        phase, start, length = event.get("ph"), None, 0
        if "ts" in event or phase != "M":
            start = to_ns(event.get("ts"), "ts", index, report)
        if phase == "X":
            length = to_ns(event.get("dur"), "dur", index, report)
        elif "dur" in event:
            report.fail(index, f"dur on a {phase} event")
        trace.times.append(None if start is None or length is None else (start, start + max(length, 0)))


def check_names(trace, report):
    for index, event in enumerate(trace.events):
        phase, category = event.get("ph"), event.get("cat")
        if phase not in PHASES:
            report.fail(index, f"ph {phase!r} is none of {' '.join(sorted(PHASES))}")
        if "name" not in event:
            report.fail(index, f"{phase} event without a name")
        if phase == "X" and "cat" not in event:
            report.fail(index, f"{label(event)}: a slice without a cat")
        elif "cat" in event and category not in CATEGORIES:
            report.fail_ours(index, f"{label(event)}: cat {category!r} is none of Kineto's")
        if phase == "i" and event.get("s") not in ("t", "p", "g"):
            report.fail(index, f"{label(event)}: s {event.get('s')!r} is none of t, p, g")


def check_ids(trace, report):
    for index, event in enumerate(trace.events):
        for key in ("pid", "tid"):
            value = event.get(key)
            if isinstance(value, str):
                if report.numeric:
                    report.fail(index, f"{label(event)}: {key} {value!r} is no number")
                elif event.get("pid") not in STRING_PIDS:
                    report.fail_ours(index, f"{label(event)}: {key} {value!r} is no number, and pid is none of Spans, Traces and \"\"")
            elif not is_int(value):
                report.fail(index, f"{label(event)}: {key} {value!r} is no integer")
            elif not 0 <= value < 2**32:
                report.fail_ours(index, f"{label(event)}: {key} {value} is not in 0 ... 2^32 - 1")
        if event.get("ph") == "X" and event.get("tid") == 0 and event.get("pid") != 0:
            report.warn(index, f"{label(event)}: tid 0 of pid {event.get('pid')} is shown on the row of tid = pid")


def check_args(trace, report):
    def visit(index, key, value):
        if isinstance(value, dict):
            for name, member in value.items():
                visit(index, name, member)
        elif isinstance(value, list):
            for member in value:
                visit(index, key, member)
        elif is_int(value) and not -2**63 <= value < 2**63:
            report.fail(index, f'args "{key}": {value} does not fit into an int64')
        elif isinstance(value, float) and not math.isfinite(value):
            report.fail(index, f'args "{key}": {value.text} does not fit into a double')

    for index, event in enumerate(trace.events):
        if "args" in event:
            if not isinstance(event["args"], dict):
                report.fail(index, f"{label(event)}: args is no object")
            visit(index, "args", event["args"])


def check_op_args(trace, report):
    for index, event in trace.each("X"):
        if event.get("cat") in OP_CATEGORIES:
            for key in ("External id", "Record function id", "Ev Idx"):
                if not is_int(args_of(event).get(key)):
                    report.fail_ours(index, f'{label(event)}: a {event["cat"]} without an integer "{key}"')


def check_device_args(trace, report):
    for index, event in enumerate(trace.events):
        category, args = event.get("cat"), args_of(event)
        if category not in DEVICE_CATEGORIES:
            for key in {"stream", "device", "context"} & args.keys():
                report.fail_ours(index, f'{label(event)}: "{key}" belongs to events on a device, and {category!r} is none')
        elif category in WORK_CATEGORIES:
            peer_copy = "fromDevice" in args
            for key in ("stream",) if peer_copy else ("stream", "device", "context"):
                if not is_int(args.get(key)):
                    report.fail_ours(index, f'{label(event)}: a {category} without an integer "{key}"')
            if is_int(args.get("device")) and args["device"] != event.get("pid"):
                report.fail_ours(index, f"{label(event)}: pid {event.get('pid')!r} is not its device, {args['device']}")


def check_counters(trace, report):
    for index, event in trace.each("C"):
        values = args_of(event)
        if not values:
            report.fail(index, f"{label(event)}: a counter without a value")
        for key, value in values.items():
            if not is_number(value):
                report.fail(index, f'{label(event)}: counter "{key}": {value!r} is no number')
