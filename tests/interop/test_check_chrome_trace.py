#!/usr/bin/env python3
"""The checker of traces accepts a good one, and finds each rule broken in one that is good but for that."""

import copy
import gzip
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True

import check_chrome_trace  # noqa: E402
from sample_trace import Micros, sample, to_text  # noqa: E402

GOOD = sample()


def first(trace, **fields):
    """The first event with these fields."""
    return next(e for e in trace["traceEvents"] if all(e.get(key) == value for key, value in fields.items()))


def changed(change):
    """The text of the good trace after change(trace)."""
    trace = copy.deepcopy(GOOD)
    change(trace)
    return to_text(trace)


def with_fields(where, **fields):
    """The good trace, whose first event with the fields `where` has others as well, or as its args."""
    return changed(lambda trace: first(trace, **where).update(fields))


def with_args(where, **args):
    return changed(lambda trace: first(trace, **where)["args"].update(args))


def without(where, *keys):
    def change(trace):
        event = first(trace, **where)
        for key in keys:
            (event if key in event else event["args"]).pop(key)
    return changed(change)


def without_event(**where):
    return changed(lambda trace: trace["traceEvents"].remove(first(trace, **where)))


def with_events(*events):
    return changed(lambda trace: trace["traceEvents"].extend(events))


def edited(before, after, count=1):
    text = to_text(GOOD)
    assert before in text, before
    return text.replace(before, after, count)


def with_order(*keys):
    return to_text({key: GOOD[key] for key in keys})


def with_ledger(change):
    return changed(lambda trace: change(trace["xsigmaLedger"]))


OP = {"ph": "X", "name": "aten::linear"}
LAUNCH = {"ph": "X", "cat": "cuda_runtime"}
KERNEL = {"ph": "X", "cat": "kernel"}
START, END = {"ph": "s", "cat": "fwdbwd"}, {"ph": "f", "cat": "fwdbwd"}
MEMORY = {"ph": "i", "name": "[memory]"}
COUNTER = {"ph": "C"}
MAIN = {"pid": 4711, "tid": 4711}
LATER = Micros(first(GOOD, **OP)["ts"] + 900_000_000)
ALONE = {"ph": "X", "cat": "python_function", "name": "f", **MAIN, "ts": LATER, "dur": Micros(1)}


def deep(levels):
    return with_events(*({**ALONE, "ts": Micros(LATER + n), "dur": Micros(5000 - 2 * n)} for n in range(levels)))


