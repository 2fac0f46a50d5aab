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
  silent err
  # Rows of its table that are gone are told, though it is quiet; the run itself goes on.
  rm parts/metrics.csv
  run run train.lua --resume --set iterations=5
  exits 0
  for place in err parts/log.txt; do says $place "warning: 'parts/metrics.csv' was missing; all rows up to iteration 4 are lost"; done
  lines err 1
  run run train.lua --resume --set iterations=6
  exits 0
  says err "warning: 'parts/metrics.csv' had only 1 of the 6 rows up to iteration 5; the others are lost"
  run report parts
  exits 0
  says parts/report.html '<b>–</b><span>untrained' # its row is among them
  # --resume is offered where it would be taken.
  run run train.lua --out whole
  exits 1
  says err "'whole' already holds a run (checkpoint.iap); continue it with --resume (resume = true), or choose another folder with --out (out = FOLDER)"
  rm whole/checkpoint*.iap
  run run train.lua --out whole
  exits 1
  says err "'whole' already holds a run (metrics.csv, best.iap, final.iap, result.json) but no checkpoint.iap to continue from; choose another folder with --out (out = FOLDER), or move these files away"
  run run train.lua --out whole --resume
  exits 1
  says err "no checkpoint.iap"
}

# A quiet run, too, says where the best policy is that only its end evaluated.
case_resume_longer() {
  training_script 'out = "run", eval_every = 0,'
  sed -i 's/eval_every = 2, //; s/seed = 3/seed = 5/' train.lua
  run run train.lua
  exits 0
  says run/result.json '"best_iteration": 4'
  cp run/best.iap best.iap
  run run train.lua --resume --set iterations=5
  exits 0
  cmp best.iap run/best.4.iap || fail "another policy is kept"
  for place in err run/log.txt; do
    says $place "warning: the best policy so far is kept as 'run/best.4.iap' (evaluation "
    says $place "): only the run's end evaluated iteration 4, which the longer run does not count; its best.iap is of iteration 0 ("
  done
  lines err 1
  run eval run/best.4.iap --episodes 1
  exits 0
  says out ", iteration 4)"
}

# --resume without --out: the newest unfinished run of the script, which is named at the start, when it stops and at the end.
case_resume_newest() {
  training_script 'out = iap.run_folder("runs/dot"), on_iteration = function(r)
    if r.iteration == 2 and not io.open("go") then print("ready") io.stdout:flush() while true do end end
  end,'
  interrupted run train.lua
  exits 130
  says err "runs/dot stopped after iteration 2 of 4; continue with"
  interrupted run train.lua
  exits 130
  says err "runs/dot-2 stopped after iteration 2 of 4; continue with"
  touch go
  run run train.lua --out whole
  tail -1 out >whole.txt
  run run train.lua --resume --set quiet=false
  exits 0
  says out "runs/dot-2"
  says err "runs/dot-2: continues after iteration 2 of 4"
  says err "runs/dot-2: ends at iteration 4 of 4; best evaluation"
  tail -1 out | cmp -s - whole.txt || fail "a resumed run ends elsewhere"
  run run train.lua --resume --set quiet=false
  exits 0
  says out "runs/dot"
  grep -q "runs/dot-2" out && fail "a complete run was taken before one that is unfinished"
  # Nothing is left: said, with the folder that was worked on last.
  run run train.lua --resume --set quiet=false
  exits 0
  says err "runs/dot: is complete with 4 iterations; nothing was left to do"
  tail -1 out | cmp -s - whole.txt || fail "a complete run prints another result"
  run run train.lua --resume --set quiet=false --set iterations=3
  exits 0
  says err "runs/dot: has done 4 iterations, more than the 3 asked for; nothing was left to do"
  # The command that is shown is the one that continues.
  rm go
  interrupted run train.lua --seed 5 --set env.time_limit=19 -- "two words"
  exits 130
  touch go
  goes_on_as_told
  says out "runs/dot-3"
  grep -q '^4' out || fail "the command does not finish the run"
  # Another script of the same name, with settings of its own, has runs of its own; what another process works on is left to it.
  rm go
  mkdir other
  sed 's/seed = 3/seed = 4/' train.lua >other/train.lua
  interrupted run other/train.lua
  exits 130
  interrupted run train.lua
  exits 130
  interrupted run other/train.lua
  exits 130
  touch go
  (cd runs && ls -d dot-4 dot-5 dot-6 >/dev/null) || fail "no three runs"
  (
    exec 9>>runs/dot-6/log.txt
    flock -n 9
    exec sleep 30
  ) &
  local holder=$!
  sleep 0.3
  run run other/train.lua --resume
  kill "$holder"
  exits 0
  says out "runs/dot-4"
  run run train.lua --resume
  exits 0
  says out "runs/dot-5"
}

