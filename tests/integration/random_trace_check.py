#!/usr/bin/env python3
"""Compares traces with what went into them.

    random_trace_check.py FOLDER    for each SEED.expected in it: SEED.json or SEED.json.gz

The JSON is read strictly: UTF-8, no key twice, no NaN, no number that a double cannot hold exactly where it is a time. random_trace_test.cpp says
what the lines of SEED.expected are. Exit status 1 if anything differs.
"""

import decimal
import functools
import gzip
import json
import sys
from pathlib import Path


def refuse(text):
    raise ValueError(f"{text} is no JSON")


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a key stands twice: {[key for key, _ in pairs]}")
    return members


def strict(data):
    return json.loads(data.decode("utf-8", "strict"), parse_constant=refuse, parse_float=decimal.Decimal, object_pairs_hook=unique)


@functools.lru_cache(maxsize=1024)
def shown(text):
    """Bytes as a reader should see them: what is no UTF-8 is replaced byte by byte."""
    data, out, at = bytes.fromhex(text[1:]), [], 0
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        pass
    while at < len(data):
        for length in (1, 2, 3, 4):
            try:
                out.append(data[at:at + length].decode("utf-8", "strict"))
            except UnicodeDecodeError:
                continue
            at += length
            break
        else:
            out.append("\ufffd")
            at += 1
    return "".join(out)


def nanoseconds(number):
    exact = decimal.Decimal(number) * 1000
    if exact != exact.to_integral_value() or not 0 <= exact < 2**53:
        raise ValueError(f"time {number} is no whole number of nanoseconds below 2^53")
    if round(float(number) * 1000) != exact:
        raise ValueError(f"time {number} is not exact as a double")
    return int(exact)


def read_expected(path):
    threads, events, base = {}, [], 0
    for line in path.read_text().splitlines():
        kind, *words = line.split(" ")
        if kind == "base":
            base = int(words[0])
        elif kind == "thread":
            threads[int(words[0])] = shown(words[1])
        else:
            phase, tid, start, duration, number, parent, name, *metadata = words
            pairs = [pair.split("=") for pair in metadata]
            events.append({"ph": phase, "tid": int(tid), "start": int(start), "dur": int(duration), "number": int(number), "parent": int(parent),
                           "name": shown(name), "metadata": {shown(key): shown(value) for key, value in pairs}})
    return threads, events, base


def with_parents(events):
    """Slices in the order in which they began on their thread, each with the place of its parent in that order; points with their slice."""
    result = []
    for tid in sorted({event["tid"] for event in events}):
        stack, slices = [], [e for e in events if e["tid"] == tid and e["ph"] == "X"]
        slices.sort(key=lambda e: e["args"]["Ev Idx"])
        for place, event in enumerate(slices):
            # A slice that begins with the one before it is inside, if it ends in time: which of both began first, the ids say.
            while stack and not (stack[-1][1]["start"] <= event["start"] and event["end"] <= stack[-1][1]["end"] and
                                 (event["start"] < stack[-1][1]["end"] or stack[-1][1]["dur"] == 0 or event["dur"] == 0)):
                stack.pop()
            result.append((tid, place, event, [outer for outer, _ in stack]))
            stack.append((place, event))
    return result


def compare(name, data, expected_path):
    threads, expected, base = read_expected(expected_path)
    trace = strict(data)
    if trace["baseTimeNanoseconds"] != base:
        raise ValueError(f"the base time is {trace['baseTimeNanoseconds']}, not {base}")
    found = {"X": [], "i": [], "C": []}
    names = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        if event["ph"] in ("b", "e"):
            raise ValueError(f"nothing here overlaps, but {event} does")
        if event["ph"] not in found or not isinstance(event["pid"], int):
            continue
        event["start"] = nanoseconds(event["ts"]) + base
        event["dur"] = nanoseconds(event.get("dur", 0))
        event["end"] = event["start"] + event["dur"]
        found[event["ph"]].append(event)
    for tid, text in threads.items():
        if names.get(tid) != f"thread {tid} ({text})":
            raise ValueError(f"thread {tid} is called {names.get(tid)!r}, not {text!r}")

    for phase, events in found.items():
        wanted = [e for e in expected if e["ph"] == phase]
        if len(events) != len(wanted):
            raise ValueError(f"{len(events)} {phase} events, not {len(wanted)}")
    for phase in ("i", "C"):
        key = lambda e: (e["tid"], e["start"], e["name"])  # noqa: E731
        if sorted(map(key, found[phase])) != sorted(key(e) for e in expected if e["ph"] == phase):
            raise ValueError(f"{phase} events differ")

    placed = with_parents(found["X"])
    for tid in threads:
        wanted = [e for e in expected if e["ph"] == "X" and e["tid"] == tid]
        place_of = {e["number"]: place for place, e in enumerate(wanted)}
        have = [item for item in placed if item[0] == tid]
        for (_, place, event, around), want in zip(have, wanted):
            where = f"thread {tid}, slice {place}"
            for key in ("name", "start", "dur"):
                if event[key] != want[key]:
                    raise ValueError(f"{where}: {key} is {event[key]!r}, not {want[key]!r}")
            # Where a parent ends as its next sibling begins both may look like it; the right one has to be among those around it.
            if want["parent"] >= 0 and place_of[want["parent"]] not in around:
                raise ValueError(f"{where}: {place_of[want['parent']]} is not around it, but {around}")
            for key, value in want["metadata"].items():
                if event["args"].get(key) != value:
                    raise ValueError(f"{where}: {key!r} is {event['args'].get(key)!r}, not {value!r}")
    ids = [e["args"]["External id"] for e in found["X"]]
    if len(set(ids)) != len(ids):
        raise ValueError("two slices have one id")
    check_rows(found["X"])
    return len(expected)


def check_rows(slices):
    rows = {}
    for event in slices:
        rows.setdefault(event["tid"], []).append(event)
    for tid, events in rows.items():
        ends, before = [], None
        for event in sorted(events, key=lambda e: (e["start"], -e["dur"])):  # stable: what ties stays in the order of the file
            if before and (before["start"], before["dur"]) == (event["start"], event["dur"]) and before["args"]["Ev Idx"] > event["args"]["Ev Idx"]:
                raise ValueError(f"thread {tid}: {event['name'][:40]!r} began first and stands later, so that readers nest it wrongly")
            before = event
            while ends and ends[-1] <= event["start"]:
                ends.pop()
            if ends and event["end"] > ends[-1]:
                raise ValueError(f"thread {tid}: {event['name'][:40]!r} crosses another slice")
            ends.append(event["end"])


def main():
    bad = compared = events = 0
    for expected in sorted(Path(sys.argv[1]).glob("*.expected")):
        plain = expected.with_suffix(".json")
        data = plain.read_bytes() if plain.exists() else gzip.open(expected.with_suffix(".json.gz")).read()
        try:
            events += compare(expected.stem, data, expected)
            compared += 1
        except (ValueError, KeyError) as error:
            print(f"seed {expected.stem}: {error!s:.400}")
            bad += 1
    print(f"{compared} traces with {events} events are as they went in, {bad} are not")
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
