#!/usr/bin/env bash
# imports.sh SOURCE_TREE: two small modules made with the project's functions. The upper one may import the lower one; the
# reverse does not compile.
set -uo pipefail
source_tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export CC=clang-19 CXX=clang++-19

fail() {
  echo "FAILED: $*"
  cat log
  exit 1
}
module() { # NAME IMPORTS
  mkdir -p "$1"
  { echo "export module iap.$1;"; for other in $2; do echo "import iap.$other;"; done; echo "export int $1_value() { return 1; }"; } >"$1/$1.cppm"
}
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.28...3.31)
set(CMAKE_CXX_EXTENSIONS OFF)
project(layers LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
include($source_tree/cmake/functions.cmake)
add_subdirectory(low)
add_subdirectory(high)
CMAKE
module low ""
module high low
printf 'iap_library(low)\niap_module(low.cppm)\n' >low/CMakeLists.txt
printf 'iap_library(high IMPORTS low)\niap_module(high.cppm)\n' >high/CMakeLists.txt

cmake -G Ninja -S . -B build >log 2>&1 || fail "configuring"
ninja -C build >log 2>&1 || fail "imports that point downwards must compile"

sed -i "s/^export module iap.low;/&\nimport iap.high;/" low/low.cppm
ninja -C build >log 2>&1 && fail "an upward import compiled"
grep -q "module 'iap.high' not found" log || fail "expected that the module is not found"
echo "only downward imports compile"