# what is broken -> (text of the trace, pattern of the message)
BROKEN = {
    # strict JSON
    "NaN": (edited('"blocks per SM": 7.75', '"blocks per SM": NaN'), r"event 8: not JSON: NaN is no JSON value"),
    "Infinity": (edited('"record_shapes": 1', '"record_shapes": -Infinity'), r"not JSON: -Infinity is no JSON value"),
    "duplicate key in args": (edited('"Ev Idx": 0', '"Ev Idx": 0, "Ev Idx": 1'), r'event 0: duplicate key "Ev Idx"'),
    "duplicate key at the top": (edited('  "record_shapes": 1,\n', '  "record_shapes": 1,\n' * 2), r'duplicate key "record_shapes"'),
    "invalid UTF-8": (edited("aten::empty", "aten::\udcff").encode("utf-8", "surrogateescape"), r"not UTF-8: byte \d+"),
    "half a surrogate pair": (edited("aten::empty", "aten::\\ud83d"), r"event 11: half of a surrogate pair"),
    "comma after the last event": (edited("\n  ],\n", ",\n  ],\n"), r"not JSON: Expecting value"),
    "comma after the last key": (edited('.json"\n}', '.json",\n}'), r"not JSON: expecting a key .*comma too many"),
    "raw control character": (edited("aten::empty", "aten::\x01"), r"not JSON: Invalid control character"),
    "cut off": (to_text(GOOD)[:2000], r"not JSON"),
    "text after the end": (to_text(GOOD) + "{}", r"text after the end"),
    "list form": ("[]", r"not the object form"),
    "no traceEvents": ("{}", r"traceEvents is missing"),
    "event that is no object": (edited('"traceEvents": [', '"traceEvents": [7,'), r"event 0: is no object"),
    # layout
    "key missing": (changed(lambda t: t.pop("deviceProperties")), r'key "deviceProperties" is missing'),
    "key order": (with_order("deviceProperties", "schemaVersion", *list(GOOD)[2:]), r"key order: found deviceProperties, schemaVersion"),
    "metadata after the events": (changed(lambda t: t.update(host="a")), r'key order: "host" comes after traceEvents'),
    "two keys in a line": (edited(',\n  "record_shapes"', ', "record_shapes"'), r'key "record_shapes" does not begin a line'),
    "no blank after a colon": (edited('"displayTimeUnit": ', '"displayTimeUnit":'), r'no blank after the colon of "displayTimeUnit"'),
    "rank without a blank": (edited('"rank": 0', '"rank":0'), r'the first "rank": N.* is nowhere'),
    "another rank first": (edited('"schemaVersion": 1', '"schemaVersion": 1,\n  "env": {"rank": 5}'), r'the first "rank": N.* outside of'),
    "rank beyond the world": (edited('"rank": 0', '"rank": 2'), r"rank 2 and world_size 2 have to be"),
    "no backend": (edited('"backend": "nccl", ', ""), r"backend is no string"),
    "distributedInfo as text": (changed(lambda t: t.update(distributedInfo="rank 0")), r"distributedInfo is no object"),
    "schema version": (edited('"schemaVersion": 1', '"schemaVersion": 2'), r"schemaVersion is 2"),
    "device properties": (changed(lambda t: t.update(deviceProperties=[1])), r"deviceProperties is no array of objects"),
    "display unit": (edited('"displayTimeUnit": "ms"', '"displayTimeUnit": "us"'), r"displayTimeUnit is 'us'"),
    "base of its own": (changed(lambda t: t.update(baseTimeNanoseconds=t["baseTimeNanoseconds"] + 1)), r"baseTimeNanoseconds \d+ is no multiple"),
    # times
    "two decimals": (edited('"dur": 900.000', '"dur": 900.00'), r"event 0: dur 900.00 does not have three decimals"),
    "whole microseconds": (edited('"dur": 900.000', '"dur": 900'), r"event 0: dur 900 does not have three decimals"),
    "exponent": (edited('"dur": 900.000', '"dur": 9.000e2'), r"event 0: dur 9.000e2 does not have three decimals"),
    "time as text": (edited('"dur": 900.000', '"dur": "900.000"'), r"event 0: dur '900.000' is no number"),
    "no ts": (without(OP, "ts"), r"event 5: ts None is no number"),
    "no dur": (without(OP, "dur"), r"event 5: dur None is no number"),
    "negative ts": (with_fields(MEMORY, ts=Micros(-1)), r"ts -0.001 is negative"),
    "negative dur": (with_fields(OP, dur=Micros(-1500)), r"event 5: dur -1.500 is negative"),
    "absolute time": (with_fields(MEMORY, ts=Micros(1_794_703_916_944_075_860)), r"ts 1794703916944075.860 is 2\^53 ns"),
    "dur of an instant": (with_fields(MEMORY, dur=Micros(5)), r"dur on a i event"),
    # names, categories, ids
    "unknown phase": (with_fields(MEMORY, ph="Q"), r"ph 'Q' is none of"),
    "no name": (without(OP, "name"), r"event 5: X event without a name"),
    "name as number": (with_fields(OP, name=5), r"event 5: name 5 is no string"),
    "no cat": (without(OP, "cat"), r'event 5: X "aten::linear": a slice without a cat'),
    "cat as number": (with_fields(OP, cat=5), r"event 5: cat 5 is no string"),
    "unknown cat": (with_fields(OP, cat="operator"), r"event 5: .* cat 'operator' is none of Kineto's"),
    "instant without scope": (without(MEMORY, "s"), r"s None is none of t, p, g"),
    "string pid": (with_fields(MEMORY, pid="GPU 0"), r"pid 'GPU 0' is no number"),
    "string tid": (with_fields(MEMORY, tid="main"), r"tid 'main' is no number"),
    "fraction as tid": (with_fields(MEMORY, tid=1.5), r"tid 1.5 is no integer"),
    "pid -1": (with_fields(MEMORY, pid=-1), r"pid -1 is not in 0 \.\.\. 2\^32 - 1"),
    "pthread handle as tid": (with_fields(MEMORY, tid=140_299_066_012_672), r"tid 140299066012672 is not in 0"),
    # args
    "args as list": (with_fields(MEMORY, args=[1]), r"args is no object"),
    "uint64": (with_args(OP, handle=2**63), r'event 5: args "handle": 9223372036854775808 does not fit into an int64'),
    "uint64 inside": (with_args(OP, **{"Input Dims": [[2**64]]}), r'event 5: args "Input Dims": .* int64'),
    "huge double": (edited('"blocks per SM": 7.75', '"blocks per SM": 1e999'), r'event 8: args "blocks per SM": 1e999 does not fit'),
    "op without External id": (without(OP, "External id"), r'a cpu_op without an integer "External id"'),
    "op without Record function id": (without(OP, "Record function id"), r'a cpu_op without an integer "Record function id"'),
    "annotation without Ev Idx": (without({"cat": "user_annotation"}, "Ev Idx"), r'a user_annotation without an integer "Ev Idx"'),
    "stream on an op": (with_args(OP, stream=7), r'"stream" belongs to events on a device, and \'cpu_op\' is none'),
    "device on a launch": (with_args(LAUNCH, device=0), r'"device" belongs to events on a device'),
    "context on an instant": (with_args(MEMORY, context=1), r'"context" belongs to events on a device'),
    "kernel without stream": (without(KERNEL, "stream"), r'a kernel without an integer "stream"'),
    "kernel without device": (without(KERNEL, "device"), r'a kernel without an integer "device"'),
    "kernel on another pid": (with_args(KERNEL, device=3), r"pid 0 is not its device, 3"),
    "counter of text": (with_args(COUNTER, loss="low"), r"counter \"loss\": 'low' is no number"),
    "counter of bool": (with_args(COUNTER, loss=True), r'counter "loss": True is no number'),
    "counter without value": (with_fields(COUNTER, args={}), r"a counter without a value"),
    # slices
    "overlap by a nanosecond": (with_fields(LAUNCH, dur=Micros(192_005)),
                                r'event 7: X "cudaLaunchKernel" overlaps event 6, X "aten::addmm".* ends 1 ns'),
    "correlation of two launches": (with_args(LAUNCH, correlation=902), r"correlation 902 is that of launch event \d+ too"),
    "correlation of two kernels": (with_args(KERNEL, correlation=902), r"correlation 902 is that of device event \d+ too"),
    "launch without correlation": (without(LAUNCH, "correlation"), r'a cuda_runtime without an integer "correlation"'),
    "kernel without correlation": (without(KERNEL, "correlation"), r'a kernel without an integer "correlation"'),
    # flows
    "flow id as text": (with_fields(START, id="7"), r"flow s \"fwdbwd\": id '7' is no integer"),
    "flow of another kind": (with_fields(START, cat="user_annotation"), r"cat 'user_annotation' is neither ac2g nor fwdbwd"),
    "two starts": (with_events(dict(first(GOOD, **START))), r"id 7 has another s, event \d+"),
    "end without bp": (without(END, "bp"), r'bp is None, not "e"'),
    "end without start": (without_event(**START), r"flow f fwdbwd: id 7 has no s"),
    "start without end": (without_event(**END), r"flow s fwdbwd: id 7 has no f"),
    "end before start": (with_fields(START, ts=first(GOOD, name="ProfilerStep#8")["ts"]), r"flow f fwdbwd: id 7 ends before it starts"),
    "end beside the slice": (with_fields(END, ts=Micros(first(GOOD, **END)["ts"] + 123_456)), r"no slice of pid/tid 4711/4811 covers its ts"),
    # async ranges
    "e without b": (without_event(ph="b"), r'async e "prefetch": no b is open for id 7'),
    "b without e": (without_event(ph="e"), r'async b "prefetch": no e for id 7'),
    "e of another name": (with_fields({"ph": "e"}, name="other"), r'async e "other": the b that is open for id 7 has another name'),
    "b without id": (without({"ph": "b"}, "id"), r"id None is neither a number nor a string"),
    # names of processes and threads, marks
    "metadata of another type": (with_args({"name": "thread_name"}, name=5), r"metadata thread_name: args 'name' is no str"),
    "no process name": (without_event(name="process_name", pid=0), r"pid 0 has no process_name"),
    "no thread name": (without_event(name="thread_name", tid=4811), r"pid/tid 4711/4811 has no thread_name"),
    "no span": (without_event(name="PyTorch Profiler (0)"), r'the span "PyTorch Profiler \(0\)", cat Trace, is missing'),
    "no window end": (without_event(name="Record Window End"), r'the instant "Record Window End" is missing'),
    # ledger
    "no ledger": (changed(lambda t: t.pop("xsigmaLedger")), r"xsigmaLedger is missing"),
    "ledger without threads": (with_ledger(lambda ledger: ledger.pop("threads")), r"threads is no array of objects"),
    "ledger without causes": (with_ledger(lambda ledger: ledger.pop("causes")), r"xsigmaLedger: attempted, .* have to be integers"),
    "ledger with a negative cause": (with_ledger(lambda ledger: ledger["causes"].update(late=-1)), r"have to be integers from 0 on"),
    "ledger that does not add up": (with_ledger(lambda ledger: ledger.update(attempted=99)), r"attempted 99 != recorded \d+ \+ dropped 2"),
    "loss without cause": (with_ledger(lambda ledger: ledger["causes"].update(late=1)), r"dropped 2 != the sum of its causes, 3"),
    "thread that does not add up": (with_ledger(lambda ledger: ledger["threads"][0].update(attempted=1)), r"thread 0: attempted 1 != recorded"),
    "thread missing": (with_ledger(lambda ledger: ledger["threads"].pop()), r"recorded \d+ != the sum over the threads"),
}


