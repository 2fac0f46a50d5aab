#!/usr/bin/env bash
# The map of CONTRIBUTING.md, the CMake targets and the imports of the sources say the same: map.sh SOURCE_TREE MAP
# MAP holds a line for each library: folder|name|what it imports and passes on|what it imports inside
set -uo pipefail
cd "$1" || exit 1
bad=0
wrong() {
  echo "WRONG: $*"
  bad=1
}
words() { tr -s ' ,' '\n\n' | sed '/^$/d' | sort -u | paste -sd' '; }

while IFS='|' read -r folder name imports inside; do
  linked=$(echo "$imports $inside" | words)
  # | `folder` | `iap.name` | imports | what it holds |
  row=$(grep -E "^\| \`$folder\` \| \`(iap\.$name|lua\.hpp)\` \|" CONTRIBUTING.md)
  if [ -z "$row" ]; then
    wrong "CONTRIBUTING.md has no row for the folder $folder with the module iap.$name"
    continue
  fi
  told=$(cut -d'|' -f4 <<<"$row" | words)
  [ "$told" = "$linked" ] || wrong "iap.$name links '$linked', but CONTRIBUTING.md says '$told'"
done <"$2"

# Every row that names a module is a target.
while IFS='|' read -r _ folder module _; do
  folder=$(tr -d '` ' <<<"$folder") module=$(tr -d '` ' <<<"$module")
  [ "$module" != lua.hpp ] || module=iap.lua
  grep -q "^$folder|${module#iap.}|" "$2" || wrong "CONTRIBUTING.md names $module in $folder, which is no target"
done < <(grep -E '^\| `[a-z_/]+` \| `(iap\.|lua\.hpp)' CONTRIBUTING.md)
# A source imports only what its module's row names, not what comes along with that.
imports=$(find modules envs engine -name '*.cpp' -o -name '*.cppm' | sort | xargs awk -v map="$2" '
  BEGIN {
    while ((getline line <map) > 0) {
      split(line, part, "|")
      count = split(part[3] " " part[4], names, " ")
      for (i = 1; i <= count; ++i) named[part[2], names[i]] = 1
    }
  }
  FNR == 1 { own = "" }
  /^(export )?module iap[.a-z_]*[:;]/ { own = $0; sub(/^(export )?module (iap[.])?/, "", own); sub(/[:;].*/, "", own) }
  /^(export )?import iap[.]/ && own != "" {
    other = $0; sub(/^(export )?import iap[.]/, "", other); sub(/;.*/, "", other)
    module = own == "iap" ? "engine" : own
    if (other != module && !((module, other) in named)) print FILENAME " imports iap." other ", which is not in the row of iap." module
  }')
[ -z "$imports" ] || wrong "$imports"

[ $bad = 0 ] && echo "the map holds for $(wc -l <"$2") modules"
exit $bad
