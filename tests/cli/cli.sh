#!/usr/bin/env bash
# Tests of the command line: cli.sh PROGRAM CASE. Every case checks exit codes and what is printed where.
set -uo pipefail
iap=$(readlink -f "$1")
scripts=$(readlink -f "$(dirname "$0")/../lua/scripts")
paper=$(readlink -f "$(dirname "$0")/../../scripts/paper")
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

# interrupted SECONDS ARGS...: starts the program, sends SIGINT once it has printed "ready"
interrupted() {
  "$iap" "$@" >out 2>err </dev/null &
  local pid=$!
  for _ in $(seq 200); do
    grep -q ready out 2>/dev/null && break
    sleep 0.05
  done
  sleep 0.2
  kill -INT "$pid"
  local began=$SECONDS
  wait "$pid"
  code=$?
  [ $((SECONDS - began)) -le 5 ] || fail "took more than 5 s to stop"
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

case_usage() {
  for arguments in "run" "fly" "--fly" "run --seed x f.lua" "run --threads 0 f.lua" "run --set" "eval" "eval x --episodes 0" "list nothing"; do
    # shellcheck disable=SC2086
    run $arguments
    exits 2
    [ -s err ] || fail "'$arguments' says nothing"
    silent out
  done
  run --help
  exits 0
  says out "doctor"
  run --version
  exits 0
  grep -qE '^iap [0-9]+\.[0-9]+\.[0-9]+$' out || fail "version"
}

case_missing_file() {
  run run nothing.lua
  exits 1
  says err "cannot read 'nothing.lua'"
  lines err 1
  mkdir folder.lua
  run run folder.lua
  exits 1
  says err "it is a folder"
}

case_syntax_error() {
  printf 'local x = 1\nlocal y = = 2\n' >bad.lua
  run run bad.lua
  exits 1
  says err "bad.lua:2: unexpected symbol near '='"
  lines err 1
  printf '\033Lua' >binary.lua
  run run binary.lua
  exits 1
  says err "binary.lua"
}

case_runtime_error() {
  printf '#!/usr/bin/env iap\nlocal function f() return nil + 1 end\nf()\n' >bad.lua
  run run bad.lua
  exits 1
  says err "bad.lua:2: attempt to perform arithmetic on a nil value"
  lines err 1
  printf 'error({})' >bad.lua
  run run bad.lua
  exits 1
  says err "table"
  lines err 1
  printf 'iap = require "iap"\niap.env.make("cheetah-run", {pixel = {3, 3}})\n' >bad.lua
  run run bad.lua
  exits 1
  says err "bad.lua:2: environment 'cheetah-run': unknown option 'pixel'; did you mean 'pixels'?"
  lines err 1
  printf 'os.exit(7)' >exit.lua
  run run exit.lua
  exits 7
}

case_verbose() {
  printf 'local function inner() error("deep") end\nlocal function outer() inner() end\nouter()\n' >bad.lua
  run -v run bad.lua
  exits 1
  says err "bad.lua:1: deep"
  says err "stack traceback"
  says err "in upvalue 'inner'"
  run run bad.lua --verbose
  says err "stack traceback"
}

case_pipe() {
  run run <(printf '#!/usr/bin/env iap\nprint("from a pipe")\n')
  exits 0
  says out "from a pipe"
}

case_arguments() {
  mkdir lib
  echo 'return { name = "helper" }' >lib/helper.lua
  echo 'print(arg[0], #arg, arg[1], arg[2], require("helper").name)' >lib/show.lua
  run run lib/show.lua -- --seed "two words"
  exits 0
  [ "$(cat out)" = "$(printf 'lib/show.lua\t2\t--seed\ttwo words\thelper')" ] || fail "arguments"
}

case_options() {
  cat >options.lua <<'LUA'
local o = require "iap".options { size = 3, name = "relu", seed = 1, grid = { 8, 8 }, env = { repeats = 1 } }
print(o.size, o.name, o.seed, o.grid[1], o.grid[2], o.env.repeats)
LUA
  run run options.lua
  [ "$(cat out)" = "$(printf '3\trelu\t1\t8\t8\t1')" ] || fail "defaults"
  run run options.lua --set size=4.5 --set name=exp --set 'grid=[16, 32]' --set env.repeats=2 --seed 9
  exits 0
  [ "$(cat out)" = "$(printf '4.5\texp\t9\t16\t32\t2')" ] || fail "overrides"
  run run options.lua --set grid.2=5
  [ "$(cat out)" = "$(printf '3\trelu\t1\t8\t5\t1')" ] || fail "override in a list"
}

case_set_errors() {
  echo 'require "iap".options { population = 3 }' >options.lua
  run run options.lua --set populatoin=4
  exits 1
  says err "--set populatoin: nothing in the script used it; did you mean 'population'?"
  run run options.lua --set population=many
  exits 1
  says err "--set population=many: expected an integer like the default 3, got \"many\""
  run run options.lua --set population
  exits 1
  says err "write it as path=value"
  echo 'print(1)' >plain.lua
  for arguments in "--set a=1" "--seed 1" "--out x" "--resume"; do
    # shellcheck disable=SC2086
    run run plain.lua $arguments
    exits 1
    says err "${arguments%% *}"
    says err "nothing in the script used it"
  done
  training_script ""
  run run train.lua --set env.action_repaet=2
  exits 1
  says err "unknown option 'action_repaet'; did you mean 'action_repeat'?"
  run run train.lua --set optimizer.sigam=2
  says err "unknown option 'sigam'; did you mean 'sigma'?"
  run run train.lua --set iteratoins=2
  exits 1
  says err "did you mean 'iterations'?"
  run run train.lua --set policy.blocks.7.units=2
  exits 1
  says err "'7' is no position in a list of 1"
}

case_interrupt() {
  for body in 'while true do end' 'while true do pcall(function() while true do end end) end' \
    'local f <close> = setmetatable({}, {__close = function() end}) while true do end'; do
    printf 'print("ready") io.stdout:flush()\n%s\n' "$body" >loop.lua
    interrupted run loop.lua
    exits 130
    says err "interrupted"
    lines err 1
  done
}

# A loop in the Lua state of an environment, reached directly and on the worker threads of an evaluation.
case_interrupt_environment() {
  cat >stuck.lua <<'LUA'
return function(options)
  return {
    spec = { action_size = 1, vector = 1 },
    reset = function() end,
    observe = function() return { 0 } end,
    step = function() while true do end end,
  }
end
LUA
  cat >loop.lua <<'LUA'
local env = require "iap".env.make("stuck.lua")
env:reset(1)
print("ready") io.stdout:flush()
env:step { 0 }
LUA
  interrupted run loop.lua
  exits 130
  cat >loop.lua <<'LUA'
local iap = require "iap"
print("ready") io.stdout:flush()
iap.train { env = "stuck.lua", policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 }, iterations = 2, threads = 2, quiet = true }
LUA
  interrupted run loop.lua
  exits 130
}

