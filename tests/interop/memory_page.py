#!/usr/bin/env python3
"""Opens a memory page in a browser and looks at what it draws.

    memory_page.py PAGE.html

A picture with areas has to be there, with ticks that read well, whatever the peak is, and no error of a script. Exit status 0: so it is; 1: it is
not; 77: no browser can be had here (a line says why).
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import tool_cache

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT_S = 60
PEAKS = (1000 * 1024, 1200 * 1024)  # just below and above where the unit changes
PEAK = re.compile(r'("peak": \{"bytes": )(\d+)')


def find_browser(folder):
    """The command that prints what a page has become, tried with an empty one."""
    program = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if not program:
        raise tool_cache.Unavailable("none of these is installed: " + ", ".join(BROWSERS))
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
               "--window-size=1300,1000", "--dump-dom"]
    if "ready" not in tool_cache.fetch([*command, "data:text/html,<p>ready</p>"], program, limit_s=LIMIT_S):
        raise tool_cache.Unavailable(f"{program} shows nothing")
    return command


def tick_failures(svg, peak):
    labels = re.findall(r'text-anchor="end">([\d.]+) (bytes|[KMGTP]iB)</text>', svg)
    values = [float(value) for value, _ in labels]
    if len(values) < 3 or len({unit for _, unit in labels}) != 1:
        yield f"the ticks are {labels}; expected are three or more of one unit"
        return
    steps = {round(after - before, 9) for before, after in zip(values, values[1:])}
    if len(steps) != 1:
        yield f"the ticks {values} are not evenly apart"
    size = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}[labels[0][1]]
    if values[-1] >= 1024 or not peak / 2 < values[-1] * size <= peak * 1.06:
        yield f"the highest tick is {values[-1]} {labels[0][1]}, and the peak {peak} bytes"


def failures_of(command, page, text):
    """What is wrong with the picture of this page."""
    page.write_text(text, encoding="utf-8")
    try:
        done = subprocess.run([*command, page.as_uri()], capture_output=True, encoding="utf-8", errors="replace", timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return [f"the page was not ready after {LIMIT_S} s"]
    found = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    picture = re.search(r"<svg.*?</svg>", done.stdout, re.DOTALL)
    if not picture:
        return [*found, "there is no picture"]
    areas = re.findall(r'<path d="M[^"]*Z" fill="#', picture[0])
    if not areas or "NaN" in picture[0]:
        found.append(f"{len(areas)} areas are drawn, {picture[0].count('NaN')} places are no numbers")
    return [*found, *tick_failures(picture[0], int(PEAK.search(text)[2]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", metavar="PAGE.html")
    text = Path(parser.parse_args().page).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        command, page = find_browser(folder), Path(folder) / "page.html"
        failures = failures_of(command, page, text)
        for peak in PEAKS:
            failures += [f"with a peak of {peak}: {each}" for each in failures_of(command, page, PEAK.sub(rf"\g<1>{peak}", text))]
        planted = failures_of(command, page, text.replace("'use strict';", "'use strict'; missing();"))
        if not any("missing is not defined" in each for each in planted):
            failures.append(f"an error of a script would not be noticed: {planted}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return len(failures)


if __name__ == "__main__":
    tool_cache.run(main)
