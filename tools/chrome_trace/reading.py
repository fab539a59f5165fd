"""A Chrome trace as its text says it: strict JSON, each number's digits, where each top-level key stands."""

import collections
import json
import math
import re


class Unreadable(Exception):
    """The text is not JSON, or not a trace: nothing more can be said of it."""


class Real(float):
    """A number with a fraction or an exponent, and its text."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return is_int(value) or (isinstance(value, float) and math.isfinite(value))


class Report:
    """Collects what is wrong. `where` is the index of an event, or None for the file.

    foreign: the trace is not ours, see fail_ours. numeric: it was written for readers that do not take a string as pid or tid."""

    def __init__(self, foreign=False, numeric=False):
        self.foreign = foreign
        self.numeric = numeric
        self.found = collections.defaultdict(list)  # (is it a warning, the kind of its reason) -> lines

    def add(self, is_warning, where, reason):
        kind = re.sub(r"""\d+|'[^']*'|"[^"]*\"""", "", reason)  # what differs from one event to the next
        self.found[is_warning, kind].append(line_of(where, reason))

    def fail(self, where, reason):
        self.add(False, where, reason)

    def fail_ours(self, where, reason):
        if not self.foreign:
            self.fail(where, reason)

    def warn(self, where, reason):
        self.add(True, where, reason)

    def lines(self, warnings=False, most=None):
        """All lines; those beyond the first `most` of a kind are only counted."""
        for (is_warning, _), lines in self.found.items():
            if is_warning == warnings:
                yield from lines[:most]
                if most is not None and len(lines) > most:
                    yield f"... and {len(lines) - most} more like it"

    @property
    def violations(self):
        return list(self.lines())

    @property
    def warnings(self):
        return list(self.lines(warnings=True))


def line_of(where, reason):
    return reason if where is None else f"event {where}: {reason}"


class Trace:
    def __init__(self, data, report):
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable(f"not UTF-8: byte {error.start}: {error.reason}") from None
        self.report = report
        self.where = None  # what is being decoded
        self.decoder = json.JSONDecoder(object_pairs_hook=self.to_dict, parse_float=Real, parse_constant=self.refuse)
        self.top = {}
        self.places = {}  # key -> (where its text starts, where its value starts, where that ends)
        self.events = []
        self.times = []  # event -> (start, end) in ns, or None
        if self.text[self.skip_blanks(0):][:1] != "{":
            raise Unreadable("not the object form: the first character has to be {")
        end = self.read_list(self.skip_blanks(0), "}", self.read_member)
        if self.skip_blanks(end) != len(self.text):
            raise Unreadable(f"text after the end of the object, at character {end}")
        if not isinstance(self.top.get("traceEvents"), list):
            raise Unreadable("traceEvents is missing, or is no array")

    def skip_blanks(self, at):
        return re.compile(r"[ \t\r\n]*").match(self.text, at).end()

    def to_dict(self, pairs):
        members = dict(pairs)
        if len(members) != len(pairs):
            keys = collections.Counter(key for key, _ in pairs)
            self.report.fail(self.where, "duplicate key " + ", ".join(f'"{key}"' for key, count in keys.items() if count > 1))
        return members

    def refuse(self, literal):
        raise ValueError(f"{literal} is no JSON value")

    def decode(self, at):
        try:
            return self.decoder.raw_decode(self.text, at)
        except (ValueError, RecursionError) as error:
            raise Unreadable(line_of(self.where, f"not JSON: {error}")) from None

    def read_list(self, at, close, read_item):
        """Reads items from the bracket at `at` to `close`; read_item takes where an item starts and returns where it ends."""
        at = self.skip_blanks(at + 1)
        if self.text[at:at + 1] == close:
            return at + 1
        while True:
            at = self.skip_blanks(read_item(self.skip_blanks(at)))
            if self.text[at:at + 1] == close:
                return at + 1
            if self.text[at:at + 1] != ",":
                raise Unreadable(line_of(self.where, f'not JSON: expecting "," or "{close}" at character {at}'))
            at += 1

    def read_member(self, start):
        self.where = None
        if self.text[start:start + 1] != '"':
            raise Unreadable(f"not JSON: expecting a key at character {start} (is there a comma too many?)")
        key, at = self.decode(start)
        at = self.skip_blanks(at)
        if self.text[at:at + 1] != ":":
            raise Unreadable(f'not JSON: expecting ":" at character {at}')
        at = self.skip_blanks(at + 1)
        if key == "traceEvents" and self.text[at:at + 1] == "[":
            value, end = self.events, self.read_list(at, "]", self.read_event)
        else:
            value, end = self.decode(at)
        if key in self.top:
            self.report.fail(None, f'duplicate key "{key}"')
        self.top[key] = value
        self.places[key] = (start, at, end)
        return end

    def read_event(self, start):
        self.where = len(self.events)
        event, end = self.decode(start)
        if not isinstance(event, dict):
            raise Unreadable(line_of(self.where, "is no object"))
        for key in {"ph", "cat", "name"} & event.keys():
            if not isinstance(event[key], str):
                self.report.fail(self.where, f"{key} {event[key]!r} is no string")
                event[key] = repr(event[key])
        self.events.append(event)
        return end

    def each(self, *phases):
        return ((index, event) for index, event in enumerate(self.events) if event.get("ph") in phases)

    def rows(self):
        """(pid, tid) -> [(start, end, index)] of its slices, an outer one before those in it."""
        rows = collections.defaultdict(list)
        for index, event in self.each("X"):
            if self.times[index]:
                rows[row_of(event)].append((*self.times[index], index))
        for slices in rows.values():
            slices.sort(key=lambda s: (s[0], -s[1], s[2]))
        return rows


def row_of(event):
    return repr(event.get("pid")), repr(event.get("tid"))


def args_of(event):
    return event["args"] if isinstance(event.get("args"), dict) else {}


def label(event):
    return f'{event.get("ph")} "{event.get("name")}"'
