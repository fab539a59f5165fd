"""What the pages promise: links that lead somewhere, files, functions, variables, messages and commands that exist."""

import json
import re
import subprocess
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from doc_check.page import Page

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
TOP_FOLDERS = ("src", "include", "tests", "tools", "cli", "docs", "examples", "benchmarks", "cmake")
SOURCE_FOLDERS = ("src", "include", "cli", "cmake", "examples", "benchmarks", "tests", "tools")
TEXT_SUFFIXES = {".h", ".cpp", ".in", ".txt", ".cmake", ".json", ".py", ".sh"}
QUOTING_PAGE = "docs/troubleshooting.md"  # a line "> message" there quotes the library
PATH = re.compile(rf"^(?:{'|'.join(TOP_FOLDERS)})(?:/[\w.*+-]+)*/?$")
FILE_NAME = re.compile(r"^[\w-]+\.(?:h|cpp|py|cmake)$")
LINE_NUMBER = re.compile(r"[\w-]+\.(?:h|cpp|py|md):\d+")
FUNCTION = re.compile(r"^(?:[\w:]+(?:::|\.|->))?~?(\w+)\([^()]*\)$")
VARIABLE = re.compile(r"\b(?:XSIGMA|XSP|KINETO)_[A-Z0-9_]*[A-Z0-9]\b(?!\*|_)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-[a-z])\b")


