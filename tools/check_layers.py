#!/usr/bin/env python3
"""Checks who includes whom, and that a plug-in is named in one place.

    check_layers.py [--root DIR]    checks the tree; prints file:line and the broken rule; exit status 1 if there is any
    check_layers.py --self-test     plants one violation of each rule in a temporary tree and checks that each is found
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

# ---- the table -------------------------------------------------------------------------------------------------------------------

# src/<folder> -> layer. An include goes to a lower layer, or stays in its folder.
LAYERS = {
    "base": 0,
    "capture": 1,
    "trace": 1,
    "instrument": 2,
    "collect": 3,
    "emit": 3,
    "backends": 3,
    "assemble": 4,
    "exporters": 5,
    "analysis": 5,
    "session": 6,
    "ondemand": 6,
    "kineto": 7,
    "profile": 8,
    "inject": 9,
}

# Folders of plug-ins, one folder each, and what those may see beside themselves and the headers that lie directly in src/<folder>,
# their interface.
PLUGINS = {
    "emit": {"base", "capture"},
    "backends": {"base", "capture"},
    "exporters": {"base", "trace"},
}

# Users of the installed headers, and the private folders they may see as well.
CLIENTS = {
    "cli": {"session", "ondemand"},
    "python": set(),
    "web": set(),
    "examples": set(),
}

# Third-party headers that no installed header may include: users of the package do not get them.
THIRD_PARTY = re.compile(r"^(fmt|CLI|nlohmann|pybind11|gtest|gmock|benchmark|simdjson)/|^(zlib|zstd|simdjson)\.h$")

# The one-mention rule: where a plug-in's name is looked for, and who may mention it beside its own folder, its list
# (src/<folder>/CMakeLists.txt) and whatever is not searched at all (docs, tests, the changelog and its like).
MENTION_SEARCH = ["include", "src", "cli", "python", "web", "examples", "benchmarks", "fuzz", "cmake", "tools", "CMakeLists.txt",
                  "CMakePresets.json", "Makefile"]
# Plug-in names that are words of the language or of every day: only their path (exporters/template) counts as a mention.
COMMON_WORDS = {"template", "fake"}

# ------------------------------------------------------------------------------------------------------------------------------------

SOURCE_SUFFIXES = {".h", ".hpp", ".inc", ".c", ".cc", ".cpp", ".cu"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".cmake", ".txt", ".in", ".json", ".py", ".sh", ".js", ".html", ""}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Checker:
    def __init__(self, root):
        self.root = root
        self.violations = []
        self.files = 0
        self.includes = 0

    def fail(self, path, line, rule):
        self.violations.append(f"{path.relative_to(self.root)}:{line}: {rule}")

    def sources(self, folder):
        top = self.root / folder
        return sorted(p for p in top.rglob("*") if p.is_file() and p.suffix in SOURCE_SUFFIXES) if top.is_dir() else []

    def resolve(self, includer, quoted, name):
        """The path from the root that an include names, or None for a header from outside. Need not exist if its folder is known."""
        places = [includer.parent] if quoted else []
        places += [self.root / "src", self.root / "include", self.root / "include/xsigma", self.root / "include/kineto"]
        for place in places:
            found = (place / name).resolve()
            if found.is_file() and found.is_relative_to(self.root):
                return found.relative_to(self.root)
        parts = Path(name).parts
        if quoted and len(parts) > 1 and parts[0] in LAYERS:
            return Path("src", name)
        if parts[:2] == ("xsigma", "profiler"):
            return Path("include", name)
        return None

    def check_includes(self, path, check):
        self.files += 1
        for number, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(text)
            if match:
                self.includes += 1
                target = self.resolve(path, match[1] == '"', match[2])
                rule = check(path.relative_to(self.root), target, match[2])
                if rule:
                    self.fail(path, number, f'includes "{match[2]}": {rule}')

    @staticmethod
    def public_rule(path, target, name):
        if target is None:
            return "an installed header includes installed and standard headers only" if THIRD_PARTY.match(name) else None
        if target.parts[0] != "include":
            return "an installed header includes installed headers only, never src/"
        return None

    @staticmethod
    def client_rule(path, target, name):
        folder = path.parts[0]
        if target is None or target.parts[0] in ("include", folder):
            return None
        if target.parts[0] == "src" and target.parts[1] in CLIENTS[folder]:
            return None
        also = "".join(f", {name}/" for name in sorted(CLIENTS[folder]))
        return f"{folder}/ uses the installed headers <xsigma/profiler/...>{also} only"

    @staticmethod
    def source_rule(path, target, name):
        if target is None or target.parts[0] == "include":
            return None
        if target.parts[0] != "src":
            return "src/ includes src/ and the installed headers only"
        here, there = path.parts[1], target.parts[1]
        if there not in LAYERS:
            return f"src/{there} is not in the table of layers"
        if there in PLUGINS and len(target.parts) > 3 and path.parts[:3] != target.parts[:3]:
            return f"the headers of a plug-in ({there}/{target.parts[2]}) are its own; others see src/{there}/*.h"
        if here in PLUGINS and len(path.parts) > 3:
            if there == here or there in PLUGINS[here]:
                return None
            return f"a plug-in in {here}/ sees {', '.join(sorted(PLUGINS[here]))}, its interface header and its own folder only"
        if here == there or LAYERS[there] < LAYERS[here]:
            return None
        return f"includes go down: {here} is layer {LAYERS[here]}, {there} is layer {LAYERS[there]}"

    def check_mentions(self):
        plugins = [(kind, p.name) for kind in PLUGINS if (self.root / "src" / kind).is_dir()
                   for p in sorted((self.root / "src" / kind).iterdir()) if p.is_dir()]
        if not plugins:
            return
        texts = []
        for place in MENTION_SEARCH:
            top = self.root / place
            found = [top] if top.is_file() else sorted(top.rglob("*")) if top.is_dir() else []
            texts += [p for p in found if p.is_file() and p.suffix in TEXT_SUFFIXES and p.resolve() != Path(__file__).resolve()]
        for path in texts:
            relative = path.relative_to(self.root)
            lines = path.read_text(errors="replace").splitlines()
            for kind, name in plugins:
                if relative == Path("src", kind, "CMakeLists.txt") or relative.parts[:3] == ("src", kind, name):
                    continue
                mention = re.compile(rf"\b{kind}/{name}\b" if name in COMMON_WORDS else rf"\b{re.escape(name)}\b")
                for number, text in enumerate(lines, 1):
                    if mention.search(text):
                        self.fail(path, number, f"mentions the plug-in {kind}/{name}, whose name belongs into its folder and its list, "
                                                f"src/{kind}/CMakeLists.txt")

    def run(self):
        for path in self.sources("include"):
            self.check_includes(path, self.public_rule)
        for path in self.sources("src"):
            parts = path.relative_to(self.root).parts
            if len(parts) < 3 or parts[1] not in LAYERS:
                self.fail(path, 1, "lies in no folder of the table of layers")
            else:
                self.check_includes(path, self.source_rule)
        for folder in CLIENTS:
            for path in self.sources(folder):
                self.check_includes(path, self.client_rule)
        self.check_mentions()
        return self.violations


# A sound tree, and one violation each: file -> (text, line and words that must be reported).
SOUND = {
    "include/xsigma/profiler/a.h": "#include <vector>\n#include \"xsigma/profiler/b.h\"\n",
    "include/xsigma/profiler/b.h": "",
    "src/base/x.h": "#include <fmt/format.h>\n",
    "src/base/y.h": "#include \"x.h\"\n",
    "src/capture/c.h": "#include \"base/x.h\"\n#include \"xsigma/profiler/a.h\"\n",
    "src/trace/t.h": "#include \"base/x.h\"\n",
    "src/collect/q.cpp": "#include \"capture/c.h\"\n#include \"profiler/a.h\"\n",
    "src/backends/backend.h": "#include \"capture/c.h\"\n",
    "src/backends/CMakeLists.txt": "set(plugins alpha template)\n",
    "src/backends/alpha/alpha.h": "",
    "src/backends/alpha/alpha.cpp": "#include \"alpha.h\"\n#include \"backends/backend.h\"\n#include \"capture/c.h\"\n",
    "src/backends/template/model.cpp": "template <typename T> void f();\n",
    "src/exporters/beta/beta.cpp": "#include \"trace/t.h\"\n",
    "src/session/s.h": "#include \"backends/backend.h\"\n",
    "cli/main.cpp": "#include <CLI/CLI.hpp>\n#include <xsigma/profiler/a.h>\n#include \"session/s.h\"\n",
    "examples/e.cpp": "#include <xsigma/profiler/a.h>\n",
    "docs/alpha.md": "how alpha works\n",
}
PLANTED = [
    ("src/base/bad.h", "\n#include \"capture/c.h\"\n", "src/base/bad.h:2: ", "includes go down"),
    ("src/capture/bad.h", "#include \"trace/t.h\"\n", "src/capture/bad.h:1: ", "includes go down"),
    ("src/trace/bad.h", "#include \"../capture/c.h\"\n", "src/trace/bad.h:1: ", "includes go down"),
    ("src/ondemand/bad.cpp", "#include <session/s.h>\n", "src/ondemand/bad.cpp:1: ", "includes go down"),
    ("src/collect/bad.cpp", "#include \"instrument/gone.h\"\n#include \"session/gone.h\"\n", "src/collect/bad.cpp:2: ", "includes go down"),
    ("src/collect/bad2.cpp", "#include \"backends/backend.h\"\n", "src/collect/bad2.cpp:1: ", "includes go down"),
    ("src/backends/gamma/bad.cpp", "#include \"backends/alpha/alpha.h\"\n", "src/backends/gamma/bad.cpp:1: ", "are its own"),
    ("src/backends/alpha/bad.cpp", "#include \"trace/t.h\"\n", "src/backends/alpha/bad.cpp:1: ", "a plug-in in backends/"),
    ("src/exporters/beta/bad.cpp", "#include \"capture/c.h\"\n", "src/exporters/beta/bad.cpp:1: ", "a plug-in in exporters/"),
    ("src/helpers/bad.h", "", "src/helpers/bad.h:1: ", "no folder of the table"),
    ("include/xsigma/profiler/bad.h", "#include \"base/x.h\"\n", "include/xsigma/profiler/bad.h:1: ", "never src/"),
    ("include/xsigma/profiler/bad2.h", "#include <fmt/format.h>\n", "include/xsigma/profiler/bad2.h:1: ", "standard headers only"),
    ("cli/bad.cpp", "#include \"capture/c.h\"\n", "cli/bad.cpp:1: ", "cli/ uses"),
    ("examples/bad.cpp", "#include \"session/s.h\"\n", "examples/bad.cpp:1: ", "examples/ uses"),
    ("src/session/bad.cpp", "\n\nopen(\"alpha\");\n", "src/session/bad.cpp:3: ", "mentions the plug-in backends/alpha"),
    ("src/session/bad2.cpp", "// see backends/template\n", "src/session/bad2.cpp:1: ", "mentions the plug-in backends/template"),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "sound"
        write_tree(root, SOUND)
        failures += [f"the sound tree was faulted: {v}" for v in Checker(root).run()]
        for number, (name, text, place, words) in enumerate(PLANTED):
            root = Path(folder).resolve() / str(number)
            write_tree(root, {**SOUND, name: text})
            found = Checker(root).run()
            if not any(v.startswith(place) and words in v for v in found):
                failures.append(f"planted in {name}, not found: {text!r} (found: {found})")
            failures += [f"planted in {name}, found elsewhere: {v}" for v in found if not v.startswith(f"{name}:")]
    print("\n".join(failures) or f"check_layers: {len(PLANTED)} planted violations found, the sound tree passes")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    checker = Checker(arguments.root.resolve())
    violations = checker.run()
    for violation in violations:
        print(violation)
    verdict = f"{len(violations)} broken rules" if violations else "every include goes down"
    print(f"check_layers: {verdict} ({checker.includes} includes in {checker.files} files)")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
