# shellcheck shell=bash
# Whose run a folder of a sweep, or of trials, holds: names of values, the script's own options, the script's text.

# Balancing a pole until the script has enough, which only its on_iteration knows; the script declares what stands in $1
stopping_script() {
  cat >stop.lua <<LUA
local iap = require "iap"
local o = iap.options { $1 }
local rules = { ["a/b"] = 1, a_b = 3, ["a:b"] = 2 }
iap.train {
  env = iap.env.make("cartpole-balance", { time_limit = 1 }),
  policy = iap.policy.linear { activation = "tanh" },
  optimizer = iap.optim.es { population = 4 },
  iterations = 4, eval_every = 1, eval_episodes = 2, out = iap.run_folder("runs/stop"), quiet = true,
  on_iteration = function(r) return r.iteration < (o.stop_after or rules[o.rule] or 4) end,
}
LUA
}

# stops_after FOLDER N: a run that has done N iterations
stops_after() { [ "$(tail -1 "$1/metrics.csv" | cut -d, -f1)" = "$2" ] || fail "$1 has not stopped after iteration $2"; }
# folder_of VALUE: the only folder in sweep whose run is of this rule
folder_of() { grep -lFx "    \"rule\": \"$1\"" sweep/*/config.json | sed 's#/config.json##'; }

# Values that no file's name tells apart have folders that follow from the values, not from their order.
case_sweep_names() {
  stopping_script 'rule = "x"'
  run sweep stop.lua --over rule=a/b,a_b,a:b,plain --out sweep
  exits 0
  [ "$(find sweep -name "*-seed1" | wc -l)" -eq 4 ] || fail "not a folder for each value: $(ls sweep)"
  [ -d sweep/rule=plain-seed1 ] || fail "what clashes with nothing has another name"
  [ ! -e sweep/rule=a_b-seed1 ] || fail "one of several has the name that all would have"
  stops_after "$(folder_of a/b)" 1
  stops_after "$(folder_of a_b)" 3
  stops_after "$(folder_of a:b)" 2
  for row in 'a/b,1,1,0' 'a_b,3,1,0' 'a:b,2,1,0'; do grep -q "^$row," sweep/sweep.csv || fail "no row $row"; done
  # In another order, and without one of them, each value still has its own run.
  run sweep stop.lua --over rule=a:b,a_b,a/b --out sweep
  exits 0
  says err "3 of 3 runs were done before"
  for row in 'a/b,1,1,0' 'a_b,3,1,0' 'a:b,2,1,0'; do grep -q "^$row," sweep/sweep.csv || fail "no row $row in another order"; done
  run sweep stop.lua --over rule=a_b,a:b --out sweep
  exits 0
  says err "2 of 2 runs were done before"
  # Alone, a value clashes with nothing; what then has its name belongs to another.
  run sweep stop.lua --over rule=a/b --out sweep
  exits 0
  stops_after sweep/rule=a_b-seed1 1
  run sweep stop.lua --over rule=a_b --out sweep
  exits 1
  says err "'sweep/rule=a_b-seed1' holds a run with other settings (the script's option rule: \"a/b\" before, \"a_b\" now); choose another folder with --out"
  lines err 1
  # A value that looks like the name of another one.
  local other
  other=$(folder_of a/b | grep -v 'rule=a_b-seed1')
  other=${other#sweep/rule=}
  run sweep stop.lua --over "rule=a/b,a_b,${other%-seed1}" --out three
  exits 0
  [ "$(find three -name "*-seed1" | wc -l)" -eq 3 ] || fail "two values share a folder: $(ls three)"
  grep -q "^${other%-seed1},4,1,0," three/sweep.csv || fail "a value that looks like the name of another one has its figures"
}

# Trials of a script with runs in one folder: what --set says is told apart, and names of before stay.
case_trial_names() {
  cat >experiment.lua <<'LUA'
print(require "iap".run_folder("runs/table", { shared = { "seeds" } }))
pcall(require "iap".train, {})
LUA
  # folder EXPECTED ARGS...
  folder() {
    run run experiment.lua "${@:2}"
    [ "$(cat out)" = "$1" ] || fail "${*:2}: expected $1, got $(cat out)"
  }
  folder runs/table-env.pixels=0.5_-1 --set "env.pixels=[0.5,-1]"
  folder runs/table-tag=a_b --set tag=a_b
  folder runs/table-tag=a_b --set 'tag="a_b"'
  # Other values than a name's plain one have a number behind it, each its own, in whatever words.
  local value values=('a/b' 'a b' 'a_b_' '[64,32]x' '64_32' '[64,[32]]' '"4"' '[4]' 'x=1' '[{"through":1,"strength":2},{}]' '[{"through":1},{"strength":2}]')
  for value in "${values[@]}"; do
    run run experiment.lua --set "tag=$value"
    grep -qE '^runs/table-tag=.*-[0-9]+$' out || fail "$value has the name $(cat out)"
    cat out >>names
  done
  [ "$(sort -u names | wc -l)" -eq ${#values[@]} ] || fail "values share a folder: $(sort names)"
  folder "$(grep 'strength_2_through_1' names)" --set 'tag=[ {"strength": 2, "through": 1}, { } ]'
  run run experiment.lua --set env.x=1-tag=2
  cp out one
  run run experiment.lua --set env.x=1 --set tag=2
  cmp -s one out && fail "two options have the folder of one"
  # What is there goes on under its own name.
  mkdir -p runs/table-optimizer.sigma=.1-tag=x
  folder runs/table-optimizer.sigma=.1-tag=x --set optimizer.sigma=1e-1 --set tag=x
  folder runs/table-optimizer.sigma=1e-1 --set optimizer.sigma=1e-1
  mkdir -p runs/table-optimizer.sigma=0.1-tag=x runs/table-tag=3
  folder runs/table-optimizer.sigma=0.1-tag=x --set optimizer.sigma=0.1 --set tag=x
  folder runs/table-tag=3.0 --set tag=3.0
}

# A value in other words is the run that is there.
case_sweep_spellings() {
  stopping_script 'rule = "x", list = { 1 }'
  run sweep stop.lua --over optimizer.sigma=.1,2e-1 --over "list=[1,2]" --seeds 2 --out sweep
  exits 0
  run sweep stop.lua --over optimizer.sigma=0.1,.2,0.3 --over "list=[1, 2]" --seeds 3 --out sweep
  exits 0
  says err "4 of 9 runs were done before"
  [ "$(find sweep -name "*-seed*" | wc -l)" -eq 9 ] || fail "a folder for each spelling: $(ls sweep)"
  [ -e "sweep/sigma=.1,list=1_2-seed3/final.iap" ] || fail "seeds of one value have two names: $(ls sweep)"
  grep -q '^0.1,"\[1, 2\]",4,3,0' sweep/sweep.csv || fail "the table has another spelling than was asked for: $(cat sweep/sweep.csv)"
  run report sweep/sigma*
  exits 0
  # A name that is there is taken before another spelling of it.
  mv "sweep/sigma=.1,list=1_2-seed3" "sweep/sigma=1e-1,list=1_2-seed3"
  run sweep stop.lua --over optimizer.sigma=1e-1 --over "list=[1,2]" --seed 3 --out sweep
  exits 0
  says err "1 of 1 runs were done before"
  run sweep stop.lua --over optimizer.sigma=0.10 --over "list=[1,2]" --out sweep
  exits 0
  says err "1 of 1 runs were done before"
}

# What the script itself declares decides, too, though no option of the training shows it.
case_sweep_own_options() {
  stopping_script 'stop_after = 1, quiet = false, iterations = 4'
  sed -i 's/iterations = 4, eval/iterations = o.iterations, eval/' stop.lua
  local over=(--over "optimizer.sigma=0.1,0.2") dry config
  run sweep stop.lua "${over[@]}" --out sweep
  exits 0
  stops_after sweep/sigma=0.2-seed1 1
  grep -A2 '"script_options": {' sweep/sigma=0.1-seed1/config.json | grep -qFx '    "stop_after": 1' || fail "config.json has no record"
  grep -A2 '"script_options": {' sweep/sigma=0.1-seed1/config.json | grep -qE 'quiet|iterations' && fail "what changes nothing is on record"
  cp sweep/sigma=0.1-seed1/config.json before.json
  for dry in "" --dry-run; do
    # shellcheck disable=SC2086
    run sweep stop.lua "${over[@]}" --out sweep --set stop_after=3 $dry
    exits 1
    says err "'sweep/sigma=0.1-seed1' holds a run with other settings (the script's option stop_after: 1 before, 3 now); choose another folder with --out, or remove that run to begin it anew"
    lines err 1
  done
  cmp -s before.json sweep/sigma=0.1-seed1/config.json || fail "a refused sweep changes a run"
  # What changes no result, and the same in other words.
  run sweep stop.lua "${over[@]}" --out sweep --set quiet=true --set stop_after=1.0 --seeds 2
  exits 0
  says err "2 of 4 runs were done before"
  run sweep stop.lua "${over[@]}" --out sweep --set iterations=2 --dry-run
  exits 0
  # Runs that kept no record go on as before.
  for config in sweep/*/config.json; do sed -i '/"script_options": {/,/}/d' "$config"; done
  run sweep stop.lua "${over[@]}" --seeds 2 --out sweep --set stop_after=3
  exits 0
  says err "4 of 4 runs were done before"
  silent_about_text
  # The page tells apart what only the script's options do, and says which is which.
  run sweep stop.lua "${over[@]}" --over stop_after=1,3 --out both
  exits 0
  grep -q "the page leaves out" err && fail "runs of other options are left out of the page"
  says both/report.html "sigma 0.1, stop_after 3"
  says both/report.html "script_options.stop_after"
  # Halving sets the iterations of the same script.
  run sweep stop.lua --over stop_after=3,4 --halving 2 --out halves
  exits 0
  run sweep stop.lua --over stop_after=3,4 --halving 2 --out halves
  exits 0
  grep -q warning halves/*/output.txt && fail "a run that goes on to the next rung is warned of"
  return 0
}

# silent_about_text: the script's text is that of the runs
silent_about_text() { ! grep -q "another text" err || fail "the script is the same"; }

# Runs that the script made before it was edited are told of, and stay.
case_sweep_other_text() {
  stopping_script 'stop_after = 1'
  run sweep stop.lua --over optimizer.sigma=0.1,0.2 --out sweep
  exits 0
  silent_about_text
  cp sweep/sigma=0.1-seed1/experiment.lua before.lua
  run sweep stop.lua --over optimizer.sigma=0.1,0.2 --seeds 2 --set eval_every=1 --dry-run --out sweep
  exits 0
  silent_about_text
  sed -i 's/$/\r/' stop.lua # another editor's ends of lines
  run sweep stop.lua --over optimizer.sigma=0.1,0.2 --out sweep
  exits 0
  silent_about_text
  sed -i 's/\r$//; s/o.stop_after or/3 or/' stop.lua
  local dry
  for dry in --dry-run ""; do
    # shellcheck disable=SC2086
    run sweep stop.lua --over optimizer.sigma=0.1,0.2,0.3 --out sweep $dry
    exits 0
    says err "note: 2 runs were made by another text of stop.lua, which is in their experiment.lua; --out FOLDER runs them all by this one"
  done
  says err "2 of 3 runs were done before"
  stops_after sweep/sigma=0.2-seed1 1
  stops_after sweep/sigma=0.3-seed1 3
  cmp -s before.lua sweep/sigma=0.1-seed1/experiment.lua || fail "the text of a run that was done is another"
  run sweep stop.lua --over optimizer.sigma=0.1 --out sweep
  says err "note: 1 run was made by another text of stop.lua, which is in its experiment.lua; --out FOLDER runs it by this one"
  # A copy out of a run's folder is the same text, with the lines that stand before it; a value of two lines is one of them.
  cp sweep/sigma=0.3-seed1/experiment.lua copy.lua
  run sweep copy.lua --over optimizer.sigma=0.3 --out sweep
  exits 0
  silent_about_text
  stopping_script 'rule = "x"'
  run sweep stop.lua --over $'rule=two\nlines' --out odd
  exits 0
  run sweep stop.lua --over $'rule=two\nlines' --out odd
  exits 0
  silent_about_text
  # A new option is another text and no other setting.
  stopping_script 'rule = "x", more = 1'
  run sweep stop.lua --over $'rule=two\nlines' --out odd
  exits 0
  says err "note: 1 run was made by another text of stop.lua"
}

# A part of an array of jobs that is submitted again alone, with an srun that starts nothing elsewhere.
case_sweep_array() {
  sweep_script ""
  mkdir bin
  ln -s "$iap" bin/iap
  printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/srun
  chmod +x bin/srun
  local parts
  for parts in "" 2; do
    PATH=$PWD/bin:$PATH IAP_PARTS=$parts SLURM_CPUS_PER_TASK=1 SLURM_ARRAY_TASK_ID=${parts:-1} SLURM_ARRAY_TASK_COUNT=1 \
      bash "$here/../../scripts/slurm/sweep.sbatch" train.lua --seeds 2 --out "parts$parts" >out 2>err </dev/null
    code=$?
    exits 0
  done
  says out "part 2/2 is done"
  [ ! -e parts2/seed1 ] && [ -e parts2/seed2/final.iap ] || fail "another part"
  [ -e parts/seed1/final.iap ] && [ -e parts/seed2/final.iap ] || fail "an array of one job is the whole sweep"
}

# queued_again SCRIPT EXPECTED VARIABLE=VALUE...: what a job that was interrupted queues again
queued_again() {
  rm -f queued
  env -u SLURM_ARRAY_JOB_ID -u SLURM_ARRAY_TASK_ID PATH="$PWD/bin:$PATH" "${@:3}" bash "$here/../../scripts/slurm/$1" train.lua --out run >out 2>err </dev/null
  code=$?
  exits 130
  [ "$(cat queued)" = "requeue $2" ] || fail "$1 queues again: $(cat queued)"
}

# The job, or of an array the part alone, whose own number may be that of the array.
case_slurm_queued_again() {
  mkdir bin
  printf '#!/bin/sh\nexit 130\n' >bin/srun
  printf '#!/bin/sh\necho "$@" >queued\n' >bin/scontrol
  chmod +x bin/*
  local part=(SLURM_JOB_ID=7 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=1)
  queued_again sweep.sbatch 7_3 "${part[@]}"
  queued_again train.sbatch 7_3 "${part[@]}"
  queued_again train.sbatch 8 SLURM_JOB_ID=8
}

# Of another program's files nothing is lost.
case_sweep_files_of_others() {
  sweep_script ""
  mkdir others
  local file
  for file in sweep.csv report.html; do
    echo "mine" >others/$file
    run sweep train.lua --over optimizer.sigma=0.1,0.2 --out others
    exits 1
    says err "'others/$file' is not of a sweep"
    says others/$file "mine"
    rm others/$file
  done
}

# Over runs that went further than it compares, a collector makes the table that the sweep would make, and writes nothing else.
case_sweep_collected() {
  sweep_script ""
  local two=(--over optimizer.sigma=0.05,0.2)
  run sweep train.lua "${two[@]}" --seeds 2 --out whole
  exits 0
  cp -r whole kept
  local more
  for more in "--halving 2" "--set iterations=2"; do
    rm -rf swept
    cp -r kept swept
    # shellcheck disable=SC2086
    run sweep train.lua "${two[@]}" --seeds 2 --out swept $more
    exits 0
    # shellcheck disable=SC2086
    run sweep train.lua "${two[@]}" --seeds 2 --out whole --collect $more
    exits 0
    grep -q "are not done" err && fail "runs that have passed a rung are not done"
    cmp -s whole/sweep.csv swept/sweep.csv || fail "$more: a collector makes another table"
    diff -rq whole kept | grep -vE "sweep.csv|report.html" && fail "$more: a collector wrote into a run"
  done
  # Where they have no evaluation to compare, the table stays.
  cp kept/sweep.csv whole/sweep.csv
  refuses "has no evaluation at iteration 3" sweep train.lua "${two[@]}" --seeds 2 --out whole --collect --set iterations=3
  cmp -s whole/sweep.csv kept/sweep.csv || fail "the table was written over"
  # What is not there yet is not done.
  rm -r whole/sigma=0.2-seed1
  run sweep train.lua "${two[@]}" --seeds 2 --out whole --collect --halving 2
  exits 1
  says err "1 of 4 runs are not done"
}

# held_sweep TAGS ARGS...: a sweep in the folder shared, $sweep, whose run of the tag held waits while there is a file named slow; it
# prints into first.out and first.err
held_sweep() {
  local tags=$1
  shift
  sweep_script ""
  sed -i '1a local tag = iap.options({ tag = "held" }).tag' train.lua
  sed -i 's|^  on_iteration = function(r)|&\n    while tag == "held" and os.rename("slow", "slow") do os.execute("sleep 0.05") end|' train.lua
  sed -i 's|if slow then.*|if slow then slow:close() end|' train.lua
  touch slow
  "$iap" sweep train.lua --over tag="$tags" --out shared "$@" >first.out 2>first.err </dev/null &
  sweep=$!
  until [ -e shared/tag=held-seed1/config.json ]; do
    kill -0 $sweep 2>/dev/null || fail "ended before it was ready: $(cat first.err)"
    sleep 0.02
  done
}
# held_sweep_ends CODE
held_sweep_ends() {
  rm slow
  wait $sweep
  code=$?
  exits "$1"
}

# What another sweep does meanwhile, with other settings, is none of this one's, and stays as it is.
case_sweep_of_others() {
  local sweep
  held_sweep held,other --set env.time_limit=20
  run sweep train.lua --over tag=other,more --out shared --set env.time_limit=30
  exits 0
  cp -r shared/tag=other-seed1 kept
  held_sweep_ends 1
  says first.err "failed   shared/tag=other-seed1: 'shared/tag=other-seed1' holds a run with other settings (env.time_limit: 30 before, 20 now)"
  says first.out "best: tag=held: "
  says shared/sweep.csv "other,0,0,1,"
  diff -r kept shared/tag=other-seed1 >difference || fail "another sweep's run is another: $(cat difference)"
}

# A script that is edited while its sweep is at work.
case_sweep_edited() {
  local sweep
  held_sweep held,later
  echo "-- a remark" >>train.lua
  held_sweep_ends 0
  says first.err "note: 1 run was made by another text of train.lua"
  rm -r shared
  held_sweep held,later
  sed -i 's/time_limit = 20/time_limit = 30/' train.lua
  held_sweep_ends 1
  says first.err "failed   shared/tag=later-seed1: trained with other settings than it was rehearsed with (env.time_limit: 20 before, 30 now)"
  says first.out "best: tag=held: "
  says shared/sweep.csv "later,0,0,1,"
}

# A run that another sweep tries again while this one has others at work: the table waits for it.
case_sweep_tried_again() {
  sweep_script ""
  sed -i '1a local tag = iap.options({ tag = "good" }).tag' train.lua
  sed -i 's|^  on_iteration = function(r)|&\n    while tag == "good" and io.open("slow") or tag == "bad" and io.open("again") do os.execute("sleep 0.05") end\n    if tag == "bad" then error("no good") end|' train.lua
  touch slow
  "$iap" sweep train.lua --over tag=bad,good --out shared >first.out 2>first.err </dev/null &
  local first=$! second
  until grep -qs begun shared/tag=good-seed1/job.json; do sleep 0.02; done
  touch again
  "$iap" sweep train.lua --over tag=bad,good --out shared >out 2>err </dev/null &
  second=$!
  until grep -qs begun shared/tag=bad-seed1/job.json; do sleep 0.02; done
  rm slow
  until grep -qs '"done"' shared/tag=good-seed1/job.json; do sleep 0.02; done
  sleep 1.5
  kill -0 $first || fail "a table is made while another sweep is at a run"
  rm again
  wait $second
  wait $first
  code=$?
  exits 1
  says first.err "failed   shared/tag=bad-seed1: train.lua:"
  grep -q "not done" first.err && fail "a run counts as not done"
  says shared/sweep.csv "bad,0,0,1,"
}
