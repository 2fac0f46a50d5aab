#!/usr/bin/env bash
# Tests of the command line: cli.sh PROGRAM CASE. The cases lie in the files beside this one; each checks exit codes and what is
# printed where.
set -uo pipefail
iap=$(readlink -f "$1")
here=$(readlink -f "$(dirname "$0")")
scripts=$(readlink -f "$here/../lua/scripts")
paper=$(readlink -f "$here/../../scripts/paper")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME=$work XDG_STATE_HOME=$work/state

fail() {
  echo "FAILED: $*"
  echo "exit code ${code:-none}; stdout:"
  cat out 2>/dev/null
  echo "stderr:"
  cat err 2>/dev/null
  exit 1
}

# run ARGS...: the exit code in $code, output in the files out and err
run() {
  "$iap" "$@" >out 2>err </dev/null
  code=$?
}
exits() { [ "$code" -eq "$1" ] || fail "expected exit code $1"; }
says() { grep -qF -- "$2" "$1" || fail "expected '$2' in $1"; }
silent() { [ ! -s "$1" ] || fail "expected nothing in $1"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ] || fail "expected $2 lines in $1"; }

# refuses MESSAGE ARGS...: the program says so in one line, and prints nothing
refuses() {
  local expected=$1
  shift
  run "$@"
  exits 1
  says err "$expected"
  lines err 1
  silent out
}

# ended_by SIGNAL ARGS...: starts the program, sends it the signal once it has printed "ready"; one that goes on runs into the test's
# time limit
ended_by() {
  local signal=$1 pid
  shift
  : >out # of the run before
  "$iap" "$@" >out 2>err </dev/null &
  pid=$!
  until grep -q ready out 2>/dev/null; do
    kill -0 "$pid" || fail "ended before it was ready"
    sleep 0.05
  done
  sleep 0.2
  kill -"$signal" "$pid"
  wait "$pid"
  code=$?
}
interrupted() { ended_by INT "$@"; }

# The command in the last line of err goes on to the end.
goes_on_as_told() {
  eval "$(tail -1 err)" >out 2>err
  code=$?
  exits 0
}

# goes_on_from_pipe SCRIPT OPTION...: a run of SCRIPT out of a pipe, which is interrupted, goes on from its folder.
goes_on_from_pipe() {
  local script=$1
  shift
  touch stop
  rm -f pipe
  mkfifo pipe
  cat "$script" >pipe &
  interrupted run pipe "$@"
  exits 130
  rm stop
  says err " run run/experiment.lua "
  goes_on_as_told
  [ "$(grep -c '^-- run with' run/experiment.lua)" = 1 ] || fail "the script's head is repeated"
}

# policy_alone FILE...: in a folder of its own, where it leaves us, best.iap plays the episodes of here.csv, though run and FILE... are
# gone (to ../gone).
policy_alone() {
  local flag
  mkdir empty gone
  cp run/best.iap empty
  mv run "$@" gone
  cd empty || exit 1
  for flag in "" --trust; do
    # shellcheck disable=SC2086
    run eval best.iap --episodes 4 --csv there.csv $flag
    exits 0
    cmp -s there.csv ../here.csv || fail "a policy file elsewhere plays other episodes"
  done
}

# A small training run on a pendulum; what the script adds stands in $1
training_script() {
  cp "$scripts/pendulum.lua" .
  cat >train.lua <<LUA
local iap = require "iap"
local result = iap.train {
  env = iap.env.make("pendulum.lua", { time_limit = 20 }),
  policy = iap.policy.sequence { iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 8, sigma = 0.1, learning_rate = 0.1 },
  iterations = 4, eval_every = 2, eval_episodes = 4, seed = 3, quiet = true,
  $1
}
print(result.iterations, result.stop_reason, string.format("%.17g", result.last_eval), result.out)
print(table.concat(result.parameters, " "))
LUA
}

# videos_script COUNT: train.lua, a short training before so many videos of one frame in the folder videos
videos_script() {
  local video
  for ((video = 1; video <= $1; video++)); do
    mkdir -p "videos/$video"
    base64 -d >"videos/$video/1.png" <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC
  done
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cheetah-run", { pixels = { 16, 16 }, time_limit = 2, distraction = { background = { count = 0 }, videos = "videos" } }),
  policy = iap.policy.sequence { iap.attention.rank { patch = 4, top = 2 }, iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_every = 0, eval_episodes = 2, out = "run", quiet = true,
}
LUA
}

# shellcheck source=/dev/null
source "$here/../timeless.sh"
same_metrics() {
  [ "$(timeless "$1/metrics.csv")" = "$(timeless "$2/metrics.csv")" ] || fail "$1 and $2 have other metrics"
  cmp -s "$1/final.iap" "$2/final.iap" || fail "$1 and $2 end in other policies"
}

for cases in usage scripts first_lines overrides nested_names prompt ending train dry_run resuming instructions isolation schedules policies exchange playing lua_in_files escapes strangers_records tasks sweep sweep_folders sweep_damage sweep_table outputs projects ranks watching watching_others verify ranks_apart slurm; do
  # shellcheck source=/dev/null
  source "$here/$cases.sh"
done
twice=$(grep -hoE '^[a-z_0-9]+\(\)' "$here"/*.sh | sort | uniq -d)
[ -z "$twice" ] || fail "two files of cases have functions of one name: $twice"
"case_$2"
echo ok
