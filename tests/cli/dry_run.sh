# shellcheck shell=bash
# What a dry run of a training tells, and what it refuses.

case_dry_run() {
  training_script ""
  run run train.lua --out planned --dry-run --threads 1
  exits 0
  silent err
  says out "environment  env 'pendulum.lua'"
  says out "policy       4 parameters"
  says out "optimizer    es, seed 3"
  says out "folder       planned"
  says out "iterations   4 of 8 members, 1 episode each"
  # Evaluated before the first iteration, after the second and the fourth, and confirmed.
  says out "evaluations  28 episodes in all"
  says out "expected     1 s on 1 thread"
  [ ! -e planned ] || fail "a dry run writes"
  run run train.lua --dry-run --set iterations=9 --set 'curriculum=[{"through":3,"population":4},{"episodes":2}]'
  exits 0
  says out "stage 1      3 iterations of 4 members, 1 episode each: "
  says out "stage 2      6 iterations of 8 members, 2 episodes each: "
  run run train.lua --dry-run --set 'curriculum=[{"through":1,"time_limit":5},{}]'
  exits 0
  says out "stage 1      1 iteration of 8 members, 1 episode each, time_limit 5: "
  says out "stage 2      3 iterations of 8 members, 1 episode each, time_limit 20: "
  # Evaluations in a world of their own, and episodes that fail as the run would let them fail.
  run run train.lua --dry-run --threads 1 --set eval_env.time_limit=100
  exits 0
  says out "(an untrained episode: 20.0 steps"
  says out "(an untrained episode: 100 steps"
  run run train.lua --dry-run --set 'env.mark=[1]' --set iterations=1
  exits 1
  cat >never.lua <<'LUA'
return function()
  return { spec = { action_size = 1, max_steps = 5, vector = 1 }, reset = function() end, observe = function() return { 0 } end,
           step = function() while true do end end }
end
LUA
  run run train.lua --dry-run --set env.name=never.lua --set env.time_limit=5 --set episode_timeout=0.1 --set failed_return=0
  exits 0
  says out "expected"
  run run train.lua --dry-run --set env.length=nowhere
  exits 1
  # What the script prints is heard up to its training, but not once for each run of a sweep.
  echo 'print("I ran") io.write("and wrote\n")' >plain.lua
  run run plain.lua --dry-run
  exits 0
  [ "$(cat out)" = $'I ran\nand wrote\nplain.lua trains nothing' ] || fail "what a script without a training prints"
  { echo 'print("before")' && cat train.lua; } >aloud.lua
  run run aloud.lua --dry-run
  exits 0
  [ "$(head -1 out)" = before ] || fail "what it prints before its training is lost"
  grep -q '^4' out && fail "it prints what became of no training"
  run sweep aloud.lua --dry-run
  exits 0
  grep -q before out && fail "a sweep's rehearsals print"
}