class Checker(unittest.TestCase):
    def check(self, text, **options):
        return check_chrome_trace.check(text if isinstance(text, bytes) else text.encode("utf-8"), **options)[0]

    def test_a_good_trace_passes(self):
        for rank in (0, 1):
            report = self.check(to_text(sample(rank)))
            self.assertEqual(([], []), (report.violations, report.warnings))

    def test_each_broken_rule_is_found(self):
        for what, (text, pattern) in BROKEN.items():
            with self.subTest(what):
                violations = self.check(text).violations
                self.assertTrue(any(re.search(pattern, v) for v in violations), f"no {pattern!r} in {violations}")

    def test_every_rule_has_a_broken_trace(self):
        found = {rule: 0 for rule in check_chrome_trace.RULES}
        for text, _ in BROKEN.values():
            report = check_chrome_trace.Report()
            try:
                trace = check_chrome_trace.Trace(text if isinstance(text, bytes) else text.encode("utf-8"), report)
            except check_chrome_trace.Unreadable:
                continue
            for rule in found:
                before = len(report.violations)
                rule(trace, report)
                found[rule] += len(report.violations) > before
        self.assertEqual([], [rule.__name__ for rule, times in found.items() if not times])

    def test_what_is_allowed_is_not_reported(self):
        allowed = {
            "slices that touch": with_events(*({**ALONE, "ts": Micros(LATER + n), "dur": Micros(1)} for n in range(3))),
            "a child written before its parent": changed(lambda trace: trace["traceEvents"].reverse()),
            "slices of the same time": with_events(*[{**ALONE, "dur": Micros(9)}] * 2),
            "kernels of one graph": changed(lambda trace: [e["args"].update({"graph node id": 1 + n, "correlation": 901})
                                                           for n, e in enumerate(trace["traceEvents"]) if e.get("cat") == "kernel"]),
            "threads without a place in the ledger": with_ledger(lambda ledger: (ledger["threads"].pop(), ledger.update(threads_dropped=1))),
            "one launch of two kernels": with_events({**first(GOOD, ph="f", cat="ac2g"), **MAIN, "ts": first(GOOD, name="ProfilerStep#9")["ts"]}),
            "escaped pairs of surrogates": edited("aten::empty", "aten::\\ud83d\\ude80"),
            "the largest int64": with_args(OP, least=-2**63, most=2**63 - 1),
        }
        for what, text in allowed.items():
            with self.subTest(what):
                self.assertEqual([], self.check(text).violations)

    def test_deep_nesting_and_tid_0_are_warned_of(self):
        self.assertEqual([], self.check(deep(512)).warnings)
        report = self.check(deep(513))
        self.assertEqual([], report.violations)
        self.assertRegex(report.warnings[0], r"event \d+: pid/tid 4711/4711 is nested deeper than 512")
        report = self.check(with_fields({"name": "AddmmBackward0"}, tid=0))
        self.assertRegex(report.warnings[0], "tid 0 of pid 4711 is shown on the row of tid = pid")

    def test_unknown_metadata_and_big_files_are_warned_of(self):
        report = self.check(with_fields({"name": "thread_sort_index"}, name="thread_colour"))
        self.assertRegex(report.warnings[0], r"event \d+: metadata 'thread_colour' is unknown to readers")
        with unittest.mock.patch.object(check_chrome_trace.file_rules, "BIG_FILE", 100):
            self.assertRegex(self.check(to_text(GOOD)).warnings[0], r"^\d+ characters: viewers that run in a browser")

    def test_a_foreign_trace_need_not_be_laid_out_as_ours(self):
        for what in ("no ledger", "rank without a blank", "two decimals", "pid -1", "end without start", "unknown cat", "no span",
                     "no process name"):
            with self.subTest(what):
                self.assertEqual([], self.check(BROKEN[what][0], foreign=True).violations)
        for what in ("NaN", "negative dur", "overlap by a nanosecond", "two starts", "uint64", "no cat", "duplicate key in args"):
            with self.subTest(what):
                self.assertNotEqual([], self.check(BROKEN[what][0], foreign=True).violations)

    def test_a_trace_whose_ids_are_all_numbers(self):
        def change(trace):
            trace["traceEvents"] = [e for e in trace["traceEvents"] if isinstance(e["pid"], int) or e["name"] == "Record Window End"]
            first(trace, name="Record Window End").update(pid=4711, tid=0)

        self.assertEqual([], self.check(changed(change), numeric=True).violations)
        self.assertRegex(self.check(to_text(GOOD), numeric=True).violations[0], "pid 'Spans' is no number")

    def test_strange_values_do_not_stop_the_checker(self):
        strange = [None, True, -1, 2**70, 1e300, "", "x", [], [[]], {}, {"a": [None]}]
        kinds = {(event["ph"], event.get("cat")): position for position, event in enumerate(GOOD["traceEvents"])}
        for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp", "s", "args"):
            for value in strange:
                text = changed(lambda trace: [trace["traceEvents"][place].update({key: value}) for place in kinds.values()])
                self.assertIsNotNone(self.check(text))
        for key in GOOD:
            for value in strange:
                self.assertIsNotNone(self.check(changed(lambda trace: trace.update({key: value}))))


