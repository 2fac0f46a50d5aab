# shellcheck shell=bash
# What ends a program from outside: the limit of processor time, a reader that goes away, signals at the prompt, to a sweep and
# to a worker; and os.exit in the Lua of an object, which may not.

# A training without end that writes no checkpoint by itself but the first.
endless_script() {
  training_script "$1"
  sed -i 's/iterations = 4/iterations = 1000000, checkpoint_every = 1000000, confirm_episodes = 0/; s/quiet = true/quiet = false/' train.lua
}

# goes_on FOLDER: what was interrupted there lost nothing.
goes_on() {
  says "$1/log.txt" "interrupted"
  local rows
  rows=$(grep -c . "$1/metrics.csv")
  [ "$rows" -gt 3 ] || fail "$1 did not come far"
  run run train.lua --out "$1" --resume --set iterations=$((rows + 1))
  exits 0
  says err "$1: continues after iteration $((rows - 2)) of"
}

# Both limits at once, as shells set them.
case_ended_by_limit() {
  endless_script ""
  (ulimit -t 2 && exec "$iap" run train.lua --out limited --threads 1) >out 2>err </dev/null
  code=$?
  exits 130
  says err "train.lua --threads 1 --out limited --resume"
  says limited/log.txt "interrupted by SIGXCPU"
  goes_on limited
  (ulimit -t 2 && exec "$iap" run train.lua --out isolated --threads 1 --set isolate=true --set failed_return=-5 --set retries=0) >out 2>err </dev/null
  code=$?
  exits 130
  grep -q "failed and count" err isolated/log.txt && fail "the limit was taken for the episodes' fault"
  return 0
}

# Of a single second, half of it.
case_ended_by_short_limit() {
  endless_script ""
  sed -i "s/time_limit = 20/time_limit = 100/; s/eval_every = 2/eval_every = 0, episodes = 100/" train.lua
  local isolate
  for isolate in false true; do
    (ulimit -t 1 && exec timeout 40 "$iap" run train.lua --out run --threads 1 --set isolate=$isolate --set failed_return=-5 --set retries=0) >out 2>err </dev/null
    code=$?
    exits 130
    says err "--out run --resume"
    says run/log.txt "interrupted"
    grep -q "failed and count" err run/log.txt && fail "the limit was taken for the episodes' fault"
    rm -r run
  done
}

case_ended_reader() {
  endless_script ""
  "$iap" run train.lua --out errors 2> >(head -n 3 >/dev/null) >out </dev/null
  code=$?
  exits 130
  goes_on errors
  endless_script 'on_iteration = function(r) print(r.iteration) io.stdout:flush() end,'
  "$iap" run train.lua --out printed 2>err > >(head -n 3 >/dev/null) </dev/null
  code=$?
  exits 130
  goes_on printed
}

case_ended_prompt() {
  endless_script "out = 'run',"
  local signal pid
  for signal in TERM HUP USR1 XCPU; do
    rm -rf run
    "$iap" <train.lua >out 2>err &
    pid=$!
    until [ "$(cat run/metrics.csv 2>/dev/null | wc -l)" -gt 5 ]; do
      kill -0 "$pid" || fail "ended before it was ready"
      sleep 0.05
    done
    kill -"$signal" "$pid"
    wait "$pid"
    code=$?
    exits 130
    says run/log.txt "interrupted by SIG$signal"
    goes_on run
  done
}

case_ended_sweep() {
  sweep_script ""
  touch slow
  local signal sweep
  for signal in USR1 XCPU; do
    "$iap" sweep train.lua --out "stopped-$signal" >out 2>err </dev/null &
    sweep=$!
    until grep -qs "iteration 1" "stopped-$signal/seed1/output.txt"; do sleep 0.02; done
    kill -"$signal" "$sweep"
    wait "$sweep"
    code=$?
    exits 130
    says err "--out stopped-$signal"
    says "stopped-$signal/seed1/log.txt" "interrupted"
  done
}

# sends_to_sweep FOLDER SIGNAL...: a sweep whose script waits for a program that is deaf to SIGTERM and Ctrl-C gets the signals, with
# SECONDS between them where numbers stand in place of signals
sends_to_sweep() {
  local folder=$1 sweep signal
  shift
  rm -f pid
  "$iap" sweep train.lua --out "$folder" >out 2>err </dev/null &
  sweep=$!
  until [ -s pid ]; do
    kill -0 "$sweep" || fail "ended before it was ready"
    sleep 0.05
  done
  for signal; do
    case $signal in
    [0-9]*) sleep "$signal" ;;
    *) kill -"$signal" "$sweep" ;;
    esac
  done
  wait "$sweep"
  code=$?
}