# A rehearsal of a run that goes on: what is left to do, or what the run would be refused for; nothing is written.
case_dry_run_resumed() {
  training_script 'out = iap.run_folder("runs/going"), on_iteration = function(r) return r.iteration ~= 2 end,'
  run run train.lua
  exits 0
  run run train.lua --out runs/staged --set 'curriculum=[{"through":2},{"population":6}]'
  exits 0
  cp -r runs/going runs/torn
  echo torn | tee runs/torn/checkpoint.iap >runs/torn/checkpoint.previous.iap
  find runs -printf '%p %T@ %s\n' | sort >before
  rehearses() {
    run run train.lua --dry-run --threads 1 --resume --out runs/going "$@"
    exits 0
    silent err
  }
  rehearses
  says out "folder       runs/going: goes on from iteration 2"
  says out "iterations   2 of 8 members, 1 episode each"
  # Evaluated after the fourth iteration, and confirmed.
  says out "evaluations  20 episodes in all"
  rehearses --set iterations=99
  says out "iterations   97 of 8 members"
  # After each even iteration and the last, and confirmed.
  says out "evaluations  $((49 * 4 + 16)) episodes in all"
  for iterations in 1 2; do
    rehearses --set iterations=$iterations
    says out "folder       runs/going: nothing is left to do"
    grep -qE '^(iterations|evaluations|expected)' out && fail "something is left to do of $iterations iterations"
  done
  rehearses --set iterations=2 --set confirm_episodes=5
  says out "folder       runs/going: what is left is to confirm its best policy"
  says out "evaluations  5 episodes in all"
  run run train.lua --dry-run --resume --out runs/staged --set 'curriculum=[{"through":2},{"population":6}]'
  exits 0
  says out "stage 1      done"
  says out "stage 2      2 iterations of 6 members"
  refuses "'runs/going' already holds a run" run train.lua --dry-run --out runs/going
  refuses "cannot resume 'runs/going' with other settings (optimizer.population: 8 before, 4 now)" \
    run train.lua --dry-run --resume --out runs/going --set optimizer.population=4
  refuses "cannot resume 'runs/torn': " run train.lua --dry-run --resume --out runs/torn
  (
    exec 9>>runs/going/log.txt
    flock -n 9
    exec sleep 30
  ) &
  local holder=$!
  sleep 0.3
  refuses "'runs/going' is in use by another process" run train.lua --dry-run --resume --out runs/going
  refuses "'runs/going' is in use by another process" run train.lua --dry-run --out runs/going
  kill "$holder"
  find runs -printf '%p %T@ %s\n' | sort | cmp -s - before || fail "a rehearsal writes"
}

listed() { find . -printf '%p %s\n' | grep -vE '/(out|err|before|after|refusal|log.txt)( |$)' | sort; }

# dry_refused MESSAGE ARGS...: of the dry run and of the run, in the same words; nothing is there that `before` does not list
dry_refused() {
  refuses "$1" run train.lua --dry-run "${@:2}"
  listed >after
  cmp -s before after || fail "$*: something is written: $(diff before after)"
  cp err refusal
  refuses "$1" run train.lua "${@:2}"
  cmp -s err refusal || fail "$*: the run is refused in other words: $(cat refusal)"
  rm -rf new # its folder and log.txt
}

case_dry_run_memory() {
  training_script ""
  listed >before
  (
    ulimit -v 4000000
    dry_refused "train: option 'episodes' (10000000 for each of 8 members) needs" --out new --set episodes=10000000
    dry_refused "train: option 'episodes' (10000000 for each of 8 members) needs" --out new --set 'curriculum=[{"through":2},{"episodes":10000000}]'
    dry_refused "train: option 'eval_episodes' (16000000) needs" --out new --set eval_episodes=16000000
    dry_refused "train: option 'confirm_episodes' (16000000) needs" --out new --set confirm_episodes=16000000
  ) || exit 1
}

# What a run is refused for before its first episode, a dry run of it is, in the same words; nothing is written.
case_dry_run_refused() {
  training_script 'out = iap.run_folder("runs/whole"), log = { "jsonl" },'
  run run train.lua
  exits 0
  touch file
  ln -s nowhere dangling
  for changed in columns jsonl final; do cp -r runs/whole "runs/$changed"; done
  sed -i 1s/return_best/other/ runs/columns/metrics.csv
  for name in jsonl/metrics.jsonl final/final.iap; do rm "runs/$name" && mkdir "runs/$name"; done
  listed >before
  dry_refused "cannot create folder 'file': 'file' is no folder" --out file
  dry_refused "cannot create folder 'file/run': 'file' is no folder" --out file/run
  dry_refused "cannot create folder 'dangling/run': 'dangling' is a link that leads to no folder" --out dangling/run
  dry_refused "'runs/columns/metrics.csv'" --resume --out runs/columns --set iterations=6
  dry_refused "'runs/jsonl/metrics.jsonl'" --resume --out runs/jsonl --set iterations=6
  dry_refused "'runs/final/final.iap' is a folder where the run keeps a file" --resume --out runs/final --set iterations=6
  if [ "$(id -u)" = 0 ]; then return; fi
  mkdir locked && chmod 500 locked
  dry_refused "cannot create folder 'locked/run': Permission denied" --out locked/run
  dry_refused "cannot write into folder 'locked': Permission denied" --out locked
}
