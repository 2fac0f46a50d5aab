#!/usr/bin/env bash
# rounding.sh READELF COMPILER FILE... : programs and libraries call none of the C library's single-precision functions whose last bits
# differ between glibc 2.36 (Debian 12) and 2.41 (Debian 13), so that results do not, either: round the double-precision one.
set -uo pipefail
readelf=$1 compiler=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
differ='a?(sin|cos|tan)h|a(sin|cos|tan|tan2)|tan|expm1|log1p|log10|cbrt|erfc?|[lt]gamma'
# called FILE: those that it calls
called() { "$readelf" --dyn-syms -W "$1" | grep -oE " UND ($differ)f(@|\$)" | tr -d ' @' | sed 's/^UND//' | sort -u; }

bad=0
for file; do
  for name in $(called "$file"); do
    echo "${file##*/} calls $name, whose last bits differ between Debian 12 and 13: write static_cast<float>(std::${name%f}(double{x}))"
    bad=1
  done
done
# A program that calls one is found out.
echo '#include <math.h>
int main(int count, char** words) { (void)words; return (int)atan2f((float)count, 2.0F); }' >"$work/main.c"
"$compiler" "$work/main.c" -o "$work/main" -lm || exit 1
[ "$(called "$work/main")" = atan2f ] || { echo "a program that calls atan2f passes"; bad=1; }
[ $bad = 0 ] && echo "$# files round alike"
exit $bad
