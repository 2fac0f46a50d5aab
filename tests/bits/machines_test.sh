#!/usr/bin/env bash
# machines_test.sh PROGRAM: results are the same where they were written, and a changed one is found.
set -uo pipefail
iap=$1 machines=$(dirname "$0")/machines.sh work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compared() { bash "$machines" compare "$iap" "$work/results" distracted >"$work/told" 2>&1; }
bash "$machines" write "$iap" "$work/results" distracted || { echo "cannot write"; exit 1; }
compared || { echo "the same program differs"; cat "$work/told"; exit 1; }
sed -i '1s/./x/' "$work/results/distracted-portable"
! compared || { echo "a changed result passes"; exit 1; }
grep -qx 'DIFFERENT: distracted-portable' "$work/told" || { cat "$work/told"; exit 1; }
rm "$work"/results/*
! compared || { echo "nothing to compare with passes"; exit 1; }
