#!/usr/bin/env bash
# Everything that only a GPU can show, in under ten minutes: builds what is needed, runs it, and prints one table at the end.
#
#   tests/device/run_all.sh OUT [--clock SECONDS] [--total SECONDS] [--build FOLDER] [--only "STEP..."]
#
# OUT gets at most eight files: a summary, the logs, traces. Nothing stops at the first failure; the clock run comes last and is cut short rather than the
# rest, and says so. Steps: conservation links overlap overlap_check launch_cost torch extras clock. Exit status: how many steps failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ $# -lt 1 ] || [ "${1#-}" != "$1" ]; then
  sed -n '2,7p' "${BASH_SOURCE[0]}"
  exit 2
fi
out=$1
shift
clock=240 total=580 build=build/device only=""
while [ $# -gt 1 ]; do
  case $1 in
    --clock) clock=$2 ;;
    --total) total=$2 ;;
    --build) build=$2 ;;
    --only) only=$2 ;;
    *) echo "what is $1?"; exit 2 ;;
  esac
  shift 2
done
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
began=$SECONDS
left() { echo $((total - (SECONDS - began))); }
most_bytes=$((15 << 20))
failures=0
table=""

# The compiler may not be on the path.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH=$PATH:/usr/local/cuda/bin
fi

# step NAME LIMIT COMMAND...: runs it within the limit and what is left of the total; its output goes to NAME.log and, its end, to the terminal.
step() {
  local name=$1 limit=$2 started=$SECONDS status=0 word
  shift 2
  if [ -n "$only" ] && [[ " $only build " != *" $name "* ]]; then return 0; fi
  [ "$(left)" -lt "$limit" ] && limit=$(left)
  if [ "$limit" -lt 5 ]; then
    word="left out: no time"
    failures=$((failures + 1))
  else
    echo "==> $name: $*"
    timeout --kill-after=10 "$limit" "$@" >"$work/$name.log" 2>&1 || status=$?
    tail -n "${tail_lines:-24}" "$work/$name.log" | cut -c1-170
    case $status in
      0) word=ok ;;
      77) word="skipped: $(grep -m1 '^skipped' "$work/$name.log" | cut -d: -f2-)" ;;
      124 | 137) word="FAILED: cut off after $limit s" ;;
      *) word="FAILED, status $status" ;;
    esac
    [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && failures=$((failures + 1))
  fi
  table+=$(printf '%-16s %5d s  %s' "$name" $((SECONDS - started)) "$word")$'\n'
  return "$status"
}

# keep FILE NAME: into OUT, compressed, if it is small enough to bring along.
keep() {
  local file=$1 name=$2
  [ -f "$file" ] || return 0
  case $file in
    *.gz) cp "$file" "$work/kept" ;;
    *) gzip -c "$file" >"$work/kept" ;;
  esac
  if [ "$(stat -c %s "$work/kept")" -lt "$most_bytes" ]; then
    mv "$work/kept" "$out/$name"
  else
    table+="$name is left out: $(stat -c %s "$work/kept") bytes"$'\n'
  fi
}

build_all() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -cd 0-9)
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DXSIGMA_PROFILER_DEVICE_TESTS=ON -DXSIGMA_PROFILER_BUILD_EXAMPLES=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${capability:-native}" &&
    cmake --build "$build" --target device_programs -j "$(nproc)"
}
# Tests of a device that are not run by name below: of injection, of counters.
extras() {
  local known='^device\.(conservation|clock_run|overlap|conservation_links|overlap_shown|checks_notice)$'
  ctest --test-dir "$build" -L device -E "$known" --output-on-failure --timeout 60
}
export -f build_all extras
export build

{
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
  nvcc --version | tail -n 2 | head -n 1
  ${CXX:-c++} --version | head -n 1
  echo "$(nproc) cores, $(uname -r), clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)"
} >"$work/machine.txt" 2>&1
cat "$work/machine.txt"

tail_lines=8 step build 240 bash -c build_all
programs=$build/tests/device
step conservation 90 "$programs/device_conservation" --output "$work/conservation.json.gz"
step links 60 python3 -B tests/device/check_links.py "$work/conservation.json.gz"
step overlap 40 "$programs/device_overlap" --output "$work/overlap.json.gz"
step overlap_check 40 python3 -B tests/device/overlap_check.py --cache "$work/cache" "$work/overlap.json.gz"
step launch_cost 120 "$build/benchmarks/device/launch_cost"
inject=$(find "$build" -name 'libxsp_inject.so' -print -quit 2>/dev/null)
tail_lines=40 step torch 150 python3 -B tests/device/torch_compare.py --rounds 2 --inject "${inject:-libxsp_inject.so}" --export "$programs/device_export" --folder "$work/torch"
step extras 150 bash -c extras
possible=$(($(left) - 30))
seconds=$clock
[ "$possible" -lt "$clock" ] && seconds=$possible
[ "$seconds" -lt "$clock" ] && table+="the clock run was cut to $seconds s of $clock: the rest took too long"$'\n'
tail_lines=30 step clock $((seconds + 30)) "$programs/device_clock_run" --seconds "$seconds" --file "$work/clock_run.xst"

for log in "$work"/*.log; do printf '\n==== %s\n' "$(basename "$log")" && tail -c 400000 "$log"; done >"$out/logs.txt"
keep "$work/conservation.json.gz" conservation.json.gz
keep "$work/overlap.json.gz" overlap.json.gz
keep "$work/torch/ours_0.json" torch_ours.json.gz
for capture in "$work"/torch/ours_0*.xst; do keep "$capture" torch_ours.xst.gz; done  # a process id may be in its name
keep "$work/torch/torch_0.json" torch_theirs.json.gz
{
  cat "$work/machine.txt"
  printf '%s' "$table"
  echo "$failures failed, $((SECONDS - began)) s in all"
} | tee "$out/summary.txt"
exit "$failures"
