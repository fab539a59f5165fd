#!/usr/bin/env python3
"""A small trace that keeps every rule, made without the profiler: what the tools of this folder are tried on.

    sample_trace.py FOLDER    writes rank0.pt.trace.json and rank1.pt.trace.json.gz of one job into it
"""

import gzip
import json
import sys
from pathlib import Path

BASE_NS = 227 * 7889238 * 10**9
START_NS = 3_846_890_944_065_860
STEP_NS = 1_000_000
STEPS = (7, 8, 9)
ODD_NAMES = ["größe → 日本語 🚀", 'quote " backslash \\ slash /', "tab\tnewline\nbell\x07", "combining é, joined 👩‍💻"]


class Micros(int):
    """Nanoseconds that are written as microseconds with three decimals."""


def render(value):
    if isinstance(value, Micros):
        return f"{value // 1000}.{value % 1000:03}" if value >= 0 else f"-{render(Micros(-value))}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {render(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(render, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def to_text(trace):
    """The file: each top-level key begins a line, and so does each event."""
    members = []
    for key, value in trace.items():
        lines = key == "traceEvents" and isinstance(value, list)
        text = "[\n    " + ",\n    ".join(map(render, value)) + "\n  ]" if lines else render(value)
        members.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


class Builder:
    def __init__(self, rank):
        self.pid = 4711 + rank
        self.main, self.backward = self.pid, self.pid + 100
        self.start = START_NS + rank * 12_345
        self.events = []
        self.index = 0
        self.correlation = 900

    def add(self, phase, name, row, at, **fields):
        self.events.append({"ph": phase, "name": name, "pid": row[0], "tid": row[1], "ts": Micros(self.start + at), **fields})

    def op(self, category, name, tid, at, dur, **args):
        self.index += 1
        self.add("X", name, (self.pid, tid), at, cat=category, dur=Micros(dur),
                 args={"External id": 100 + self.index, "Record function id": self.index, "Ev Idx": self.index - 1, **args})
        return 100 + self.index

    def flow(self, category, number, source, target):
        self.add("s", category, source[0], source[1], id=number, cat=category)
        self.add("f", category, target[0], target[1], id=number, cat=category, bp="e")

    def launch(self, external, at, dur, kernel_at, kernel_dur):
        self.correlation += 1
        stream, link = (0, 7), {"External id": external}
        self.add("X", "cudaLaunchKernel", (self.pid, self.main), at, cat="cuda_runtime", dur=Micros(dur),
                 args={**link, "cbid": 211, "correlation": self.correlation})
        self.add("X", "void gemm<float, 4>(float*)", stream, kernel_at, cat="kernel", dur=Micros(kernel_dur),
                 args={**link, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": self.correlation,
                       "registers per thread": 32, "shared memory": 0, "blocks per SM": 7.75, "warps per SM": 31.0,
                       "grid": [1024, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 48})
        self.flow("ac2g", self.correlation, ((self.pid, self.main), at), (stream, kernel_at))

    def step(self, number, at):
        main = (self.pid, self.main)
        self.op("user_annotation", f"ProfilerStep#{number}", self.main, at, 900_000)
        self.op("user_annotation", ODD_NAMES[0], self.main, at + 1_000, 400_001)
        for place, name in enumerate(ODD_NAMES[1:]):
            self.op("user_annotation", name, self.main, at + 410_000 + place * 1_000, 1_000)
        outer = self.op("cpu_op", "aten::linear", self.main, at + 2_000, 300_500,
                        **{"Sequence number": number, "Input Dims": [[64, 1024], []]})
        self.op("cpu_op", "aten::addmm", self.main, at + 2_000, 200_007)
        self.launch(outer, at + 10_003, 5_000, at + 30_000, 40_000)
        self.op("cpu_op", "aten::empty", self.main, at + 202_007, 0)
        self.op("cpu_op", "AddmmBackward0", self.backward, at + 500_000, 123_456, **{"Sequence number": number, "Fwd thread id": 1})
        self.flow("fwdbwd", number, (main, at + 2_000), ((self.pid, self.backward), at + 500_000))
        self.add("i", "[memory]", main, at + 150_000, cat="cpu_instant_event", s="t",
                 args={"Total Reserved": 4096, "Total Allocated": 1024 * number, "Bytes": -1024 if number % 2 else 1024, "Device Id": -1,
                       "Device Type": 0, "Addr": 140_299_066_012_672, "Ev Idx": 1000 + number})
        self.add("C", "batch", main, at + 160_000, cat="user_annotation",
                 args={"loss": 1 / number, "queue": number, "norm": 1.6543163447903719e25 * number})
        self.add("b", "prefetch", main, at + 50_000, cat="user_annotation", id=number)
        self.add("e", "prefetch", main, at + 700_000, cat="user_annotation", id=number)

    def name(self, what, row, key, value):
        self.add("M", what, row, 0, args={key: value})

    def finish(self):
        for pid, name, tag, order in ((self.pid, "trainer ✓", "CPU", self.pid), (0, "trainer ✓", "GPU 0", 5_000_000)):
            self.name("process_name", (pid, 0), "name", name)
            self.name("process_labels", (pid, 0), "labels", tag)
            self.name("process_sort_index", (pid, 0), "sort_index", order)
        for row, name in (((self.pid, self.main), f"thread {self.main} (main)"), ((self.pid, self.backward), f"thread {self.backward} (bwd)"),
                          ((0, 7), "stream 7 ")):
            self.name("thread_name", row, "name", name)
            self.name("thread_sort_index", row, "sort_index", row[1])
        end = len(STEPS) * STEP_NS
        self.add("X", "PyTorch Profiler (0)", ("Spans", "PyTorch Profiler"), 0, cat="Trace", dur=Micros(end), args={"Op count": self.index})
        self.name("process_sort_index", ("Spans", 0), "sort_index", 536_870_912)
        self.add("i", "Iteration Start: PyTorch Profiler", ("Traces", "Trace PyTorch Profiler"), 0, s="g")
        self.add("i", "Record Window End", ("", ""), end, s="g")


def sample(rank=0, world_size=2):
    builder = Builder(rank)
    for number, step in enumerate(STEPS):
        builder.step(step, number * STEP_NS + 10_000)
    builder.finish()
    backward = len(STEPS)
    counts = lambda recorded, dropped: {"attempted": recorded + dropped, "recorded": recorded, "dropped": dropped,
                                        "causes": {"cap_reached": dropped, "late": 0}}
    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "Sample GPU", "totalGlobalMem": 2**34, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size},
        "record_shapes": 1,
        "xsigmaLedger": {**counts(builder.index, 2),
                         "threads": [{"tid": builder.main, "name": "main", **counts(builder.index - backward, 1)},
                                     {"tid": builder.backward, "name": "bwd", **counts(backward, 1)}]},
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
        "traceEvents": builder.events,
        "traceName": f"rank{rank}.pt.trace.json",
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rank0.pt.trace.json").write_text(to_text(sample(0)), encoding="utf-8")
    (folder / "rank1.pt.trace.json.gz").write_bytes(gzip.compress(to_text(sample(1)).encode("utf-8"), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
