"""A sound tree, and one fault of each kind planted in it: is each found, and nothing else?"""

from doc_check import code
from doc_check.page import Page, slug_of
from doc_check.rules import Docs

XSP = """#!/bin/sh
[ "$1" = verify ] || [ "$1" = --help ] || exit 2
echo "verify FILE  --all-threads  -o,--output"
"""
SOUND = {
    "README.md": "# One `two`: three!\n\n## Same\n## Same\n[a](docs/a.md#what-it-does) [b](#one-two-three) [c](#same-1) [d](src/base) ![p](docs/p.svg)\n"
                 "[web](https://nowhere.example) `src/base/x.h` `src/*/x.h` `x.h` `beginScope(name)` `XSIGMA_PROFILER_CAP` `make demo`\n\n"
                 "```sh\nmake demo   # [not](a/link.md)\nxsp verify a.xst --all-threads\ncmake --preset dev && true\n```\n",
    "docs/a.md": "## What it *does*\n<a id=\"here\"></a>\n[up](../README.md#same) [here](#here) [ref][r]\n\n[r]: ../src/base/x.h\n> not a message here\n",
    "docs/map.md": '```mermaid\nflowchart TB\n  subgraph b["base and more · 0"]\n    direction LR\n    x ~~~ other["x"] --> y\n  end\n  b --> gone\n```\n',
    "src/more/y.cpp": "",
    "docs/troubleshooting.md": "# T\n\n> Profiler is already … on this thread\n",
    "docs/p.svg": "<svg/>",
    "src/base/x.h": 'void beginScope(const char* name);  // getenv("XSIGMA_PROFILER_CAP")\n'
                    'throw Error("Profiler is "\n   "already enabled on this thread");\n',
    "Makefile": "demo: setup\nsetup:\nJOBS := 1\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "dev"}]}',
    "xsp": XSP,
}
# what is added to a page, and what must be said about it
PLANTED = [
    ("docs/a.md", "[x](gone.md)", "links to gone.md, which is not there"),
    ("docs/a.md", "![x](images/gone.svg)", "links to images/gone.svg, which is not there"),
    ("docs/a.md", '<img src="gone.png">', "links to gone.png, which is not there"),
    ("docs/a.md", "[x](../../elsewhere.md)", "outside the project"),
    ("docs/a.md", "[x](../README.md#same-2)", "has no such heading"),
    ("docs/a.md", "[x](#What-it-does)", "has no such heading"),
    ("docs/a.md", "[x](../src/base/x.h#L3)", "line numbers go stale"),
    ("docs/a.md", "[x](../src/base/x.h#beginScope)", "anchors are for the pages"),
    ("docs/a.md", "[y]: gone.md", "links to gone.md, which is not there"),
    ("docs/a.md", "see x.h:12", "line numbers go stale"),
    ("docs/a.md", "see `x.h:12`", "line numbers go stale"),
    ("docs/a.md", "`src/base/gone.h`", "names `src/base/gone.h`"),
    ("docs/a.md", "`src/*/gone.h`", "names `src/*/gone.h`"),
    ("docs/a.md", "`gone.h`", "names the file `gone.h`"),
    ("docs/a.md", "`openScope()`", "no openScope in the project"),
    ("docs/a.md", "`XSIGMA_PROFILER_CAPS=1`", "names XSIGMA_PROFILER_CAPS"),
    ("docs/a.md", "`make demos`", "no target demos"),
    ("README.md", "```sh\nmake JOBS\n```", "no target JOBS"),
    ("README.md", "```sh\nXSIGMA_PROFILER_HAT=1 make demo\n```", "names XSIGMA_PROFILER_HAT"),
    ("README.md", "```sh\nxsp stats a.xst\n```", "no verb stats"),
    ("README.md", "```sh\nxsp verify a.xst --all\n```", "no option --all"),
    ("README.md", "```sh\ncd x && cmake --preset prod\n```", "no preset prod"),
    ("README.md", "```sh\ntools/gone.sh now\n```", "tools/gone.sh is not there"),
    ("docs/map.md", '```mermaid\n  subgraph b["base · 0"]\n    x --> y\n  end\n```', "shows y, which is not in src/base"),
    ("README.md", "```cmake\nfind_package(xsp_gone)\n```", "names xsp_gone"),
    ("README.md", "```cmake\nlink(x gone::target)\n```", "names gone::target"),
    ("docs/troubleshooting.md", "> Profiler is already … on this fibre", "a message that the library does not have: on this fibre"),
]
SLUGS = {"What it *does*": "what-it-does", "`a_b()`, twice": "a_b-twice", "[Link](x.md) — dash": "link--dash", "C++ & you": "c--you"}
SHOWN = """```cpp
int a = 1;
```
<!-- check: a == 1 -->
```cpp continued
#include <map>
++a;
```
<!-- prelude: struct S {
}; -->
```cpp throws
S s;
```
```cpp
int main() {}
```
"""


def _write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "xsp").chmod(0o755)


def _faults(root, files):
    _write(root, files)
    return Docs(root, root / "xsp").run()


def _code_failures(path):
    programs = code.programs_of(Page(path, SHOWN), "docs/a.md")
    text = programs.get("a", "")
    failures = [] if set(programs) == {"a", "a_program_1"} else [f"programs made of a page: {sorted(programs)}"]
    for wanted in ("int a = 1;", "if (!(a == 1)) fail(", "#include <map>\n", "++a;\n}\n}\n", "struct S {\n};\nvoid run()", "true, fragment_at_"):
        if wanted not in text:
            failures.append(f"not in the program made of a page: {wanted!r}")
    if text.count("runFragment(\"docs/a.md:") != 2:
        failures.append("a block that continues another must not be a fragment of its own")
    for wrong in ("```cpp continued\n```\n", "```cpp sometimes\n```\n"):
        try:
            code.programs_of(Page(path, wrong), "docs/a.md")
            failures.append(f"taken without complaint: {wrong!r}")
        except code.BadBlock:
            pass
    return failures


def run(folder):
    failures = [f"the sound tree was faulted: {fault}" for fault in _faults(folder / "sound", SOUND)]
    for number, (name, text, words) in enumerate(PLANTED):
        found = _faults(folder / str(number), {**SOUND, name: SOUND[name] + "\n" + text + "\n"})
        if len(found) != 1 or not found[0].startswith(f"{name}:") or words not in found[0]:
            failures.append(f"planted in {name}: {text!r}, found: {found}")
    failures += [f"the anchor of {heading!r} is {slug_of(heading)!r}, not {slug!r}" for heading, slug in SLUGS.items() if slug_of(heading) != slug]
    failures += _code_failures(folder / "a.md")
    print("\n".join(failures) or f"check_docs: {len(PLANTED)} planted faults found, the sound tree passes")
    return 1 if failures else 0