# Work that cannot be stopped in good order ends at the second Ctrl-C.
case_second_interrupt() {
  printf 'print("ready") io.stdout:flush()\nlocal co = coroutine.wrap(function() while true do end end) co()\n' >loop.lua
  "$iap" run loop.lua >out 2>err </dev/null &
  local pid=$!
  for _ in $(seq 200); do
    grep -q ready out && break
    sleep 0.05
  done
  sleep 0.2
  kill -INT "$pid"
  sleep 0.5
  kill -INT "$pid" 2>/dev/null
  wait "$pid"
  code=$?
  exits 130
}

case_prompt_pipe() {
  printf '%s\n' '1 + 1' '= "a" .. "b"' 'for i = 1, 2 do' '  print(i)' 'end' '{ 1, { x = 2 } }' 'local x = 5' 'iap.version:len() > 0' | "$iap" >out 2>err
  code=$?
  exits 0
  silent err
  [ "$(cat out)" = "$(printf '2\nab\n1\n2\n{ 1, { x = 2 } }\ntrue')" ] || fail "prompt"
  printf '%s\n' 'iap.polcy' 'x = = 1' 'error("late")' 'print("still here")' 'function f()' | "$iap" repl >out 2>err
  code=$?
  exits 1
  says out "still here"
  says err "iap has no 'polcy'; did you mean 'policy'?"
  says err "input:1: unexpected symbol near '='"
  says err "input:1: late"
  says err "'end' expected"
  lines err 4
}

