#!/usr/bin/env python3
"""The checks of device traces notice what is missing. Needs no device.

    test_checks.py
"""

import copy
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_links
import torch_compare

GOOD = {
    "deviceTest": {"kernels": {"scale<int>": 1}, "transfers": {"Memset": 1}, "scopes": {"scale<int>": ["streams"], "Memset": ["streams"]}},
    "xsigmaLedger": {"attempted": 3, "dropped": 0, "threads": []},
    "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "streams", "pid": 7, "tid": 8, "ts": 1000.000, "dur": 100.000, "args": {"External id": 1}},
        {"ph": "X", "cat": "cpu_op", "name": "launchOp", "pid": 7, "tid": 8, "ts": 1010.000, "dur": 40.000, "args": {"External id": 2}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 8, "ts": 1020.000, "dur": 5.000, "args": {"correlation": 11}},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 11, "pid": 7, "tid": 8, "ts": 1020.000},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 7, "tid": 8, "ts": 1030.000, "dur": 5.000, "args": {"correlation": 12}},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 12, "pid": 7, "tid": 8, "ts": 1030.000},
        {"ph": "X", "cat": "gpu_user_annotation", "name": "streams", "pid": 0, "tid": 3, "ts": 1024.999, "dur": 20.002, "args": {"External id": 1}},
        {"ph": "X", "cat": "kernel", "name": "void scale<int>(int*)", "pid": 0, "tid": 3, "ts": 1025.000, "dur": 4.000,
         "args": {"External id": 2, "correlation": 11}},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 11, "pid": 0, "tid": 3, "ts": 1025.000, "bp": "e"},
        {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 3, "ts": 1035.000, "dur": 10.000,
         "args": {"External id": 2, "correlation": 12}},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 12, "pid": 0, "tid": 3, "ts": 1035.000, "bp": "e"},
    ],
}


class Links(unittest.TestCase):
    def check(self, change=None):
        trace = copy.deepcopy(GOOD)
        if change:
            change(trace, {(e["ph"], e["name"], e.get("id")): e for e in trace["traceEvents"]})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            path.write_text(json.dumps(trace))
            output = io.StringIO()
            with contextlib.redirect_stdout(output), mock.patch("sys.argv", ["check_links.py", str(path)]):
                return check_links.main(), output.getvalue()

    def assert_finds(self, words, change):
        status, output = self.check(change)
        self.assertEqual(1, status, output)
        self.assertRegex(output, rf"{words} +[1-9][0-9]* of.* FAILED")

    def test_a_whole_trace_is_accepted(self):
        status, output = self.check()
        self.assertEqual(0, status, output)

    def test_a_kernel_that_is_missing(self):
        self.assert_finds("names whose count differs", lambda t, e: t["deviceTest"]["kernels"].update({"scale<int>": 2}))

    def test_a_kernel_that_nobody_launched(self):
        self.assert_finds("names whose count differs", lambda t, e: t["deviceTest"]["kernels"].clear())

    def test_a_kernel_without_its_call(self):
        self.assert_finds("without the call that asked for them", lambda t, e: e["X", "cudaLaunchKernel", None]["args"].update(correlation=99))

    def test_a_kernel_before_its_call(self):
        self.assert_finds("that begin before that call", lambda t, e: e["X", "cudaLaunchKernel", None].update(ts=1025.001))

    def test_a_fill_without_an_op(self):
        self.assert_finds("without an op", lambda t, e: e["X", "Memset (Device)", None]["args"].pop("External id"))

    def test_an_op_in_another_scope(self):
        self.assert_finds("whose op is not inside the user scope that launched them",
                          lambda t, e: next(s for s in t["traceEvents"] if s["cat"] == "user_annotation").update(name="graphs"))

    def test_an_arrow_without_a_begin(self):
        self.assert_finds("without an arrow from their call", lambda t, e: t["traceEvents"].remove(e["s", "ac2g", 12]))

    def test_an_annotation_that_ends_too_soon(self):
        self.assert_finds("that no gpu_user_annotation of that scope covers",
                          lambda t, e: next(s for s in t["traceEvents"] if s["cat"] == "gpu_user_annotation").update(dur=12.0))

    def test_a_loss_of_the_device(self):
        self.assert_finds("losses in the ledger", lambda t, e: t["xsigmaLedger"].update(device={"dropped": 3}))


class Comparison(unittest.TestCase):
    def test_same_names_and_counts(self):
        self.assertEqual([], torch_compare.differences({"a <int>": 2}, {"a<int>": 2}))

    def test_other_counts_and_names(self):
        self.assertEqual([("b", 1, 0), ("c", 0, 4)], torch_compare.differences({"a": 2, "b": 1}, {"a": 2, "c": 4}))


if __name__ == "__main__":
    unittest.main()