# A script that makes a series of runs under one name continues the series, each run with its own settings.
case_resume_series() {
  training_script 'out = iap.run_folder("runs/dot"), seed = seed, on_iteration = function(r)
    if seed == 2 and r.iteration == 2 and not io.open("go") then print("ready") io.stdout:flush() while true do end end
  end,'
  sed -i 's/, seed = 3//; 1a for seed = 1, 3 do' train.lua
  echo "end" >>train.lua
  touch go
  run run train.lua
  exits 0
  cp out whole
  rm go
  interrupted run train.lua
  exits 130
  says err "runs/dot-5 stopped after iteration 2 of 4"
  touch go
  goes_on_as_told
  sed 's#runs/dot-4#runs/dot#; s#runs/dot-5#runs/dot-2#; s#runs/dot-6#runs/dot-3#' out | cmp -s - whole || fail "the series goes on elsewhere"
}

# Whoever asks for other settings in a run's folder hears which, and what to do.
case_resume_other_settings() {
  training_script 'out = iap.run_folder("runs/dot"),'
  run run train.lua
  exits 0
  run run train.lua --resume --set optimizer.population=4
  exits 1
  says err "cannot resume 'runs/dot' with other settings (optimizer.population: 8 before, 4 now)"
  says err "--out"
  says err "or remove 'runs/dot' to begin anew"
}

# Trials of a paper's experiment lie beside the experiment.
case_trial_folders() {
  cat >experiment.lua <<'LUA'
local options = require "iap".options { seeds = 1, kernel = "relu" }
print(require "iap".run_folder("runs/table", { shared = { "seeds", "kernel" } }))
pcall(require "iap".train, {})
LUA
  folder() {
    run run experiment.lua "$@"
    [ "$(cat out)" = "$folder" ] || fail "expected $folder"
  }
  folder=runs/table folder --set seeds=3 --set kernel=hybrid
  folder=runs/table-optimizer.population=4 folder --set optimizer.population=4 --set seeds=2
  folder=runs/table-env.pixels=64_32-optimizer.population=4 folder --set optimizer.population=4 --set "env.pixels=[64, 32]"
  folder=elsewhere folder --out elsewhere --set optimizer.population=4
}

# Which policy of a run is shown, and how good it is on episodes that did not choose it.
case_policy_choice() {
  training_script 'out = "dot",'
  run run train.lua --set quiet=false
  exits 0
  says err "on 16 fresh episodes"
  run eval dot --episodes 5 --seed 3
  exits 0
  grep -qE '^policy +dot/best.iap \(best evaluation -?[0-9.]+, iteration [0-4]\)$' out || fail "eval does not say which policy"
  says out "(seed 3, the run's own: among them are those which chose its best policy)"
  run eval dot --episodes 5 --policy final
  exits 0
  grep -qE '^policy +dot/final.iap \(evaluation -?[0-9.]+, iteration 4\)$' out || fail "eval --policy final"
  run eval dot/final.iap --policy best
  exits 1
  says err "'dot/final.iap' is not a folder"
  refuses "cannot read 'nowhere': No such file or directory" eval nowhere --policy best
  refuses "cannot read 'nowhere': No such file or directory" play nowhere --policy final --out x.webp
  rm dot/final.iap
  run eval dot --policy final
  exits 1
  says err "'dot' has no final.iap: the run has not ended"
  cp dot/best.iap best.iap
  rm dot/best.iap
  run eval dot --policy best
  exits 1
  says err "'dot' has no best.iap"
  lines err 1
  cp best.iap dot/final.iap
  run eval dot --episodes 2 --seed 3
  exits 0
  says out "dot/final.iap"
  says out "those which chose its best policy"
  mv best.iap dot
  run report dot --no-pictures
  exits 0
  says dot/report.html "on 16 fresh episodes"
  says dot/report.html "best evaluation"
}

