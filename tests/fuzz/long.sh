#!/usr/bin/env bash
# Fuzzers for so many minutes each, one after the other: long.sh BUILD CORPUS MINUTES TARGET...
# What they learn stays in BUILD/fuzzed, what they find in BUILD/found; a find, made small, belongs into CORPUS/TARGET once it is mended.
set -uo pipefail
build=$1 corpus=$2 minutes=$3
shift 3
code=0
for target; do
  mkdir -p "$build/fuzzed/$target" "$build/found/$target"
  log=$build/fuzzed/$target.log
  "$build/tests/fuzz/fuzz" --target="$target" -max_total_time=$((60 * minutes)) -max_len=65536 -rss_limit_mb=4096 -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$build/found/$target/" "$build/fuzzed/$target" "$corpus/$target" >"$log" 2>&1 </dev/null
  if [ $? -ne 0 ]; then
    code=1
    printf '%s: found something: %s\n' "$target" "$(grep -m1 -E 'ERROR|runtime error|Sanitizer' "$log")"
  fi
  printf '%s: %s inputs, %s branches\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -c6-)"
done
exit $code