# A second request ends a sweep's run at once, and what it waits for, even where both are deaf to the first; a stopped one hears it.
case_ended_sweep_at_once() {
  training_script 'on_iteration = function(r)
    if r.iteration == 1 and io.open("waits") then os.execute("trap : INT TERM; echo $$ >pid; for i in 1 2 3 4 5 6 7 8; do sleep 5; done") end
  end,'
  touch waits
  local begin folder signals
  for signals in "INT 1 INT" "TERM 1 TERM HUP 4.5 TERM"; do
    begin=$(date +%s)
    folder=stopped-${signals%% *}
    # shellcheck disable=SC2086
    sends_to_sweep "$folder" $signals
    [ $(($(date +%s) - begin)) -lt 25 ] || fail "$signals: the sweep waited for its run's program"
    exits 130
    says err "a second Ctrl-C ends them at once"
    says err "--out $folder"
    sleep 0.5 # SIGKILL takes a moment
    runs "/proc/$(cat pid)" && fail "$signals: the program that the run waited for goes on"
  done
  rm waits
  run sweep train.lua --out stopped-INT
  exits 0
  run run train.lua --out plain --seed 1
  same_metrics plain stopped-INT/seed1

  # A program that is not deaf ends with the first.
  training_script 'on_iteration = function(r) if r.iteration == 1 then os.execute("echo $$ >pid; exec sleep 40") end end,'
  begin=$(date +%s)
  sends_to_sweep heard TERM
  exits 130
  [ $(($(date +%s) - begin)) -lt 20 ] || fail "the sweep waited for a program that SIGTERM ends"
  says heard/seed1/log.txt "interrupted"

  endless_script ""
  "$iap" sweep train.lua --set eval_every=1000 --out halted >out 2>err </dev/null &
  local sweep=$! child
  until [ "$(cat halted/seed1/metrics.csv 2>/dev/null | wc -l)" -gt 5 ]; do sleep 0.05; done
  child=$(children_of "$sweep")
  kill -STOP "${child#/proc/}"
  kill -INT "$sweep"
  wait "$sweep"
  code=$?
  exits 130
  says halted/seed1/log.txt "interrupted"
}

# A benchmark is heard between two repetitions, not at its end.
case_ended_bench() {
  local signal name
  for signal in INT TERM; do
    for name in attention rollout; do
      timeout --preserve-status --foreground -k 10 -s "$signal" 1 "$iap" bench "$name" >out 2>err </dev/null
      code=$?
      exits 130
      says err "interrupted"
    done
  done
}

# The first one is heard, and the work brought to an end, which may take as long as a program that the Lua of a block waits for.
case_ended_closing() {
  cat >block.lua <<'LUA'
if io.open("slow") then
  io.open("closing", "w"):close()
  io.popen("exec sleep 15"):read()
end
return function() return { parameters = 1, outputs = 1, forward = function() return { 0 } end } end
LUA
  endless_script ""
  sed -i 's/eval_every = 2/eval_every = 0/; s/sequence {.*/sequence { iap.policy.observation {}, iap.policy.script { file = "block.lua" } },/' train.lua
  local signal pid begin rows
  for signal in INT TERM; do
    rm -rf slow closing run
    "$iap" run train.lua --out run --threads 1 >out 2>err </dev/null &
    pid=$!
    until [ "$(cat run/metrics.csv 2>/dev/null | wc -l)" -gt 5 ]; do
      kill -0 "$pid" || fail "ended before it was ready"
      sleep 0.05
    done
    touch slow
    kill -"$signal" "$pid"
    until [ -e closing ]; do
      kill -0 "$pid" || fail "$signal: ended before it was to close"
      sleep 0.05
    done
    [ "$signal" = INT ] || sleep 5.2
    begin=$(date +%s)
    kill -"$signal" "$pid"
    wait "$pid"
    code=$?
    [ $(($(date +%s) - begin)) -lt 10 ] || fail "$signal: the second one was not heard"
    exits $((128 + $(kill -l "$signal")))
    rm slow
    rows=$(grep -c . run/metrics.csv)
    run run train.lua --out run --resume --set iterations="$rows"
    exits 0
    says err "run: continues after iteration $((rows - 2)) of"
  done
}

# What is told while a policy is read, which may take its Lua a while, is not the policy's fault.
case_ended_loading() {
  cat >block.lua <<'LUA'
local begin = os.clock()
while os.clock() - begin < 1.5 do end
return function() return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.script { file = "block.lua" }, iap.env.make("cartpole-swingup", { time_limit = 1 })):save("slow.iap")
LUA
  run run build.lua
  exits 0
  local signal
  for signal in INT TERM; do
    timeout --preserve-status --foreground -s "$signal" 0.7 "$iap" eval slow.iap --episodes 1 --threads 1 >out 2>err </dev/null
    code=$?
    exits 130
    grep -q "slow.iap: interrupted" err && fail "the interrupt was taken for a fault of the file"
  done
  return 0
}

