# shellcheck shell=bash
# Windows, pages that are renewed, and metrics in the forms of other programs.

skip() { echo "skipped: $*"; exit 77; }

# Debian's packages are for Debian's Python.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3

# waits COMMAND...: until it succeeds, for 20 seconds
waits() {
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  fail "still not so after 20 seconds: $*"
}

# A policy that looks at a cart and pole.
pixel_run() {
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 400 }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, stride = 4, d = 4, top = 3, values = "position" },
    iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 4 },
  iterations = 1, eval_episodes = 1, confirm_episodes = 0, seed = 3, quiet = true, out = "run",
}
LUA
  run run train.lua
  exits 0
}

# A screen of its own, without which there is nothing to test.
screen() {
  local tool
  for tool in Xvfb xdotool xwd python3; do
    command -v "$tool" >/dev/null || skip "there is no $tool (Debian: xvfb xdotool x11-apps python3)"
  done
  "$iap" doctor | grep -q 'libiap-live.so' || skip "this program was built without SDL2 (Debian: libsdl2-dev)"
  Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>display 2>screen.log &
  screen=$!
  trap 'kill ${screen:-} ${playing:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
  waits test -s display
  DISPLAY=:$(cat display)
  export DISPLAY
  unset WAYLAND_DISPLAY SDL_VIDEODRIVER
}

# SDL unloads libraries that keep memory; what they were called cannot be known when leaks are looked for.
without_leaks=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# opens ARGS...: plays run in a window, whose number is then in $window, the process's in $playing
opens() {
  ASAN_OPTIONS=$without_leaks "$iap" play run --live --scale 10 "$@" >out 2>err </dev/null &
  playing=$!
  # While it comes up, a search that found it may be followed by one that does not.
  is_there() { window=$(xdotool search --name '^cartpole-swingup - iap$') && [ -n "$window" ]; }
  waits is_there
  xdotool windowfocus --sync "$window" || fail "the window takes no keys"
}
key() { xdotool key "$1"; }

# shows COLUMN PNG: the window's picture is that of the file that begins in this column
shows() { xwd -silent -id "$window" -out window.xwd && "$python" "$here/window.py" same window.xwd 320 240 "$@"; }
frame_colour() { xwd -silent -id "$window" -out window.xwd && "$python" "$here/window.py" pixel window.xwd 0 0; }
is_steered() { [ "$(frame_colour)" = "200 30 30" ]; }
is_left_alone() { [ "$(frame_colour)" != "200 30 30" ]; }
size_is() { xdotool getwindowgeometry --shell "$window" | grep -qx "WIDTH=$1"; }
# strip FILE ARGS...: pictures of a film of the same episode
strip() {
  run play run --scale 10 --seed 1 --out "$@"
  exits 0
}

case_live() {
  screen
  pixel_run
  strip first.png --view raw --strip 1 --steps 1
  strip raw.png --view raw --strip 2 --steps 2
  strip overlay.png --view overlay --strip 2 --steps 2
  strip heatmap.png --view heatmap --strip 2 --steps 2
  opens --view raw --fps 5
  key space
  key n
  waits shows 0 first.png
  key period
  waits shows 324 raw.png
  # v goes on from the last view to the first.
  key v
  waits shows 324 overlay.png
  shows 324 raw.png && fail "patches are not drawn"
  key v
  waits shows 324 heatmap.png
  is_left_alone || fail "nobody steers yet"
  # The window follows the picture's size.
  key v
  waits size_is 644
  xdotool keydown Right
  waits is_steered
  key period
  sleep 0.5
  xdotool keyup Right
  is_steered || fail "a person still steers"
  key t
  waits is_left_alone
  key period
  sleep 0.5
  key q
  wait "$playing"
  code=$?
  exits 0
  silent err
  says out "seed 0 (left before its end)"
  says out "3 steps, seed 1, of which a person steered 1 (left before its end)"

  # Left alone, at full speed, the episode is the one that is evaluated.
  run play run --seed 5 --out film.webp
  film=$(grep '^episode' out)
  opens --seed 5 --fps 1000
  waits grep -q '^episode' out
  # Its end is drawn in each view: a side-by-side picture is wider.
  key space
  key v
  key v
  waits size_is 644
  key q
  wait "$playing"
  grep -qxF -- "$film" out || fail "expected the film's line: $film"
}

case_live_ends() {
  screen
  pixel_run
  opens
  "$python" "$here/window.py" close "$window" || fail "the window cannot be asked to close"
  wait "$playing"
  code=$?
  exits 0
  silent err
  says out "(left before its end)"
  opens
  key space
  kill -INT "$playing"
  wait "$playing"
  code=$?
  exits 130
  # An episode that had not begun is not one that was left.
  grep -qF "(left before its end)" out || says err interrupted
  xdotool search --name '^cartpole-swingup - iap$' >/dev/null && fail "the window is still there"
  readelf -d "$iap" 2>/dev/null | grep -i sdl && fail "the program itself needs SDL"
  return 0
}

