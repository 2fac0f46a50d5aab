# shellcheck shell=bash
# Files that commands write: into what, under which names, and what becomes of them when a command is ended.

# small_run: a run in the folder run, whose evaluations take a moment
small_run() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
}

# rows FILE: whether it is the table of two episodes
rows() { [ "$(head -c 8 "$1")" = episode, ] && [ "$(wc -l <"$1")" = 3 ]; }

# Pipes, devices, links and permissions stay what they are.
case_outputs() {
  small_run
  local evaluates=(eval run --episodes 2)
  ln -s /dev/null null
  run "${evaluates[@]}" --csv null --actions null
  exits 0
  [ -c null ] && [ -L null ] || fail "a device was replaced"
  if [ "$(id -u)" = 0 ] && mknod device c 1 3 2>/dev/null; then
    run "${evaluates[@]}" --csv device
    exits 0
    [ -c device ] || fail "a device was replaced"
    run probe run --episodes 3 --csv device --png device
    exits 0
    run report run --no-pictures --out device
    exits 0
    [ -c device ] || fail "a device was replaced"
  fi
  mkfifo pipe
  cat pipe >piped &
  run "${evaluates[@]}" --csv pipe
  exits 0
  wait $!
  [ -p pipe ] && rows piped || fail "a pipe was replaced"
  mkdir elsewhere
  echo old >elsewhere/target.csv
  chmod 600 elsewhere/target.csv
  ln -s elsewhere/target.csv link.csv
  run "${evaluates[@]}" --csv link.csv
  exits 0
  [ -L link.csv ] && rows elsewhere/target.csv || fail "a link was replaced"
  [ "$(stat -c %a elsewhere/target.csv)" = 600 ] || fail "other permissions"
  ln -s elsewhere/new.csv new.csv
  run "${evaluates[@]}" --csv new.csv
  exits 0
  [ -L new.csv ] && rows elsewhere/new.csv || fail "a link that leads nowhere yet"
  "$iap" "${evaluates[@]}" --csv >(cat >substituted) >out 2>err || fail "a process that reads"
  for _ in $(seq 100); do rows substituted && break || sleep 0.1; done
  rows substituted || fail "a process that reads got something else"
  "$iap" "${evaluates[@]}" --csv /dev/stdout >both 2>err || fail "the standard output"
  [ "$(head -c 8 both)" = episode, ] && grep -q "mean return" both || fail "the table and what is said, one behind the other"
  "$iap" "${evaluates[@]}" --csv /dev/stdout 2>err | cat >both || fail "a pipe of the shell"
  [ "$(head -c 8 both)" = episode, ] && grep -q "mean return" both || fail "a pipe of the shell got something else"
}

