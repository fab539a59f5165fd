"""Rules about the file: its header, its layout, its ledger."""

import json
import re

from chrome_trace.reading import is_int

KEY_ORDER = ["schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"]
AFTER_EVENTS = {"traceName", "xsigmaAssembly"}
QUARTER_NS = 7889238 * 10**9
BIG_FILE = 500 * 10**6


def check_strings(trace, report):
    if re.search(r"\\u[dD][89a-fA-F]", trace.text):
        for index, event in [(None, {k: v for k, v in trace.top.items() if k != "traceEvents"}), *enumerate(trace.events)]:
            if re.search("[\ud800-\udfff]", json.dumps(event, ensure_ascii=False, default=str)):
                report.fail(index, "half of a surrogate pair, which is no character")
    if len(trace.text) > BIG_FILE:
        report.warn(None, f"{len(trace.text)} characters: viewers that run in a browser give up above about {BIG_FILE}")


def check_layout(trace, report):
    keys = list(trace.places)
    for key in KEY_ORDER:
        if key not in trace.top:
            report.fail_ours(None, f'key "{key}" is missing')
    listed = [key for key in keys if key in KEY_ORDER]
    if listed != [key for key in KEY_ORDER if key in listed]:
        report.fail_ours(None, f"key order: found {', '.join(listed)}; has to be {', '.join(KEY_ORDER)}")
    for key in keys[keys.index("traceEvents") + 1:]:
        if key not in AFTER_EVENTS:
            report.fail_ours(None, f'key order: "{key}" comes after traceEvents, where readers of the header no longer look')
    for key, (start, value, _) in trace.places.items():
        line_start = trace.text.rfind("\n", 0, start) + 1
        if line_start == 0 or trace.text[line_start:start].strip():
            report.fail_ours(None, f'key "{key}" does not begin a line')
        if not trace.text[:value].endswith((" ", "\n")):
            report.fail_ours(None, f'no blank after the colon of "{key}"')


def check_rank(trace, report):
    info = trace.top.get("distributedInfo")
    if not isinstance(info, dict):
        return report.fail_ours(None, "distributedInfo is no object")
    rank, world = info.get("rank"), info.get("world_size")
    if not (is_int(rank) and is_int(world) and 0 <= rank < world):
        report.fail_ours(None, f"distributedInfo: rank {rank!r} and world_size {world!r} have to be integers, 0 <= rank < world_size")
    if not isinstance(info.get("backend"), str):
        report.fail_ours(None, "distributedInfo: backend is no string")
    # One reader looks for the rank by this pattern, in each line of the file, and takes the first.
    first = re.search(r'"rank":[ \t]+(\d+)', trace.text)
    _, start, end = trace.places["distributedInfo"]
    if not first or not start < first.start() < end:
        place = f"at character {first.start()}, outside of distributedInfo" if first else "nowhere"
        report.fail_ours(None, f'the first "rank": N, with a blank after the colon, is {place}')


def check_header(trace, report):
    top = trace.top
    if "schemaVersion" in top and top["schemaVersion"] != 1:
        report.fail_ours(None, f"schemaVersion is {top['schemaVersion']!r}, not 1")
    if not isinstance(top.get("deviceProperties", []), list) or not all(isinstance(d, dict) for d in top.get("deviceProperties", [])):
        report.fail_ours(None, "deviceProperties is no array of objects")
    if top.get("displayTimeUnit", "ms") not in ("ms", "ns"):
        report.fail(None, f"displayTimeUnit is {top['displayTimeUnit']!r}, neither ms nor ns")
    base = top.get("baseTimeNanoseconds", 0)
    if not is_int(base) or base < 0 or base % QUARTER_NS:
        report.fail_ours(None, f"baseTimeNanoseconds {base!r} is no multiple of {QUARTER_NS}, so ranks would not share it")


def check_ledger(trace, report):
    ledger = trace.top.get("xsigmaLedger")
    if not isinstance(ledger, dict):
        return report.fail_ours(None, "xsigmaLedger is missing, or is no object")
    threads = ledger.get("threads")
    if not isinstance(threads, list) or not all(isinstance(t, dict) for t in threads):
        return report.fail(None, "xsigmaLedger: threads is no array of objects")
    names = ("attempted", "recorded", "dropped")
    for place, counts in [("xsigmaLedger", ledger), *((f"xsigmaLedger: thread {i}", t) for i, t in enumerate(threads))]:
        causes = counts.get("causes")
        if not isinstance(causes, dict) or not all(is_int(n) and n >= 0 for n in [*causes.values(), *(counts.get(n) for n in names)]):
            return report.fail(None, f"{place}: attempted, recorded, dropped and each of causes{{}} have to be integers from 0 on")
        if counts["attempted"] != counts["recorded"] + counts["dropped"]:
            report.fail(None, f"{place}: attempted {counts['attempted']} != recorded {counts['recorded']} + dropped {counts['dropped']}")
        if counts["dropped"] != sum(causes.values()):
            report.fail(None, f"{place}: dropped {counts['dropped']} != the sum of its causes, {sum(causes.values())}")
    for name in names:
        total = sum(thread[name] for thread in threads)
        if total > ledger[name] or (total < ledger[name] and not ledger.get("threads_dropped")):
            report.fail(None, f"xsigmaLedger: {name} {ledger[name]} != the sum over the threads, {total}")
