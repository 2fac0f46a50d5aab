#!/usr/bin/env bash
# A run with a very long table still resumes and reports in seconds: table.sh PROGRAM ITERATIONS SECONDS
set -euo pipefail
iap=$(readlink -f "$1") iterations=$2 most=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >long.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-balance", { time_limit = 1 }), policy = iap.policy.linear {},
  optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_every = 0, eval_episodes = 1, confirm_episodes = 0,
  checkpoint_every = 1000, seed = 1, quiet = true, out = iap.run_folder("run"),
}
LUA
seconds() { local begin=$EPOCHREALTIME; "$@" >out 2>&1 </dev/null || { cat out; exit 1; }; awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $begin }"; }
made=$(seconds "$iap" run long.lua --out run --threads 1 --set iterations="$iterations")
[ "$(wc -l <run/metrics.csv)" = $((iterations + 2)) ] || { echo "the table has $(wc -l <run/metrics.csv) lines"; exit 1; }
resumed=$(seconds "$iap" run long.lua --out run --resume --threads 1 --set iterations=$((iterations + 1)))
[ "$(wc -l <run/metrics.csv)" = $((iterations + 3)) ] || { echo "the resumed table has $(wc -l <run/metrics.csv) lines"; exit 1; }
reported=$(seconds "$iap" report run --no-pictures --out page.html)
echo "$iterations rows, $(du -h run/metrics.csv | cut -f1): made in $made s, resumed in $resumed s, reported in $reported s ($(du -h page.html | cut -f1))"
awk "BEGIN { exit !($resumed <= $most && $reported <= $most) }" || { echo "longer than $most s"; exit 1; }
