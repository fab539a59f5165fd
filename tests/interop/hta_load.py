"""Prints, as JSON, what Holistic Trace Analysis makes of a folder of traces. Runs in the virtual environment that hta.py makes.

    HTA_DISABLE_NS_ROUNDING=1 python hta_load.py FOLDER

Without that variable it rounds times to microseconds, inwards, and shorter events get a negative duration.
"""

import json
import logging
import sys

logging.disable(logging.WARNING)

from hta.analyzers.breakdown_analysis import BreakdownAnalysis  # noqa: E402
from hta.common.trace import Trace  # noqa: E402
from hta.utils.validate_trace import validate_trace_format  # noqa: E402


def counts(column):
    return {str(key): int(number) for key, number in column.value_counts().items()}


def main():
    trace = Trace(trace_dir=sys.argv[1])
    # The ranks' processes are of no use for a few small files, and hide where an error came from.
    trace.parse_traces(use_multiprocessing=False, use_memory_profiling=False)
    symbols = trace.symbol_table.get_sym_table()
    ranks = {}
    for rank in trace.get_ranks():
        frame = trace.traces[rank]
        ranks[rank] = {
            "file": trace.trace_files[rank],
            "categories": counts(frame["cat"].map(lambda index: symbols[index])),
            "names": counts(frame["name"].map(lambda index: symbols[index])),
            "threads": sorted({(int(pid), int(tid)) for pid, tid in zip(frame["pid"], frame["tid"])}),
            "iterations": counts(frame["iteration"].astype(int)),
            "dur_us": float(frame["dur"].sum()),
        }
    has_device_work = any((trace.traces[rank]["stream"] >= 0).any() for rank in ranks)
    trace.align_and_filter_trace(include_last_profiler_step=True)
    for rank, found in ranks.items():
        found["steps"] = [int(step) for step in trace.get_iterations(rank)]
        found["start_us"] = float(trace.traces[rank]["ts"].min())
        found["start_unix_ns"] = int(trace.get_trace_start_unixtime_ns(rank))
        valid, errors = validate_trace_format(found["file"], "complete")
        found["bad_args"] = [] if valid else [str(error) for error in errors.items()]
    if has_device_work:
        for row in BreakdownAnalysis.get_temporal_breakdown(trace, visualize=False).to_dict("records"):
            ranks[int(row["rank"])]["busy_us"] = float(row["compute_time(us)"] + row["non_compute_time(us)"])
    json.dump(ranks, sys.stdout)


main()
