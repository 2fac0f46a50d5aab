#!/usr/bin/env bash
# links_test.sh IAP LINKS.LUA: what links.lua finds in a book with a page for each mistake.
set -uo pipefail
iap=$1 links=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs/reference"
cd "$work" || exit 1
printf '# Book\n[one](one.md), [two](reference/two.md#here)\n' >docs/README.md
printf '# One\n[Contents](README.md)\n' >docs/one.md
printf '# Two\n## [Here](../one.md)\n[Contents](../README.md)\n' >docs/reference/two.md
pages="docs/README.md docs/one.md docs/reference/two.md"
# shellcheck disable=SC2086
"$iap" run "$links" $pages | grep -qx '5 links lead somewhere, 3 pages are in the book' || { echo "a good book"; exit 1; }
printf '# Lost\n[Contents](README.md)\n' >docs/lost.md
printf '# Alone\n' >docs/alone.md
printf '[alone](alone.md) [nowhere](nowhere.md) [heading](one.md#two)\n' >>docs/README.md
# shellcheck disable=SC2086
"$iap" run "$links" $pages docs/lost.md docs/alone.md >out 2>&1 && { echo "a bad book passes"; exit 1; }
for complaint in "docs/lost.md cannot be reached" "docs/alone.md has no link to the contents" "nowhere.md is not there" "one.md#two has no such heading"; do
  grep -qF -- "$complaint" out || { echo "no word about: $complaint"; cat out; exit 1; }
done
