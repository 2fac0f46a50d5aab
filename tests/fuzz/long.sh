#!/usr/bin/env bash
# Fuzzers for so many minutes each, one after the other: long.sh BUILD CORPUS MINUTES TARGET...
# What they learn stays in BUILD/fuzzed, what they find in BUILD/found; a find, made small, belongs into CORPUS/TARGET once it is mended.
# BUILD/fuzzed/time.csv keeps what each start of a fuzzer was worth: its processor time, as a busy machine gives less of it than minutes.
set -uo pipefail
build=$1 corpus=$2 minutes=$3
shift 3
code=0
TIMEFORMAT='%U %S'
for target; do
  mkdir -p "$build/fuzzed/$target" "$build/found/$target"
  log=$build/fuzzed/$target.log
  spent=$({ time "$build/tests/fuzz/fuzz" --target="$target" -max_total_time=$((60 * minutes)) -max_len=65536 -rss_limit_mb=3072 -timeout=60 \
    -print_final_stats=1 -artifact_prefix="$build/found/$target/" "$build/fuzzed/$target" "$corpus/$target" >"$log" 2>&1 </dev/null; } 2>&1)
  if [ $? -ne 0 ]; then
    code=1
    printf '%s: found something: %s\n' "$target" "$(grep -m1 -E 'ERROR|runtime error|Sanitizer' "$log")"
  fi
  seconds=$(awk 'END {print $1 + $2}' <<<"$spent")
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%s,%s,%s\n' "$target" "$inputs" "$seconds" >>"$build/fuzzed/time.csv"
  printf '%s: %s inputs, %s branches, %s s of processor time; %s in all\n' "$target" "$inputs" "$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -c6-)" \
    "$seconds" "$(awk -F, -v target="$target" '$1 == target {inputs += $2; seconds += $3} END {printf "%d inputs, %.2f h", inputs, seconds / 3600}' "$build/fuzzed/time.csv")"
done
exit $code
