#!/usr/bin/env python3
"""Pins the machine code of a scope: what user code runs while nothing records, and what begin and end run while something does.

usage: check_codegen.py --compiler CXX --arch x86_64|aarch64 [--define NAME]
A compiler that is not there is said and exits with 77.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

ARCH = {
    "x86_64": {
        "counter": r"^rdtsc$",
        "atomic_update": r"^(lock\b|xchg|cmpxchg|xadd|mfence|lfence)",
        "call": r"^call",
        "jump": r"^jmp\s+(\S+)",
        "branch": r"^j(?!mp)\w+\s+(\S+)",
        "return": r"^ret",
        # name of the check: the most instructions on the way
        "limits": {"off": 14, "begin": 30, "end": 32},
    },
    "aarch64": {
        "counter": r"^mrs\s+\w+,\s*(cntvct_el0|s3_3_c14_c0_2)",
        "atomic_update": r"^(ldxr|stxr|ldaxr|stlxr|ldadd|swp|cas|ldset|ldclr|dmb|dsb|isb)",
        "call": r"^blr?\b",
        "jump": r"^b\s+(\S+)",
        "branch": r"^(?:cbn?z\s+\w+,\s*|tbn?z\s+\w+,\s*#?\w+,\s*|b\.?\w+\s+)(\S+)",
        "return": r"^ret",
        "limits": {"off": 14, "begin": 50, "end": 50},
    },
}


def compile_to_assembly(compiler, source, options):
    command = [compiler, "-std=c++20", "-O2", "-fPIC", "-DNDEBUG", "-fno-asynchronous-unwind-tables", "-fvisibility=hidden",
               "-ftls-model=initial-exec", "-fno-tree-slp-vectorize", "-fno-stack-protector", f"-I{ROOT}/include", f"-I{ROOT}/src", "-S", "-o", "-",
               str(source)]
    command += options
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check_codegen: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def function(assembly, pattern):
    """Instructions of the function whose label matches, with labels as ('label', name)."""
    lines = assembly.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(pattern + r":", line)), None)
    if start is None:
        sys.exit(f"check_codegen: no function {pattern} in the assembly")
    body = []
    for line in lines[start + 1:]:
        text = re.split(r"\s+(?:#|//)|;", line.strip())[0].strip()
        if text.startswith(".size") or (re.match(r"^[A-Za-z_]\S*:$", line) and not line.startswith(".L")):
            break
        if re.match(r"^\.?L\S*:$", text):
            body.append(("label", text[:-1]))
        elif text and text[0] not in ".#":
            body.append(("code", re.sub(r"\s+", " ", text.replace("\t", " "))))
    return body


class Walk:
    """Follows one way through a function: the way on which `avoid` is never called."""

    def __init__(self, body, arch, avoid):
        self.body, self.arch, self.avoid = body, ARCH[arch], avoid
        self.labels = {name: i for i, (kind, name) in enumerate(body) if kind == "label"}

    def ways(self, at, path, seen):
        """All ways to a return that do not call `avoid`, as lists of instructions."""
        while at < len(self.body):
            kind, text = self.body[at]
            at += 1
            if kind == "label":
                continue
            if re.match(self.arch["call"], text) and re.search(self.avoid, text):
                return
            path = path + [text]
            if len(path) > 200:
                return
            if re.match(self.arch["return"], text):
                yield path
                return
            jump = re.match(self.arch["jump"], text)
            if jump:
                target = jump.group(1)
                if target in self.labels:
                    at = self.labels[target]
                    continue
                if not re.search(self.avoid, text):
                    yield path  # a tail call
                return
            branch = re.match(self.arch["branch"], text)
            if branch and branch.group(1) in self.labels and (at, branch.group(1)) not in seen:
                yield from self.ways(self.labels[branch.group(1)], path, seen | {(at, branch.group(1))})
        return

    def shortest(self):
        found = sorted(self.ways(0, [], frozenset()), key=len)
        if not found:
            sys.exit(f"check_codegen: no way without {self.avoid}")
        return found


class Checker:
    def __init__(self, arch):
        self.arch = ARCH[arch]
        self.failures = []

    def check(self, name, condition, message, path):
        if not condition:
            self.failures.append(f"{name}: {message}\n    " + "\n    ".join(path))

    def count(self, pattern, path):
        return sum(1 for text in path if re.search(pattern, text))

    def common(self, name, path):
        limit = self.arch["limits"][name]
        self.check(name, self.count(self.arch["atomic_update"], path) == 0, "an atomic read-modify-write or a fence", path)
        self.check(name, len(path) <= limit, f"{len(path)} instructions, at most {limit} are allowed", path)
        print(f"  {name}: {len(path)} instructions (at most {limit})")

    def off(self, body, arch):
        path = Walk(body, arch, r"Scope").shortest()[0]
        self.common("off", path)
        loads = [text for text in path if "active_word" in text]
        self.check("off", len(loads) in (1, 2), f"the active word is named {len(loads)} times", path)
        self.check("off", self.count(self.arch["branch"], path) <= 2, "more than the off-test and the test at the end", path)
        self.check("off", self.count(r"work", path) == 1, "the body is not called once", path)
        self.check("off", self.count(self.arch["call"], path) <= 1, "something beside the body is called", path)

    def hot(self, name, body, arch):
        # The quick way reads the counter; the ways around it go to the slow function.
        ways = [path for path in Walk(body, arch, r"Slow").shortest() if self.count(self.arch["counter"], path)]
        if not ways:
            sys.exit(f"check_codegen: {name}: no way that reads the counter and stays out of the slow function")
        path = ways[0]
        self.common(name, path)
        self.check(name, self.count(self.arch["counter"], path) == 1, "the counter is not read exactly once", path)
        self.check(name, self.count(self.arch["call"], path) == 0, "something is called", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--arch", required=True, choices=ARCH)
    parser.add_argument("--define", action="append", default=[])
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        print(f"skipped: {arguments.compiler} is not installed, so the code for {arguments.arch} is not checked")
        return 77
    checker = Checker(arguments.arch)
    print(f"{arguments.compiler}, {arguments.arch}:")
    user = compile_to_assembly(arguments.compiler, ROOT / "tests/codegen/off_path.cpp", ["-fno-exceptions"] + [f"-D{name}" for name in arguments.define])
    checker.off(function(user, "scopeAroundCall"), arguments.arch)
    library = compile_to_assembly(arguments.compiler, ROOT / "src/instrument/scope_entry.cpp", [])
    checker.hot("begin", function(library, r"_ZN6xsigma8profiler6detail10beginScopeERNS1_9ScopeSiteE"), arguments.arch)
    checker.hot("end", function(library, r"_ZN6xsigma8profiler6detail8endScopeENS1_10ScopeTokenE"), arguments.arch)
    for failure in checker.failures:
        print("FAILED", failure)
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
