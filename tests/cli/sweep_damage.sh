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
    grep -q '^0.1,0,0,1,,,,$' sweep/sweep.csv || fail "a table that lost rows counts"
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
