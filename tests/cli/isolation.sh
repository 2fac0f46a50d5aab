# Worlds that hang, die or throw: isolation and what meets it; worlds that become unstable.

# troubled_script OPTIONS TROUBLE: as training_script, on a pendulum that is in trouble in its fifth step of some episodes
troubled_script() {
  training_script "$1"
  sed "s|^  function Pendulum:step(action)|&\n    self.steps = self.steps + 1\n    if self.steps == 5 and self.troubled then $2 end|;
       s|^  function Pendulum:reset(seed)|&\n    self.steps, self.troubled = 0, seed % 5 == 0|" pendulum.lua >troubled.lua
  cmp -s pendulum.lua troubled.lua && fail "the pendulum is written in another way"
  sed -i 's/pendulum.lua/troubled.lua/' train.lua
}

case_isolation() {
  training_script ""
  run run train.lua --out plain
  exits 0
  run run train.lua --out isolated --set isolate=true --threads 2
  exits 0
  same_metrics plain isolated
  run eval plain --episodes 6 --csv plain.csv
  run eval plain --episodes 6 --csv isolated.csv --isolate
  exits 0
  cmp -s plain.csv isolated.csv || fail "isolated episodes are others"
  # Begun with isolation, ended without.
  run run train.lua --out both --set isolate=true --set iterations=2
  run run train.lua --out both --resume
  exits 0
  same_metrics plain both
}

# What an environment wrote is there, though nobody flushed it: of one that ended, of one that died later, and of one that goes.
case_isolation_written() {
  training_script ""
  cat >writes.lua <<'LUA'
return function(options)
  local log = io.open(options.log, "a")
  local steps, episodes = nil, 0
  local env = { spec = { action_size = 1, max_steps = 9, vector = 1 } }
  setmetatable(env, { __gc = function() log:write("gone\n") end })
  function env:reset(seed) steps, episodes = 0, episodes + 1 log:write("episode ", seed, "\n") io.write("episode ", seed, "\n") end
  function env:step(action) steps = steps + 1 if options.dies and episodes == 2 then os.execute("kill -KILL $PPID") end return action[1], false end
  function env:observe() return { steps } end
  return env
end
LUA
  local played=(run train.lua --threads 1 --set env.name=writes.lua --set env.time_limit=null)
  run "${played[@]}" --set env.log=plain.txt --out plain
  exits 0
  cp out plain.out
  run "${played[@]}" --set env.log=isolated.txt --out isolated --set isolate=true
  exits 0
  cmp -s <(grep ^episode plain.txt) <(grep ^episode isolated.txt) || fail "the environment's own file"
  [ "$(grep -c gone isolated.txt)" -ge 1 ] || fail "it was killed without a word"
  cmp -s <(grep ^episode plain.out) <(grep ^episode out) || fail "its output"
  run "${played[@]}" --set env.log=died.txt --set env.dies=true --out died --set isolate=true --set failed_return=0 --set retries=0 \
    --set iterations=1 --set confirm_episodes=0
  exits 0
  says died/log.txt "killed by signal 9"
  [ "$(grep -c ^episode died.txt)" -ge 4 ] || fail "what was written before a process died: $(cat died.txt)"
}

