#!/usr/bin/env bash
# Installs the build and uses its Python package as somebody does who has nothing else: no compiler, no variable for the library.
# usage: python.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2 work=$1/python
python=/usr/bin/python3
[ -x "$python" ] || python=python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: there is no python3 with numpy (Debian: python3-numpy)"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >install.log
unset IAP_LIBRARY
export PYTHONPATH=$work/prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1

# The example's strategy finds a better policy than it began with, which the program plays to the same return.
"$python" -W error "$source/examples/python/cartpole_es.py" 10 cartpole.iap | tee es.log
first=$(sed -n 's/^iteration 0: evaluation //p' es.log)
last=$(sed -n 's/^evaluation \([0-9.]*\);.*/\1/p' es.log)
awk -v first="$first" -v last="$last" 'BEGIN {exit !(last > first + 20)}' || { echo "the return went from $first to $last"; exit 1; }
played=$(prefix/bin/iap eval cartpole.iap --episodes 16 --seed 1 | sed -n 's/^mean return *//p')
[ "$(printf '%.1f' "$played")" = "$last" ] || { echo "iap eval says $played, Python $last"; exit 1; }

# A tree that was moved is found as well; a library alone, beside the package, too.
mv prefix moved
PYTHONPATH=$work/moved/lib/python3/dist-packages "$python" -c 'import iap; print(iap.__version__)'
alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
cp -r moved/lib/python3/dist-packages/iap "$alone/"
PYTHONPATH=$alone "$python" -c 'import iap' 2>err && { echo "a package without a library was imported"; exit 1; }
grep -q 'cannot load libiap.so.1 .*; set IAP_LIBRARY to its path' err
cp -P "$(find moved -name libiap.so.1)" "$(find moved -name 'libiap.so.*.*.*')" "$alone/iap/"
PYTHONPATH=$alone "$python" -c 'import iap'
echo "the installed Python package works"
