#!/bin/bash
# Builds the programs and runs them; OUTDIR gets cupti_13_0.rec, record.txt, explore.txt and danger.txt. No step stops the others.
out=${1:?usage: run.sh OUTDIR}
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)

nvcc=$(command -v nvcc)
for candidate in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda /usr/local/cuda-13.0; do
  [ -z "$nvcc" ] && [ -x "$candidate/bin/nvcc" ] && nvcc=$candidate/bin/nvcc
done
echo "nvcc: $nvcc"; "$nvcc" --version | tail -2
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv 2>&1

toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)
include= lib=
for base in "$CUDA_HOME" "$toolkit" "$(dirname "$(dirname "$nvcc")")" /usr/local/cuda "$site/nvidia/cu13" "$site/nvidia/cuda_cupti"; do
  for folder in "$base/extras/CUPTI/include" "$base/include" "$base/targets/x86_64-linux/include" "$base/targets/sbsa-linux/include"; do
    [ -z "$include" ] && [ -f "$folder/cupti.h" ] && include=$folder
  done
  for folder in "$base/extras/CUPTI/lib64" "$base/lib64" "$base/lib" "$base/targets/x86_64-linux/lib" "$base/targets/sbsa-linux/lib"; do
    [ -z "$lib" ] && lib=$(ls "$folder"/libcupti.so "$folder"/libcupti.so.1? 2>/dev/null | head -1)
  done
done
echo "CUPTI: headers in $include, library $lib"
ls -l "$(dirname "$lib")"/libcupti* 2>&1

ln -sf "$lib" "$work/libcupti.so"
for program in record_cupti explore_cupti endanger_cupti; do
  # nvcc 13.0 fails on explore_cupti as C++20
  "$nvcc" -std=c++17 -O2 -arch=sm_90 -I"$include" -o "$work/$program" "$here/$program.cu" -L"$work" -lcupti -ldl -lpthread \
    -Xlinker -rpath -Xlinker "$(dirname "$lib")" 2>&1 || echo "! $program was not built"
done

cd "$work" || exit 1
{ time timeout 40 ./record_cupti "$out/cupti_13_0.rec"; echo "record_cupti ended with $?"; } >"$out/record.txt" 2>&1
grep -E '^(Q|!|recording|expected|buffer|record_cupti)' "$out/record.txt"
ls -l "$out"
ask() {
  timeout "$1" ./explore_cupti "${@:2}"
  local rc=$?
  [ $rc -eq 0 ] || echo "! explore_cupti ${*:2} ended with $rc"
}
{
  ask 10 Q11
  ask 20 Q1
  ask 20 Q1callback
  ask 10 Q4
  ask 10 Q5
  ask 10 Q6
  ask 10 Q7
  for zeroed in -1 1; do for per_thread in 0 1; do ask 12 Q9 $zeroed $per_thread; done; done
  # The clocks need no quiet machine, and three programs at a time save half a minute.
  ask 60 Q2 0 40 >"$work/tsc.txt" 2>&1 &
  tsc=$!
  ask 20 Q2 1 10
  ask 20 Q2 2 10
  wait $tsc
  cat "$work/tsc.txt"
} 2>&1 | tee "$out/explore.txt"
{
  for question in "graph 0" "graph 1" "stale 0" "stale 1" "leaving 1" "leaving 4" busy crowd\ {subscribe,dump,enable,callback,unsubscribe,finalize}\ {2,8}; do
    # shellcheck disable=SC2086
    timeout 20 ./endanger_cupti $question || echo "! $question ended with $?"
  done
} 2>&1 | tee "$out/danger.txt"
rm -rf "$work"
exit 0
