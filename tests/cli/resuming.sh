# shellcheck shell=bash
# Runs that go on: by the command that was printed, called from elsewhere, with what is said in other words.

# two_runs OUT...: a script that trains a run for each Lua expression of a folder; the run whose number is in the file "stop" is
# interrupted.
two_runs() {
  training_script 'seed = seed, out = out(), on_iteration = function(r)
    local stop = io.open("stop")
    if r.iteration == 2 and stop and stop:read("n") == seed then print("ready") io.stdout:flush() while true do end end
  end,'
  local folders="" folder
  for folder; do folders+="function() return $folder end, "; done
  sed -i "s/, seed = 3//; 1a for seed, out in ipairs { $folders } do" train.lua
  echo "end" >>train.lua
}

# printed N FOLDERS: the command that is printed when run N is interrupted finishes all runs, in these folders.
printed() {
  rm -rf runs
  echo "$1" >stop
  interrupted run train.lua
  exits 130
  rm stop
  goes_on_as_told
  [ "$(cd runs && echo *)" = "$2" ] || fail "run $1 of several goes on in other folders: $(cd runs && echo *)"
}

case_resume_printed() {
  two_runs 'iap.run_folder("runs/dot")' 'iap.run_folder("runs/dot")'
  printed 1 "dot dot-2"
  printed 2 "dot dot-2"
  two_runs 'iap.run_folder("runs/a")' 'iap.run_folder("runs/b")'
  printed 1 "a b"
  printed 2 "a b"
  two_runs '"runs/first"' 'iap.run_folder("runs/second")'
  printed 1 "first second"
  printed 2 "first second"
  # --out names the first of several runs.
  rm -rf runs
  run run train.lua --out runs/other
  exits 0
  [ "$(cd runs && echo *)" = "other second" ] || fail "--out of several runs"
}

# What came through a pipe goes on from the folder's copy.
case_resume_piped() {
  training_script 'out = "run", on_iteration = function(r)
    if r.iteration == 2 and io.open("stop") then print("ready") io.stdout:flush() while true do end end
  end,'
  run run train.lua --set out=whole --set iterations=5
  exits 0
  goes_on_from_pipe train.lua --set iterations=5
  for file in final.iap best.iap checkpoint.iap; do
    cmp "whole/$file" "run/$file" || fail "$file of a script from a pipe differs"
  done
}

# A run that was stopped while its best policy was confirmed has something left to do, beside an older one that has more.
case_resume_confirmation() {
  training_script 'out = iap.run_folder("runs/dot"), on_iteration = function(r)
    if r.iteration == 2 and io.open("stop") then print("ready") io.stdout:flush() while true do end end
  end,'
  touch stop
  interrupted run train.lua --set iterations=8
  exits 130
  rm stop
  "$iap" run train.lua --set confirm_episodes=300000 >out 2>err </dev/null &
  local pid=$!
  until [ -e runs/dot-2/final.iap ]; do
    kill -0 "$pid" || fail "ended before it was there"
    sleep 0.05
  done
  kill -INT "$pid"
  wait "$pid"
  [ ! -e runs/dot-2/result.json ] || fail "it was not interrupted in its confirmation"
  run run train.lua --resume
  exits 0
  says out "runs/dot-2"
  says runs/dot-2/result.json '"confirmed"'
  [ ! -e runs/dot/result.json ] || fail "the other run was taken"
}

case_resume_elsewhere() {
  training_script 'out = iap.run_folder("runs/dot/"), init = arg[1],'
  run run train.lua
  exits 0
  tail -1 out >whole.txt
  rm -r runs
  run run train.lua --set iterations=2
  exits 0
  [ -e runs/dot/final.iap ] || fail "a slash at its end changes a folder's name"
  # The same script and world, by other paths.
  mkdir sub
  cd sub || exit 1
  sed -e 's#"pendulum.lua"#"../pendulum.lua"#' -e 's#"runs/dot/"#"../runs/dot"#' ../train.lua >../there.lua
  run run ../there.lua --resume
  exits 0
  tail -1 out | cmp -s - ../whole.txt || fail "a run that is resumed by another path ends elsewhere"
  cd ..
  # A policy with a block in Lua to begin at, which has moved since and then is gone.
  cat >scaled.lua <<'LUA'
return function() return { parameters = 1, outputs = 1, forward = function(_, p, x) return { p[1] * x[1] } end } end
LUA
  sed -i 's#policy.sequence {#policy.sequence { iap.policy.observation {}, iap.policy.script { file = "scaled.lua" },#' train.lua
  run run train.lua --out begun
  exits 0
  sed -i '/policy = /d' train.lua
  run run train.lua --out on --set iterations=1 -- begun
  exits 0
  mv begun moved
  run run train.lua --out on --resume --set iterations=2 -- moved
  exits 0
  rm -r moved
  run run train.lua --out on --resume --set iterations=3 -- begun
  exits 0
}

