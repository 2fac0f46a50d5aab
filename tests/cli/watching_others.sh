# shellcheck shell=bash
# Runs that one may read and not write, and runs of which nobody can tell whether they are at work.

case_watch_others() {
  local as=()
  if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod a+rx .
    "${as[@]}" "$iap" --version >out 2>&1 || skip "nobody may run $iap"
  fi
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