# The prompt on a terminal: completion by Tab, Ctrl-C at the prompt and in a loop, history, Ctrl-D.
case_prompt_terminal() {
  command -v script >/dev/null || { echo "no 'script' program: skipped"; exit 0; }
  mkfifo keys
  env -u LANG -u LC_ALL -u LC_CTYPE TERM=xterm script -qec "$iap" /dev/null <keys >out 2>err &
  local pid=$!
  exec 3>keys
  # wait_for TEXT [TIMES]
  wait_for() {
    for _ in $(seq 400); do
      [ "$(grep -oF -- "$1" out | wc -l)" -ge "${2:-1}" ] && return
      sleep 0.05
    done
    fail "expected '$1' on the terminal"
  }
  wait_for "Tab completes"
  printf 'iap.vers\t:len() + 700\r' >&3
  wait_for "705"
  printf 'print("loop" .. "ing") while true do end\r' >&3
  wait_for "looping"
  printf '\003' >&3
  wait_for "interrupted"
  printf 'half a line' >&3
  sleep 0.3
  printf '\003' >&3
  # The terminal itself showed the first one.
  wait_for "^C" 2
  printf 'print("alive" .. 1 + 1)\r' >&3
  wait_for "alive2"
  printf 'function twice(x)\rreturn 2 * x end\r' >&3
  printf 'twice(21)\r' >&3
  wait_for "42"
  printf '"h\303\251"\r' >&3
  wait_for "hé"
  printf '\004' >&3
  exec 3>&-
  wait "$pid"
  code=$?
  exits 0
  grep -q 'alive' state/iap/history || fail "no history"
  grep -q 'half a line' state/iap/history && fail "an abandoned line is in the history"
  return 0
}

case_list() {
  run list
  exits 0
  for title in environments kernels blocks optimizers; do says out "$title"; done
  run list envs
  says out "cheetah-run"
  grep -q kernels out && fail "list envs lists kernels"
  run list optimizers
  says out "es"
}

case_doctor() {
  run doctor
  exits 0
  for row in iap Lua MuJoCo threads SIMD OpenGL; do grep -qE "^$row +[^ ]" out || fail "no row $row"; done
}

case_train() {
  training_script 'out = iap.run_folder("runs/pendulum"),'
  run run train.lua
  exits 0
  says out "runs/pendulum"
  [ -s runs/pendulum/metrics.csv ] && [ -s runs/pendulum/experiment.lua ] || fail "no run folder"
  cp out first
  # The same for any number of threads, and another result for another seed.
  run run train.lua --out again --threads 1
  exits 0
  sed 's#again#runs/pendulum#' out | cmp -s - first || fail "one thread gives another result"
  run run train.lua --out other --seed 4
  exits 0
  [ "$(tail -1 out)" != "$(tail -1 first)" ] || fail "another seed gives the same result"
  run run train.lua --out third --set iterations=2 --set env.action_repeat=2
  exits 0
  grep -q '^2' out || fail "--set iterations"
  says third/experiment.lua "-- run with --set iterations=2 --set env.action_repeat=2"
  # Another run of the script gets a folder of its own; a folder that was asked for is never written over.
  run run train.lua
  exits 0
  says out "runs/pendulum-2"
  run run train.lua --out runs/pendulum
  exits 1
  says err "runs/pendulum"
}

case_resume() {
  training_script 'out = iap.run_folder("whole"),'
  run run train.lua
  exits 0
  tail -1 out >whole.txt
  training_script 'out = iap.run_folder("parts"), on_iteration = function(r) return r.iteration < 2 end,'
  run run train.lua
  exits 0
  says out "on_iteration"
  training_script 'out = iap.run_folder("parts"),'
  run run train.lua --resume
  exits 0
  tail -1 out | cmp -s - whole.txt || fail "a resumed run ends elsewhere"
}

