#!/usr/bin/env bash
# The headers that this folder is compiled with, for machines without a CUDA toolkit: three Python packages, of which only the include folders are kept,
# in build/cuda-headers. No network: it says so, and the build goes on without. NO_INSTALL=1: nothing is fetched.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
headers=$root/build/cuda-headers
say() { echo "setup: CUDA headers: $*"; }

for place in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$headers"; do
  if [ -n "$place" ] && { [ -f "$place/include/cupti_activity.h" ] || [ -f "$place/extras/CUPTI/include/cupti_activity.h" ]; }; then
    say "those in $place"
    exit 0
  fi
done
if [ -n "${NO_INSTALL:-}" ]; then
  say "not found, and NO_INSTALL is set: the build leaves CUDA out"
  exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  say "not found, and python3 has no pip to fetch them with: the build leaves CUDA out"
  exit 0
fi

say "no toolkit here; fetching nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-cuda-crt with pip, for their headers"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -m pip download -q --disable-pip-version-check --no-deps -d "$work" nvidia-cuda-cupti nvidia-cuda-runtime nvidia-cuda-crt >"$work/log" 2>&1; then
  say "they could not be fetched, so the build leaves CUDA out: $(grep -v '^$' "$work/log" | tail -n 1)"
  exit 0
fi
mkdir -p "$headers"
python3 - "$work" "$headers" <<'PYTHON'
import pathlib, sys, zipfile
work, headers = map(pathlib.Path, sys.argv[1:])
for wheel in work.glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            before, found, after = name.partition("/include/")
            if found and after and not name.endswith("/") and before.startswith("nvidia/"):
                target = headers / "include" / after
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
PYTHON
say "put into build/cuda-headers"
