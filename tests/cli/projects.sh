# shellcheck shell=bash
# iap new and iap check: a folder that runs at once, and what is said of environments that keep their contract or break it.

# made KIND: everything that the README of a new folder tells is done, the training in its smallest form.
made() {
  run new cozy --task "$1"
  exits 0
  silent err
  says out "iap run cozy/cozy.lua"
  [ "$(ls -A)" = "$(printf '%s\n' cozy err out)" ] || fail "more than the folder: $(ls -A)"
  [ "$(ls cozy)" = "$2" ] || fail "files: $(ls cozy)"
  grep -rn NAME cozy && fail "a placeholder is left"
  ! grep -n '^iap .*#' cozy/README.md || fail "comments behind commands, which a name of another length puts out of line"
  grep -o 'iap [^`]*' cozy/README.md | sed 's/ *#.*//' >told
  for command in "iap check cozy/task.lua" "iap run cozy/cozy.lua" "iap run cozy/test.lua" "iap play cozy/run" "iap eval cozy/run"; do
    grep -qxF "$command" told || fail "the README does not tell '$command'"
  done
  while read -r program command arguments; do
    [ "$command" != new ] || continue
    [[ "$arguments" != *cozy.lua* ]] || arguments+=" --set iterations=1 --set eval_episodes=2"
    # shellcheck disable=SC2086
    run "$command" $arguments
    exits 0
  done <told
  for picture in curve.png strip.png play.webp; do [ -s cozy/run/media/$picture ] || fail "no $picture"; done
  # Inside of the folder, too.
  rm -r cozy/run
  cd cozy || exit 1
  run check task.lua
  exits 0
  says out "kept: 17 of 17 rules"
  run run cozy.lua --set iterations=1 --set eval_episodes=2
  exits 0
  [ -s run/media/curve.png ] || fail "the run went elsewhere"
}

case_new_lua() { made lua $'README.md\ncozy.lua\ntask.lua\ntest.lua'; }
case_new_mujoco() { made mujoco $'README.md\ncozy.lua\ntask.lua\ntask.xml\ntest.lua'; }

# One message, nothing half-written.
case_new_refused() {
  local name
  for name in "" . .. a/b /tmp/x "a b" -x .hidden 'a"b' "$(printf 'x%.0s' {1..101})" "ä"; do
    run new -- "$name"
    exits 2
    says err "'$name' is no plain name"
    silent out
  done
  refused "did you mean 'walker'?" new walker.lua
  refused "'task' is the name of a file inside" new task
  refused "iap new: NAME is missing" new
  refused "--task: there is no 'mujocco'; did you mean 'mujoco'?" new x --task mujocco
  refused "iap: unknown command 'nwe'; did you mean 'new'?" nwe x
  mkdir full empty
  touch full/kept file
  ln -s empty link
  for name in full file link; do
    run new $name
    exits 1
    says err "'$name' exists"
    lines err 1
  done
  [ "$(ls -A)" = "$(printf '%s\n' empty err file full link out)" ] || fail "left over: $(ls -A)"
  run new empty
  exits 0
  [ -s empty/empty.lua ] || fail "an empty folder is no place"
  (cd /proc && "$iap" new nowhere) >out 2>err </dev/null
  code=$?
  exits 1
  says err "cannot make the folder 'nowhere' in '/proc': No such file or directory"
  lines err 1
}

case_check() {
  for env in cartpole-balance "cheetah-run --set pixels=[16,24] --set distraction=easy --set time_limit=30" "$scripts/pendulum.lua" \
    "$scripts/tracker.lua" "$scripts/cheetah_task.lua --set time_limit=40"; do
    # shellcheck disable=SC2086
    run check $env --episodes 2 --steps 30
    exits 0
    silent err
    says out "17 rules"
    says out "steps a second without"
    says out "2 episodes from seed 0 on, up to 30 steps each"
  done
  # A policy's environment, out of its file.
  training_script 'out = "run"'
  run run train.lua
  exits 0
  rm pendulum.lua
  for policy in run run/best.iap; do
    run check $policy --set length=2 --seed 5
    exits 0
    says out "env 'pendulum.lua'"
    says out "from seed 5 on"
    says out "kept: "
  done
  # An environment may speak of training.
  sed '1i -- A world for iap.train.' "$scripts/pendulum.lua" >spoken.lua
  run check spoken.lua
  exits 0
  # The figures apart, a report says the same each time.
  run check cartpole-balance
  grep -v '^speed' out >first
  run check cartpole-balance
  grep -v '^speed' out >second
  cmp -s first second || fail "two checks say other things"
}

# broken RULES TEXT: what is said of task.lua; BODY in its place makes the flaw
broken() {
  run check task.lua --steps 20
  exits 1
  silent err
  says out "broken: $1"
  says out "$2"
}