# What is no table has the ending of what it is, so that nothing else is replaced by it; streams have any name.
case_outputs_endings() {
  small_run
  save_policy
  mkdir empty
  echo mine >victim.lua
  local picture="is a picture; its name must end in .png" page="a report is a web page; its name must end in .html or .htm"
  for name in victim.lua report.pdf report .html folder/.htm; do
    mkdir -p folder
    refuses "cannot write '$name': $page" report run --no-pictures --out "$name"
  done
  refuses "cannot write 'report.pdf': $page" report missing --out report.pdf
  refuses "cannot write 'victim.lua': $page" watch run --no-pictures --out victim.lua
  for name in strip victim.lua strip.jpg .png; do
    refuses "cannot write '$name': a strip $picture" play policy.iap --strip 2 --out "$name"
    refuses "cannot write '$name': a chart $picture" probe run --episodes 3 --png "$name"
  done
  refuses "cannot write 'strip': a strip $picture" play missing.iap --strip 2 --out strip
  # What may be called anything else takes the place of no script, and what is no policy that of none.
  local data="is neither a script nor a policy; its name must not end in .lua or .iap"
  cp policy.iap victim.iap
  for name in victim.lua victim.iap; do
    refuses "cannot write '$name': a table $data" eval policy.iap --csv "$name"
    refuses "cannot write '$name': a table $data" eval policy.iap --actions "$name"
    refuses "cannot write '$name': a table $data" probe policy.iap --csv "$name"
    refuses "cannot write '$name': a file of weights $data" export policy.iap "$name"
  done
  refuses "cannot write 'victim.lua': a table $data" eval missing.iap --csv victim.lua
  cat >saves.lua <<'LUA'
require("iap").policy.load("policy.iap"):save(arg[1])
LUA
  refuses "cannot write 'victim.lua': a policy is no script; its name must not end in .lua" run saves.lua victim.lua
  run run saves.lua victim.policy
  exits 0
  cmp -s policy.iap victim.iap || fail "a policy was replaced"
  [ "$(cat victim.lua)" = mine ] || fail "a script was replaced"
  rmdir folder empty || fail "a refused file was written"
  [ ! -e strip ] && [ ! -e report ] && [ ! -e report.pdf ] || fail "a refused file was written"
  for name in page.htm PAGE.HTML; do
    run report run --no-pictures --out "$name"
    exits 0
    [ -s "$name" ] || fail "no $name"
  done
  for command in "report run --no-pictures --out" "play policy.iap --strip 2 --out"; do
    # shellcheck disable=SC2086
    "$iap" $command /dev/stdout >both 2>err || fail "the standard output, a file: $(cat err)"
    # shellcheck disable=SC2086
    "$iap" $command /dev/stdout 2>err | cat >piped || fail "the standard output, a pipe: $(cat err)"
    # shellcheck disable=SC2086
    "$iap" $command >(cat >substituted) >out 2>err || fail "a process that reads: $(cat err)"
    # shellcheck disable=SC2086
    "$iap" $command /dev/fd/7 7>opened >out 2>err || fail "an open file: $(cat err)"
    for _ in $(seq 100); do cmp -s opened substituted && break || sleep 0.1; done
    cmp -s opened substituted || fail "a process that reads got something else"
    for got in both piped; do
      [ "$(head -c "$(wc -c <opened)" $got | cksum)" = "$(cksum <opened)" ] || fail "the standard output got something else"
    done
    case $command in
      report*) grep -q '^<!doctype html>' opened || fail "no page" ;;
      *) [ "$(head -c 4 opened | tail -c 3)" = PNG ] || fail "no picture" ;;
    esac
  done
  mkfifo pipe
  cat pipe >piped &
  run report run --no-pictures --out pipe
  exits 0
  wait $!
  grep -q '^<!doctype html>' piped && [ -p pipe ] || fail "no page through a pipe"
}

# Nobody's file is in the way of one in the making, and what a killed command left goes away.
case_outputs_names() {
  small_run
  echo mine >old.csv.part
  echo half >.iap-0.part
  run eval run --episodes 2 --csv old.csv
  exits 0
  rows old.csv || fail "no table"
  [ "$(cat old.csv.part)" = mine ] || fail "another file was taken"
  [ ! -e .iap-0.part ] || fail "what a killed command left is still there"
  local long
  long=$(printf 'n%.0s' $(seq 251)).csv
  run eval run --episodes 2 --csv "$long"
  exits 0
  rows "$long" || fail "no table under a long name"
  # Two at a time.
  "$iap" eval run --episodes 2 --csv one.csv >one 2>&1 &
  "$iap" eval run --episodes 2 --csv one.csv >two 2>&1 || fail "the second: $(cat two)"
  wait $! || fail "the first: $(cat one)"
  rows one.csv || fail "two at a time"
  compgen -G '.iap-*.part' >out && fail "half files are left"
  true
}

