#!/usr/bin/env bash
# Lets every STRIDE-th allocation of a host fail, alone and with all that follow: exhausted.sh IAP HOST SHIM FOLDER STRIDE. The host has to
# end in order, with the output of one that was left alone; where memory stays away, with an error.
set -uo pipefail
iap=$1 host=$2 shim=$3 folder=$4 stride=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >build.lua <<LUA
local iap = require "iap"
iap.policy.build(iap.policy.script { file = "$folder/block.lua" }, iap.env.make("$folder/world.lua")):save("policy.iap")
LUA
"$iap" run build.lua || exit 1
IAP_FAULT_PROGRAM=$(basename "$host")
export IAP_FAULT_PROGRAM
IAP_FAULT_COUNTS=counts LD_PRELOAD=$shim "$host" policy.iap >right || { echo "left alone, the host fails"; exit 1; }
calls=$(od -An -t u8 -N 8 counts | tr -d ' ')
cases=0 told=0 wrong=0
for ((n = 1; n <= calls; n += stride)); do
  for more in '' +; do
    { IAP_FAULT=memory:$n$more LD_PRELOAD=$shim timeout 20 "$host" policy.iap >out 2>err; } 2>/dev/null
    code=$?
    cases=$((cases + 1))
    [ $code != 3 ] || told=$((told + 1))
    if [ -z "$more" ]; then
      case $code in 0 | 3) cmp -s out right && continue ;; esac
    elif [ $code -lt 4 ]; then
      continue
    fi
    wrong=$((wrong + 1))
    [ $wrong -gt 10 ] || echo "memory:$n$more: exit code $code: $(tail -n 1 err)"
  done
done
echo "$calls allocations, $cases cases ($told told), $wrong wrong"
[ $wrong = 0 ]
