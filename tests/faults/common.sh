# shellcheck shell=bash
# What both kinds of fault tests share: a folder to work in, the small run, what is the same of two runs, how a program ended. Source it
# with $iap, $data and $here set.

root=/dev/shm
[ -w $root ] || root=${TMPDIR:-/tmp}
work=$(TMPDIR=$root mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME=$work

# shellcheck source=/dev/null
source "$here/../timeless.sh"

fail() {
  echo "FAILED: $*"
  exit 1
}

# A run of a few hundredths of a second: 2 iterations of a policy with 4 parameters.
small_run() {
  cp "$data/pendulum.lua" .
  cat >train.lua <<'LUA'
local iap = require "iap"
local result = iap.train {
  env = iap.env.make("pendulum.lua", { time_limit = 4 }),
  policy = iap.policy.sequence { iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 4, sigma = 0.1, learning_rate = 0.1 },
  iterations = 2, eval_every = 1, eval_episodes = 2, confirm_episodes = 2, seed = 3, quiet = true, out = "run", log = { "jsonl" },
}
print(result.iterations, result.best_eval)
LUA
}

# content FOLDER: all that a run is, without its times.
content() {
  timeless "$1/metrics.csv"
  sed 's/"seconds":.*//' "$1/metrics.jsonl"
  cat "$1/checkpoint.iap" "$1/best.iap" "$1/final.iap" "$1/config.json" "$1/result.json"
}

# left_parts: half files that are left in the run's folder, which nobody is at work on
left_parts() {
  local part
  for part in run/.iap-*.part run/*.part; do [ ! -e "$part" ] || echo "left $part"; done
}

# trouble CODE OUT ERR: "" for a program that ended as it should: in order without a word beside warnings, or with an exit code and one
# clear message; else what is wrong.
trouble() {
  local said
  # The loader could not open a library: the program has not begun.
  [ "$1" != 127 ] || ! grep -q 'while loading shared libraries' "$3" || return
  [ "$1" -lt 126 ] || { echo "ended by signal $(($1 - 128)): $(tail -1 "$3")"; return; }
  if [ "$1" = 0 ]; then
    said=$(grep -v '^warning: ' "$3")
    [ -z "$said" ] || echo "ended in order, but said: $said"
    return
  fi
  said=$(wc -l <"$3")
  [ "$said" = 1 ] || { echo "exit code $1 and $said lines of messages: $(tail -3 "$3")"; return; }
  ! grep -qE 'std::|basic_string|^$|^error$' "$3" || echo "no clear message: $(cat "$3")"
}