# What a stage says of its members beside what they are anyway.
case_resume_in_other_words() {
  training_script 'out = "run", curriculum = { { through = 2 }, {} },'
  run run train.lua --set iterations=3
  exits 0
  run run train.lua --resume --set curriculum.2.population=8
  exits 0
  run run train.lua --resume --set curriculum.2.population=6
  exits 1
  says err "curriculum.2.population"
}

# A run goes on with other options of the script's own, such as its rule for stopping, and says which.
case_resume_own_options() {
  training_script 'out = iap.run_folder("runs/own"), on_iteration = function(r) return r.iteration < o.stop_after end,'
  sed -i '1a local o = iap.options { stop_after = 1, name = "x", seed = 3, quiet = true, cap = math.huge, bytes = "\\xff", deep = { a = {} } }' train.lua
  run run train.lua --out whole --set stop_after=3
  exits 0
  run run train.lua --out run
  exits 0
  silent err
  run run train.lua --out run --resume --seed 3
  exits 0
  silent err
  run run train.lua --out run --resume --set stop_after=3 --set $'name=\x1b]0;y' --set quiet=false --set deep.a.b=1
  exits 0
  says err 'warning: the run was made with other options of the script so far (deep.a.b: not set before, 1 now; name: "x" before, "\u001b]0;y" now; stop_after: 1 before, 3 now); another folder with --out has a run of these alone'
  lines err 1
  says run/log.txt "stop_after: 1 before, 3 now"
  says run/config.json '"stop_after": 3'
  same_metrics whole run
  run run train.lua --out run --resume --set stop_after=3 --set $'name=\x1b]0;y' --set deep.a.b=1
  silent err
  # What a run's folder says may be a stranger's.
  local record
  for record in '5' 'null' '["stop_after", 1]' '{"unknown": 1, "iterations": 7}'; do
    sed -i -e '/"script_options": {/,/^  },$/d' -e "1a \"script_options\": $record," run/config.json
    run report run whole --no-pictures --out page.html
    [ "$code" -le 1 ] || fail "a strange record ends the program with $code"
    rm -rf sweep && mkdir sweep && cp -r run sweep/seed3
    run sweep train.lua --seed 3 --set stop_after=4 --dry-run --out sweep
    exits 0
    run run train.lua --out run --resume --set stop_after=3
    exits 0
    silent err
  done
  sed -i -e '/"script_options": {/,/^  },$/d' -e '1a "script_options": {"stop_after": {"\\u001b]0;owned\\n": "\\u202e"}},' run/config.json
  run run train.lua --out run --resume --set stop_after=3
  exits 0
  lines err 1
  says err 'stop_after: {"\u001b]0;owned\n":"?"} before, 3 now'
  # Options that a script says runs in one folder may differ in are none of a run's.
  sed -i 's/iap.run_folder("runs\/own")/iap.run_folder("runs\/own", { shared = { "name", "stop_after" } })/' train.lua
  run run train.lua --out shared
  exits 0
  run run train.lua --out shared --resume --set stop_after=2 --set name=z
  exits 0
  silent err
}

# Scripts that begin at the same time get a folder each, and one that trains nothing leaves none.
case_folders_at_once() {
  training_script 'out = iap.run_folder("runs/once"),'
  local seed
  for seed in 1 2 3; do "$iap" run train.lua --seed $seed --threads 1 >"out$seed" 2>"err$seed" </dev/null & done
  wait
  for seed in 1 2 3; do [ ! -s "err$seed" ] || fail "$(cat "err$seed")"; done
  [ "$(ls runs | xargs)" = "once once-2 once-3" ] || fail "not three folders: $(ls runs | xargs)"
  lines runs/once-3/metrics.csv 6
  echo 'print(require "iap".run_folder("runs/idle"))' >idle.lua
  run run idle.lua
  exits 0
  says out "runs/idle"
  [ ! -e runs/idle ] || fail "a folder without a run is left"
  local long
  long=$(printf 'w%.0s' $(seq 300))
  echo "print(require 'iap'.run_folder('$long'))" >long.lua
  refuses "long.lua:1: cannot create folder '$long': File name too long" run long.lua
  # --set resume=true is --resume.
  training_script 'out = iap.run_folder("on/run"),'
  run run train.lua
  exits 0
  run run train.lua --set resume=true --set iterations=5
  exits 0
  [ "$(ls on)" = run ] || fail "--set resume=true began anew"
}

