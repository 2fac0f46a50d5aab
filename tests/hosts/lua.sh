#!/usr/bin/env bash
# Hosts with a Lua inside find what one without does: lua.sh FOUND LINKED EXPORTING [LINKED EXPORTING]. An EXPORTING host has its Lua linked
# statically and exports it, in the way of the library's own: of the same version it may take its place, of another it is refused.
set -uo pipefail
right=$("$1") || exit 1
shift
cases=0 wrong=0
find() { # EXPECTED HOST HOW
  local said
  said=$("$2" "$3" 2>&1)
  cases=$((cases + 1))
  [[ $said == $1 ]] && return
  wrong=$((wrong + 1))
  echo "$2 $3: $(diff <(echo "$right") <(echo "$said") | head -n 3)"
}
for host; do
  for how in local global deepbind; do
    case $host:$how in
      *53_exporting:local | *53_exporting:global) find "*another Lua is in the way*--exclude-libs*" "$host" $how ;;
      *) find "$right" "$host" $how ;;
    esac
  done
done
echo "$cases cases, $wrong wrong"
[ $wrong = 0 ]
