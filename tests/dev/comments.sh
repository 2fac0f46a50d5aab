#!/usr/bin/env bash
# comments.sh LUA BUILD.LUA: what the generator of the reference says to comments that are wrong.
set -uo pipefail
lua=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '%s\n' "$work/face.cpp" >sources.txt
# refused TEXT LINES...: the comment of these lines ends in an error with TEXT
refused() {
  local expected=$1
  shift
  printf '/// %s\n' '@lua table iap' 'Top.' >face.cpp
  printf '\n' >>face.cpp
  printf '/// %s\n' "$@" >>face.cpp
  "$lua" "$build" . sources.txt 2>err && { echo "no error for: $*"; exit 1; }
  grep -qF -- "$expected" err || { echo "expected '$expected'"; cat err; exit 1; }
}
refused "write '@lua KIND NAME'" '@lua fun iap.f'
refused "there is no @parm" '@lua function iap.f' '@parm x integer - a number'
refused "write 'NAME TYPE ... - TEXT'" '@lua function iap.f' '@param x integer'
refused "is no range LOW..HIGH" '@lua function iap.f' '@param x integer 1-2 - a number'
refused "uses 'nothing', which nothing describes" '@lua function iap.f' '@use nothing'
refused "both describe iap" '@lua table iap'
refused "nothing describes the class of thing:do" '@lua method thing:do'
refused "names 'nothing', which it does not have" '@lua function iap.f' '@param x {nothing} - a table'
printf '/// %s\n' '@lua table iap' 'Top.' '' '@lua function iap.f' 'Does.' '@param x integer 1.. = 2 - of a' 'few words' '@return iap - it' | sed 's|^/// $||' >face.cpp
"$lua" "$build" . sources.txt || { echo "a good comment"; exit 1; }
grep -qF 'function iap.f(x) end' iap.meta.lua || { echo "no annotation"; exit 1; }
mkdir docs
"$lua" "$build" --check docs sources.txt >out && { echo "pages that are not there pass"; exit 1; }
grep -qF "docs/iap.md is not what the comments say; ./dev docs writes it" out || { cat out; exit 1; }
"$lua" "$build" --write docs sources.txt && "$lua" "$build" --check docs sources.txt || { echo "what was written is refused"; exit 1; }
grep -qF '| `x` | `integer 1..` | `2` | of a few words |' docs/iap.md || { cat docs/iap.md; exit 1; }
