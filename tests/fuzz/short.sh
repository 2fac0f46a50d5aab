#!/usr/bin/env bash
# A few seconds of a fuzzer: short.sh FUZZ TARGET CORPUS
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir found
"$1" --target="$2" -seed=1 -runs=20000 -max_total_time=8 -max_len=4096 -rss_limit_mb=3072 -timeout=60 -verbosity=0 found "$3" >out 2>&1 ||
  { tail -n 60 out; exit 1; }
