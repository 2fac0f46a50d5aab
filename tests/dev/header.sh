#!/usr/bin/env bash
# header.sh DOXYGEN SOURCE_TREE: doxygen finds words for all of iap.h, and would miss those of a function without.
set -uo pipefail
doxygen=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
# warnings FILE: what doxygen says of it
warnings() {
  { cat cmake/doxygen/Doxyfile; printf 'INPUT = %s\nOUTPUT_DIRECTORY = %s\nUSE_MDFILE_AS_MAINPAGE =\n' "$1" "$work"; } >"$work/Doxyfile"
  "$doxygen" "$work/Doxyfile" 2>&1
}
found=$(warnings engine/host/iap.h)
[ -z "$found" ] || { echo "$found"; exit 1; }
mkdir "$work/bare"
sed 's|^IAP_API double iap_policy_control_dt|\n&|' engine/host/iap.h | grep -v 'Seconds from one action' >"$work/bare/iap.h"
warnings "$work/bare/iap.h" | grep -q 'iap_policy_control_dt.*is not documented' || { echo "a function without words passes"; exit 1; }