# flawed SED: a small sound environment with a flaw
flawed() {
  cat >sound.lua <<'LUA'
return function()
  local env = { spec = { action_size = 1, vector = 2, max_steps = 12, state_names = { "place", "speed" } } }
  function env:reset(seed)
    self.place, self.speed = math.random(), 0
  end
  function env:step(action)
    self.speed = self.speed + action[1]
    self.place = self.place + self.speed
    return -math.abs(self.place)
  end
  function env:observe() return { self.place, self.speed } end
  return env
end
LUA
  sed "$1" sound.lua >task.lua
  cmp -s sound.lua task.lua && [ "$1" != "" ] && fail "no flaw: $1"
}

# A joint that drives itself: damping below 0.
unstable_task() {
  cat >unstable.lua <<'LUA'
local model = [[<mujoco><option timestep=".01"/><worldbody><body><joint name="hinge" type="hinge" axis="0 1 0" damping="-500"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.6" size=".03" mass="1"/></body></worldbody>
  <actuator><motor joint="hinge" gear="5" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]]
return { model = model, max_steps = 50, reward = function() return 1 end,
  reset = function(data, random) data.qpos.hinge = random:uniform(-.1, .1) end }
LUA
}

case_check_broken() {
  flawed ""
  run check task.lua
  exits 0
  says out "kept: 17 of 17 rules"
  flawed 's/self.place, self.speed = math.random(), 0/self.place, self.speed = math.random(), self.speed or 0/'
  broken "2 of 17 rules (reset, steps)" "skipped  fresh        an episode after others is as in a fresh environment ('reset' comes first)"
  flawed 's/math.random(), 0/0.5, 0/'
  run check task.lua
  exits 0
  says out "warning  seeds        other seeds give other episodes"
  says out "the seeds 0 to 2 give one and the same episode"
  says out "kept: 17 of 17 rules, 1 warning"
  flawed 's/return { self.place, self.speed }/self.place = self.place + 1; return { self.place, self.speed }/'
  broken "1 of 17 rules (looking)" "with no look at each step instead of one"
  # What throws is each rule's finding, once in full.
  flawed 's/return -math.abs(self.place)/if self.speed > 0.5 then return nosuch.field end return 0/'
  broken "" "task.lua:9: attempt to index a nil value (global 'nosuch') at step"
  says out "the same error as under 'runs'"
  says out "passed   refusal"
  flawed 's/return -math.abs(self.place)/return 0 \/ 0/'
  broken "" "task.lua: step must return a finite reward first, got a number"
  flawed 's/return { self.place, self.speed }/return { self.place }/'
  broken "" "task.lua: "
  flawed 's/self.speed = self.speed + action/os.exit(3) self.speed = self.speed + action/'
  broken "" "task.lua:7: os.exit would end the whole program"
  unstable_task
  run check unstable.lua
  exits 1
  says out "broken: 1 of 17 rules (stability)"
  says out "3 of 3 episodes ended because the simulation became unstable (first: seed 0, step "
  flawed 's/return { self.place, self.speed }/while true do end/'
  "$iap" check task.lua >out 2>err </dev/null &
  local pid=$!
  sleep 1
  kill -INT $pid
  wait $pid
  code=$?
  exits 130
}

# What is no environment is one line, like everywhere.
case_check_errors() {
  # The options that a file in Lua looks at are listed in one order, process by process.
  {
    echo 'return function(options) local _ = options.steps, options.angle, options.mass, options.length'
    echo 'return { spec = { action_size = 1, vector = 1, max_steps = 3, control_dt = 0.1 }, reset = print, step = print, observe = print } end'
  } >asks.lua
  for _ in 1 2 3 4 5 6; do refuses "known: name, angle, length, mass, steps" check asks.lua --set qqqqqqqq=1; done
  training_script ""
  echo 'return {' >half.lua
  mkdir folder project
  touch project/task.lua model.xml
  for words in "cheetah-rum|did you mean 'cheetah-run'?" "missing.lua|missing.lua" "half.lua|half.lua:" "train.lua|'train.lua' is a script that trains" \
    "folder|folder" "project|did you mean 'project/task.lua'?" "model.xml|such as model.lua" "missing.iap|missing.iap" "cheetah-run --set pixel=[8,8]|did you mean 'pixels'?" \
    "cheetah-run --set name=x|another environment"; do
    # shellcheck disable=SC2086
    run check ${words%%|*}
    exits 1
    silent out
    says err "${words#*|}"
    lines err 1
  done
  refused "iap check: ENV is missing" check
  refused "iap check: --set pixels: write it as path=value" check cheetah-run --set pixels
  refused "--episodes: expected an integer from 1 to 1000, got '0'" check x --episodes 0
  refused "--steps: expected an integer from 1 to 1000000, got 'x'" check x --steps x
  refused "iap check: unknown option '--sed'" check x --sed 3
}