case_isolation_troubles() {
  troubled_script "" 'while true do end'
  run run train.lua --out hangs --set episode_timeout=2 --set retries=0
  exits 1
  says err "took longer than 2 s and was cut off (episode_timeout)"
  [ -e hangs/checkpoint.iap ] || [ ! -e hangs/metrics.csv ] || says hangs/log.txt "error: "

  run run train.lua --out counted --set episode_timeout=2 --set retries=0 --set failed_return=-50 --set eval_every=0
  exits 0
  grep -q "^iteration,.*,failed," counted/metrics.csv || fail "no column 'failed'"
  says counted/log.txt "an episode failed and counts as -50: environment 'troubled.lua', seed "
  says err "warning: evaluation after iteration 0: an episode failed and counts as -50: environment 'troubled.lua', seed "
  run run train.lua --out told --set episode_timeout=2 --set retries=0 --set failed_return=-50 --set eval_every=0 --set quiet=false
  exits 0
  grep -qE "^told: [0-9]+ episodes failed and count as failed_return = -50: log.txt says why$" err ||
    fail "failed episodes are not summed up at the end"
  run run train.lua --out counted --resume --set episode_timeout=2 --set retries=0 --set failed_return=-51 --set eval_every=0
  exits 1
  says err "failed_return"

  troubled_script "" "os.execute('kill -KILL \$PPID')"
  cat >eval.lua <<'LUA'
local iap = require "iap"
local options = iap.options({ counts = false }, { training = false })
local result = iap.eval("counted", {
  env = iap.env.make("troubled.lua"), episodes = 12, isolate = true, failed_return = options.counts and -9 or nil,
})
local failed = 0
for _, episode in ipairs(result.episodes) do failed = failed + (episode.failure and 1 or 0) end
print(failed > 0 and failed < 12 and "some failed")
LUA
  run run eval.lua --set counts=true
  exits 0
  says out "some failed"
  run run eval.lua
  exits 1
  says err "the process that played it was killed by signal 9"

  # The evaluation's own flags, on a policy file, whose worlds are confined.
  troubled_script "" 'error("a world of trouble")'
  run run train.lua --out throws --set failed_return=-50 --set eval_every=0
  exits 0
  run eval throws --episodes 12 --failed-return -9 --csv episodes.csv
  exits 0
  says out "each counts as -9"
  says episodes.csv ",failed"
  says out "note                episode $(awk -F, '$8 == 1 {print $1 ": environment '"'troubled.lua'"', seed " $2; exit}' episodes.csv), step 5: "
  grep -q '^note .*a world of trouble' out || fail "no reason of the first failure"
  [ "$(awk -F, '$8 == 1 {print $4 $5 $6 $7}' episodes.csv | sort -u)" = 0000 ] || fail "episodes that failed ended somehow"
  run eval throws --episodes 12
  exits 1
  says err "a world of trouble"
}

# A world that leaks is told apart from a machine that is full.
case_isolation_memory() {
  troubled_script "" 'self.kept = {} for i = 1, 1e9 do self.kept[i] = { i } end'
  run run train.lua --out leaks --set worker_memory=200 --set retries=0
  exits 1
  grep -qE "environment 'troubled.lua', seed [0-9]+(, step 5)?: .*\(it needed more than worker_memory = 200 MiB\)$" err || fail "the limit is not named"
  lines err 1
  run run train.lua --out counted --set worker_memory=200 --set retries=0 --set failed_return=-50 --set eval_every=0 --set iterations=1
  exits 0
  grep -qE "counts as -50: environment 'troubled.lua', seed [0-9]+.*worker_memory = 200 MiB" counted/log.txt || fail "log.txt does not name the limit"
}

# The backgrounds that a process keeps are not its episodes' fault.
case_isolation_backgrounds() {
  videos_script 100
  sed -i "s/pixels = { 16, 16 }/pixels = { 200, 200 }/; s/patch = 4/patch = 50/; s/eval_episodes = 2/eval_episodes = 50, confirm_episodes = 0/" train.lua
  run run train.lua --out plain --threads 1
  exits 0
  run run train.lua --out limited --threads 1 --set worker_memory=120 --set retries=0
  exits 0
  same_metrics plain limited
}

# What an episode did is kept where it was played, behind the same safeguards.
case_isolation_actions() {
  training_script ""
  run run train.lua --out plain
  exits 0
  run eval plain --episodes 6 --csv plain.csv --actions plain.actions
  exits 0
  # Episodes are played once: as many rows as steps.
  [ "$(wc -l <plain.actions)" = "$(awk -F, '{s += $4} END {print s}' plain.csv)" ] || fail "not a row for each step"
  [ "$(cut -d, -f1,2 plain.actions | sed -n '1p;2p;$p' | xargs)" = "1,0 1,1 6,19" ] || fail "episodes and steps"
  for flags in --isolate "--threads 1" "--isolate --threads 2"; do
    # shellcheck disable=SC2086
    run eval plain --episodes 6 --actions some.actions $flags
    exits 0
    cmp -s plain.actions some.actions || fail "other actions with $flags"
  done

  troubled_script "" 'while true do end'
  run eval plain --env troubled.lua --episodes 8 --episode-timeout 2 --retries 0 --failed-return -9 --csv counted.csv --actions counted.actions
  exits 0
  says out "each counts as -9"
  awk -F, 'NR > 1 && $8 == 0 {for (i = 0; i < $4; ++i) print $1 "," i}' counted.csv >rows
  [ -s rows ] || fail "all episodes failed"
  cut -d, -f1,2 counted.actions | cmp -s - rows || fail "other rows than those of the episodes that did not fail"
  run eval plain --env troubled.lua --episodes 8 --episode-timeout 2 --retries 0 --csv none.csv --actions none.actions
  exits 1
  says err "was cut off (episode_timeout)"
  [ ! -e none.csv ] && [ ! -e none.actions ] || fail "half of the results were written"
}

