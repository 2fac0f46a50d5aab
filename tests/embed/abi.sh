#!/usr/bin/env bash
# Compares the binary interface that iap.h and libiap.map describe with the one that is on record, and with what the library exports.
# The record is of a library with the same declarations and no insides, so that no compiler's version has a part in it.
# usage: abi.sh SOURCE LIBRARY COMPILER        `abi.sh SOURCE LIBRARY COMPILER --write` writes the record anew
set -euo pipefail
source=$(realpath "$1") library=$(realpath "$2") compiler=$3 mode=${4:-}
record=$source/tests/data/abi/libiap.abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

exported() { nm -D --defined-only "$1" | awk '$3 != "" {print $3}' | grep '^iap_' | sort; }

# Each declaration as a definition.
cp "$source/engine/host/iap.h" iap.h
awk '/^IAP_API / {on = 1} on {line = line " " $0} on && /;$/ {print line; line = ""; on = 0}' iap.h |
  sed 's/^ *IAP_API //; s/;$/ { __builtin_trap(); }/' >definitions
{ echo '#include "iap.h"'; cat definitions; } >interface.c
"$compiler" -g -O0 -w -shared -fPIC -Wl,--version-script="$source/engine/host/libiap.map" -Wl,-soname,libiap.so interface.c -o interface.so
exported interface.so >declared
[ "$(wc -l <declared)" = "$(wc -l <definitions)" ] || { echo "iap.h declares what libiap.map does not export:"; diff <(sed 's/@.*//' declared) <(sed 's/(.*//; s/.*[ *]//' definitions | sort); exit 1; }
exported "$library" >present
diff declared present || { echo "the library exports other symbols than iap.h and libiap.map say"; exit 1; }
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "libiap.so.$(sed -n 's/^#define IAP_ABI_VERSION //p' iap.h)" ] || { echo "the SONAME is $soname"; exit 1; }

command -v abidiff >/dev/null || { echo "skipped: there is no abidiff (Debian: abigail-tools)"; exit 77; }
if [ "$mode" = --write ]; then
  mkdir -p "$(dirname "$record")"
  abidw --no-show-locs --no-comp-dir-path --no-corpus-path --no-elf-needed interface.so --out-file "$record"
  exit
fi
status=0
abidiff --no-show-locs "$record" interface.so >report || status=$?
[ $status = 0 ] && { echo "the interface is the one on record"; exit; }
cat report
[ $((status & 3)) = 0 ] || { echo "abidiff failed"; exit 1; }
echo "Where programs that were built before would break, undo it or raise IAP_ABI_VERSION (docs/embedding.md). What is meant goes on record:"
echo "  tests/embed/abi.sh . LIBRARY COMPILER --write"
exit 1