case_live_errors() {
  pixel_run
  for option in "--out film.webp" "--strip 3" "--quality 50"; do
    # shellcheck disable=SC2086
    run play run --live $option
    exits 2
    says err "${option% *}: a window writes no file; leave it out, or leave out --live"
  done
  IAP_PLUGIN_PATH=$work/nowhere run play run --live
  exits 1
  lines err 1
  says err "plugin 'live' is not there (libiap-live.so in $work/nowhere)"
  says err "libsdl2-dev"
  says err "IAP_PLUGIN_PATH names these folders instead of the installed ones"
  if "$iap" doctor | grep -q 'libiap-live.so'; then
    unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER
    run play run --live
    exits 1
    lines err 1
    says err "no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set; a window needs a display"
    DISPLAY=:4711 ASAN_OPTIONS=$without_leaks run play run --live
    exits 1
    lines err 1
    says err "no window can be opened: x11 not available"
  fi
  run play run --live --view outside
  exits 1
  says err "'outside'"
  run play run --live --set 'keys={"q":[1]}'
  exits 1
  says err "the key 'q' does something else"
}

case_live_keys() {
  # Both kinds of environments in Lua say what keys do; an option says otherwise.
  sed 's/spec = {/& keys = { a = { -1 }, d = { 1 } },/' "$scripts/pendulum.lua" >pendulum.lua
  run new hopper --task mujoco
  exits 0
  sed -i 's/^ *model = /  keys = { s = { 0.5 } },\n&/' hopper/task.lua
  cat >keys.lua <<'LUA'
local iap = require "iap"
local function keys(name, options) return iap.env.make(name, options):spec().config.keys end
print(keys("pendulum.lua").a[1], keys("pendulum.lua").d[1])
print(keys("hopper/task.lua").s[1], keys("pendulum.lua", { keys = { w = { 1 } } }).w[1], keys("cartpole-swingup"))
-- What became of the options makes the same environment.
local env = iap.env.make("pendulum.lua")
print(keys(env:spec().config).d[1])
LUA
  run run keys.lua
  exits 0
  tr -s '\t\n' '  ' <out | grep -qE '^-1(\.0)? 1(\.0)? 0\.5 1(\.0)? nil 1(\.0)? $' || fail "other keys"
  echo 'local iap = require "iap"; iap.env.make("cartpole-swingup", { keys = "left" })' >wrong.lua
  run run wrong.lua
  exits 1
  says err "option 'keys' must be a table of keys"
}

refreshes() { grep -q 'http-equiv="refresh" content="1"' run/report.html; }

case_watch() {
  training_script 'out = "run", log = { "jsonl" }, on_iteration = function() while not io.open("go") do os.execute("sleep 0.1") end end,'
  sed -i 's/^    self.velocity = 0$/&\n    while not io.open("begin") do os.execute("sleep 0.1") end/' pendulum.lua
  # Before the first iteration is complete, then while the run goes on, then when it has ended.
  "$iap" run train.lua >training 2>&1 </dev/null &
  training=$!
  trap 'kill ${training:-} ${watching:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
  waits test -s run/config.json
  "$iap" watch run --every 1 --no-pictures >out 2>err </dev/null &
  watching=$!
  waits refreshes
  says out "report   run/report.html, renewed while the run goes on"
  says run/report.html "there is nothing to report yet"
  touch begin
  waits grep -q 'run stands at iteration 1 of 4. The run goes on; this page renews itself.' run/report.html
  refreshes || fail "the page of a run at work does not load itself again"
  kill -0 "$watching" || fail "it does not wait for the run"
  touch go
  wait "$training"
  wait "$watching"
  code=$?
  exits 0
  silent err
  says out "run      ended after iteration 4 (iterations)"
  refreshes && fail "the last page goes on loading itself"
  grep -q 'this page renews itself' run/report.html && fail "the last page says that the run goes on"
  cp run/report.html watched.html
  run report run --no-pictures
  cmp -s watched.html run/report.html || fail "the last page is not the report"
  compgen -G 'run/.iap-*.part' >out && fail "half a page was left"
  # A run that has ended needs no watching.
  run watch run --no-pictures --out other.html
  exits 0
  says out "report   other.html"
  cmp -s other.html watched.html || fail "another page elsewhere"

  # Ctrl-C ends the watch, not the run.
  rm go
  "$iap" run train.lua --out two --set iterations=400 >training 2>&1 </dev/null &
  training=$!
  waits test -s two/metrics.csv
  "$iap" watch two --every 1 --no-pictures --out run/report.html >out 2>err </dev/null &
  watching=$!
  waits refreshes
  waits grep -q report out
  kill -INT "$watching"
  wait "$watching"
  code=$?
  exits 130
  says out "watch    ended; the run goes on"
  refreshes && fail "a page that nobody renews loads itself"
  kill -0 "$training" || fail "the run ended with its watch"
  # Killed, a run is not complete, and its page says so.
  touch go
  waits grep -q '^3,' two/metrics.csv
  kill -KILL "$training"
  wait "$training" 2>/dev/null
  run watch two --no-pictures
  exits 0
  says out "is no longer at work, but not complete"
  says two/report.html "of 400"
}