# How a process ended is told, whoever started this program and with whatever signals ignored.
case_isolation_told() {
  training_script ""
  run run train.lua --out plain
  exits 0
  troubled_script "" "os.execute('kill -KILL \$PPID')"
  env --ignore-signal=CHLD "$iap" eval plain --env troubled.lua --episodes 12 --isolate --retries 0 >out 2>err </dev/null
  code=$?
  exits 1
  says err "the process that played it was killed by signal 9"
}

# workers_of PID: the processes that play its episodes; not the one in which a sanitizer looks for leaks at the end.
workers_of() { pgrep -P "$1" -f -- --serve-episodes; }

# Nothing is left of a run that is killed, whatever its worlds are doing; a worker that is killed is replaced.
case_isolation_ends() {
  troubled_script "" 'while true do end'
  "$iap" run train.lua --out hangs --set isolate=true --threads 2 >out 2>err </dev/null &
  local pid=$! workers="" tries=0
  until [ "$(workers_of $pid | wc -l)" -ge 2 ]; do
    kill -0 $pid || fail "ended before its workers began"
    sleep 0.1
  done
  workers=$(workers_of $pid | tr '\n' ' ')
  sleep 1
  kill -KILL $pid
  wait $pid 2>/dev/null
  # shellcheck disable=SC2086
  while kill -0 $workers 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -le 300 ] || fail "workers outlive the run"
    sleep 0.1
  done

  training_script ""
  sed -i 's/iterations = 4/iterations = 200/' train.lua
  run run train.lua --out plain
  # As many further attempts as kills: where a worker takes long to begin, all of them may meet one episode.
  "$iap" run train.lua --out isolated --set isolate=true --set retries=5 --threads 1 >out 2>err </dev/null &
  pid=$!
  tries=0
  while kill -0 $pid 2>/dev/null && [ $tries -lt 5 ]; do
    sleep 0.3
    workers=$(workers_of $pid | head -n 1)
    [ -z "$workers" ] || kill -KILL "$workers" 2>/dev/null
    tries=$((tries + 1))
  done
  wait $pid
  code=$?
  exits 0
  same_metrics plain isolated
}

# Neither who no longer reads what worlds print, nor a machine that stands still for a while, is an episode's fault.
case_isolation_innocent() {
  training_script ""
  sed -i 's/iterations = 4/iterations = 200/' train.lua
  sed -i 's|^  function Pendulum:reset(seed)|&\n    print("an episode begins")|' pendulum.lua
  local safe=(--set isolate=true --set failed_return=-500 --set retries=0 --set episode_timeout=2)
  run run train.lua --out plain "${safe[@]}"
  exits 0
  "$iap" run train.lua --out piped "${safe[@]}" 2>err </dev/null | head -n 1 >out
  same_metrics plain piped

  "$iap" run train.lua --out stopped "${safe[@]}" --threads 2 >out 2>err </dev/null &
  local pid=$!
  until [ -s stopped/metrics.csv ] && [ "$(workers_of $pid | wc -l)" -ge 2 ]; do
    kill -0 $pid || fail "ended before it could be stopped"
    sleep 0.05
  done
  # shellcheck disable=SC2046
  kill -STOP $pid $(workers_of $pid)
  sleep 3
  # shellcheck disable=SC2046
  kill -CONT $(workers_of $pid) $pid
  wait $pid
  code=$?
  exits 0
  same_metrics plain stopped

  # One long episode that is suspended more often than it has seconds.
  cat >slow.lua <<'LUA'
return function()
  local p = { spec = { action_size = 1, vector = 1, max_steps = 1 } }
  function p:reset(seed) end
  function p:step(action)
    io.open("begun", "w"):close()
    while not io.open("go") do os.execute("sleep 0.05") end
    return 1, false, false
  end
  function p:observe() return { 1 } end
  return p
end
LUA
  sed -i -e 's/iap.env.make(.*)/"slow.lua"/' -e 's/eval_episodes = 4/eval_episodes = 1/' train.lua
  "$iap" run train.lua --out suspended "${safe[@]}" --set episode_timeout=4 --threads 1 --set iterations=1 >out 2>err </dev/null &
  pid=$!
  until [ -e begun ]; do
    kill -0 $pid || fail "ended before it could be suspended"
    sleep 0.05
  done
  local times
  for times in 1 2 3 4 5; do
    # shellcheck disable=SC2046
    kill -STOP $pid $(workers_of $pid)
    sleep 1.2
    # shellcheck disable=SC2046
    kill -CONT $(workers_of $pid) $pid
    sleep 0.1
  done
  touch go
  wait $pid
  code=$?
  exits 0
  ! grep failed suspended/log.txt || fail "an episode failed that was suspended"
}

