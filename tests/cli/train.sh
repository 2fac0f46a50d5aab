# shellcheck shell=bash
# Training runs: results, resuming, experiments of many runs, environments that fail.

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
  run run "$paper/evaluate.lua" --set worlds=evry
  exits 1
  says err "--set worlds: take all or one of medium, clean, easy, hard, unseen, not evry"
  run run "$paper/transfer.lua" "${undistracted[@]}" --set task=reacher-easy
  exits 0
  lines runs/paper/transfer/results.csv 7
  run run "$paper/transfer.lua" "${undistracted[@]}" --set kernel=rleu
  exits 1
  says err "take relu, hybrid or brute, not rleu"
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