# A script that trains several runs takes --out and --seed for itself: it gives each run its own folder and seed.
case_several_runs() {
  training_script 'out = root .. "/" .. seed, seed = seed, resume = true,'
  sed -i 's/, seed = 3//; 1a local options = iap.options { seed = 1 }\nlocal root = iap.run_folder("runs/several")\nfor seed = options.seed, options.seed + 1 do' train.lua
  echo "end" >>train.lua
  run run train.lua
  exits 0
  [ -s runs/several/1/final.iap ] && [ -s runs/several/2/final.iap ] || fail "no two runs"
  cp out first
  run run train.lua
  exits 0
  cmp -s out first || fail "runs that are complete end elsewhere"
  lines runs/several/1/metrics.csv 6
  run run train.lua --out other --seed 2 --set iterations=2
  exits 0
  [ -s other/2/final.iap ] && [ -s other/3/final.iap ] && [ ! -e other/1 ] || fail "--out and --seed"
  lines other/3/metrics.csv 4
}

# The papers' experiments from end to end, with settings that teach nothing.
case_experiments() {
  local tiny=(--set iterations=1 --set optimizer.population=2 --set eval_episodes=1 --set episodes=2 --set seeds=1 --set env.time_limit=8)
  run run "$paper/fig1_cheetah.lua" "${tiny[@]}" --set seeds=2
  exits 0
  lines runs/paper/fig1/results.csv 4
  for file in curves.png inference.png brute-seed2/final.iap; do [ -s "runs/paper/fig1/$file" ] || fail "fig1 has no $file"; done
  run run "$paper/fig6_ablation.lua" "${tiny[@]}" --out six
  exits 0
  lines six/results.csv 7
  local undistracted=("${tiny[@]}" --set distraction=none --set "pixels=[80,80]")
  run run "$paper/fig7_sweep.lua" "${undistracted[@]}"
  exits 0
  lines runs/paper/fig7/results.csv 28
  [ -s runs/paper/fig7/d64.png ] || fail "fig7 has no chart"
  run run "$paper/table1_distracting.lua" "${undistracted[@]}"
  exits 0
  lines runs/paper/table1/results.csv 6
  run run "$paper/table1_distracting.lua" "${undistracted[@]}" --set kernel=relu cartpole-swingup
  exits 0
  says runs/paper/table1/results-cartpole-swingup.csv "cartpole-swingup,relu,1,"
  run run "$paper/table1_distracting.lua" walker-wlak
  exits 1
  says err "table 1 has no task walker-wlak; it has cheetah-run,"
  run run "$paper/transfer.lua" "${undistracted[@]}" --set task=reacher-easy
  exits 0
  lines runs/paper/transfer/results.csv 7
  run run "$paper/transfer.lua" "${undistracted[@]}" --set kernel=rleu
  exits 1
  says err "take relu, hybrid or brute, not rleu"
}

case_eval() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
  run eval run --episodes 5 --seed 2 --csv episodes.csv
  exits 0
  says out "episodes            5"
  [ "$(head -1 episodes.csv)" = "episode,seed,return,steps,terminated,truncated,unstable" ] || fail "csv header"
  lines episodes.csv 6
  # The figures printed are those of the episodes.
  awk -F, 'NR > 1 {s += $3; q += $3 * $3; n++} END {m = s / n; printf "%.2f %.2f\n", m, sqrt((q - n * m * m) / (n - 1))}' episodes.csv >figures
  [ "$(awk '/mean return/ {m = $3} /standard deviation/ {d = $3} END {print m, d}' out)" = "$(cat figures)" ] || fail "mean and deviation"
  cp episodes.csv first.csv
  run eval run --episodes 5 --seed 2 --threads 1 --csv episodes.csv
  cmp -s episodes.csv first.csv || fail "one thread gives other episodes"
  cat >eval.lua <<'LUA'
