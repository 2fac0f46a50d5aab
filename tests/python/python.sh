#!/usr/bin/env bash
# Runs one file of tests. usage: python.sh PYTHON SOURCE LIBRARY PROGRAM FILE
set -euo pipefail
python=$1 source=$2 library=$3 program=$4 file=$5
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: there is no python3 with numpy (Debian: python3-numpy)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PYTHONPATH=$source/engine/python:$source/tests/python PYTHONDONTWRITEBYTECODE=1
export IAP_LIBRARY=$library IAP_PROGRAM=$program
"$python" -W error "$source/tests/python/$file"