class CommandLine(unittest.TestCase):
    def run_on(self, name, data, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            if data is not None:
                path.write_bytes(data)
            done = subprocess.run([sys.executable, "-B", TOOLS / "check_chrome_trace.py", *options, path], capture_output=True, encoding="utf-8")
        return done.returncode, done.stdout.replace(f"{path}: ", "")

    def test_exit_status_and_output(self):
        good = to_text(GOOD).encode("utf-8")
        bad = BROKEN["two decimals"][0].encode("utf-8")
        summary = f"{len(GOOD['traceEvents'])} events"
        self.assertEqual((0, f"{summary}, 0 violations, 0 warnings\n"), self.run_on("a.json", good))
        self.assertEqual((0, f"{summary}, 0 violations, 0 warnings\n"), self.run_on("a.json.gz", gzip.compress(good)))
        status, output = self.run_on("a.json", bad)
        self.assertEqual(1, status)
        self.assertIn("event 0: dur 900.00 does not have three decimals\n", output)
        self.assertEqual(0, self.run_on("a.json", bad, "--foreign")[0])

    def test_a_file_that_cannot_be_read(self):
        self.assertEqual(2, self.run_on("a.json", None)[0])
        self.assertEqual(2, self.run_on("a.json.gz", gzip.compress(b"{}" * 1000)[:-12])[0])
        self.assertEqual(2, self.run_on("a.json.gz", b"{}")[0])

    def test_the_same_violation_many_times(self):
        bad = to_text(GOOD).replace('"bp": "e"', '"bp": "s"').encode("utf-8")
        status, output = self.run_on("a.json", bad, "--max", "2")
        self.assertEqual(1, status)
        self.assertEqual(2, output.count("bp is 's', not \"e\""), output)
        self.assertIn("... and 4 more like it", output)
        self.assertIn("6 violations", output)
        self.assertEqual(6, self.run_on("a.json", bad, "--max", "0")[1].count("bp is 's'"))


if __name__ == "__main__":
    unittest.main()
