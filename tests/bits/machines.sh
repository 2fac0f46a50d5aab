#!/usr/bin/env bash
# Whether two machines, releases or builds give the same bits: machines.sh write PROGRAM FOLDER, elsewhere machines.sh compare PROGRAM FOLDER
# of a copy of that folder; of all results, or of those NAMEd behind it. Each instruction set that both have is compared with itself; fails
# where a result differs.
set -euo pipefail
action=$1 iap=$(readlink -f "$2") folder=$3 root=$(readlink -f "$(dirname "$0")/../..")
# shellcheck source=/dev/null
source "$root/tests/bits/results.sh"
names=("${@:4}")
[ ${#names[@]} -gt 0 ] || names=("${played[@]}" "${trained[@]}")

# What is at work here stays out of the folder, whatever else lies there.
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/results"
(
  cd "$here"
  for instructions in portable AVX2 AVX3; do
    # Every machine has "portable": where that fails, something else is wrong.
    [ $instructions = portable ] || "$iap" --instructions $instructions list >/dev/null 2>&1 || continue
    for name in "${names[@]}"; do
      result_of "$name" "results/$(basename "$name" .iap)-$instructions" $instructions "--episodes 2 --set time_limit=200" "$iap"
    done
  done
)

if [ "$action" = write ]; then
  mkdir -p "$folder"
  cp "$here"/results/* "$folder"
  echo "$folder: $(ls "$here/results" | wc -l) results; copy it to where they are to be compared"
  exit
fi
same=0 differing=0
for file in "$here"/results/*; do
  name=${file##*/}
  [ -e "$folder/$name" ] || continue
  if cmp -s "$file" "$folder/$name"; then same=$((same + 1)); else echo "DIFFERENT: $name"; differing=$((differing + 1)); fi
done
[ $((same + differing)) -gt 0 ] || { echo "$folder holds no results"; exit 1; }
echo "$same results have the same bits, $differing have others"
[ $differing = 0 ]
