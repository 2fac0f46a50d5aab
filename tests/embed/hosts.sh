#!/usr/bin/env bash
# Installs the build into a fresh prefix, builds both example hosts against the installation alone and compares their actions,
# printed in hexadecimal, with those of `iap eval`.
# usage: hosts.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2 work=$1/embed
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >install.log
export CC=clang-19 CXX=clang++-19
for host in host_cpp host_c; do
  cmake -G Ninja -S "$source/examples/$host" -B "$host" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >"$host.log" 2>&1 ||
    { cat "$host.log"; exit 1; }
  ninja -C "$host" >>"$host.log" 2>&1 || { tail -n 40 "$host.log"; exit 1; }
done

prefix/bin/iap run "$source/tests/embed/policy.lua" policy.iap
prefix/bin/iap eval policy.iap --episodes 1 --seed 5 --csv episodes.csv --actions actions.csv
cut -d, -f2- actions.csv >expected.csv
seed=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "seed") column = i} NR == 2 {print $column}' episodes.csv)
[ "$(wc -l <expected.csv)" -gt 10 ] || { echo "iap eval wrote no actions"; exit 1; }

host_cpp/host_cpp policy.iap "$seed" frames.bin >host_cpp.csv
cmp expected.csv host_cpp.csv
host_c/host_c policy.iap frames.bin "$seed" >host_c.csv
cmp expected.csv host_c.csv

exported=$(nm -D --defined-only "$(find prefix -name libiap.so)" | awk '$3 !~ /^iap_/ {print $3}')
[ -z "$exported" ] || { echo "libiap.so exports more than iap_*: $exported"; exit 1; }
lua_module=$(find prefix -path '*/lua/5.4/iap.so')
LUA_CPATH="${lua_module%/*}/?.so" lua5.4 -e 'local iap = require "iap"; assert(#iap.policy.load("policy.iap"):parameters() > 0)'
echo "both hosts act as iap eval does"
