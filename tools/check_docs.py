#!/usr/bin/env python3
"""Checks what README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs/*.md say, and makes programs of their C++.

    check_docs.py [--root DIR] [--xsp FILE]   links and anchors; files, functions, variables, messages and commands that are named; exit status 1 if
                                              something is wrong. Verbs and options of xsp are tried on FILE
    check_docs.py --extract OUT [--root DIR]  writes the code of the pages to OUT/NAME.cpp, and prints the names
    check_docs.py --self-test                 plants one fault of each kind in a temporary tree and checks that each is found

Code in the pages: a ```cpp block with a main is a program. All other blocks of a page make one program, a function each. Words after ```cpp change that:
`declarations` (at namespace scope), `continued` (goes on where the block before it ended), `throws` (must throw ProfilerError). A hidden comment before a block,
<!-- prelude: void work() {} -->, is code in front of it; one after it, <!-- check: result->events().size() == 2 -->, must be true when it has run.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from doc_check import code, self_test
from doc_check.rules import Docs


def write_if_changed(path, text):
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(root, out):
    out.mkdir(parents=True, exist_ok=True)
    names = []
    docs = Docs(root)
    for page in docs.pages.values():
        try:
            programs = code.programs_of(page, docs.place(page))
        except code.BadBlock as bad:
            print(bad, file=sys.stderr)
            return 1
        for name, text in programs.items():
            write_if_changed(out / f"{name}.cpp", text)
            names.append(name)
    print("\n".join(names))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--xsp", type=Path)
    parser.add_argument("--extract", type=Path, metavar="OUT")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        with tempfile.TemporaryDirectory() as folder:
            return self_test.run(Path(folder).resolve())
    if arguments.extract:
        return extract(arguments.root.resolve(), arguments.extract)
    docs = Docs(arguments.root.resolve(), arguments.xsp)
    faults = docs.run()
    print("\n".join(faults + [f"check_docs: {len(faults) or 'no'} faults ({docs.checked} things checked in {len(docs.pages)} pages)"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
