#!/usr/bin/env bash
# Installs the build into a fresh prefix, builds the example hosts against the installation alone and compares their actions,
# printed in hexadecimal, with those of `iap eval`.
# usage: hosts.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2 work=$1/embed
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >install.log
export CC=clang-19 CXX=clang++-19
for host in host_cpp host_c play_c; do
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
play_c/play_c policy.iap "$seed" last.ppm >play_c.csv
cmp expected.csv play_c.csv
[ "$(head -n 1 last.ppm)" = "P6 320 240 255" ] && [ "$(stat -c %s last.ppm)" = $((15 + 320 * 240 * 3)) ]

# Without CMake: the pkg-config file finds header and library wherever the tree stands.
mv prefix moved
pc=$(dirname "$(find "$work/moved" -name iap.pc)")
# shellcheck disable=SC2046
cc "$source/examples/host_c/main.c" -o plain $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs iap)
LD_LIBRARY_PATH=$(PKG_CONFIG_PATH=$pc pkg-config --variable=libdir iap) ./plain policy.iap frames.bin "$seed" 2>/dev/null >plain.csv
cmp expected.csv plain.csv
[ "$(PKG_CONFIG_PATH=$pc pkg-config --modversion iap)" = "$(sed -n 's/^#define IAP_VERSION_STRING "\(.*\)"/\1/p' "$source/engine/host/iap.h")" ]
mv moved prefix

# What is written in Lua is there for who imports the whole engine, and travels with its modules.
mkdir written
cat >written/world.lua <<'LUA'
local speed = require "speed"
return function(options)
  local self = { spec = { action_size = 1, vector = 2, max_steps = 30 } }
  function self:reset() self.x = math.random() end
  function self:step(action) self.x = self.x + speed * action[1] return -math.abs(self.x), false, false end
  function self:observe() return { self.x, 1 } end
  return self
end
LUA
echo 'return 0.1' >written/speed.lua
cat >written/double.lua <<'LUA'
return function(options, shapes)
  return { parameters = 0, outputs = 1, forward = function(self, parameters, inputs) return { 2 * inputs[1] } end }
end
LUA
cat >written/build.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.sequence { iap.policy.script { file = "written/double.lua" }, iap.policy.linear { activation = "tanh" } }
local policy = iap.policy.build(blocks, iap.env.make("written/world.lua"))
policy:initialise(2)
policy:save("written.iap")
LUA
prefix/bin/iap run written/build.lua
rm -r written
prefix/bin/iap eval written.iap --episodes 1 --seed 5 --csv episodes.csv --actions actions.csv
host_cpp/host_cpp written.iap "$(sed -n 2p episodes.csv | cut -d, -f2)" >host_cpp.csv
cmp <(cut -d, -f2- actions.csv) host_cpp.csv

exported=$(nm -D --defined-only "$(find prefix -name libiap.so)" | awk '$2 != "A" && $3 !~ /^iap_/ {print $3}')
[ -z "$exported" ] || { echo "libiap.so exports more than iap_*: $exported"; exit 1; }
lua_module=$(find prefix -path '*/lua/5.4/iap.so')
LUA_CPATH="${lua_module%/*}/?.so" lua5.4 -e 'local iap = require "iap"; assert(#iap.policy.load("policy.iap"):parameters() > 0)'
echo "all hosts act as iap eval does"