# One fresh episode shows no interval, and is told all the same.
case_confirmed_once() {
  training_script 'out = "dot", confirm_episodes = 1,'
  run run train.lua --set quiet=false
  exits 0
  grep -qE '; best evaluation -?[0-9.]+ \(iteration [0-4]\), that policy on 1 fresh episode -?[0-9.]+$' err || fail "the last line has no confirmation"
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
  local trial="env.time_limit=8-eval_episodes=1-iterations=1-optimizer.population=2"
  local cheetah="runs/paper/cheetah-$trial"
  lines "$cheetah/fig1.csv" 4
  for file in fig1-curves.png fig1-inference.png brute-seed2/final.iap; do [ -s "$cheetah/$file" ] || fail "fig1 has no $file"; done
  # Figure 6 trains what figure 1 did not.
  run run "$paper/fig6_ablation.lua" "${tiny[@]}"
  exits 0
  lines "$cheetah/fig6.csv" 7
  [ -s "$cheetah/fig6-curves.png" ] && [ -s "$cheetah/fig6-inference.png" ] || fail "fig6 has no chart"
  [ "$(grep -c "nothing was left to do" err)" = 3 ] || fail "fig6 does not take figure 1's runs"
  local undistracted=("${tiny[@]}" --set distraction=none --set "pixels=[80,80]")
  trial="distraction=none-$trial-pixels=80_80"
  run run "$paper/fig7_sweep.lua" "${undistracted[@]}"
  exits 0
  lines "runs/paper/fig7-$trial/cheetah-run.csv" 28
  [ -s "runs/paper/fig7-$trial/cheetah-run-d64.png" ] || fail "fig7 has no chart"
  run run "$paper/fig7_sweep.lua" "${tiny[@]}" --set "pixels=[40,48]" --out small
  exits 1
  says err "option 'top' is 50, but a 40 x 48 image has only 30 patches of size 8"
  [ -z "$(ls -A small 2>/dev/null)" ] || fail "fig7 trains before it looks at the last of its policies"
  run run "$paper/table1.lua" "${undistracted[@]}"
  exits 0
  lines "runs/paper/table1-$trial/results.csv" 16
  [ -s "runs/paper/table1-$trial/report.html" ] || fail "table 1 has no page"
  run run "$paper/table1.lua" "${undistracted[@]}" --set eyes=rank --set kernel=relu cartpole-swingup
  exits 0
  says "runs/paper/table1-$trial/results.csv" "cartpole-swingup,relu,1,"
  lines "runs/paper/table1-$trial/results.csv" 17 # with the fifteen that were there
  run run "$paper/table1.lua" "${undistracted[@]}" --set eyes=four
  exits 1
  says err "--set eyes: take all, rank, trans or change, not four"
  run run "$paper/table1_clean.lua" "${tiny[@]}" --set "pixels=[60,60]" --set eyes=trans --out clean reacher-easy
  exits 0
  grep -qE '^reacher-easy,trans,1,.*,250$' clean/results.csv || fail "no row beside DrQ-v2"
  run run "$paper/table1.lua" "${undistracted[@]}" --set "pixels=[120,160]" --set episodes=1 --set eyes=change --out one cartpole-swingup
  exits 0
  grep -qE '^cartpole-swingup,change,1,[0-9.e-]+,,,95% interval of the mean,196,167,212$' one/results.csv || fail "one episode has no interval"
  tr -d ' \n' < one/cartpole-swingup-change-seed1/config.json | grep -qF '"pixels":[60,80]' || fail "it does not learn from small pictures"
  run run "$paper/reacher.lua" "${tiny[@]}" --set distraction=none --out arm --seed 2
  exits 0
  grep -qE '^2,[0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9.e-]+$' arm/results.csv || fail "reacher has no row"
  [ -s arm/reacher-easy-seed2/final.iap ] && [ -s arm/report.html ] || fail "reacher has no run or no page"
  # Another seed of the same folder joins the table.
  run run "$paper/reacher.lua" "${tiny[@]}" --set distraction=none --out arm --seed 1
  exits 0
  [ "$(cut -d, -f1 arm/results.csv | xargs)" = "seed 1 2" ] || fail "reacher's table has not both seeds"
  run run "$paper/reacher.lua" "${tiny[@]}" --set colours=red
  exits 1
  says err "--set colours: take both, arm or none, not red"
  run run "$paper/table1.lua" walker-wlak
  exits 1
  says err "there is no task walker-wlak; there are cheetah-run,"
  run run "$paper/evaluate.lua" --set worlds=evry
  exits 1
  says err "--set worlds: take all or one of medium, clean, easy, hard, unseen, not evry"
  run run "$paper/transfer.lua" "${undistracted[@]}" --set task=reacher-easy
  exits 0
  lines "runs/paper/transfer-$trial/reacher-easy.csv" 7
  run run "$paper/transfer.lua" "${undistracted[@]}" --set kernel=rleu
  exits 1
  says err "take relu, hybrid or brute, not rleu"
}

