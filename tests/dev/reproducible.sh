#!/usr/bin/env bash
# Whether the tree gives the same bits when it is built again, elsewhere and later: reproducible.sh TREE
# Copies the tree to a folder of another name, builds there what is installed, and compares it with TREE/build, which must be up to date.
# Fails where a file differs; what differs then stays for a look.
set -euo pipefail
root=$(readlink -f "$1")
place=$(mktemp -d)
mkdir "$place/copy"
tar -C "$root" --exclude='./build*' --exclude=./.git --exclude=./runs -cf - . | tar -C "$place/copy" -xf -
log=$(CC=clang-19 CXX=clang++-19 cmake -S "$place/copy" -B "$place/another" -G Ninja -DCMAKE_BUILD_TYPE=Release 2>&1) || { echo "$log"; exit 1; }
log=$(ninja -C "$place/another" installed 2>&1) || { echo "$log" | tail -40; exit 1; }
differing=0 compared=0
while IFS= read -r file; do
  compared=$((compared + 1))
  cmp -s "$root/build/$file" "$place/another/$file" || { differing=$((differing + 1)); echo "differs: build/$file and $place/another/$file"; }
done < <(cd "$place/another" && find bin lib lua \( -type f -name '*.so*' -o -type f -name iap \) | sort)
echo "$compared files, $differing of them differ"
[ "$compared" -ge 3 ] && [ "$differing" = 0 ] || exit 1
rm -rf "$place"
