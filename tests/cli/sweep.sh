# shellcheck shell=bash
# iap sweep: the product of settings and seeds, going on after whatever ended it, halving, parts, failures, bad input.

# A pendulum's training; it is slow while there is a file named slow. What the script adds to iap.train stands in $1
sweep_script() {
  cp "$scripts/pendulum.lua" .
  cat >train.lua <<LUA
local iap = require "iap"
iap.train {
  env = iap.env.make("pendulum.lua", { time_limit = 20 }),
  policy = iap.policy.sequence { iap.policy.linear { units = 3, activation = "tanh" }, iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 8, sigma = 0.1, learning_rate = 0.1 },
  iterations = 4, eval_every = 2, eval_episodes = 4, out = iap.run_folder("runs/alone"),
  on_iteration = function(r)
    print("iteration " .. r.iteration)
    io.stdout:flush()
    local slow = io.open("slow")
    if slow then slow:close() os.execute("sleep 0.15") end
  end,
  $1
}
LUA
}

# last_eval FOLDER: the last evaluation in its metrics.csv
last_eval() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "eval_mean") c = i } NR > 1 && $c != "" { v = $c } END { print v }' "$1/metrics.csv"; }
# table_row FILE BEGINNING: the row's numbers, with spaces between them
table_row() { grep "^$2," "$1" | sed "s/^$2,//; s/,/ /g"; }
# children_of PID: the folders in /proc of its children that run
children_of() { grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | sed 's#/status##'; }
runs() { grep -qs "^State:[[:space:]]*[^ZX[:space:]]" "$1/status"; }
over=(--over "optimizer.sigma=0.05,0.2" --over "policy.blocks.1.units=2,5")

case_sweep() {
  sweep_script ""
  run sweep train.lua "${over[@]}" --seeds 2 --jobs 2 --dry-run
  exits 0
  lines out 9
  says out "runs/sweeps/train/sigma=0.05,units=5-seed2: to do"
  [ ! -e runs ] || fail "a dry run writes"
  run sweep train.lua "${over[@]}" --seeds 2 --jobs 2
  exits 0
  [ "$(find runs/sweeps/train -name '*-seed?' | wc -l)" -eq 8 ] || fail "no eight runs"
  [ "$(grep -c '^\[./8\] sigma=' err)" -eq 8 ] || fail "no line for each run"
  says "runs/sweeps/train/sigma=0.2,units=2-seed1/output.txt" "iteration 4"
  lines runs/sweeps/train/sweep.csv 5
  says runs/sweeps/train/sweep.csv "optimizer.sigma,policy.blocks.1.units,iterations,seeds,failed,mean,std,best,best_seed"
  local sigma units
  for sigma in 0.05 0.2; do
    for units in 2 5; do
      local name="runs/sweeps/train/sigma=$sigma,units=$units"
      table_row runs/sweeps/train/sweep.csv "$sigma,$units" | awk -v a="$(last_eval "$name-seed1")" -v b="$(last_eval "$name-seed2")" '
        function near(x, y) { return (x - y) ^ 2 < 1e-18 * (1 + y ^ 2) }
        { exit !($1 == 4 && $2 == 2 && $3 == 0 && near($4, (a + b) / 2) && near($5, sqrt((a - b) ^ 2 / 2)) && near($6, a > b ? a : b) && $7 == (a > b ? 1 : 2)) }' ||
        fail "the table's row of $sigma, $units"
    done
  done
  says runs/sweeps/train/report.html "sigma 0.05, units 5"
  grep -q "the page leaves out" err && fail "runs of other settings are left out of the page"
  # The best mean is named, and what repeats its best run does.
  local best
  best=$(tail -n +2 runs/sweeps/train/sweep.csv | sort -t, -k6,6g | tail -1 | cut -d, -f1,2)
  says out "best: optimizer.sigma=${best%,*} policy.blocks.1.units=${best#*,}: mean eval"
  eval "$(grep -F -- "$iap run train.lua" out)" >repeated 2>&1 || fail "the command of the best run"
  same_metrics runs/sweeps/train/best "runs/sweeps/train/sigma=${best%,*},units=${best#*,}-seed$(table_row runs/sweeps/train/sweep.csv "$best" | cut -d' ' -f7)"
  # A second time there is nothing to do; more seeds are added to those that are there.
  cp runs/sweeps/train/sweep.csv first.csv
  run sweep train.lua "${over[@]}" --seeds 2
  exits 0
  says err "8 of 8 runs were done before"
  cmp -s first.csv runs/sweeps/train/sweep.csv || fail "another table"
  run sweep train.lua "${over[@]}" --seeds 3 --metric return
  exits 0
  says err "8 of 12 runs were done before"
  says out "mean return"
  # Seeds alone; lists, whose commas belong to the values, and options of the script itself.
  run sweep train.lua --seeds 2 --seed 7 --out seeds
  exits 0
  [ -s seeds/seed8/final.iap ] || fail "no run of seed 8"
  sed -i '1a local options = iap.options { width = 3, sizes = { 1 } }' train.lua
  run sweep train.lua --over 'sizes=[1,2],[3]' --over width=2,3 --dry-run
  exits 0
  says out "runs/sweeps/train/sizes=1_2,width=3-seed1: to do"
}

