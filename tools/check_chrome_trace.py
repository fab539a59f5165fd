#!/usr/bin/env python3
"""Checks that a Chrome trace (.json, .json.gz) keeps the rules under which all its readers take it whole.

    check_chrome_trace.py [--foreign] [--numeric-ids] [--max N] FILE...

Prints each violation with the index of its event in traceEvents, and warnings for what only some readers mind. Exit status: 0 none is
violated, 1 some are, 2 a file could not be read. With --foreign the trace is somebody else's: rules that bind our own writer alone
(layout, ledger, required args, dangling flows ...) are left out, those whose breach makes a reader lose events stay. With --numeric-ids no
pid and no tid may be a string, and the span that has such is not asked for.
"""

import argparse
import gzip
import sys
import zlib

from chrome_trace import event_rules, file_rules, joint_rules
from chrome_trace.reading import Report, Trace, Unreadable

RULES = [
    event_rules.check_times,  # first: the others use the times it finds
    event_rules.check_names,
    event_rules.check_ids,
    event_rules.check_args,
    event_rules.check_op_args,
    event_rules.check_device_args,
    event_rules.check_counters,
    file_rules.check_strings,
    file_rules.check_layout,
    file_rules.check_rank,
    file_rules.check_header,
    file_rules.check_ledger,
    joint_rules.check_nesting,
    joint_rules.check_correlation,
    joint_rules.check_flows,
    joint_rules.check_async,
    joint_rules.check_metadata,
    joint_rules.check_marks,
]


def check(data, **options):
    """The report on a trace, given as bytes (not compressed), and the number of its events."""
    report = Report(**options)
    try:
        trace = Trace(data, report)
    except Unreadable as error:
        report.fail(None, str(error))
        return report, 0
    for rule in RULES:
        rule(trace, report)
    return report, len(trace.events)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace, .json or .json.gz")
    parser.add_argument("--foreign", action="store_true", help="somebody else's trace: leave out the rules that bind our own writer alone")
    parser.add_argument("--numeric-ids", action="store_true", help="a trace for readers that do not take strings as pid or tid")
    parser.add_argument("--max", type=int, default=3, metavar="N", help="print at most N violations of a kind (3; 0: all)")
    options = parser.parse_args()
    status = 0
    for path in options.files:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                data = file.read()
        except (OSError, EOFError, zlib.error) as error:
            print(f"{path}: cannot be read: {error}")
            status = 2
            continue
        report, events = check(data, foreign=options.foreign, numeric=options.numeric_ids)
        most = options.max or None
        for line in report.lines(most=most):
            print(f"{path}: {line}")
        for line in report.lines(warnings=True, most=most):
            print(f"{path}: warning: {line}")
        print(f"{path}: {events} events, {len(report.violations)} violations, {len(report.warnings)} warnings")
        status = max(status, 1 if report.violations else 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