# The checkpoint before stays a file of its own where checkpoint.iap is a link, and a folder whose name no terminal shows goes on by
# the command that is printed.
case_resume_odd_folders() {
  training_script 'on_iteration = function(r) local stop = io.open("stop") if r.iteration == 2 and stop then print("ready") io.stdout:flush() while true do end end end,'
  run run train.lua --out plain
  exits 0
  run run train.lua --out linked --set iterations=2
  exits 0
  mkdir linked/store
  mv linked/checkpoint.iap linked/store
  ln -s store/checkpoint.iap linked/checkpoint.iap
  run run train.lua --out linked --resume
  exits 0
  same_metrics plain linked
  [ -L linked/checkpoint.iap ] && [ ! -L linked/checkpoint.previous.iap ] || fail "links"
  cmp -s plain/checkpoint.previous.iap linked/checkpoint.previous.iap || fail "another checkpoint before the last"

  local odd=$'odd\xff\n'"it's"
  touch stop
  interrupted run train.lua --out "$odd"
  exits 130
  rm stop
  goes_on_as_told
  same_metrics plain "$odd"
  run eval "$odd" --episodes 2
  exits 0
}

# A run that is refused to go on keeps what it has, its end too.
case_resume_refused() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
  cp -r run whole
  sed -i 's/,/;/g' run/metrics.csv # as a spreadsheet saves it
  refuses "'run/metrics.csv' does not begin with the columns" run train.lua --resume --set iterations=6
  cp whole/metrics.csv run
  mkdir run/metrics.jsonl
  refuses "'run/metrics.jsonl' is no regular file" run train.lua --resume --set iterations=6
  rmdir run/metrics.jsonl
  diff -r -x log.txt whole run >differences || fail "a refusal changes the folder: $(cat differences)"
  run run train.lua --resume --set iterations=6
  exits 0
  lines run/metrics.csv 8

  # Where there is no room for its settings the table keeps the evaluation that the end asked for.
  run run train.lua --out full --set eval_every=3
  exits 0
  cp -r full whole-full
  (ulimit -f 1 && exec "$iap" run train.lua --out full --resume --set eval_every=3 --set iterations=9) </dev/null 2>&1 | cat >err
  code=${PIPESTATUS[0]}
  exits 1
  says err "cannot write 'full/config.json'"
  diff -r -x log.txt whole-full full >differences || fail "a run without room changes: $(cat differences)"
}

# With other videos than before it would be another run: it says which they are. A policy plays before any.
case_resume_other_files() {
  videos_script 2
  run run train.lua
  exits 0
  says run/config.json '"videos": "2 files, 138 bytes, checksum '
  run sweep train.lua --seeds 1 --out swept
  exits 0
  cp -r videos/1 videos/3
  refuses "'swept/seed1' holds a run with other settings (files.videos: " sweep train.lua --seeds 1 --out swept --set iterations=2
  refuses '(files.videos: "2 files, 138 bytes, checksum ' run train.lua --resume --set iterations=2
  says err '"3 files, 207 bytes, checksum '
  run eval run --episodes 1
  exits 0
  rm -r videos/3
  # Of the same size, in another colour.
  base64 -d >videos/2/1.png <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYPgPAAEDAQA2dBFAAAAAAElFTkSuQmCC
  refuses "'swept/seed1' holds a run with other settings (files.videos: " sweep train.lua --seeds 1 --out swept --set iterations=2
  refuses '(files.videos: "2 files, 138 bytes, checksum ' run train.lua --resume --set iterations=2
  cp videos/1/1.png videos/2
  run run train.lua --resume --set iterations=2
  exits 0
}