# Whatever ends a sweep, it goes on as if nothing had happened.
case_sweep_resume() {
  sweep_script ""
  run sweep train.lua "${over[@]}" --jobs 2 --out whole
  exits 0
  touch slow
  # Killed: its children end by themselves, with a checkpoint.
  "$iap" sweep train.lua "${over[@]}" --jobs 2 --out parts >out 2>err </dev/null &
  local sweep=$!
  until grep -qs "iteration 2" parts/*/output.txt; do sleep 0.02; done
  local children
  children=$(children_of "$sweep")
  [ "$(wc -w <<<"$children")" -eq 2 ] || fail "no two children"
  kill -9 "$sweep"
  wait "$sweep" 2>/dev/null
  local child
  for child in $children; do while runs "$child"; do sleep 0.02; done; done
  grep -q "continue with" parts/*/output.txt || fail "no child of a killed sweep ended in good order"
  # Stopped by SIGTERM, then by Ctrl-C.
  local signal
  for signal in TERM INT; do
    local before
    before=$(cat parts/*/output.txt | wc -l)
    "$iap" sweep train.lua "${over[@]}" --jobs 2 --out parts >out 2>err </dev/null &
    sweep=$!
    until [ "$(cat parts/*/output.txt | wc -l)" -gt $((before + 5)) ]; do sleep 0.02; done
    children=$(children_of "$sweep")
    [ -n "$children" ] || fail "no children"
    kill -"$signal" "$sweep"
    wait "$sweep"
    code=$?
    exits 130
    grep -qE "^interrupted with [0-3] of 4 runs done; continue with$" err || fail "not told how to go on"
    for child in $children; do ! runs "$child" || fail "a child outlived its sweep"; done
    grep -q "continue with" parts/*/output.txt || fail "no child ended in good order"
  done
  rm slow
  goes_on_as_told
  sed 's#whole#parts#' whole/sweep.csv | cmp -s - parts/sweep.csv || fail "the table is another"
  local run
  for run in whole/*-seed1; do same_metrics "$run" "parts/${run#whole/}"; done
  # Two processes share one sweep: nothing runs twice, and both see all of it.
  touch slow
  "$iap" sweep train.lua "${over[@]}" --out shared >other.out 2>other.err </dev/null &
  sweep=$!
  run sweep train.lua "${over[@]}" --out shared
  exits 0
  says out "best"
  wait "$sweep" || fail "the other process: $(cat other.err)"
  cmp -s whole/sweep.csv shared/sweep.csv || fail "two processes make another table"
  for run in shared/*-seed1; do [ "$(grep -c "^iteration [0-9]$" "$run/output.txt")" -eq 4 ] || fail "$run ran twice"; done
}

case_sweep_halving() {
  sweep_script ""
  # Runs that are the beginnings of one another are no seeds of their own.
  run sweep train.lua --over iterations=1,3,2 --seeds 2 --out lengths
  exits 0
  says err "note: the page leaves out 4 runs that are the beginning of another, or the same"
  says lengths/report.html "mean of 2 seeds"
  says lengths/report.html "iap report lengths/iterations=3-seed1 lengths/iterations=3-seed2 --no-pictures<"
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out whole
  exits 0
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out halves --halving 2 --dry-run
  [ "$(tail -1 out | cut -c1-45)" = "halving: 4 combinations for 1 iteration, then" ] || fail "a dry run ends without its rungs"
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out halves --halving 2 --jobs 2
  exits 0
  says err "halving: 4 combinations for 1 iteration, then 2 combinations to 2 iterations, then 1 combination to 4 iterations"
  [ "$(tail -n +2 halves/sweep.csv | cut -d, -f2 | sort | tr '\n' ' ')" = "1 1 2 4 " ] || fail "other rungs"
  # Who went on had the better means at the rung below, and its run is that of an unbroken one.
  local longest
  longest=$(grep ',4,2,0,' halves/sweep.csv | cut -d, -f1)
  for seed in 1 2; do same_metrics "whole/sigma=$longest-seed$seed" "halves/sigma=$longest-seed$seed"; done
  cmp -s "whole/sigma=$longest-seed1/best.iap" "halves/sigma=$longest-seed1/best.iap" || fail "another best policy"
  says out "best: optimizer.sigma=$longest: mean eval"
  awk -F, 'NR > 1 { mean[$2 ""] = mean[$2 ""] " " $5 } END { print mean["1"] }' halves/sweep.csv >firsts
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out one --set iterations=1
  exits 0
  awk -F, 'NR > 1 { print $5, $1 }' one/sweep.csv | sort -g | head -2 | cut -d' ' -f2 | sort >worst
  grep ',1,2,0,' halves/sweep.csv | cut -d, -f1 | sort | cmp -s - worst || fail "it did not leave the worse half behind"
  # Broken off and begun again: the same table.
  cp halves/sweep.csv first.csv
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out halves --halving 2 --collect
  exits 0
  cmp -s first.csv halves/sweep.csv || fail "another table when collected"
  touch slow
  "$iap" sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out again --halving 2 --jobs 2 >out 2>err </dev/null &
  local sweep=$!
  until grep -q "rung 3/3 \|rung 2/3 \[2" err; do sleep 0.02; done
  kill -9 "$sweep"
  wait "$sweep" 2>/dev/null
  rm slow
  run sweep train.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out again --halving 2
  exits 0
  cmp -s first.csv again/sweep.csv || fail "another table after an interruption"
  # A failure in a higher rung leaves the decisions below it as they were.
  sed 's#print("iteration#if r.iteration == 4 and io.open("broken") then error("it broke") end print("iteration#' train.lua >breaks.lua
  touch broken
  run sweep breaks.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out broken.d --halving 2
  exits 1
  says err "2 of 8 runs failed"
  rm broken
  run sweep breaks.lua --over optimizer.sigma=0.01,0.05,0.1,0.2 --seeds 2 --out broken.d --halving 2
  exits 0
  cmp -s first.csv broken.d/sweep.csv || fail "another table after failures"
  # What a shorter run is not the beginning of.
  sed -i 's/^local iap.*/&\nlocal options = iap.options { iterations = 4 }/; s/sigma = 0.1/sigma = 1 \/ options.iterations/; s/iterations = 4,/iterations = options.iterations,/' train.lua
  run sweep train.lua --over optimizer.learning_rate=0.1,0.2 --halving 2 --out other
  exits 1
  says err "a shorter run of train.lua is not the beginning of a longer one (optimizer.sigma: 0.5 before, 0.25 now)"
}

