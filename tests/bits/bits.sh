#!/usr/bin/env bash
# Which results keep their bits on other processors: bits.sh PROGRAM FOLDER
# Policies that ship play an episode, and small trainings run, with the portable instructions, with AVX2 and with the machine's best, on this
# processor and on two that QEMU imitates: one without AVX, one with AVX2 but without AVX-512. Fails where "portable" differs anywhere, or
# "AVX2" between two processors that have it; what the instruction sets make of each other is told.
set -euo pipefail
iap=$(readlink -f "$1") root=$(readlink -f "$(dirname "$0")/../..")
mkdir -p "$2"
cd "$2"
emulator=$(command -v qemu-x86_64) || { echo "this needs qemu-x86_64 (Debian: qemu-user)"; exit 1; }
# The program would begin anew outside the emulator, were its mathematical library not chosen already.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4

# on PROCESSOR ARGS...: the program on this machine's processor, or on one that QEMU imitates
on() {
  local processor=$1
  shift
  if [ "$processor" = here ]; then "$iap" "$@"; else "$emulator" -cpu "$processor" "$iap" "$@"; fi >log 2>&1 || { cat log; exit 1; }
}

# shellcheck source=/dev/null
source "$root/tests/timeless.sh"
# result_of KIND NAME PROCESSOR INSTRUCTIONS: writes FILE, which holds all bits of what came out
result_of() {
  local kind=$1 name=$2 processor=$3 instructions=$4
  file=$(basename "$name" .iap)-$processor-$instructions
  if [ "$instructions" = AVX2 ]; then unset GLIBC_TUNABLES; else export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4; fi
  if [ "$kind" = plays ]; then
    on "$processor" eval "$root/$name" --episodes 1 --set time_limit=40 --threads 1 --actions "$file" --instructions "$instructions"
  else
    rm -rf run
    on "$processor" run "$root/tests/bits/train.lua" --set world="$name" --threads 1 --out run --instructions "$instructions"
    { timeless run/metrics.csv; od -An -tx1 run/final.iap; } >"$file"
  fi
}

differing=0
compare() {
  local kind=$1 name=$2 told="same" portable avx2
  result_of "$kind" "$name" here portable
  portable=$file
  result_of "$kind" "$name" Nehalem portable
  cmp -s "$file" "$portable" || { told=DIFFERENT differing=$((differing + 1)); }
  result_of "$kind" "$name" here AVX2
  avx2=$file
  result_of "$kind" "$name" Haswell AVX2
  local between="same"
  cmp -s "$file" "$avx2" || { between=DIFFERENT differing=$((differing + 1)); }
  local sets="same bits"
  cmp -s "$avx2" "$portable" || sets="other bits"
  printf '%-28s portable: %-10s AVX2: %-10s AVX2 against portable: %s\n' "$(basename "$name" .iap)" "$told" "$between" "$sets"
}

for policy in scripts/paper/policies/{cheetah-run-change,reacher-easy-change,ball-in-cup-catch}.iap scripts/attention_agent/policies/car-racing-iap.iap; do
  compare plays "$policy"
done
for world in distracted obstacles rooms footholds road; do compare trains "$world"; done
[ "$differing" = 0 ] || { echo "$differing differ"; exit 1; }