# Tables that others save anew, remove or spoil while the run is at work.
case_tables_touched() {
  training_script 'log = "jsonl", on_iteration = function(r) if r.iteration == 3 then os.execute(os.getenv("DO") or "true") end end,'
  run run train.lua --out whole
  exits 0
  silent err
  DO="sed -i s/x/x/ run/metrics.csv" run run train.lua --out run
  exits 0
  lines err 1
  for place in err run/log.txt; do says $place "warning: 'run/metrics.csv' was replaced while the run was at work; the run goes on in it"; done
  same_metrics whole run
  rm -r run
  DO="rm run/metrics.csv run/metrics.jsonl" run run train.lua --out run
  exits 0
  lines err 2
  says err "warning: 'run/metrics.csv' was removed while the run was at work; all rows up to iteration 3 are lost"
  says err "warning: 'run/metrics.jsonl' was changed, replaced or removed while the run was at work"
  lines run/metrics.csv 2
  lines run/metrics.jsonl 1
  cmp -s whole/final.iap run/final.iap || fail "a table that is gone changes the run"
  rm -r run
  DO="sed -i 's/,/;/g' run/metrics.csv" run run train.lua --out run
  exits 1
  says err "'run/metrics.csv' was replaced while the run was at work, and the run cannot go on in it"
  says err "--resume"
  sed -i 's/;/,/g' run/metrics.csv
  run run train.lua --out run --resume
  exits 0
  same_metrics whole run
}

# Where nothing is left to do nothing is written, as what is there is right: that needs no room. A run that is asked for less than it
# has done stays what it is.
case_resume_complete() {
  training_script 'out = "run", log = "jsonl",'
  run run train.lua --set iterations=5
  exits 0
  cp -r run whole
  (ulimit -f 0 && exec "$iap" run train.lua --resume --set iterations=5) </dev/null 2>&1 | cat >err
  code=${PIPESTATUS[0]}
  exits 0
  run run train.lua --resume --set iterations=3
  exits 0
  diff -r -x log.txt whole run >differences || fail "a run without anything left to do changes: $(cat differences)"
  says run/config.json '"iterations": 5'
  # What is missing, or wrong, is made again.
  local file
  for file in config.json experiment.lua best.iap final.iap result.json metrics.jsonl; do
    rm "run/$file"
    run run train.lua --resume --set iterations=5
    exits 0
    diff -r -x log.txt whole run >differences || fail "without $file another is made: $(cat differences)"
  done
  echo >>run/best.iap
  sed -i 's/"best_eval": /&1/' run/result.json
  rm run/final.iap
  (ulimit -f 0 && exec "$iap" run train.lua --resume --set iterations=5) </dev/null 2>&1 | cat >err
  code=${PIPESTATUS[0]}
  exits 1
  says err "cannot write 'run/best.iap'"
  run run train.lua --resume --set iterations=5
  exits 0
  diff -r -x log.txt whole run >differences || fail "what was wrong stays: $(cat differences)"
  run run train.lua --resume --set iterations=3
  exits 0
  run run train.lua --resume --set iterations=6
  exits 0
  run run train.lua --out once --set iterations=6
  exits 0
  same_metrics once run
}

# Of several unfinished runs, the one with the settings that are given, whatever changes no result, and not the last one.
case_resume_nearest() {
  training_script 'out = iap.run_folder("runs/dot"), on_iteration = function(r)
    if r.iteration == 2 and not io.open("go") then print("ready") io.stdout:flush() while true do end end
  end,'
  local sigma
  for sigma in .2 .3 .3 .4; do
    interrupted run train.lua --set optimizer.sigma=$sigma --set iterations=8 --seed 4
    exits 130
  done
  touch go
  run run train.lua --resume --set quiet=false --set seed=4 --set optimizer.sigma=.2
  exits 0
  says err "runs/dot: continues after iteration 2 of 4"
  # Of equal ones, the last; where no run has them all, the one with most of them.
  run run train.lua --resume --set optimizer.sigma=.3 --set quiet=false --seed 4
  exits 0
  says err "runs/dot-3: continues after iteration 2 of 4"
  run run train.lua --resume --set optimizer.sigma=.3 --set confirm_episodes=3 --set optimizer.plateau=null --set quiet=false --seed 4
  exits 0
  says err "runs/dot-2: continues after iteration 2 of 4"
}

