#!/bin/bash
# Builds counters_probe and runs it. No CUDA compiler is needed: CUPTI's and the driver's headers, fmt, a C++20 compiler.
#
#   CUPTI_INCLUDE=DIR   where cupti.h and cuda.h are (several, separated by blanks); found in the toolkit or the Python packages otherwise
#   PROBE_CUPTI=FILE    the libcupti to open; found by the loader otherwise
#   OUT=DIR             where the program and its output go (counters_probe.txt); build/device otherwise
#   PREBUILT=1          runs what is in OUT already, built elsewhere with BUILD_ONLY=1 CXXFLAGS="-static-libstdc++ -static-libgcc"
#   counters_probe.sh [SCENARIO]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/build/device}
mkdir -p "$out"

if [ -z "${CUPTI_INCLUDE:-}" ]; then
  for dir in /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include /usr/local/cuda/targets/*/include \
    $(python3 -c 'import glob, site; print(*[d for s in site.getsitepackages() for d in glob.glob(s + "/nvidia/*/include")])' 2>/dev/null); do
    [ -d "$dir" ] && CUPTI_INCLUDE="${CUPTI_INCLUDE:-} $dir"
  done
fi
includes=""
for dir in ${CUPTI_INCLUDE:-}; do includes="$includes -isystem $dir"; done

if [ -z "${PROBE_CUPTI:-}" ]; then
  for file in /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1? /usr/local/cuda/lib64/libcupti.so.1? /usr/local/cuda/targets/*/lib/libcupti.so.1? \
    $(python3 -c 'import glob, site; print(*[f for s in site.getsitepackages() for f in glob.glob(s + "/nvidia/*/lib/libcupti.so.1?")])' 2>/dev/null); do
    if [ -e "$file" ]; then
      PROBE_CUPTI=$file
      export PROBE_CUPTI
      break
    fi
  done
fi
echo "headers:$includes"
echo "library: ${PROBE_CUPTI:-by the loader}"

if [ -z "${PREBUILT:-}" ]; then
# shellcheck disable=SC2086
${CXX:-c++} -std=c++20 -O1 -g -Wall -Wextra -DFMT_HEADER_ONLY ${CXXFLAGS:-} -I"$root/src" -I"$root/include" $includes \
  "$root"/tests/device/counters_probe.cpp $(ls "$root"/src/backends/cupti/counters/*.cpp) "$root"/src/base/dynamic_library.cpp \
  "$root"/src/base/status.cpp "$root"/src/base/log.cpp "$root"/src/base/environment.cpp "$root"/tests/device/backend_base.cpp \
  -ldl -lpthread -o "$out/counters_probe"
fi
[ -z "${BUILD_ONLY:-}" ] || exit 0
"$out/counters_probe" "$@" 2>&1 | tee "$out/counters_probe.txt"