local iap = require "iap"
local by_path = iap.eval("run", { episodes = 5, seed = 2 })
local by_policy = iap.eval(iap.policy.load("run"), { episodes = 5, seed = 2 })
assert(by_path.mean == by_policy.mean and #by_path.episodes == 5 and by_path.low <= by_path.mean and by_path.mean <= by_path.high)
print(string.format("%.2f", by_path.mean))
LUA
  run run eval.lua
  exits 0
  [ "$(cat out)" = "$(cut -d' ' -f1 figures)" ] || fail "iap.eval gives another mean"
  # The environment's options may be overridden, and the environment itself exchanged.
  run eval run --episodes 3 --set time_limit=7 --csv short.csv
  exits 0
  says out "pendulum.lua time_limit=7"
  [ "$(cut -d, -f4 short.csv | sort -u)" = "$(printf '7\nsteps')" ] || fail "--set time_limit"
  cp pendulum.lua other.lua
  run eval run --episodes 5 --seed 2 --env other.lua --csv episodes.csv
  exits 0
  says out "other.lua"
  cmp -s episodes.csv first.csv || fail "--env gives other episodes"
  sed -i 's/9.81/1.62/' other.lua
  run eval run --episodes 5 --seed 2 --env other.lua --csv episodes.csv
  exits 0
  cmp -s episodes.csv first.csv && fail "--env plays the old environment"
  run eval run --set time_limt=7
  exits 1
  says err "environment 'pendulum.lua': unknown option 'time_limt'; did you mean 'time_limit'?"
  lines err 1
  run eval run --set time_limit=fast
  exits 1
  says err "option 'time_limit' must be an integer, got \"fast\""
  run eval run --set time_limit
  exits 1
  says err "--set time_limit: write it as path=value"
  run eval run --set time_limit.x=3
  exits 1
  says err "--set time_limit.x=3: cannot set 'x' inside an integer"
  run eval run --set name=other.lua
  exits 1
  says err "chosen with --env"
  run eval run --env pendulun.lua
  exits 1
  says err "pendulun.lua"
  run eval run --env cartpole-swingup --set time_limit=3
  exits 1
  says err "built for the observation"
  run eval run --env cartpole-swingup --set gravity=3
  exits 1
  says err "--set OPTION=null"
  run eval nothing
  exits 1
  says err "nothing"
  echo junk >junk.iap
  run eval junk.iap
  exits 1
  says err "junk.iap"
}

# A policy for small pictures, policy.iap, with its initial parameters.
save_policy() {
  cat >save.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.sequence {
  iap.attention.rank { patch = 4, stride = 4, d = 4, kernel = "relu", top = 3 }, iap.policy.linear { activation = "tanh" },
}
iap.policy.build(blocks, iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 10 })):save("policy.iap")
LUA
  run run save.lua
  exits 0
}

case_play() {
  save_policy
  run play policy.iap --seed 3
  exits 0
  says out "video    policy.webp (544 x 408, 5 frames, 50 a second"
  says out "10 steps, seed 3"
  [ "$(head -c 4 policy.webp)$(head -c 12 policy.webp | tail -c 4)" = RIFFWEBP ] || fail "no WebP"
  run play policy.iap --out p.png --scale 2 --steps 4 --fps 5 --view side-by-side --set render.shadows=false
  exits 0
  says out "p.png (132 x 48, 4 frames, 5 a second"
  [ "$(head -c 4 p.png | tail -c 3)" = PNG ] || fail "no PNG"
  # A heat map of what the policy sees, and a strip.
  run play policy.iap --out p.apng --view heatmap --as-seen
  exits 0
  run play policy.iap --strip 3 --out strip.png
  exits 0
  says out "3 pictures"
  # The episode is that of iap eval.
  run eval policy.iap --episodes 2 --csv e.csv
  seed=$(sed -n 3p e.csv | cut -d, -f2)
  run play policy.iap --seed "$seed" --scale 1 --out p.webp
  says out "return $(sed -n 3p e.csv | awk -F, '{printf "%.2f", $3}'),"
  # A run keeps its video.
  mkdir run
  cp policy.iap run/best.iap
  run play run --scale 1 --env cartpole-swingup
  exits 0
  [ -s run/media/play.webp ] || fail "no video in the run"
}

case_play_errors() {
  save_policy
  for arguments in "" "policy.iap --view sideways" "policy.iap --scale 0" "policy.iap --fps 0" "policy.iap --steps 0"; do
    # shellcheck disable=SC2086
    run play $arguments
    exits 2
    [ -s err ] || fail "'$arguments' says nothing"
  done
  refuses() {
    local expected=$1
    shift
    run "$@"
    exits 1
    says err "$expected"
    lines err 1
  }
  refuses "nothing.iap" play nothing.iap
  refuses "must end in .webp, .png, .apng or .mp4" play policy.iap --out video.gif
  refuses "cannot write 'nowhere/v.webp'" play policy.iap --out nowhere/v.webp
  refuses "unknown option 'camrea'; did you mean 'camera'?" play policy.iap --set camrea=1
  refuses "write it as path=value" play policy.iap --set camera
  refuses "there is no environment 'cartpole-swinup'; did you mean" play policy.iap --env cartpole-swinup
  refuses "the policy gives 1 action values, 'cheetah-run' takes 6" play policy.iap --env cheetah-run
  PATH=$work "$iap" play policy.iap --out v.mp4 >out 2>err
  code=$?
  exits 1
  says err "needs the program 'ffmpeg', which is not on the PATH"
  [ -z "$(ls ./*.part v.* 2>/dev/null)" ] || fail "something was left behind"
  training_script 'out = "run",'
  run run train.lua
  refuses "there is nothing to show: the policy sees no image" play run
}