# A run with another seed than the complete ones, or with other settings than one at work, has a folder of its own.
case_resume_beside() {
  training_script 'out = iap.run_folder("runs/dot"),'
  begins() {
    local folder=$1
    shift
    run run train.lua --resume --set quiet=false "$@"
    exits 0
    says err "$folder: begins, 4 iterations"
  }
  begins runs/dot --seed 1
  begins runs/dot-2 --seed 2
  run run train.lua --resume --set quiet=false --set seed=1 --set iterations=5
  exits 0
  says err "runs/dot: continues after iteration 4 of 5"
  rm runs/dot-2/result.json
  (
    exec 9>>runs/dot-2/log.txt
    flock 9
    exec sleep 300
  ) &
  local holder=$!
  while flock -n runs/dot-2/log.txt true; do sleep 0.05; done
  refuses "'runs/dot-2' is in use by another process" run train.lua --resume --seed 2
  begins runs/dot-3 --seed 2 --set optimizer.sigma=0.3
  kill "$holder"
  run run train.lua --resume --set quiet=false --seed 2
  exits 0
  says err "runs/dot-2: is complete with 4 iterations"
  refuses "cannot resume 'runs/dot-3' with other settings (seed: 2 before, 3 now)" run train.lua --resume --set optimizer.sigma=0.3
  # What on_iteration ended has ended, too.
  training_script 'out = iap.run_folder("runs/had"), on_iteration = function(r) return r.iteration < 3 end,'
  begins runs/had --seed 1
  begins runs/had-2 --seed 2
  run run train.lua --resume --set quiet=false --seed 1
  exits 0
  says err "runs/had: ended at iteration 3 of 4 (on_iteration); nothing was left to do"
}

# --resume begins over what a run left that died before its first checkpoint, and over nothing that only somebody else could make again.
case_resume_nothing_lost() {
  training_script 'log = "jsonl",'
  run run train.lua --out whole
  exits 0
  # What is left of a finished run to save room.
  cp -r whole left
  rm left/checkpoint*.iap left/metrics.*
  cp -r left before
  local resume
  for resume in "" "--resume" "--resume --dry-run" "--resume --seed 9"; do
    # shellcheck disable=SC2086
    refuses "'left' already holds a run (best.iap, final.iap, result.json) but no checkpoint.iap to continue from; choose another folder with --out (out = FOLDER), or move these files away" \
      run train.lua --out left $resume
    diff -r before left >differences || fail "a refusal changes the folder: $(cat differences)"
  done
  run eval left --episodes 1
  exits 0
  rm left/best.iap left/final.iap left/result.json
  run run train.lua --out left --resume
  exits 0
  same_metrics whole left

  # A folder of one's own.
  mkdir own
  cp train.lua own/mine.lua
  cp pendulum.lua own
  cd own || exit 1
  local file
  for file in experiment.lua config.json best.iap metrics.csv; do
    echo "mine" >$file
    for resume in "" --resume; do
      # shellcheck disable=SC2086
      refuses "$file" run mine.lua --out . $resume
      grep -qF -- --resume err && fail "--resume is offered for $file"
      says $file mine
      [ ! -e log.txt ] || fail "a refusal leaves a log"
    done
    rm $file
  done
  echo "mine" >experiment.lua
  refuses "'./experiment.lua' is another script than this one and would be written over; choose another folder with --out (out = FOLDER), or move it away" \
    run mine.lua --out . --resume
  # Its own text is no other script, nor is what others print beside it.
  cp mine.lua experiment.lua
  echo "begins" >output.txt
  run run experiment.lua --out . --resume --set iterations=4
  exits 0
  same_metrics ../whole .
  cd .. || exit 1

  # Killed while its first evaluation is at work, whatever is said then of what changes no result.
  sed -i 's/^  function Pendulum:step(action)/&\n    while io.open("wait") do end/' pendulum.lua
  run run train.lua --out plain
  exits 0
  touch wait
  "$iap" run train.lua --out killed >out 2>err </dev/null &
  local pid=$!
  until [ -e killed/metrics.jsonl ]; do sleep 0.02; done
  kill -KILL $pid
  { wait $pid; } 2>/dev/null
  rm wait
  refuses "'killed' already holds a run (metrics.csv); continue it with --resume (resume = true), or" run train.lua --out killed
  echo "-- a word more" >>train.lua
  run run train.lua --out killed --resume --set checkpoint_every=2
  exits 0
  same_metrics plain killed
}
