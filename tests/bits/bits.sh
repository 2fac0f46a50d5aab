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
# shellcheck source=/dev/null
source "$root/tests/bits/results.sh"

# on NAME PROCESSOR INSTRUCTIONS: the result on this machine's processor (here), or on one that QEMU imitates, in $file
on() {
  local program=("$iap")
  [ "$2" = here ] || program=("$emulator" -cpu "$2" "$iap")
  file=$(basename "$1" .iap)-$2-$3
  result_of "$1" "$file" "$3" "--episodes 1 --set time_limit=40" "${program[@]}"
}

differing=0
for name in "${played[@]}" "${trained[@]}"; do
  told="same" between="same" sets="same bits"
  on "$name" here portable
  portable=$file
  on "$name" Nehalem portable
  cmp -s "$file" "$portable" || { told=DIFFERENT differing=$((differing + 1)); }
  on "$name" here AVX2
  avx2=$file
  on "$name" Haswell AVX2
  cmp -s "$file" "$avx2" || { between=DIFFERENT differing=$((differing + 1)); }
  cmp -s "$avx2" "$portable" || sets="other bits"
  printf '%-28s portable: %-10s AVX2: %-10s AVX2 against portable: %s\n' "$(basename "$name" .iap)" "$told" "$between" "$sets"
done
[ "$differing" = 0 ] || { echo "$differing differ"; exit 1; }
