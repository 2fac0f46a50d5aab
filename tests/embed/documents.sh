#!/usr/bin/env bash
# Installs the build and does there what the documents tell, in a folder of its own for each part.
# usage: documents.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2 work=$1/documents
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
parts=(tool lua c) # C++ hosts are built by hosts.sh
python3 -c 'import numpy' 2>/dev/null && parts+=(python)
export HOME=$work
for part in "${parts[@]}"; do
  mkdir "$work/$part"
  (cd "$work/$part" && bash "$source/tests/packages/use.sh" "$work/prefix" "$part") || { echo "FAILED: $part"; exit 1; }
done
echo "the documents' ways work: ${parts[*]}"
