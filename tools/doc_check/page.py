"""A page of Markdown, taken apart: headings, links, inline code, fenced blocks and the hidden comments that steer them."""

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(.*)$")
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
INLINE_CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)")
HTML_LINK = re.compile(r"<(?:img|a|source|picture)\b[^>]*?\b(?:src|href|srcset)=\"([^\"]+)\"")
HTML_ANCHOR = re.compile(r"<[a-z]+\b[^>]*?\b(?:id|name)=\"([^\"]+)\"")
HIDDEN = re.compile(r"^<!--\s*(prelude|check):\s*(.*?)\s*-->$")


@dataclass
class Block:
    language: str
    markers: list
    line: int  # of its first line of code
    text: str
    prelude: str = ""
    checks: list = field(default_factory=list)


class Page:
    """What is in one page. Links and inline code come with the number of their line; code in fences is in blocks only."""

    def __init__(self, path, text):
        self.path = path
        self.links, self.code, self.quotes, self.blocks, self.prose = [], [], [], [], []
        self.anchors = set()
        self._slugs = {}
        self._scan(text.splitlines())

    def _scan(self, lines):
        fence = block = comment = None
        body, prelude = [], ""
        for number, line in enumerate(lines, 1):
            if fence:
                if line.strip().startswith(fence[1]) and not line.strip().strip(fence[1][0]):
                    block.text = "\n".join(body)
                    self.blocks.append(block)
                    fence, body = None, []
                else:
                    body.append(line[len(fence[0]):] if line.startswith(fence[0]) else line)
                continue
            if comment is not None or (line.startswith("<!--") and "-->" not in line):
                comment = line if comment is None else comment + "\n" + line
                if "-->" not in line:
                    continue
                line, comment = comment, None
            hidden = re.match(HIDDEN.pattern, line.strip(), re.S)
            if hidden:
                if hidden[1] == "prelude":
                    prelude = hidden[2]
                elif self.blocks:
                    self.blocks[-1].checks.append((number, hidden[2]))
                continue
            found = FENCE.match(line)
            if found:
                words = found[3].split()
                fence = (found[1], found[2])
                block = Block(words[0] if words else "", words[1:], number + 1, "", prelude)
                prelude = ""
                continue
            self._line(number, line)

    def _line(self, number, line):
        heading = HEADING.match(line)
        if heading:
            self._heading(heading[2])
        if line.startswith("> "):
            self.quotes.append((number, line[2:].strip()))
        self.code += [(number, found[2].strip()) for found in INLINE_CODE.finditer(line)]
        prose = INLINE_CODE.sub(lambda found: "`" * len(found[0]), line)
        self.prose.append((number, prose))
        self.anchors.update(HTML_ANCHOR.findall(prose))
        for pattern in (LINK, HTML_LINK, REFERENCE):
            self.links += [(number, found[1]) for found in pattern.finditer(prose)]

    def _heading(self, text):
        slug = slug_of(text)
        repeat = self._slugs.get(slug, 0)
        self._slugs[slug] = repeat + 1
        self.anchors.add(f"{slug}-{repeat}" if repeat else slug)


def slug_of(heading):
    """GitHub's anchor of a heading: the text without markup, small, without punctuation, blanks as hyphens."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>]+>|[`*]", "", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
