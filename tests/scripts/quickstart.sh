#!/usr/bin/env bash
# quickstart.sh PROGRAM SOURCE FOLDER: trains the quickstart with seed 1 into FOLDER; README must have its returns in the row of that seed.
# Exit code 77 where the row is of another instruction set than this machine's: last bits differ then, and trainings part.
set -euo pipefail
iap=$1 readme=$2/README.md script=$2/scripts/quickstart.lua folder=$3
printed=$(awk -F ' *[|] *' '$2 == "seed" && $3 == "untrained" { inside = 1 } inside && $2 == "1" { print $3, $4, $5; exit }' "$readme")
set_of_readme=$(sed -n 's/.*(`\([A-Z0-9_]*\)` in `iap doctor`).*/\1/p' "$readme")
[ -n "$printed" ] && [ -n "$set_of_readme" ] || { echo "FAILED: $readme has no row of seed 1 or names no instruction set"; exit 1; }
set_here=$("$iap" doctor | awk '$1 == "SIMD" { print $2 }')
[ "$set_here" = "$set_of_readme" ] || { echo "skipped: README's row is of $set_of_readme, this machine computes with $set_here"; exit 77; }
rm -rf "$folder"
said=$("$iap" run "$script" --seed 1 --threads 1 --out "$folder")
trained=$(sed -n 's/^untrained policy \([0-9.]*\), trained \([0-9.]*\) (best \([0-9.]*\)) of 1000.*/\1 \2 \3/p' <<<"$said")
echo "untrained, after 60 iterations, best: README says $printed, the quickstart $trained"
[ "$trained" = "$printed" ] || { echo "FAILED: measure README's table anew (./dev run scripts/quickstart.lua --seed 1, 2, 3)"; exit 1; }
