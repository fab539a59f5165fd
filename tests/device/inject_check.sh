#!/usr/bin/env bash
# Builds what inject_check.py needs, with nvcc and the CUDA runtime inside the program, and runs it: one line a case.
#
#   tests/device/inject_check.sh [--build FOLDER] [OPTION of inject_check.py...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/device
if [ "${1:-}" = --build ]; then
  build=$2
  shift 2
fi
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH=$PATH:/usr/local/cuda/bin
fi
[ -f "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DXSIGMA_PROFILER_DEVICE_TESTS=ON -DXSIGMA_PROFILER_BUILD_EXAMPLES=OFF
cmake --build "$build" --target device_injected_launches device_export xsp_inject -j "$(nproc)" | tail -n 3
exec python3 -B tests/device/inject_check.py --inject "$build/src/inject/libxsp_inject.so" --program "$build/tests/device/device_injected_launches" \
  --export "$build/tests/device/device_export" "$@"