# A run that is moved away, one that takes the place of another, and one whose last page cannot be made.
case_watch_moved() {
  training_script 'log = { "jsonl" }, on_iteration = function() while not io.open("go") do os.execute("sleep 0.1") end end,'
  trap 'kill -KILL ${first:-} ${second:-} ${watching:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
  "$iap" run train.lua --out one >training 2>&1 </dev/null &
  first=$!
  waits grep -q '^1,' one/metrics.csv
  sed 's/^    self.velocity = 0$/&\n    while not io.open("begin") do os.execute("sleep 0.1") end/' -i pendulum.lua
  "$iap" run train.lua --out two >training2 2>&1 </dev/null &
  second=$!
  waits test -s two/config.json
  ln -s one run
  "$iap" watch run --every 1 --no-pictures --out page.html >out 2>err </dev/null &
  watching=$!
  waits grep -q 'run stands at iteration 1 of 4' page.html
  # The place is empty for a moment only.
  rm run
  sleep 1
  ln -s two run
  waits grep -q 'there is nothing to report yet' page.html
  kill -0 "$watching" || fail "it does not take the run that began in the same place"
  touch begin
  waits grep -q 'run stands at iteration 1 of 4' page.html
  rm run
  wait "$watching"
  code=$?
  exits 1
  lines err 1
  says err "the run's folder 'run' was moved or removed while it was watched; give the folder where the run is now"
  grep -q refresh page.html && fail "a page that nobody renews loads itself"

  "$iap" watch one --every 1 --no-pictures >out 2>err </dev/null &
  watching=$!
  waits grep -q 'http-equiv="refresh"' one/report.html
  waits grep -q report out
  truncate -s 10 one/best.iap
  kill -KILL "$first"
  wait "$first" 2>/dev/null
  wait "$watching"
  code=$?
  exits 1
  tail -1 err | grep -q '^one/best.iap: is 10 bytes' || fail "no error"
  grep -qE 'refresh|renews itself' one/report.html && fail "the page of a run that has ended loads itself"
  says one/report.html "one stands at iteration 1 of 4" # what could be shown last
}

case_watch_errors() {
  mkdir empty
  run watch empty
  exits 1
  lines err 1
  says err "'empty' is not the folder of a run"
  run watch nowhere
  exits 1
  says err "'nowhere' is not the folder of a run"
  run watch
  exits 2
  says err "RUN is missing"
  run watch empty --every 0
  exits 2
  says err "--every"
}

# agrees FOLDER ROWS: its tables hold the same, in so many rows
agrees() {
  local said
  said=$("$python" "$here/events.py" "$1" 2>&1)
  case $? in
    0) [ "$said" = "$2 rows" ] || fail "$1: expected $2 rows, $said" ;;
    77) skip "$said" ;;
    *) fail "$1: $said" ;;
  esac
}

case_logs() {
  training_script 'out = "run", log = { "tensorboard", "jsonl" },'
  run run train.lua
  exits 0
  agrees run 5
  # The run's results are those of a run without.
  training_script 'out = "run",'
  run run train.lua --out plain
  exits 0
  cut -d, -f1-7 run/metrics.csv | cmp -s - <(cut -d, -f1-7 plain/metrics.csv) || fail "logs change results"
  [ ! -e plain/metrics.jsonl ] && [ ! -e plain/events.out.tfevents.iap ] || fail "logs that nobody asked for"
  # A run goes on with the logs that it has; one that gets them late has all of its rows there.
  run run train.lua --resume --set iterations=7
  exits 0
  agrees run 8
  run run train.lua --out plain --resume --set iterations=6 --set 'log=["jsonl","tensorboard"]'
  exits 0
  agrees plain 7
  # The evaluation that only the end asked for is taken back where the run goes on.
  run run train.lua --out odd --set iterations=3 --set 'log=["jsonl","tensorboard"]'
  exits 0
  agrees odd 4
  run run train.lua --out odd --resume --set iterations=5
  exits 0
  agrees odd 6
  # One name needs no list.
  run run train.lua --out single --set log=jsonl
  exits 0
  [ -s single/metrics.jsonl ] && [ ! -e single/events.out.tfevents.iap ] || fail "log = \"jsonl\""
}