class Docs:
    def __init__(self, root, xsp=None):
        self.root = root
        self.xsp = xsp
        self.faults = []
        self.checked = 0
        self.pages = {}
        for path in [root / name for name in PAGES] + sorted((root / "docs").glob("*.md")):
            if path.is_file():
                self.pages[path] = Page(path, path.read_text(encoding="utf-8"))

    def place(self, page):
        return page.path.relative_to(self.root).as_posix()

    def fault(self, page, line, what):
        self.faults.append(f"{self.place(page)}:{line}: {what}")

    def run(self):
        for page in self.pages.values():
            for line, target in page.links:
                self.check_link(page, line, target)
            for line, text in page.prose:
                if LINE_NUMBER.search(text):
                    self.fault(page, line, "names a line of a file: line numbers go stale")
            for line, code in page.code:
                self.check_code(page, line, code)
            for block in page.blocks:
                if block.language in ("sh", "console"):
                    for number, text in enumerate(block.text.splitlines()):
                        for command in re.split(r"&&|\|\||[;|]", text.removeprefix("$ ").split("#")[0]):
                            self.check_command(page, block.line + number, command.strip())
                elif block.language == "mermaid":
                    self.check_map(page, block)
                elif block.language == "cmake":
                    self.check_cmake(page, block)
            if self.place(page) == QUOTING_PAGE:
                for line, quote in page.quotes:
                    self.check_quote(page, line, quote)
        return self.faults

    # ---- links ----

    def check_link(self, page, line, target):
        if re.match(r"^[a-z][a-z0-9+.-]*:", target):
            return
        self.checked += 1
        name, _, anchor = target.partition("#")
        path = (page.path.parent / unquote(name)).resolve() if name else page.path
        if not path.is_relative_to(self.root):
            return self.fault(page, line, f"links to {target}, outside the project")
        if not path.exists():
            return self.fault(page, line, f"links to {target}, which is not there")
        if re.fullmatch(r"L\d+(?:-L?\d+)?", anchor):
            return self.fault(page, line, f"links to {target}: line numbers go stale")
        if anchor:
            known = self.pages.get(path)
            if known is None:
                return self.fault(page, line, f"links to {target}: anchors are for the pages that are checked")
            if anchor not in known.anchors:
                self.fault(page, line, f"links to {target}: {self.place(known)} has no such heading")

    # ---- names in `code` ----

    @cached_property
    def sources(self):
        found = [p for folder in SOURCE_FOLDERS for p in sorted((self.root / folder).rglob("*")) if p.is_file() and p.suffix in TEXT_SUFFIXES]
        found += [p for p in (self.root / "CMakeLists.txt", self.root / "CMakePresets.json", self.root / "Makefile") if p.is_file()]
        return {p: p.read_text(errors="replace") for p in found}

    @cached_property
    def words(self):
        """But for those of this checker, whose self-test names what is not there."""
        return {word for path, text in self.sources.items() if "doc_check" not in path.parts for word in re.findall(r"\w+", text)}

    @cached_property
    def file_names(self):
        return {path.name for path in self.sources}

    @cached_property
    def literals(self):
        """All code of the library and of xsp, neighbouring string literals joined, as a message reads."""
        text = "\n".join(text for path, text in self.sources.items() if path.relative_to(self.root).parts[0] in ("src", "include", "cli"))
        return re.sub(r'"\s*\n?\s*"', "", text).replace('\\"', '"')

    def check_code(self, page, line, code):
        if LINE_NUMBER.search(code):
            return self.fault(page, line, f"`{code}` names a line of a file: line numbers go stale")
        if PATH.match(code):
            self.checked += 1
            if not (list(self.root.glob(code)) if "*" in code else (self.root / code).exists()):
                self.fault(page, line, f"names `{code}`, which is not there")
        elif FILE_NAME.match(code):
            self.checked += 1
            if code not in self.file_names:
                self.fault(page, line, f"names the file `{code}`, which is nowhere in the project")
        for variable in VARIABLE.findall(code) if "/" not in code and not code.endswith(".md") else []:
            self.checked += 1
            if variable not in self.words:
                self.fault(page, line, f"names {variable}, which is nowhere in the project")
        function = FUNCTION.match(code)
        if function:
            self.checked += 1
            if function[1] not in self.words:
                self.fault(page, line, f"names `{code}`: no {function[1]} in the project")
        if re.match(r"^(?:NO_INSTALL=1 )?(?:make|xsp|cmake) ", code):
            self.check_command(page, line, code)

    def check_quote(self, page, line, quote):
        """Where a message differs from case to case the page writes …; its sentences may come from several literals."""
        for part in (part.strip("` ") for part in re.split(r"…|(?<=\.) ", quote)):
            if len(part) > 2:
                self.checked += 1
                if part not in self.literals:
                    self.fault(page, line, f"quotes a message that the library does not have: {part}")

    def check_map(self, page, block):
        """A subgraph called "folder · layer", or "folder and folder · layer", has boxes that are files or folders of src/folder."""
        folders = []
        for number, text in enumerate(block.text.splitlines(), block.line):
            title = re.match(r'\s*subgraph \w+\["([\w ]+) · \d+"\]', text)
            if title:
                folders = title[1].split(" and ")
            elif text.strip() == "end":
                folders = []
            elif folders and not text.strip().startswith("direction"):
                for box in re.findall(r'\w+(?:\["\w+"\])?', text):
                    self.checked += 1
                    name = box.split('"')[1] if '"' in box else box
                    if not any(list((self.root / "src" / folder).glob(f"{name}*")) for folder in folders):
                        self.fault(page, number, f"shows {name}, which is not in src/{' or src/'.join(folders)}")

    # ---- commands ----

    def check_cmake(self, page, block):
        for number, text in enumerate(block.text.splitlines(), block.line):
            for name in re.findall(r"find_package\((\w+)", text) + re.findall(r"\b\w+::\w+", text):
                self.checked += 1
                if not any(name in source for path, source in self.sources.items() if "doc_check" not in path.parts):
                    self.fault(page, number, f"names {name}, which is nowhere in the project")

    def check_command(self, page, line, command):
        words = [word for word in command.split() if "=" not in word or word.startswith("-")]
        for word in command.split():
            if VARIABLE.fullmatch(word.partition("=")[0]) and word.partition("=")[0] not in self.words:
                self.fault(page, line, f"names {word.partition('=')[0]}, which is nowhere in the project")
        if not words:
            return
        program = Path(words[0]).name
        if program == "make":
            for target in (word for word in words[1:] if not word.startswith("-")):
                self.checked += 1
                if target not in self.make_targets:
                    self.fault(page, line, f"`{command}`: the Makefile has no target {target}")
        elif program == "xsp":
            self.check_xsp(page, line, command, words[1:])
        elif program in ("cmake", "ctest") and "--preset" in words[:-1]:
            self.checked += 1
            preset = words[words.index("--preset") + 1]
            if preset not in self.presets:
                self.fault(page, line, f"`{command}`: there is no preset {preset}")
        elif "/" in words[0] and words[0].split("/")[0] in TOP_FOLDERS:
            self.checked += 1
            if not (self.root / words[0]).exists():
                self.fault(page, line, f"`{command}`: {words[0]} is not there")

    def check_xsp(self, page, line, command, words):
        if self.xsp is None or not words:
            return
        verb = words[0] if re.fullmatch(r"[a-z]+", words[0]) else ""
        self.checked += 1
        text = self.xsp_help(verb)
        if text is None:
            return self.fault(page, line, f"`{command}`: xsp has no verb {verb}")
        if " -- " in command:  # what follows is another program's
            command = command.split(" -- ")[0]
        for option in OPTION.findall(command):
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
                self.fault(page, line, f"`{command}`: xsp {verb} has no option {option}")

    @cached_property
    def make_targets(self):
        text = (self.root / "Makefile").read_text() if (self.root / "Makefile").is_file() else ""
        return set(re.findall(r"^([\w-]+):(?!=)", text, re.M))

    @cached_property
    def presets(self):
        path = self.root / "CMakePresets.json"
        return {preset["name"] for preset in json.loads(path.read_text())["configurePresets"]} if path.is_file() else set()

    def xsp_help(self, verb):
        """None if there is no such verb."""
        known = self.__dict__.setdefault("_helps", {})
        if verb not in known:
            done = subprocess.run([self.xsp] + ([verb] if verb else []) + ["--help"], capture_output=True, text=True, timeout=60)
            known[verb] = done.stdout if done.returncode == 0 else None
        return known[verb]
