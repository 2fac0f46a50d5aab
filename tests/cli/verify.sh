# shellcheck shell=bash
# What ships, against what is printed of it.

# shipping ROWS: an installation of this program with a small policy of its own, of which ROWS are printed; its program is $iap
shipping() {
  mkdir -p there/bin there/share/iap/scripts
  [ -e there/bin/iap ] || cp "$iap" there/bin/iap
  cp "$scripts/../../../scripts/verify.lua" there/share/iap/scripts/
  cat >make.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("cartpole-swingup", { time_limit = 20 })
local policy = iap.policy.build(iap.policy.sequence { iap.policy.linear { activation = "tanh" } }, env)
policy:initialise(3)
policy:save("there/share/iap/scripts/small.iap", { env = env })
LUA
  run run make.lua
  exits 0
  iap=$work/there/bin/iap
  printf 'return {\n%s\n}\n' "$1" >there/share/iap/scripts/shipped.lua
}

# row MEAN DEVIATION LOW HIGH [FILE]
row() {
  printf '{ policy = "%s", episodes = 6, seed = 4, mean = %s, deviation = %s, low = %s, high = %s, seconds = 90, set = { time_limit = 200 } },' \
    "${5:-small.iap}" "$1" "$2" "$3" "$4"
}

case_verify() {
  shipping ""
  run eval there/share/iap/scripts/small.iap --episodes 6 --seed 4 --set time_limit=200
  exits 0
  local mean deviation low high
  read -r mean deviation low high < <(awk '/^mean/ {m = $3} /^standard/ {d = $3} /^95%/ {printf "%.0f %.0f %.0f %.0f\n", m, d, $3, $5}' out)
  shipping "$(row "$mean" "$deviation" "$low" "$high")"
  run verify
  exits 0
  silent err
  says out "1 of 1 policies; about 2 minutes of processor time"
  says out "passed, same"
  says out "printed $mean +- $deviation, $low to $high"
  says out "played $mean +- $deviation, $low to $high"
  # The mean is where it was said to be, though a figure is another.
  shipping "$(row "$mean" $((deviation + 1)) $((low - 1)) $((high + 1)))"
  run verify small
  exits 0
  says out "passed, within"
  shipping "$(row "$mean" "$deviation" "$low" "$high") $(row $((mean + 900)) "$deviation" $((low + 900)) $((high + 900)))"
  run verify
  exits 1
  says out "passed, same"
  says out "FAILED"
  says err "1 of 2 policies do not earn what is printed"
  lines err 1
  run verify --list
  exits 0
  lines out 2
  says out "small.iap"
  silent err
  # In columns, however long the names are.
  shipping "$(row 1 1 1 1) $(row 1 1 1 1 "$(printf 'long%.0s' {1..20}).iap")"
  run verify --list
  exits 0
  [ "$(awk '{ print index($0, "  6 episodes") }' out | sort -u | wc -l)" = 1 ] || fail "rows out of line"
}

case_verify_errors() {
  shipping "$(row 1 1 1 1 gone.iap)"
  run verify
  exits 1
  says err "gone.iap"
  lines err 1
  run verify gone other
  exits 1
  says err "no policy that ships has 'other' in its name; iap verify --list names them"
  silent out
  lines err 1
  run verify --episodes 3
  exits 2
  says err "iap verify: has no option --episodes"
  run verify --threads none
  exits 2
  run verify ""
  exits 2
  says err "iap verify: NAME is empty; name a policy"
  rm -r there/share
  run verify
  exits 1
  says err "there is no $work/there/share/iap/scripts/verify.lua"
  lines err 1
}
