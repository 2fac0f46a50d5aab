# shellcheck shell=bash
# What happens to single runs of a sweep: files that are lost or torn, and what lies in their way. The remedies that are named help.

# swept_by_two FOLDER: a sweep of two runs, which are done
swept_by_two() {
  sweep_script ""
  run sweep train.lua --over optimizer.sigma=0.1,0.2 --out "$1"
  exits 0
}
again() { run sweep train.lua --over optimizer.sigma=0.1,0.2 --out sweep "$@"; }
# A table that lost its last rows, or all, is no shorter run.
lost_rows() {
  local rows
  for rows in 5 0; do
    rm sweep/$one/job.json
    if [ $rows = 0 ]; then rm sweep/$one/metrics.csv; else sed -i "$rows,\$d" sweep/$one/metrics.csv; fi
    again
    exits 1
    says err "$one: failed: 'sweep/$one/metrics.csv' has lost the rows after iteration $((rows > 0 ? 2 : 0)) of 4; remove the folder 'sweep/$one', and the sweep runs it anew"
    grep -q '^0.1,0,0,1,,,,,0$' sweep/sweep.csv || fail "a table that lost rows counts"
    rm -r sweep/$one
    again
    exits 0
    cmp -s sweep/sweep.csv whole/sweep.csv || fail "the run that was made anew is another"
  done
}

case_sweep_damaged() {
  local one=sigma=0.1-seed1 name
  swept_by_two whole
  cp -r whole sweep
  lost_rows
  # Both checkpoints torn; a sweep's --out would move all of its runs.
  for name in checkpoint.iap checkpoint.previous.iap; do echo "torn" >sweep/$one/$name; done
  again --set iterations=6
  exits 1
  says err "remove 'sweep/$one' to begin anew, or choose another folder"
  rm -r sweep/$one
  again --set iterations=6
  exits 0
  rm -r sweep

  # Settings that cannot be read are written anew by a run that goes on, and are in nobody's way.
  for name in "{" "[1]" ""; do
    rm -rf sweep
    cp -r whole sweep
    echo "$name" >sweep/$one/config.json
    for name in --collect ""; do
      # shellcheck disable=SC2086
      again $name
      exits 0
      cmp -s sweep/sweep.csv whole/sweep.csv || fail "another table without a config.json"
      says err "note: the page leaves out $one, because 'sweep/$one/config.json' cannot be read; the sweep has it written anew once 'sweep/$one/job.json' is removed"
    done
    rm sweep/$one/job.json
    again
    exits 0
    cmp -s sweep/$one/config.json whole/$one/config.json || fail "the settings were not written anew"
    grep -q "leaves out" err && fail "the page leaves out what is there"
  done
  return 0
}

# A job.json that cannot be read costs nothing where the run itself says how far it is, and else that run alone.
case_sweep_torn() {
  local one=sigma=0.1-seed1 two=(--over "optimizer.sigma=0.05,0.1,0.2,0.3" --halving 2) damage
  swept_by_two whole
  for damage in '{"status": ' '[1]' '' folder; do
    rm -rf sweep
    cp -r whole sweep
    if [ "$damage" = folder ]; then rm sweep/$one/job.json && mkdir sweep/$one/job.json; else printf '%s' "$damage" >sweep/$one/job.json; fi
    again --dry-run
    exits 0
    says out "sweep/$one: done"
    again --collect
    exits 0
    [ "$(grep -c "^note: .*sweep/$one/job.json.*; the sweep goes by what the run itself has written$" err)" -eq 1 ] || fail "not told once of '$damage'"
    cmp -s sweep/sweep.csv whole/sweep.csv || fail "another table with '$damage'"
    again
    if [ "$damage" = folder ]; then
      exits 1
      says err "$one: failed: 'sweep/$one/job.json' is no regular file"
      says err "1 of 2 runs failed"
      continue
    fi
    exits 0
    says err "$one: eval "
    cmp -s sweep/sweep.csv whole/sweep.csv || fail "another table with '$damage'"
    cmp -s sweep/$one/metrics.csv whole/$one/metrics.csv || fail "the run is another"
    grep -q '"done"' sweep/$one/job.json || fail "job.json was not made anew"
  done
  # What only job.json knew is lost: the other runs go on, also when the sweep is started again.
  run sweep train.lua "${two[@]}" --out halves
  exits 0
  printf '{' >halves/$one/job.json
  for damage in 1 2; do
    run sweep train.lua "${two[@]}" --out halves
    exits 1
    says err "$one: failed: 'halves/$one' has done "
    says err "or remove that run to begin it anew"
    says err "1 of 4 runs failed"
    grep -q ",4,1,0," halves/sweep.csv || fail "no combination came to the end"
  done
  rm -r halves/$one
  run sweep train.lua "${two[@]}" --out halves
  exits 0
  # A table that cannot be read is that of one run, too.
  rm -rf sweep
  cp -r whole sweep
  rm sweep/$one/job.json
  echo "torn" >sweep/$one/metrics.csv
  again --collect
  exits 1
  says err "failed   sweep/$one: "
  says err "1 of 2 runs failed"
  grep -q '^0.2,4,1,0,' sweep/sweep.csv || fail "the other run counts no more"
}

