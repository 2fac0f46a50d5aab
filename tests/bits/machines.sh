#!/usr/bin/env bash
# Whether two machines, releases or builds give the same bits: machines.sh write PROGRAM FOLDER, elsewhere machines.sh compare PROGRAM FOLDER
# of a copy of that folder; of all results, or of those NAMEd behind it. Each instruction set that both have is compared with itself; fails
# where a result differs.
set -euo pipefail
action=$1 iap=$(readlink -f "$2") root=$(readlink -f "$(dirname "$0")/../..")
# shellcheck source=/dev/null
source "$root/tests/bits/results.sh"
names=("${@:4}")
[ ${#names[@]} -gt 0 ] || names=("${played[@]}" "${trained[@]}")

# write FOLDER: all results, with each of these instruction sets that this machine has
write() {
  mkdir -p "$1"
  cd "$1"
  for instructions in portable AVX2 AVX3; do
    "$iap" --instructions $instructions list >/dev/null 2>&1 || continue
    for name in "${names[@]}"; do
      result_of "$name" "$(basename "$name" .iap)-$instructions" $instructions "--episodes 2 --set time_limit=200" "$iap"
    done
  done
  rm -rf run log
}

if [ "$action" = write ]; then
  write "$3"
  echo "$3: $(ls "$3" | wc -l) results; copy it to where they are to be compared"
  exit
fi
other=$(readlink -f "$3") here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
(write "$here")
same=0 differing=0
for file in "$here"/*; do
  name=${file##*/}
  [ -e "$other/$name" ] || continue
  if cmp -s "$file" "$other/$name"; then same=$((same + 1)); else echo "DIFFERENT: $name"; differing=$((differing + 1)); fi
done
[ $((same + differing)) -gt 0 ] || { echo "$3 holds no results"; exit 1; }
echo "$same results have the same bits, $differing have others"
[ $differing = 0 ]