case_search() {
  local search=("$paper/../search.lua" --set iterations=1 --set optimizer.population=2 --set eval_episodes=1 --set episodes=2 --set env.time_limit=8 --threads 1)
  local folder="runs/search-env.time_limit=8-eval_episodes=1-iterations=1-optimizer.population=2"
  run run "${search[@]}" cartpole-swingup --set seeds=2 --set variants=baseline,hadamard
  exits 0
  lines "$folder/results.csv" 8
  # One variant, task and seed; the table has what ran before as well.
  run run "${search[@]}" walker-walk --seed 1 --set seeds=1 --set variants=growing
  exits 0
  grep -qE '^hadamard,,,0,,,0,[0-9.e-]+,[0-9.e-]+,2,$' "$folder/results.csv" || fail "a narrower start took rows away"
  run run "$paper/../search.lua" --set episodes=2 --set show=true --out "$folder"
  exits 0
  grep -qE '^baseline,,,0,,,0,[0-9.e-]+,[0-9.e-]+,2,$' "$folder/results.csv" || fail "no mean of the baseline"
  grep -qE '^growing,,,0,[0-9.e-]+,,1,,,0,$' "$folder/results.csv" || fail "no row of a single run"
  grep -q '"directions": "hadamard"' "$folder/cartpole-swingup-hadamard-seed2/config.json" || fail "hadamard is not hadamard"
  run run "${search[@]}" --set variants=hadamrd
  exits 1
  says err "there is no variant hadamrd; there are baseline, orthogonal, hadamard,"
}

case_on_iteration() {
  training_script 'on_iteration = function(r) return r.iteration < 2 end,'
  run run train.lua --set on_iteration=null
  exits 0
  says out "iterations"
  run run train.lua --set on_iteration=5
  exits 1
  says err "option 'on_iteration' must be a function, got 5"
  training_script 'on_iteration = function(r) print("seen", r.iteration, r.return_mean <= r.return_best) end,'
  run run train.lua
  exits 0
  says out "$(printf 'seen\t4\ttrue')"
  # What it ends stays ended, whatever comes after it in the script.
  training_script 'out = iap.run_folder("ended"), on_iteration = function(r) return r.iteration < 2 end,'
  run run train.lua
  exits 0
  cp out before
  run run train.lua --resume
  exits 0
  cmp -s out before || fail "a run that had ended went on"
  lines ended/metrics.csv 4
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