# To a collector of rungs, who went beyond a rung tells what only the job.json that are lost knew of it.
case_sweep_forgotten() {
  sweep_script ""
  local four=(--over "optimizer.sigma=0.05,0.1,0.2,0.3" --halving 2)
  run sweep train.lua "${four[@]}" --seeds 2 --out sweep
  exits 0
  cp sweep/sweep.csv whole.csv
  grep "best: " out >best
  rm sweep/*/job.json
  run sweep train.lua "${four[@]}" --seeds 2 --out sweep --collect
  exits 0
  cmp -s sweep/sweep.csv whole.csv || fail "another table without job.json"
  grep -qFxf best out || fail "another setting is the best"
  says err "note: 4 runs have no evaluation at iteration 1 any more, which job.json had; the combinations that went further count as the best there"
  lines err 2
  # Who would train does not go by that.
  run sweep train.lua "${four[@]}" --seeds 2 --out sweep
  exits 1
  says err "has no evaluation at iteration 1, where this sweep compares"
}

# A run that was brought to an early end by hand, by fewer iterations than it had done, has yet to come to the sweep's end.
case_sweep_cut_short() {
  sweep_script 'on_iteration = function(r) return r.iteration < 2 or not io.open("stop") end'
  run sweep train.lua --out whole
  touch stop
  run run train.lua --seed 1 --out sweep/seed1
  rm stop
  run run train.lua --seed 1 --out sweep/seed1 --set iterations=1 --resume
  exits 0
  says sweep/seed1/result.json '"stop_reason": "iterations"'
  cp -r sweep rungs
  run sweep train.lua --out sweep --collect
  exits 1
  says err "1 of 1 runs are not done"
  run sweep train.lua --out sweep
  exits 0
  cmp -s sweep/sweep.csv whole/sweep.csv || fail "a run that was cut short counts as a whole one: $(cat sweep/sweep.csv)"
  same_metrics sweep/seed1 whole/seed1
  # A sweep that asks for no more than it has done finds it done.
  run sweep train.lua --set iterations=2 --out rungs
  exits 0
  says err "done before"
}

# A folder that another process takes just before a run begins there: the run waits, whatever was said; who ends with the same exit
# code is told as what it is.
case_sweep_busy() {
  sweep_script ""
  cat >head.lua <<'LUA'
if io.open("sweep/seed1/job.json") and io.open("once") then
  os.remove("once")
  os.execute("flock sweep/seed1/log.txt sh -c 'touch held; sleep 1' >/dev/null 2>&1 & until [ -e held ]; do sleep 0.02; done")
end
LUA
  cat head.lua train.lua >takes.lua
  touch once
  run sweep takes.lua --out sweep
  exits 0
  [ -e held ] || fail "nobody took the folder"
  says err "seed1: another process is at it; waiting for it"
  says err "[1/1] seed1: eval "
  says sweep/seed1/output.txt "is in use by another process"
  { echo 'if io.open("code/seed1/job.json") then os.exit(75) end' && cat train.lua; } >code.lua
  run sweep code.lua --out code
  exits 1
  says err "seed1: failed: ended with exit code 75"
  # Alone it is a failure like others.
  rm held
  touch once
  run run takes.lua --out sweep/seed1 --resume
  exits 1
  says err "'sweep/seed1' is in use by another process"
}

# Who may read a folder may lock it: runs go on, and the wait for the last table is told and can be ended.
case_sweep_locked() {
  local holder pid
  # locked ARGS...: begins a sweep, alone and as $pid, while another process has its folder's lock
  locked() {
    mkdir -p sweep
    flock --shared sweep sleep 100 &
    holder=$!
    until ! flock --nonblock sweep true; do sleep 0.02; done
    : >err # of the sweep before
    "$iap" sweep train.lua --out sweep "$@" >out 2>err </dev/null &
    pid=$!
  }
  comes() { until grep -qF -- "$1" err; do kill -0 "$pid" || fail "ended without '$1'"; sleep 0.05; done; }
  sweep_script ""
  locked --seeds 2
  comes "table and page wait for another process that has a lock on 'sweep'; Ctrl-C ends the wait, and --collect makes both later"
  says err "[2/2] seed"
  [ ! -e sweep/sweep.csv ] || fail "a table was written under another's lock"
  pkill -P "$holder" || fail "the lock's holder is gone"
  wait "$pid"
  code=$?
  exits 0
  grep -q '^4,2,0,' sweep/sweep.csv || fail "no table after the wait"
  rm -r sweep
  locked
  comes "table and page wait"
  kill -TERM "$pid"
  wait "$pid"
  code=$?
  exits 143
  pkill -P "$holder"
  run sweep train.lua --out sweep --collect
  exits 0
  [ -e sweep/sweep.csv ] || fail "--collect makes no table"

  # While runs are at work, a request to end is heard.
  rm -r sweep
  touch slow
  locked --seeds 2 --set iterations=40
  comes "[1/2] seed1"
  kill -TERM "$pid"
  wait "$pid"
  code=$?
  exits 130
  says err "interrupted with 1 of 2 runs done"
  pkill -P "$holder"
  return 0
}

# What is in the way of some runs stops no other, whether or not their folders can say so.
case_sweep_obstacles() {
  swept_by_two whole
  mkdir -p sweep/sigma=0.2-seed1/output.txt
  echo "mine" >sweep/sigma=0.3-seed1
  local message1="sweep/sigma=0.2-seed1/output.txt" message2="'sweep/sigma=0.3-seed1' is no folder"
  run sweep train.lua --over optimizer.sigma=0.3,0.1,0.2,0.4 --jobs 2 --out sweep
  exits 1
  grep "^failed   sweep/sigma=0.2-seed1: " err | grep -qF "$message1" || fail "the first obstacle is not named at the end"
  grep "^failed   sweep/sigma=0.3-seed1: " err | grep -qF "$message2" || fail "the second obstacle is not named at the end"
  says err "2 of 4 runs failed; started again, the sweep tries them again"
  grep -q "are not done" err && fail "what failed counts as not done, too"
  says sweep/sigma=0.3-seed1 "mine"
  says sweep/sigma=0.2-seed1/job.json '"status": "failed"'
  diff <(cut -d, -f1-4 sweep/sweep.csv) - >difference <<'CSV' || fail "the table: $(cat difference)"
optimizer.sigma,iterations,seeds,failed
0.3,0,0,1
0.1,4,1,0
0.2,0,0,1
0.4,4,1,0
CSV
  same_metrics sweep/sigma=0.1-seed1 whole/sigma=0.1-seed1
  # The combinations without an obstacle go on through the rungs.
  mkdir -p halved/sigma=0.2-seed1/output.txt
  echo "mine" >halved/sigma=0.3-seed1
  run sweep train.lua --over optimizer.sigma=0.3,0.1,0.2,0.4 --halving 2 --set eval_every=1 --out halved
  exits 1
  says err "2 of 4 runs failed"
  grep -qE "^0\.(1|4),4,1,0," halved/sweep.csv || fail "no combination came to the end"

  rm -r sweep/sigma=0.2-seed1/output.txt sweep/sigma=0.3-seed1
  run sweep train.lua --over optimizer.sigma=0.3,0.1,0.2,0.4 --out sweep
  exits 0
  same_metrics sweep/sigma=0.2-seed1 whole/sigma=0.2-seed1
  # What all runs need ends the sweep.
  rm sweep/sweep.csv
  mkdir sweep/sweep.csv
  run sweep train.lua --over optimizer.sigma=0.5,0.1 --out sweep
  exits 1
  says err "sweep/sweep.csv"
  lines err 1
}