# A policy out of a file that thinks for minutes before its first action.
case_ended_forward() {
  cat >large.lua <<'LUA'
local pixels = ("x"):rep(1024 * 1024)
return function()
  return { spec = { action_size = 1, images = { eye = { height = 1024, width = 1024, channels = 1 } } },
    reset = function() end, step = function() return 0 end, observe = function() return nil, { eye = pixels } end }
end
LUA
  cat >block.lua <<'LUA'
return function() return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
local layers = {}
for i = 1, 20 do layers[i] = { channels = 1, kernel = 256 } end
for name, block in pairs {
  cnn = iap.policy.cnn { padding = "same", layers = layers },
  trans = iap.attention.trans { patch = 1, d = 1, tokens = 1, compression = "average", values = "convolution", convolution_size = 255 },
} do
  iap.policy.build(iap.policy.sequence { block, iap.policy.script { file = "block.lua" } }, iap.env.make("large.lua")):save(name .. ".iap")
end
LUA
  run run build.lua
  exits 0
  local signal name
  for name in cnn trans; do
    for signal in INT TERM; do
      timeout --preserve-status --foreground -k 20 -s "$signal" 1.5 "$iap" eval "$name.iap" --episodes 1 --threads 1 >out 2>err </dev/null
      code=$?
      exits 130
      says err "interrupted"
    done
  done
}

case_os_exit() {
  training_script ""
  run run train.lua --out plain
  echo 'os.exit(0)' >leaves.lua
  run check leaves.lua
  exits 1
  says err "leaves.lua:1: os.exit would end the whole program"
  run eval plain --env leaves.lua
  exits 1
  says err "leaves.lua:1: os.exit would end the whole program"
  cat >block.lua <<'LUA'
return function(options, shapes)
  return { parameters = 0, outputs = shapes.inputs, forward = function() os.exit(0) end }
end
LUA
  sed -i 's/sequence {/sequence { iap.policy.observation {}, iap.policy.script { file = "block.lua" },/' train.lua
  run run train.lua --out left
  exits 1
  says err "block.lua:2: os.exit would end the whole program"
}

# Where an episode failed and the process that is to play it again dies before it has built its environment, that attempt failed, too.
case_ended_worker() {
  cat >dies.lua <<'LUA'
local worker = io.open("/proc/self/cmdline"):read("a"):find("serve%-episodes")
return function()
  if worker and os.remove("failed") then os.execute("kill -9 " .. io.open("/proc/self/stat"):read("n")) end
  local bad
  return {
    spec = { action_size = 1, vector = 1, max_steps = 3 },
    reset = function(_, seed) bad = seed % 3 == 0 end,
    observe = function() return { 1 } end,
    step = function(_, action)
      if bad then
        if worker then io.open("failed", "w"):close() end
        error("a world of trouble")
      end
      return action[1], false, false
    end,
  }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = "dies.lua", policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 }, episode_seeds = "own",
  iterations = 3, eval_episodes = 4, failed_return = -5, seed = 1, out = iap.run_folder("run"),
}
LUA
  run run train.lua --out plain
  exits 0
  run run train.lua --out isolated --set isolate=true --threads 1
  exits 0
  says isolated/log.txt "before its first episode: the process that played it was killed by signal 9"
  same_metrics plain isolated
}

# tight_script STATEMENTS: what a script does once it may take only so many kB more as its first argument says
tight_script() {
  cat >tight.lua <<LUA
local iap = require "iap"
local function tighten()
  os.execute("prlimit --pid \$PPID --as=\$((\$(awk '/VmSize/ { print \$2 }' /proc/\$PPID/status) * 1024 + " .. arg[1] .. " * 1024)):")
end
$1
LUA
}

# What was done stands, and what failed has its own message, where there is no memory for TBB to end with.
case_ended_short_of_memory() {
  command -v prlimit >/dev/null || skip "there is no prlimit"
  local more
  tight_script 'tighten()'
  for more in $(seq 0 256 2048); do
    run run tight.lua "$more"
    exits 0
    silent err
  done
  tight_script 'tighten() error("its own", 0)'
  for more in $(seq 0 256 2048); do
    refuses "its own" run tight.lua "$more"
  done
}

# Enough for the stack of a thread, and not for TBB, which is asked again: this thread does the work.
case_short_of_memory_in_parallel() {
  command -v prlimit >/dev/null || skip "there is no prlimit"
  tight_script '
local env = iap.env.make("cheetah-run", { pixels = { 192, 256 } })
local function build(threads)
  local eye = iap.attention.rank { patch = 4, stride = 2, top = 3, d = 4, threads = threads }
  return iap.policy.build(iap.policy.sequence { eye, iap.policy.linear {} }, env)
end
local alone, parallel, seen = build(1), build(2), env:reset(1)
local expected = alone:act(seen)
tighten()
for _ = 1, 2 do
  local action = parallel:act(seen)
  for i = 1, #expected do assert(action[i] == expected[i]) end
end'
  local more
  for more in $(seq 8192 256 10240); do
    run run tight.lua "$more"
    exits 0
    silent err
  done
}