# What the simulation itself ended is told, by evaluations as by training.
case_unstable() {
  unstable_task
  cat >build.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.linear {}, iap.env.make("unstable.lua")):save("unstable.iap")
LUA
  run run build.lua
  exits 0
  run eval unstable.iap --episodes 4
  exits 0
  says out "unstable episodes   4 of 4: the simulation became unstable (first: episode 1, step "
  cat >wild.lua <<'LUA'
local iap = require "iap"
iap.train { env = "unstable.lua", policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 }, iterations = 2,
  eval_episodes = 3, out = "wild" }
LUA
  run run wild.lua
  exits 0
  says err "wild: the simulation became unstable in 8 of 8 training episodes, which ended there"
  says wild/log.txt "iteration 2: the simulation became unstable in 4 of 4 episodes (first at step "
  says wild/log.txt "evaluation after iteration 0: the simulation became unstable in 3 of 3 episodes"
}

# An episode whose world takes its process down once is played again: the same results, and a word about it.
case_isolation_repeated() {
  troubled_script "" 'local f = io.open("once") if f then f:close() os.remove("once") os.execute("kill -KILL $PPID") end'
  run run train.lua --out whole
  exits 0
  touch once
  run run train.lua --out repeated --set isolate=true --threads 1
  exits 0
  same_metrics whole repeated
  says err "an episode failed at first and was played again: environment 'troubled.lua', seed "
  says repeated/log.txt "an episode failed at first and was played again: environment 'troubled.lua', seed "
  touch once
  run run train.lua --out told --set isolate=true --threads 1 --set quiet=false
  says err "told: 1 episode failed at first and was played again, which changes no result: log.txt says why"
  touch once
  run eval whole --isolate --episodes 12 --threads 1 --trust
  exits 0
  says out "repeated episodes   1, which failed at first"
  says out "note                episode "
}

# What keeps episodes apart and cuts them off is every run's, and changes no result.
case_sweep_isolated() {
  sweep_script ""
  run sweep train.lua --out plain --set iterations=1
  exits 0
  run sweep train.lua --out apart --set iterations=1 --set isolate=true --set episode_timeout=30 --set retries=2
  exits 0
  says out "--set isolate=true --set episode_timeout=30 --set retries=2"
  same_metrics plain/seed1 apart/seed1
  # A world that hangs.
  sed -i 's#function Pendulum:step(action)#&\n    while options.start == 9 do end#' pendulum.lua
  run sweep train.lua --out hangs --set env.start=9 --set episode_timeout=0.3 --set retries=0 --set failed_return=-5 \
    --set iterations=1 --set optimizer.population=2 --set eval_episodes=2 --set confirm_episodes=0
  exits 0
  says err "seed1: eval -5"
  run sweep train.lua --set worker_memory=4000 --dry-run
  exits 0
}

