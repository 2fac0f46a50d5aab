# shellcheck shell=bash
# Runs that one may not write or not even look at, and runs of which nobody can tell whether they are at work.

# Into `as`: what runs a command as somebody whom permissions stop.
become_nobody() {
  as=()
  [ "$(id -u)" = 0 ] || return 0
  as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod a+rx .
  "${as[@]}" "$iap" --version >out 2>&1 || skip "nobody may run $iap"
}

case_watch_others() {
  local as
  become_nobody
  mkdir -m 777 pages
  training_script 'out = "run", on_iteration = function() while not io.open("go") do os.execute("sleep 0.1") end end,'
  "$iap" run train.lua >training 2>&1 </dev/null &
  training=$!
  trap 'kill ${training:-} ${watching:-} 2>/dev/null; wait; chmod u+w run; rm -rf "$work"' EXIT
  waits grep -q '^1,' run/metrics.csv
  chmod a-w run/log.txt
  "${as[@]}" "$iap" watch run --every 1 --no-pictures --out pages/page.html >out 2>err </dev/null &
  watching=$!
  waits grep -q 'run stands at iteration 1 of 4. The run goes on; this page renews itself.' pages/page.html
  kill -0 "$watching" || fail "it does not wait for the run"
  touch go
  wait "$training"
  wait "$watching"
  code=$?
  exits 0
  silent err
  says out "run      ended after iteration 4 (iterations)"

  chmod a-w run
  local command
  for command in report watch; do
    "${as[@]}" "$iap" $command run --no-pictures >out 2>err </dev/null
    code=$?
    exits 1
    lines err 1
    says err "cannot write into folder 'run': Permission denied; name the file to write with --out FILE (in Lua: out)"
  done
}

# Where no lock says whether the run is at work, its end does.
case_watch_untold() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
  mv run/result.json .
  rm run/log.txt
  mkdir run/log.txt
  "$iap" watch run --every 1 --no-pictures >out 2>err </dev/null &
  watching=$!
  trap 'kill ${watching:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
  waits grep -q "note: whether 'run' is at work cannot be told" err
  waits refreshes
  kill -0 "$watching" || fail "it does not wait for the run"
  mv result.json run
  wait "$watching"
  code=$?
  exits 0
  lines err 1
  says out "run      ended after iteration 4 (iterations)"
  refreshes && fail "the last page goes on loading itself"
  return 0
}

# A run that others keep to themselves is there: it is named as such, and passed over by who looks for a folder.
case_private_folders() {
  local as command
  become_nobody
  trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
  nobody() {
    "${as[@]}" "$iap" "$@" >out 2>err </dev/null
    code=$?
  }
  training_script 'out = iap.run_folder("runs/dot"),'
  run run train.lua
  exits 0
  chmod 777 runs
  chmod 000 runs/dot
  for command in "report --no-pictures --out page.html" "eval --episodes 1" "watch --no-pictures --out page.html"; do
    # shellcheck disable=SC2086
    nobody $command runs/dot
    exits 1
    lines err 1
    grep -qE "^cannot look at 'runs/dot/(config.json|best.iap)': Permission denied$" err || fail "$command says something else"
  done
  nobody report runs/dot
  exits 1
  says err "cannot write into folder 'runs/dot': Permission denied; name the file to write with --out FILE (in Lua: out)"
  nobody run train.lua
  exits 0
  nobody run train.lua --resume
  exits 0
  says out runs/dot-2
  [ -e runs/dot-2/result.json ] && [ ! -e runs/dot-3 ] || fail "it goes elsewhere than to its own run"

  # Files alone that nobody else may read.
  chmod 777 runs/dot
  chmod 666 runs/dot/log.txt
  chmod 600 runs/dot/checkpoint*.iap
  nobody run train.lua --resume --out runs/dot
  exits 1
  says err "Permission denied; see to it that they can be read, or choose another folder with --out (out = FOLDER)"
  chmod 644 runs/dot/checkpoint*.iap
  chmod 000 runs/dot/experiment.lua
  nobody run train.lua --resume
  exits 0
  says out runs/dot-2
  chmod 644 runs/dot/experiment.lua
  chmod 000 runs/dot/result.json
  nobody report runs/dot --no-pictures --out page.html
  exits 1
  lines err 1
  grep -q "^cannot read 'runs/dot/result.json': Permission denied$" err || fail "a remedy that is none"
}

# To a sweep, too, it is a run that cannot be read, and none that has yet to begin.
case_private_sweep() {
  local as
  become_nobody
  trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
  training_script 'out = iap.run_folder("x"),'
  run sweep train.lua --over optimizer.sigma=0.1,0.2 --out sw
  exits 0
  chmod 777 sw
  chmod 666 sw/*.csv sw/*.html
  chmod 000 sw/sigma=0.1-seed1
  "${as[@]}" "$iap" sweep train.lua --over optimizer.sigma=0.1,0.2 --out sw --collect >out 2>err </dev/null
  code=$?
  exits 1
  says err "failed   sw/sigma=0.1-seed1: cannot look at 'sw/sigma=0.1-seed1/config.json': Permission denied"
  says err "1 of 2 runs failed"
}