case_report() {
  training_script 'out = iap.run_folder("a"),'
  run run train.lua
  exits 0
  run report a
  exits 0
  says out "report   a/report.html"
  says a/report.html "<h1>pendulum.lua</h1>"
  # This environment draws nothing: the report says so and has everything else.
  says a/report.html "There are none: there is nothing to show"
  says a/report.html "experiment.lua of a"
  run run train.lua --seed 4 --out b
  run report a b
  exits 0
  says out "report   report.html"
  says report.html "mean of 2 seeds"
  run report a --out reports/x.html
  exits 1
  says err "reports/x.html"
  lines err 1
  run report a missing
  exits 1
  says err "there is no run 'missing'"
  lines err 1
  mkdir empty
  run report empty
  exits 1
  says err "'empty' is not the folder of a run: it has no config.json"
  run report
  exits 2
}

# Published weights in, out and in again; the array is the same to the byte. Only the date in the archive is ours.
case_exchange() {
  local weights
  weights=$(readlink -f "$(dirname "$scripts")/../data/attention_agent")
  cp "$weights"/*.npz .
  for game in car_racing take_cover; do
    run import attention-agent $game.npz
    exits 0
    says out "for ${game/_/-}"
    run export $game.iap out.npz
    exits 0
    cmp -s <(tail -c +41 out.npz | head -c 14000) <(tail -c +41 $game.npz | head -c 14000) || fail "$game: other weights"
    run import attention-agent out.npz -o again.iap
    exits 0
    run export again.iap again.npz
    cmp -s out.npz again.npz || fail "$game: the second round trip differs"
  done
  run import attention-agent take_cover.npz --env car-racing
  exits 1
  says err "take_cover.npz, for environment 'car-racing': AttentionAgent: got 3633 parameters; with 3 actions it has 3667"
  lines err 1
  run import attention-agent none.npz
  exits 1
  says err "none.npz"
  echo "no archive" >junk.npz
  run import attention-agent junk.npz
  exits 1
  says err "junk.npz: is no readable .npz file"
  lines err 1
  [ ! -e junk.iap ] || fail "a policy file was written"
  # A changed weight: only the archive's checksum can tell.
  cp take_cover.npz bad.npz
  printf x | dd of=bad.npz bs=1 seek=9000 conv=notrunc 2>/dev/null
  run import attention-agent bad.npz
  exits 1
  says err "bad.npz: params.npy: cannot be unpacked"
  run import
  exits 2
  run import something weights.npz
  exits 2
  training_script 'out = "run",'
  run run train.lua
  run export run out.npz
  exits 1
  says err "only policies of kind attention_agent can be exported"
}

case_on_iteration() {
  training_script 'on_iteration = function(r) print("seen", r.iteration, r.return_mean <= r.return_best) end,'
  run run train.lua
  exits 0
  says out "$(printf 'seen\t4\ttrue')"
  training_script 'on_iteration = function(r) error("stop here") end,'
  run run train.lua
  exits 1
  says err "train.lua:7: stop here"
  lines err 1
  training_script 'on_iteration = 3,'
  run run train.lua
  exits 1
  says err "option 'on_iteration' must be a function, got a number (3)"
}

case_bad_environments() {
  training_script ""
  sed -i 's#return -math.cos(self.angle), #return 0 / 0, #' pendulum.lua
  run run train.lua
  exits 1
  says err "pendulum.lua: step must return a finite reward first"
  cp "$scripts/pendulum.lua" .
  sed -i 's#function Pendulum:observe()#function Pendulum:observe() error("camera broke")#' pendulum.lua
  run run train.lua
  exits 1
  says err "camera broke"
  says err "pendulum.lua:"
  lines err 1
}

"case_$2"
echo ok
