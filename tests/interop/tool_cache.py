"""Where the readers that the interop tests try are kept once fetched, and what happens when one cannot be had."""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


class Unavailable(Exception):
    """A reader cannot be had here; the text says why."""


def cache_folder(argument):
    """$XSIGMA_INTEROP_CACHE, so that several build folders can share, else what the command line says."""
    folder = Path(os.environ.get("XSIGMA_INTEROP_CACHE") or argument).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(folder, name):
    """Keeps other tests, of this and of other build folders, from fetching the same thing at the same time."""
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(command, what, limit_s=600, **options):
    """Runs a command that needs the network or an installed program. Unavailable where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{what}: {error}") from None
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise Unavailable(f"{what}: {' | '.join(words[-3:])}")
    return done.stdout


def run(test):
    """Ends the program with the status of test(): the number of its failures as 0 or 1, or 77 where a reader is unavailable.

    XSIGMA_INTEROP_REQUIRED=1 makes a reader that is unavailable a failure: for machines that are known to have it."""
    try:
        sys.exit(1 if test() else 0)
    except Unavailable as reason:
        if os.environ.get("XSIGMA_INTEROP_REQUIRED", "0") != "0":
            print(f"FAILED: XSIGMA_INTEROP_REQUIRED is set, and the reader is unavailable: {reason}")
            sys.exit(1)
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