# Figures that rest on episodes that failed say so, wherever they stand, and across --resume.
case_failed_episodes() {
  cat >fails.lua <<'LUA'
return function(options)
  local fails = options.fails or 0
  local position, failing
  return {
    spec = { action_size = 1, vector = 1, max_steps = 10 },
    reset = function() position, failing = math.random(), math.random() < fails end,
    observe = function() return { position } end,
    step = function(_, action)
      if failing then error("a world of trouble") end
      position = position + 0.1 * action[1]
      return fails > 0 and 1 or 1 - math.abs(position), false, false
    end,
  }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
local result = iap.train {
  env = "fails.lua", eval_env = { fails = 0.9 }, policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 },
  iterations = 3, eval_every = 2, eval_episodes = 4, confirm_episodes = 5, failed_return = -50, seed = 3, out = "whole",
}
print(result.best_failed, result.confirmed.failed)
LUA
  run run train.lua
  exits 0
  local chosen fresh value
  # All evaluations are alike: the first one stays the best.
  chosen=$(grep -c "evaluation after iteration 0: an episode failed" whole/log.txt)
  fresh=$(grep -c "confirmation: an episode failed" whole/log.txt)
  [ "$chosen" -gt 0 ] && [ "$fresh" -gt 0 ] || fail "no episode failed"
  says out "$chosen"$'\t'"$fresh"
  says whole/result.json "\"best_failed\": $chosen,"
  says whole/result.json "\"failed\": $fresh,"
  says err "(iteration 0, $chosen of 4 episodes failed and count as -50), that policy on 5 fresh episodes "
  says err ", $fresh of 5 episodes failed and count as -50)"
  run report whole --no-pictures
  exits 0
  says whole/report.html "best evaluation, $chosen of 4 episodes failed<"
  says whole/report.html "the same policy on 5 fresh episodes, $fresh of 5 episodes failed<"
  says whole/report.html "in these figures: log.txt says why."
  run watch whole --no-pictures
  exits 0
  says out "run      ended after iteration 3 (iterations); episodes failed and count as failed_return: $chosen in best evaluations, $fresh in confirmations; log.txt says why"
  # Below the table of a sweep; no column of sweep.csv is of episodes.
  sed 's/, out = "whole"//; /^print/d' train.lua >swept.lua
  run sweep swept.lua --seed 3 --seeds 2 --over env.fails=0,0.5 --out sweep
  exits 0
  fresh=$(cat sweep/*/log.txt | grep -c "confirmation: an episode failed")
  value=$(cat sweep/*/metrics.csv | awk -F, '$1 == "iteration" { for (i = 1; i <= NF; i++) if ($i == "failed") c = i; next } { n += $c } END { print n }')
  [ "$value" -gt 0 ] || fail "no training episode failed"
  grep -qE "^note: in 4 of 4 runs episodes failed and count as failed_return: $value in training, [0-9]+ in best evaluations, $fresh in confirmations; log.txt in a run's folder says why$" out ||
    fail "the table of a sweep says nothing of failed episodes"
  [ "$(head -1 sweep/sweep.csv)" = "env.fails,iterations,seeds,failed,mean,std,best,best_seed,fewest_iterations" ] || fail "other columns"
  grep -qE '^0.5,3,2,0,' sweep/sweep.csv || fail "episodes that failed count as runs"
  run sweep swept.lua --seed 3 --set eval_env.fails=0 --out none
  exits 0
  grep -q "episodes failed" out && fail "told of episodes that did not fail"

  # The count of an evaluation that no part after the first has seen.
  run run train.lua --out parts --set iterations=1
  exits 0
  run run train.lua --out parts --resume
  exits 0
  for file in result.json checkpoint.iap best.iap final.iap; do
    cmp -s whole/$file parts/$file || fail "$file is another one after --resume"
  done
  says err "(iteration 0, $chosen of 4 episodes failed and count as -50)"

  # As older versions wrote it, and as nobody does.
  cp whole/result.json result.json
  sed '/failed"/d' result.json >whole/result.json
  run report whole --no-pictures
  exits 0
  grep -q "episodes failed" whole/report.html && fail "failures of which nobody knows"
  for value in -3 1e300 99999999999999 '"x"' '[]' null; do
    sed "s/failed\": [0-9]*/failed\": $value/" result.json >whole/result.json
    run report whole --no-pictures
    exits 0
    grep -q "episodes failed" whole/report.html && fail "$value counts"
  done
  run run train.lua --resume
  exits 0
  says whole/result.json "\"best_failed\": $chosen,"
}

# An evaluation of the end that is the best keeps its failures, however often the run is taken up with nothing left to do.
case_failed_end() {
  cat >fails.lua <<'LUA'
return function()
  local position, failing
  return {
    spec = { action_size = 1, vector = 1, max_steps = 10 },
    reset = function(_, seed) math.randomseed(seed) position, failing = 0, math.random() < 0.5 end,
    observe = function() return { 1 } end,
    step = function(_, action)
      if failing then error("a world of trouble") end
      position = position + action[1]
      return position, false, false
    end,
  }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = "fails.lua", policy = iap.policy.linear { activation = "tanh" }, optimizer = iap.optim.es { population = 8 }, iterations = 4,
  eval_every = 0, eval_episodes = 8, confirm_episodes = 0, failed_return = -50, seed = 3, out = "run", quiet = true,
}
LUA
  run run train.lua
  exits 0
  cp run/result.json first.json
  says first.json '"best_iteration": 4'
  grep -qE '"best_failed": [1-7],' first.json || fail "no failed episode among the best evaluation's"
  for _ in once twice; do
    run run train.lua --resume
    exits 0
    cmp first.json run/result.json || fail "result.json is another one after --resume"
  done
}
