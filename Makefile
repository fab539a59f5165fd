# The commands a person types. Everything else is CMake: see CMakePresets.json.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)

# Some kernels place memory where ThreadSanitizer does not expect it; without address randomisation it always starts.
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: help setup setup-test demo test test-dev test-asan test-tsan test-minimal format clean

help:
	@echo "make demo     builds an example, runs it under the profiler and shows what was recorded"
	@echo "make test     builds and runs all tests: plain, under ASan+UBSan, under TSan; and builds the minimal library"
	@echo "make format   formats the C++ code with clang-format"
	@echo "make clean    removes the folder build/"
	@echo
	@echo "demo and test first install what is missing on Debian and Ubuntu, and say so; NO_INSTALL=1 keeps them from it."

setup:
	@tools/setup.sh

setup-test:
	@tools/setup.sh test

demo: setup
	@echo "==> demo: building the library, the example and xsp (build/release)"
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target workload xsp
	@echo
	@echo "==> demo: two threads multiply matrices. Where their time, memory and floating-point operations went:"
	@echo
	@cd build/release && rm -f demo.xst demo.json demo.html && examples/workload demo
	@echo
	@echo "==> demo: the capture was written while the program ran and would have survived its death. Is it whole?  xsp verify demo.xst"
	@echo
	@build/release/cli/xsp verify build/release/demo.xst
	@echo
	@echo "==> demo: the slowest calls, from the same capture:  xsp stats demo.xst --statistics --sort p99 --rows 3"
	@echo
	@build/release/cli/xsp stats build/release/demo.xst --statistics --sort p99 --rows 3
	@echo
	@echo "==> demo: look at the pictures, both are in build/release:"
	@echo "    demo.html   memory over time: open it in a browser"
	@echo "    demo.json   the trace: open it in https://ui.perfetto.dev or chrome://tracing"
	@echo "    The program is examples/workload.cpp."

test: setup-test test-dev test-asan test-tsan test-minimal
	@echo "==> test: all passed: the dev suite, ASan+UBSan, TSan; the minimal library builds"

test-dev:
	@echo "==> test: dev: everything, warnings are errors"
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS)
	@ctest --preset dev --output-on-failure -j2

test-asan:
	@echo "==> test: asan: the suite under AddressSanitizer and UndefinedBehaviorSanitizer"
	@cmake --preset asan
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --output-on-failure -j2

test-tsan:
	@echo "==> test: tsan: the suite under ThreadSanitizer"
	@cmake --preset tsan
	@$(FIXED_ADDRESSES) cmake --build --preset tsan -j $(JOBS)
	@$(FIXED_ADDRESSES) ctest --preset tsan --output-on-failure -j2

test-minimal:
	@echo "==> test: minimal: the library alone, every part off"
	@cmake --preset minimal
	@cmake --build --preset minimal -j $(JOBS)

format:
	@git ls-files -co --exclude-standard -- '*.h' '*.cpp' '*.cu' | xargs clang-format -i

clean:
	rm -rf build
