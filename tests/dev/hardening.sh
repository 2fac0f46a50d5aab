#!/usr/bin/env bash
# hardening.sh READELF COMPILER PROGRAM LIBRARY... : what was built is hard to bend: it loads anywhere, its tables of functions are
# read-only once it runs, no stack can be executed, and what is large guards its stacks.
set -uo pipefail
readelf=$1 compiler=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# weakness FILE: the first one found, or nothing
weakness() {
  "$readelf" -hlW "$1" >"$work/segments" && "$readelf" -dW "$1" >"$work/dynamic" && "$readelf" --dyn-syms -W "$1" >"$work/symbols" ||
    { echo "cannot be read"; return; }
  grep -q 'Type: *DYN' "$work/segments" || { echo "not position-independent (-pie)"; return; }
  grep -q 'GNU_RELRO' "$work/segments" || { echo "writable tables (-z relro)"; return; }
  grep -q 'BIND_NOW\|Flags:.*NOW' "$work/dynamic" || { echo "functions bound late (-z now)"; return; }
  grep 'GNU_STACK' "$work/segments" | grep -q 'RW  ' || { echo "an executable stack (-z noexecstack)"; return; }
  [ "$2" = small ] && return
  grep -q '__stack_chk_fail' "$work/symbols" || echo "unguarded stacks (-fstack-protector-strong)"
}

bad=0
for file; do
  size=large
  case $file in */libiap-*.so) size=small ;; esac # plugins
  found=$(weakness "$file" $size)
  [ -z "$found" ] || { echo "WEAK: ${file##*/}: $found"; bad=1; }
done
# What is built without care is found out.
echo 'int main(void) { return 0; }' >"$work/main.c"
for flags in "-no-pie" "-pie -fPIE -Wl,-z,norelro" "-pie -fPIE -Wl,-z,relro,-z,lazy" "-pie -fPIE -Wl,-z,relro,-z,now,-z,execstack" \
  "-pie -fPIE -Wl,-z,relro,-z,now,-z,noexecstack"; do
  # shellcheck disable=SC2086
  "$compiler" $flags "$work/main.c" -o "$work/main" || exit 1
  [ -n "$(weakness "$work/main" large)" ] || { echo "a program built with '$flags' passes"; bad=1; }
done
[ $bad = 0 ] && echo "$# files are hardened"
exit $bad