case_logs_killed() {
  training_script 'out = "run", log = { "jsonl", "tensorboard" }, checkpoint_every = 3,'
  "$iap" run train.lua --set iterations=1000000 >training 2>&1 </dev/null &
  training=$!
  trap 'kill -KILL ${training:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
  waits grep -q '^20,' run/metrics.csv
  kill -KILL "$training"
  wait "$training" 2>/dev/null
  done_before=$(tail -1 run/metrics.csv | cut -d, -f1)
  # What a kill in the middle of a write leaves, beside rows that no checkpoint knows.
  printf '{"iteration":' >>run/metrics.jsonl
  head -c 50 run/events.out.tfevents.iap >>run/events.out.tfevents.iap.tail
  cat run/events.out.tfevents.iap.tail >>run/events.out.tfevents.iap
  rm run/events.out.tfevents.iap.tail
  printf '%s' "$((done_before + 1)),1" >>run/metrics.csv
  run run train.lua --resume --set iterations=$((done_before + 5))
  exits 0
  agrees run $((done_before + 6))
}

# Of several runs those are shown that have something to show; a sweep's folder is told from a run's.
case_report_several() {
  training_script ""
  run run train.lua --out whole
  run run train.lua --out none --set iterations=0
  exits 0
  cp -r whole begun
  rm begun/result.json
  sed -i '3,$d' begun/metrics.csv
  run report begun whole none --no-pictures
  exits 0
  lines err 2
  says err "note: the page leaves out 'begun', which has not finished its first iteration"
  says err "note: the page leaves out 'none', which trained no iteration"
  says report.html "<code>iap report whole --no-pictures</code>"
  refuses "the run in 'begun' has not finished its first iteration; there is nothing to report yet" report begun none
  # In Lua alike.
  cat >page.lua <<'LUA'
local report = require("iap").report
print(report.html { runs = { "begun", "whole", "none" }, pictures = false, out = "lua.html" })
print(pcall(report.html, { runs = { "begun", "none" }, pictures = false, out = "none.html" }))
LUA
  run run page.lua
  exits 0
  lines err 2
  says err "note: the page leaves out 'begun', which has not finished its first iteration"
  says err "note: the page leaves out 'none', which trained no iteration"
  cmp -s report.html lua.html || fail "another page in Lua"
  says out "the run in 'begun' has not finished its first iteration; there is nothing to report yet"
  [ ! -e none.html ] || fail "a page about nothing"
  refuses "there is no run 'nowhere'" report whole nowhere

  sweep_script ""
  run sweep train.lua --over optimizer.sigma=0.1,0.2 --out "my sweep"
  exits 0
  run report "my sweep"
  exits 1
  lines err 1
  says err "'my sweep' is not the folder of a run: it has no config.json; it is a sweep's, whose page is 'my sweep/report.html'; iap report 'my sweep'/*seed*/ makes one of its runs"
  # The command as it is told.
  eval "$iap report $(grep -o "'my sweep'/\*seed\*/" err) --no-pictures --out several.html" >out 2>err || fail "the command that is told"
  says several.html "sigma 0.1"
  rm "my sweep/report.html"
  refuses "which has no page yet" report "my sweep"
}

# Of returns that are infinite, though each reward is finite, there is everything but a curve. Earlier versions took them.
case_report_infinite() {
  infinite() { awk -F, -v OFS=, 'NR > 1 {for (i = 2; i <= 6; ++i) if ($i != "") $i = "inf"} 1' "$1/metrics.csv" >table && mv table "$1/metrics.csv"; }
  training_script 'out = "run",'
  run run train.lua
  exits 0
  infinite run
  run report run
  exits 0
  says run/report.html "There is no curve: "
  says run/report.html "there is no finite point to draw"
  says run/report.html "All settings"
  run watch run
  exits 0
  run run train.lua --seed 4 --out other
  exits 0
  infinite other
  run report run other
  exits 0
  [ "$(grep -c "There is no curve: " report.html)" -eq 2 ] || fail "not told of both curves"
  sed -i 's/return -math.cos(self.angle)/return 1e308/' pendulum.lua
  run run train.lua --out none
  exits 1
  says err "step 2: the return is inf; returns must be finite"
}

case_logs_errors() {
  training_script 'out = "run", log = { "tensorbord" },'
  run run train.lua
  exits 1
  says err "option 'log': there is no log 'tensorbord'; did you mean 'tensorboard'?"
  [ ! -e run ] || fail "a folder for a run that never began"
  training_script 'out = "run", log = { 3 },'
  run run train.lua
  exits 1
  says err "option 'log' must be a list of names, got"
  training_script 'log = { "jsonl" },'
  run run train.lua
  exits 1
  says err "option 'log' needs 'out'"
}