# What would overwrite something else is refused before anything is played.
case_outputs_refused() {
  training_script ""
  touch afile
  ln -s nowhere dangling
  local out
  for out in afile afile/below; do
    refuses "cannot create folder '$out': 'afile' is no folder; choose another place, or move that away" run train.lua --out $out
  done
  refuses "cannot create folder 'dangling': 'dangling' is a link that leads to no folder; choose another place" run train.lua --out dangling
  small_run
  cp run/best.iap policy.iap
  refuses "cannot write 'x': --csv and --actions would overwrite each other" eval run --csv x --actions x
  refuses "cannot write './x': --csv and --actions would overwrite each other" eval run --csv x --actions ./x
  refuses "--csv and --png would overwrite each other" probe run --csv x --png x
  refuses "cannot write 'policy.iap': the command reads it; choose another place for --csv" eval policy.iap --csv policy.iap
  ln policy.iap same.iap
  refuses "cannot write 'same.iap': the command reads it" play policy.iap --out same.iap
  refuses "cannot write 'run/metrics.csv': the run in 'run' keeps it; choose another place for --out" report run --out run/metrics.csv
  for name in run/* run/job.json run/output.txt; do
    refuses "cannot write '$name': the run in 'run' keeps it; choose another place for --csv" eval policy.iap --csv "$name"
  done
  mkdir swept
  cp -r run swept/seed=1
  echo row >swept/sweep.csv
  refuses "cannot write 'swept/sweep.csv': the sweep in 'swept' keeps it; choose another place for --csv" eval policy.iap --csv swept/sweep.csv
  ln -s run/best.iap link
  refuses "cannot write 'link': the run in '$PWD/run' keeps it; choose another place for --csv" eval policy.iap --csv link
  refuses "the command reads it" export policy.iap policy.iap
  cmp -s policy.iap run/best.iap || fail "a policy was overwritten"
}

# ended EXPECTED ARGS...: a command that would go on for long, told to end once it listens: exit code 130, one message, no half file
ended() {
  "$iap" "$@" >out 2>err </dev/null &
  local pid=$!
  # Bit 14 of the signals that it catches is SIGTERM.
  until [ $(((0x$(awk '/^SigCgt/ {print $2}' /proc/$pid/status 2>/dev/null || echo 0) >> 14) & 1)) = 1 ]; do
    kill -0 "$pid" 2>/dev/null || fail "'$*' ended before it listened"
    sleep 0.02
  done
  sleep 0.3
  kill -TERM "$pid"
  wait "$pid"
  code=$?
  exits 130
  says err interrupted
  lines err 1
  [ -z "$(ls .iap-* made.* 2>/dev/null)" ] || fail "'$*' leaves something"
}

case_outputs_ended() {
  small_run
  save_policy
  ended play policy.iap --out made.png --set time_limit=1000 --scale 64
  ended eval run --episodes 1000000 --csv made.csv --actions made.actions
  ended probe policy.iap --episodes 100000 --csv made.csv
  ended check cartpole-swingup --set pixels=[120,160] --episodes 1000 --steps 1000
  cat >seeing.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 10 }),
  policy = iap.policy.sequence { iap.attention.rank { patch = 4, d = 4, top = 3 }, iap.policy.linear {} },
  optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_episodes = 1, out = "seeing", quiet = true,
}
LUA
  run run seeing.lua
  exits 0
  ended report seeing --episodes 10000 --out made.html
  # While it reads what somebody wrote into a run's folder.
  cp -r run long
  { printf '{"seed": 1, "long": [' && seq -s, 4000000 && printf ']}'; } >long/config.json
  ended report long --no-pictures --out made.html
}

# Of another program's files nothing is lost.
case_outputs_of_others() {
  training_script ""
  mkdir others
  echo '{"loss": 1}' >others/metrics.jsonl
  local resume
  for resume in "" --resume; do
    # shellcheck disable=SC2086
    run run train.lua --out others $resume
    exits 1
    says err "'others/metrics.jsonl' is of no run and would be written over; choose another folder with --out"
    says others/metrics.jsonl '{"loss": 1}'
  done
}
