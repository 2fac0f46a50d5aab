#!/usr/bin/env bash
# A program whose resumed runs come to another policy is found, and its experiment kept: finds.sh PYTHON BUILD
set -euo pipefail
python=$1 build=$2 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cat >"$work/bin/iap" <<SH
#!/bin/sh
'$build/bin/iap' "\$@" || exit
case " \$* " in *' --out cut --resume '*) echo >>cut/final.iap ;; esac
SH
chmod +x "$work/bin/iap"
combine() {
  code=0
  "$python" -B "$here/combine.py" --build "$work" --seed 4 --first 16 --experiments 1 --ways "$1" >"$work/out" || code=$?
}
fail() { echo "$1:"; cat "$work/out"; exit 1; }
combine threads
[ $code = 0 ] && [ ! -e "$work/combined/4-16" ] || fail "expected nothing where nothing is wrong"
combine cut
[ $code = 1 ] || fail "expected exit code 1"
grep -q 'cut: final.iap differs' "$work/out" || fail "expected the file and the way"
grep -q 'iap.train {' "$work/out" || fail "expected the experiment"
[ -e "$work/combined/4-16/experiment.lua" ] && grep -q '"way": "cut"' "$work/combined/found.jsonl" || fail "expected the experiment to be kept"