# Runs that are further than a sweep compares, as those of an earlier one: they count as they were there, and stay as they are.
case_sweep_passed() {
  sweep_script ""
  local two=(--over optimizer.sigma=0.05,0.2) run file
  run sweep train.lua "${two[@]}" --out passed
  exits 0
  cp -r passed before
  cp -r passed shorter
  # The first seed is beyond the rung, the second has yet to get there.
  run sweep train.lua "${two[@]}" --seeds 2 --halving 2 --out fresh
  exits 0
  run sweep train.lua "${two[@]}" --seeds 2 --halving 2 --out passed
  exits 0
  [ "$(grep -c "seed1: eval .*, done before" err)" -eq 2 ] || fail "not told which runs had been there before"
  grep ',4,2,0,' passed/sweep.csv | cmp -s - <(grep ',4,2,0,' fresh/sweep.csv) || fail "beside runs that are further another setting is the best"
  for run in before/*-seed1; do
    grep -q '"confirmed"' "$run/result.json" || fail "no confirmation to lose"
    for file in config.json result.json metrics.csv output.txt; do
      cmp -s "$run/$file" "passed/${run#before/}/$file" || fail "$file of a run that is further is another"
    done
  done
  # Where they were not evaluated, they are refused before anything runs.
  run sweep train.lua --over optimizer.sigma=0.05,0.1,0.2,0.3 --halving 2 --out passed
  exits 1
  says err "'passed/sigma=0.05-seed1' has done 4 iterations and has no evaluation at iteration 1, where this sweep compares; choose another folder with --out"
  lines err 1
  [ ! -e passed/sigma=0.1-seed1 ] || fail "a run was begun"
  refuses "has no evaluation at iteration 3" sweep train.lua "${two[@]}" --set iterations=3 --out passed
  # A sweep of fewer iterations, one of its runs begun by hand.
  rm shorter/sigma=0.2-seed1/job.json
  run sweep train.lua "${two[@]}" --set iterations=2 --out short
  exits 0
  run sweep train.lua "${two[@]}" --set iterations=2 --out shorter
  exits 0
  cmp -s short/sweep.csv shorter/sweep.csv || fail "runs that are further make another table of fewer iterations"
  for run in before/*-seed1; do cmp -s "$run/config.json" "shorter/${run#before/}/config.json" || fail "a run has become a shorter one"; done
  # What has yet to get there goes on, though a crash has torn its last row.
  printf '3,-1' >>short/sigma=0.2-seed1/metrics.csv
  run sweep train.lua "${two[@]}" --out short
  exits 0
  for run in before/*-seed1; do same_metrics "$run" "short/${run#before/}"; done
}

# A run that somebody else stops is told as what it is, and goes on.
case_sweep_interrupted() {
  sweep_script ""
  touch slow
  "$iap" sweep train.lua --out stopped >out 2>err </dev/null &
  local sweep=$! child
  until grep -qs "iteration 1" stopped/seed1/output.txt; do sleep 0.02; done
  child=$(children_of "$sweep")
  kill -TERM "${child#/proc/}"
  wait "$sweep"
  code=$?
  exits 1
  says err "seed1: failed: was interrupted (by a signal or a limit); started again, the sweep goes on with it"
  rm slow
  run sweep train.lua --out stopped
  exits 0
  # The row that it was interrupted behind is asked about once more.
  [ "$(grep "^iteration [0-9]$" stopped/seed1/output.txt | sort -u | wc -l)" -eq 4 ] || fail "it missed an iteration"
  [ "$(grep -c "^iteration 1$" stopped/seed1/output.txt)" -le 2 ] || fail "it began anew"
}

# An array of jobs on a cluster: the parts make the same table as one sweep.
case_sweep_parts() {
  sweep_script ""
  run sweep train.lua "${over[@]}" --seeds 2 --jobs 2 --out whole
  exits 0
  local part
  for part in 1 2 3; do
    if [ "$part" = 3 ]; then
      run sweep train.lua "${over[@]}" --seeds 2 --out parts --collect
      exits 1
      says err "of 8 runs are not done"
      says out "best"
    fi
    run sweep train.lua "${over[@]}" --seeds 2 --out parts --job "$part/3"
    exits 0
    says out "part $part/3 is done"
  done
  run sweep train.lua "${over[@]}" --seeds 2 --out parts --collect
  exits 0
  cmp -s whole/sweep.csv parts/sweep.csv || fail "the parts make another table"
  [ -s parts/report.html ] || fail "no page"
  for part in 0/3 4/3 1 x/3 1/0; do
    refused "iap sweep: --job" sweep train.lua "${over[@]}" --out parts --job "$part"
  done
}

case_sweep_failures() {
  sweep_script ""
  touch broken
  sed -i 's#print("iteration#if r.iteration == 2 and io.open("broken") and options.mark == 0.2 then error("it broke") end print("iteration#; 1a local options = iap.options { mark = 0 }' train.lua
  run sweep train.lua --over mark=0.1,0.2,0.3 --jobs 2
  exits 1
  says err "mark=0.2-seed1: failed: train.lua:"
  says err "it broke"
  says err "1 of 3 runs failed"
  says out "best"
  grep -q '^0.2,0,0,1,,,,,0$' runs/sweeps/train/sweep.csv || fail "the failure is not in the table"
  grep -q '^0.3,4,1,0,' runs/sweeps/train/sweep.csv || fail "a failure stopped the others"
  says runs/sweeps/train/mark=0.2-seed1/job.json "it broke"
  run sweep train.lua --over mark=0.1,0.2,0.3 --dry-run
  exits 0
  says out "mark=0.2-seed1: to do again; failed: train.lua:"
  # Mended, it goes on from where it failed.
  rm broken
  run sweep train.lua --over mark=0.1,0.2,0.3
  exits 0
  says err "2 of 3 runs were done before"
  same_metrics runs/sweeps/train/mark=0.1-seed1 runs/sweeps/train/mark=0.2-seed1
  # A reward that is no number.
  sed -i 's#return -math.cos(self.angle), #return 0 / 0, #' pendulum.lua
  run sweep train.lua --out nan
  exits 1
  says err "seed1: failed: "
  says err "step must return a finite reward"
  says out "no run is done"
  # A message of more than one line, with words of another meaning elsewhere; a name that looks like an option.
  sed 's#return 0 / 0, #error("camera is in use by another process\\nsecond line") return 0, #' pendulum.lua >camera.lua
  sed 's/pendulum.lua/camera.lua/' train.lua >-x.lua
  run sweep --out camera -- -x.lua
  exits 1
  says err "seed1: failed: "
  says err "camera is in use by another process second line"
  says err "camera.lua"
  sweep_script ""
  printf '%s\n' 'error("camera is in use by another process\nsecond line")' | cat train.lua - >own.lua
  run sweep own.lua --out own
  exits 1
  says err "camera is in use by another process | second line"
  # A process that ends itself is told with its exit code; it has not trained to the end, whatever that code is.
  sweep_script ""
  touch ends
  sed -i '1a local options = iap.options { code = -1 }' train.lua
  sed -i 's#print("iteration#if r.iteration == 3 and options.code >= 0 and io.open("ends") then os.exit(options.code) end print("iteration#' train.lua
  run sweep train.lua --over code=-1,0,1,3 --out ended
  exits 1
  says err "code=0-seed1: failed: stopped at iteration 3 of 4 (by os.exit, or by an error that the script caught); ended with exit code 0 after: "
  says err "code=1-seed1: failed: ended with exit code 1 after: "
  says err "code=3-seed1: failed: ended with exit code 3 after: "
  says err "3 of 4 runs failed"
  says ended/code=0-seed1/job.json '"status": "failed"'
  grep -q '^0,0,0,1,,,,,0$' ended/sweep.csv || fail "what stopped in between counts"
  rm ends
  run sweep train.lua --over code=-1,0,1,3 --out ended
  exits 0
  says err "1 of 4 runs were done before"
  local ended
  for ended in 0 1 3; do same_metrics ended/code=-1-seed1 "ended/code=$ended-seed1"; done
  # An error that the script itself catches; and a run that its own on_iteration ends, which is done.
  sed 's/^iap.train {/print(pcall(iap.train, {/; s/^}$/}))/; s#if r.iteration == 3.*print("iteration#if r.iteration == 3 then error("it broke") end print("iteration#' train.lua >catches.lua
  run sweep catches.lua --out caught
  exits 1
  says err "seed1: failed: stopped at iteration 3 of 4"
  says err "it broke"
  sed 's#if r.iteration == 3.*print("iteration#if r.iteration == 3 then return false end print("iteration#' train.lua >enough.lua
  run sweep enough.lua --out enough
  exits 0
  grep -q '^3,1,0,' enough/sweep.csv || fail "a run that ended itself is not done"
}

# not_swept TEXT ARGS...: refused with one line before anything runs
not_swept() {
  local expected=$1
  shift
  run sweep "$@"
  exits 1
  says err "$expected"
  lines err 1
  silent out
  [ ! -e runs ] || fail "something was written"
}

case_sweep_errors() {
  sweep_script ""
  not_swept "there is no script 'missing.lua'" missing.lua --over a=1
  not_swept "with optimizer.sgima=0.1: train.lua:2: " train.lua --over optimizer.sgima=0.1,0.2
  not_swept "did you mean 'sigma'?" train.lua --over optimizer.sgima=0.1,0.2
  not_swept "did you mean 'optimizer'?" train.lua --over optimzer.sigma=0.1,0.2
  not_swept "did you mean 'units'?" train.lua --over policy.blocks.1.unit=1,2
  not_swept "policy.blocks.7.units" train.lua --over policy.blocks.7.units=1,2
  not_swept "with optimizer.sigma=x: " train.lua --over optimizer.sigma=0.1,x
  refused "--over optimizer.sigma: 0.10 stands there twice (also as 0.1)" sweep train.lua --over optimizer.sigma=0.1,0.10
  refused "--over optimizer.sigma: .1 stands there twice (also as 0.1)" sweep train.lua --over optimizer.sigma=0.1,.1
  refused "--over optimizer.sigma: 1.0 stands there twice (also as 1)" sweep train.lua --over optimizer.sigma=1,2,1.0
  refused "--over env.pixels: [12,1.6e1] stands there twice (also as [12,16])" sweep train.lua --over env.pixels=[12,16],[12,1.6e1]
  refused "--over optimizer.sigma=: a value is missing" sweep train.lua --over optimizer.sigma=
  refused "a value is missing" sweep train.lua --over optimizer.sigma=0.1,,0.2
  refused "write it as path=value,value" sweep train.lua --over optimizer.sigma
  refused "write it as path=value" sweep train.lua --set quiet
  not_swept "--over optimizer.sigma was given twice" train.lua --over optimizer.sigma=1 --over optimizer.sigma=2
  not_swept "--over optimizer.sigma and --set optimizer.sigma set the same option" train.lua --over optimizer.sigma=1 --set optimizer.sigma=2
  not_swept "set the same option" train.lua --over optimizer.sigma=1 --over 'optimizer={"kind":"es"}'
  not_swept "--over seed: seeds have an option of their own: --seeds" train.lua --over seed=1,2
  not_swept "--over threads: it changes no result; --threads sets it for all runs" train.lua --over threads=1,2
  not_swept "--over isolate: it changes no result; --set isolate=VALUE sets it for all runs" train.lua --over isolate=true,false
  not_swept "--set threads: each run gets its own; give --threads" train.lua --set threads=2
  not_swept "--set resume: each run has its own folder below --out" train.lua --set resume=true
  # What is no script.
  echo "x" >p.iap
  mkdir folder
  not_swept "'p.iap' is no script but a policy or a run; look at it with iap eval p.iap" p.iap
  not_swept "'folder' is a folder; name the script in it" folder
  not_swept "'/dev/null' is no regular file, and each run of a sweep reads its script anew" /dev/null
  not_swept "--halving 3 keeps one of 3 combinations; there are 2" train.lua --over optimizer.sigma=1,2 --halving 3
  not_swept "cannot be divided by 5" train.lua --over optimizer.sigma=1,2,3,4,5 --halving 5
  not_swept "--over iterations: --halving sets the iterations itself" train.lua --over iterations=1,2 --halving 2
  refused "--job and --halving" sweep train.lua --over optimizer.sigma=1,2 --halving 2 --job 1/2
  refused "--metric: there is no 'evl'; did you mean 'eval'?" sweep train.lua --metric evl
  refused "iap sweep: unknown option '--ovr'; did you mean '--over'?" sweep train.lua --ovr a=1
  refused "--seeds: expected an integer from 1" sweep train.lua --seeds 0
  refused "iap sweep: FILE is missing" sweep
  # One training, neither none nor several; whatever the script does with their results.
  echo 'require "iap" print "nothing"' >none.lua
  not_swept "none.lua is another: it never calls iap.train" none.lua
  sed 's/^iap.train {/for _ = 1, 2 do local run = iap.train {/' train.lua >several.lua
  cat >>several.lua <<'LUA'
io.write("trained\n")
print(string.format("%.1f %.1f", run.last_eval, run.confirmed.mean), iap.eval(run.policy).mean, iap.report.html { runs = run.out } .. "!")
end
io.open("left behind", "w"):close()
LUA
  not_swept "several.lua is another: it calls iap.train more than once" several.lua
  cp train.lua once.lua
  echo 'io.open("left behind", "w"):close() os.execute("touch left")' >>once.lua
  run sweep once.lua --dry-run
  exits 0
  [ ! -e "left behind" ] && [ ! -e left ] || fail "a rehearsal leaves traces"
  # What a finished sweep's scripts saved outlives its next start.
  sed 's/^iap.train {/local run = &/' train.lua >saves.lua
  echo 'run.policy:save(run.out .. ".champion.iap")' >>saves.lua
  run sweep saves.lua --out saved
  exits 0
  cksum saved/* >before 2>/dev/null
  says before "champion.iap"
  run sweep saves.lua --out saved
  exits 0
  cksum saved/*.iap 2>/dev/null | grep -qFxf - before || fail "a rehearsal saves an untrained policy over a trained one"
  rm -r saved
  echo 'if not arg[1] then os.exit(2) end' | cat - train.lua >usage.lua
  not_swept "usage.lua:1: the script ends itself (os.exit) before it trains" usage.lua
  sed 's/out = .*$/out = "elsewhere",/; s/^iap.train {/iap.run_folder("x") &/' train.lua >elsewhere.lua
  not_swept "elsewhere.lua is another: it trains in 'elsewhere' where --out says" elsewhere.lua
  sed '1a iap.options { seed = 3 }' train.lua >own_seed.lua
  not_swept "own_seed.lua is another: it trains with seed 0 where --seed says 1" own_seed.lua
  not_swept "--collect: there is no sweep in 'nowhere'" train.lua --out nowhere --collect
  not_swept "cannot create folder" train.lua --out train.lua/below
  # A folder with other runs.
  run sweep train.lua --out taken
  exits 0
  cp taken/seed1/job.json kept.json
  echo '{"status": ' >taken/seed1/job.json
  run sweep train.lua --out taken
  exits 0
  says err "note: taken/seed1/job.json: not valid JSON"
  says err "; the sweep goes by what the run itself has written"
  says err "[1/1] seed1: eval "
  says err "done before"
  cp kept.json taken/seed1/job.json
  run sweep train.lua --out taken --set optimizer.population=4
  exits 1
  says err "'taken/seed1' holds a run with other settings (optimizer.population: 8 before, 4 now)"
  lines err 1
  # In case the rehearsal was taken in: the second training fails.
  sed -i 's/^iap.train {/local f = io.open("second") if f then f:close() end for _ = 1, f and 2 or 1 do &/' train.lua
  echo "end" >>train.lua
  touch second
  "$iap" run train.lua --out twice --sweep-process $$ >out 2>err </dev/null
  code=$?
  exits 1
  says err "iap sweep needs a script that calls iap.train exactly once"
}

# Runs that are done are done, though the page of them would need to trust their policies' Lua.
case_sweep_without_page() {
  sweep_script ""
  { echo "return {"; seq 60000 | sed 's/$/,/'; echo "}"; } >weights.lua
  cat >block.lua <<'LUA'
local weights = require "weights"
return function(options, shapes)
  return { parameters = 0, outputs = shapes.inputs, forward = function(self, parameters, inputs) return inputs end }
end
LUA
  sed -i 's/sequence {/sequence { iap.policy.observation {}, iap.policy.script { file = "block.lua" },/' train.lua
  run sweep train.lua --over optimizer.sigma=0.1,0.2 --out sweep
  exits 0
  says err "note: there is no page of all runs: sweep/sigma=0.1-seed1/best.iap: weights.lua: is a program of"
  says out "table    sweep/sweep.csv"
  [ ! -e sweep/report.html ] || fail "a page after all"
  run report sweep/sigma=0.1-seed1 --trust --no-pictures --out page.html
  exits 0
  run watch sweep/sigma=0.1-seed1 --no-pictures
  exits 1
  says err "weights.lua: is a program of"
}
