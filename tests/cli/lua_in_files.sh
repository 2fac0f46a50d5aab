# shellcheck shell=bash
# Lua in policy files: what it may not do, and what travels with it.

# Lua inside a policy file runs confined at every door, before the first step of the first episode too.
case_trust() {
  cat >build.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 4, state = true })
local blocks = iap.policy.sequence {
  iap.policy.script { file = "touch.lua" }, iap.policy.concat { iap.attention.rank { patch = 4, top = 2 } }, iap.policy.linear {},
}
iap.policy.build(blocks, env):save("policy.iap")
LUA
  cat >touch.lua <<'LUA'
return function(options, shapes)
  os.execute("touch owned")
  return { parameters = 0, outputs = 1, forward = function() return { 0 } end }
end
LUA
  run run build.lua
  exits 0
  rm owned touch.lua
  for command in "eval policy.iap --episodes 1" "play policy.iap" "play policy.iap --strip 2" "export policy.iap out.npz"; do
    # shellcheck disable=SC2086
    run $command
    exits 1
    says err "policy.iap: touch.lua:2: os.execute is not available to Lua that comes out of a file; if you trust 'policy.iap', pass --trust"
    lines err 1
    [ ! -e owned ] || fail "'$command' ran os.execute"
    # shellcheck disable=SC2086
    run $command --trust
    [ "${command%% *}" = export ] || exits 0
    [ -e owned ] || fail "'$command --trust' did not run os.execute"
    rm owned
  done
  echo 'print(require("iap").policy.load("policy.iap"))' >load.lua
  run run load.lua
  exits 1
  says err "os.execute is not available"
  echo 'print(require("iap").policy.load("policy.iap", { trust = true }))' >load.lua
  run run load.lua
  exits 0
  rm owned

  # A run that begins at it names what a script can write.
  training_script 'init = arg[1] and iap.policy.load("policy.iap", { trust = true }) or "policy.iap",'
  sed -i 's#iap.env.make.*#iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 4, state = true }),#; /policy = /d' train.lua
  run run train.lua
  exits 1
  says err "train: option 'init': policy.iap: touch.lua:2: os.execute is not available to Lua that comes out of a file; if you trust it, write init = iap.policy.load(PATH, { trust = true })"
  grep -qF -- "--trust" err && fail "iap run has no --trust"
  lines err 1
  run run train.lua trusted
  exits 0
  rm owned

  # A run whose environment needs a file: its own script is free, resumed or not; what its folder holds is confined.
  training_script 'out = "run",'
  sed -i 's#^return function(options)#&\n  local file = assert(io.open("length.txt"))\n  options = { length = file:read("n") }\n  file:close()#; s#local length = options.length or 1.0#local length = options.length#' pendulum.lua
  sed -i 's#options.start or ##' pendulum.lua
  echo 2 >length.txt
  run run train.lua
  exits 0
  says err "warning: the run's policy will not play without trust: run/best.iap: pendulum.lua:"
  says err "io.open is not available to Lua that comes out of a file; if you trust 'run/best.iap', pass --trust"
  lines err 1
  run run train.lua --set out=isolated --set isolate=true
  exits 0
  says err "warning: the run's policy will not play without trust: isolated/best.iap: pendulum.lua:"
  says err "io.open is not available to Lua that comes out of a file; if you trust 'isolated/best.iap', pass --trust"
  lines err 1
  run run train.lua --resume --set iterations=6
  exits 0
  silent err
  run eval run --episodes 2
  exits 1
  says err "run/best.iap: pendulum.lua:"
  says err "io.open is not available"
  lines err 1
  run eval run --episodes 2 --trust
  exits 0
  # The environment that is named here is the user's.
  run eval run --episodes 2 --env pendulum.lua
  exits 0
  run report run
  exits 0
  says run/report.html "io.open is not available"
  run report run --trust
  exits 0
  grep -qF "io.open is not available" run/report.html && fail "report --trust is confined"
  # Coming back to the prompt or a host, a script says whom it trusts.
  echo 'local e = require("iap").eval("run", { episodes = 2, trust = true }) assert(e.mean < 0)' >eval.lua
  run run eval.lua
  exits 0
}

# What plays where it may do all and not where it is confined is told when the run begins, whatever the complaint.
case_trust_told() {
  training_script 'out = "run",'
  cp pendulum.lua plain.lua
  local change said
  while IFS='|' read -r change said; do
    (echo "$change" && cat plain.lua) >pendulum.lua
    rm -rf run
    run run train.lua
    exits 0
    lines err 1
    says err "warning: the run's policy will not play without trust: run/best.iap:"
    says err "$said"
    run eval run --episodes 1
    exits 1
    says err "$said"
    run eval run --episodes 1 --trust
    exits 0
  done <<'CHANGES'
xpcall(print, debug.traceback)|debug.traceback is not available to Lua that comes out of a file; if you trust 'run/best.iap', pass --trust
getmetatable("").__index = string|the metatable of strings is not available to Lua that comes out of a file; if you trust 'run/best.iap', pass --trust
assert(type(os.getenv) == "function", "no function")|no function
CHANGES
  # A fault of the world's own is none of trust.
  sed 's/function Pendulum:step(action)/& assert(action[1] ~= 0, "stands still")/' plain.lua >pendulum.lua
  rm -rf run
  run run train.lua
  exits 0
  silent err
}

# A run tries what its own best.iap may. What came into it out of a stranger's file stays confined in that trial, too, whoever
# complains there: the stranger's block at the one step that is tried, or what the run's own Lua says where it is confined.
case_escapes_by_init() {
  cp "$scripts/pendulum.lua" .
  local try='local function try() return pcall(function() io.open("owned", "w"):close() end) end
try()'
  (echo "$try" && cat pendulum.lua) >theirs.lua
  (echo "$try" && cat) >evil.lua <<'LUA'
return function(options, shapes)
  local draw
  return { parameters = shapes.inputs, outputs = shapes.inputs, reset = function() draw = math.random(1, 1000000000) end,
    forward = function(_, parameters, inputs)
      if options.mark == 0 then print(draw) end
      if draw == options.mark and not try() then error("not today") end
      local values = {}
      for i, x in ipairs(inputs) do values[i] = parameters[i] * x end
      return values
    end }
end
LUA
  local needy='assert(type(os.getenv) == "function", "no function")'
  (echo "$needy" && cat pendulum.lua) >needy.lua
  (echo "$needy" && sed '1,2d; s/not try()/false/' evil.lua) >own.lua
  cat >build.lua <<'LUA'
local iap = require "iap"
local p = iap.policy
local blocks = p.sequence { p.observation {}, p.script { file = "evil.lua", mark = tonumber(arg[2]) }, p.linear { activation = "tanh" } }
p.build(blocks, iap.env.make "theirs.lua"):save(arg[1])
LUA
  # What the block draws first in an episode of seed 7 is known to everybody.
  cat >draw.lua <<'LUA'
local iap = require "iap"
local gift = iap.policy.load "gift.iap"
gift:reset(7)
gift:act(iap.env.make(gift:metadata().env):reset(7))
LUA
  cat >victim.lua <<'LUA'
local iap = require "iap"
local gift, silent, p = iap.policy.load "gift.iap", iap.policy.load "silent.iap", iap.policy
local theirs = gift:metadata().env
local run = assert(load("return { " .. arg[1] .. " }", "=run", "t", { theirs = theirs, gift = gift, silent = silent, iap = iap,
  own = p.sequence { p.observation {}, p.script { file = "own.lua", mark = 1 }, p.linear { activation = "tanh" } } }))()
for name, value in pairs { iterations = 1, seed = 7, eval_episodes = 1, confirm_episodes = 0, quiet = true, threads = 1,
  optimizer = iap.optim.es { population = 2 }, out = "run" } do run[name] = value end
iap.train(run)
LUA
  run run build.lua gift.iap 0
  exits 0
  run run build.lua silent.iap 1
  exits 0
  rm owned
  run run draw.lua
  exits 0
  run run build.lua gift.iap "$(cat err)"
  exits 0
  rm owned
  local what told
  while IFS='|' read -r what told; do
    for what in "$what" "$what, isolate = true"; do
      rm -rf run
      run run victim.lua "$what"
      exits 0
      [ ! -e owned ] || fail "a stranger's text ran free in a run of $what"
      if [ -n "$told" ]; then says err "$told"; else silent err; fi
    done
  done <<'WAYS'
env = "pendulum.lua", init = "gift.iap"|
env = "pendulum.lua", init = gift|
env = "pendulum.lua", policy = gift:blueprint()|
env = "cartpole-balance", policy = gift:blueprint()|
env = theirs, init = "gift.iap"|
env = "needy.lua", init = "silent.iap"|warning: the run's policy will not play without trust: run/best.iap: needy.lua:1: no function (with --trust it plays)
env = "needy.lua", policy = silent:blueprint()|run/best.iap: needy.lua:1: no function (with --trust it plays)
env = theirs, policy = own|run/best.iap: own.lua:1: no function (with --trust it plays)
env = "pendulum.lua", eval_env = theirs, policy = own|run/best.iap: own.lua:1: no function (with --trust it plays)
WAYS
}

# A policy whose returns depend on how its episodes are dealt out plays, and a warning says so.
case_eval_kept() {
  cat >build.lua <<'LUA'
local iap = require "iap"
local function save(name, more)
  local source = "return function() local n = 0 return { parameters = 0, outputs = 1, " .. more ..
    "forward = function() n = n + 1 return { math.sin(n) } end } end"
  iap.policy.build(iap.policy.script { file = "count.lua", source = source }, iap.env.make("cartpole-balance", { time_limit = 20 })):save(name)
end
save("kept.iap", "")
save("reset.iap", "reset = function() n = 0 end, ")
LUA
  run run build.lua
  exits 0
  echo 'local r = require("iap").eval(arg[1], { episodes = 2, isolate = arg[2] == "isolate" }) assert(#r.episodes == 2)' >eval.lua
  for command in "eval kept.iap --episodes 2" "run eval.lua kept.iap"; do
    # shellcheck disable=SC2086
    run $command
    exits 0
    says err "warning: policy: block 'policy' (count.lua): from step 1 of an episode on it gives other outputs"
    lines err 1
  done
  for command in "eval reset.iap --episodes 2" "run eval.lua reset.iap" "eval kept.iap --episodes 2 --isolate" "run eval.lua kept.iap isolate"; do
    # shellcheck disable=SC2086
    run $command
    exits 0
    silent err
  done
}

# What a file's Lua says when it fails is one line, on the terminal and in log.txt: others could pass for messages of the program.
case_forged_lines() {
  training_script 'out = "run",'
  sed -i 's#function Pendulum:step(action)#&\n    if options.start == 9 then error("one\\nbest policy: 1\\27[2Jx", 0) end#' pendulum.lua
  run run train.lua
  exits 0
  local escape=$'\e'
  refuses "run/best.iap: one best policy: 1?[2Jx" eval run --set start=9 --episodes 1
  run check run --set start=9
  exits 1
  says out "one best policy: 1?[2Jx"
  grep -q "^best policy" out && fail "a line of its own in a report"
  refuses "one best policy: 1?[2Jx" run train.lua --set env.start=9 --set out=own
  says own/log.txt "one best policy: 1?[2Jx"
  grep -qE "^best policy|$escape" own/log.txt && fail "a line of its own in log.txt"
  run run train.lua --set env.start=9 --set out=failed --set failed_return=0
  exits 0
  grep -qE "^best policy|$escape" failed/log.txt err && fail "a line of its own about an episode that failed"
  # What MuJoCo has no room for is told of a model by its name.
  local model=$'m\nbest policy: 1\e[2J.xml'
  echo '<mujoco><size nconmax="100" njmax="3"/><worldbody><geom type="plane" size="1 1 1"/><body name="box" pos="0 0 .1">
    <freejoint name="free"/><geom type="box" size=".1 .1 .1"/></body></worldbody><actuator><motor joint="free" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>' >"$model"
  printf '%s\n' 'return { model = "m\nbest policy: 1\27[2J.xml", observe = function(data) return { data.time } end,' \
    '  reward = function() return 0 end }' >full.lua
  run check full.lua
  exits 1
  says err "m best policy: 1?[2J.xml: MuJoCo has room for 3 rows of constraints"
  grep -qE "^best policy|$escape" out err && fail "a line of its own about a world without room"
  return 0
}

# What an environment and a block require goes into the policy file, which then needs neither them nor their neighbours.
case_neighbours() {
  training_script 'out = "run",'
  mkdir -p physics lib
  echo 'return { gravity = 9.81, torque = require("physics.motor").torque }' >physics/constants.lua
  echo 'return { torque = function(action, length) return action / length ^ 2 end }' >physics/motor.lua
  echo 'return { scale = function(x) return require("lib/deep, too") * x end }' >late.lua
  echo 'return 0.5' >'lib/deep, too.lua'
  sed -i 's#^local gravity, dt = 9.81, 0.02#local constants = require "physics.constants"\nlocal gravity, dt = constants.gravity, 0.02#; s#action\[1\] / length ^ 2#constants.torque(action[1], length)#' pendulum.lua
  cat >halve.lua <<'LUA'
return function(options, shapes)
  return { parameters = 0, outputs = shapes.inputs, forward = function(self, parameters, inputs)
    local late = require("late") -- only when it acts
    local values = {}
    for i, x in ipairs(inputs) do values[i] = late.scale(x) end
    return values
  end }
end
LUA
  sed -i 's#iap.policy.sequence {#& iap.policy.script { file = "halve.lua" },#' train.lua
  run run train.lua
  exits 0
  silent err
  run eval run --episodes 4 --csv here.csv
  exits 0
  policy_alone physics lib pendulum.lua halve.lua late.lua
  # What no text mentions could not be taken along.
  cat >../build.lua <<'LUA'
local iap = require "iap"
local block = iap.policy.script { file = "lazy.lua" }
local policy = iap.policy.build(block, iap.env.make("cartpole-swingup", { time_limit = 3 }))
policy:save("lazy.iap")
LUA
  echo 'return function() return { parameters = 0, outputs = 1, forward = function() return { (require("secr" .. "et")) } end } end' >../lazy.lua
  echo 'return 1' >../secret.lua
  cd .. || exit 1
  run run build.lua
  exits 0
  run eval lazy.iap --episodes 1
  exits 1
  says err "lazy.iap: lazy.lua:1: the module 'secret', which the file does not hold, is not available to Lua that comes out of a file"
  run eval lazy.iap --episodes 1 --trust
  exits 0
}

# Names are a file's own, too, and those of files: none brings a line that looks like a result.
case_forged_results() {
  cat >forge.lua <<'LUA'
local iap = require "iap"
local body = [[local t, failing = 0, options.failing
  return { spec = { vector = 1, action_size = 1, max_steps = 3 }, reset = function() t = 0 end, observe = function() return { t } end,
    step = function() t = t + 1 if failing then error("one\nmean return         999", 0) end return 1, false end } end]]
local env = iap.env.make { name = "world\nmean return         999.lua", source = "return function(options) " .. body,
  ["failing"] = false }
iap.policy.build(iap.policy.linear {}, env):save("forged.iap")
local other = iap.env.make { name = "b.lua", source = "return function(options) for _ in pairs(options) do end " .. body, ["x\nmean return         999"] = 1 }
iap.policy.build(iap.policy.linear {}, other):save("carried.iap")
LUA
  run run forge.lua
  exits 0
  cp forged.iap $'a\nmean return         999.iap'
  echo 'return function(options) for _ in pairs(options) do end local t = 0 return { spec = { vector = 1, action_size = 1, max_steps = 3 },
    reset = function() end, observe = function() return { t } end, step = function() return 1, false end } end' >own.lua
  local words
  for words in "eval forged.iap" "probe forged.iap" "check forged.iap" "eval a?mean*.iap" "eval carried.iap --env own.lua" \
    "eval forged.iap --set failing=true --failed-return 0" "export a?mean*.iap a.npz"; do
    # shellcheck disable=SC2086
    run $words
    grep -qE "^mean return +999" out err && fail "a line of its own in what '$words' prints"
  done
  run eval forged.iap
  exits 0
  says out "environment         world mean return         999.lua"
  return 0
}

# Where * stands for what is in a folder, a name that begins with - would be an option, and who has made the folder would choose it.
case_globbed_options() {
  cat >build.lua <<'LUA'
local iap = require "iap"
local world = [[return function()
  pcall(os.execute, "touch owned")
  return { spec = { vector = 1, action_size = 1 }, reset = function() end, observe = function() return { 1 } end, step = function() return 1, true end }
end]]
iap.policy.build(iap.policy.linear {}, iap.env.make { name = "e.lua", source = world }):save("run.iap")
local file = assert(io.open("a.lua", "w"))
file:write(world)
file:close()
LUA
  run run build.lua
  exits 0
  rm owned
  # chosen OPTION FILE...: in a folder that has so many entries, * chooses nothing.
  chosen() {
    mkdir folder
    cp "${@:2}" folder
    touch "folder/$1"
    cd folder || exit 1
    run eval *
    exits 2
    says err "iap eval: '$1' is an option, and an entry of this folder is called so, which a * may mean; rename that, or write ./* for what is in the folder"
    lines err 1
    [ ! -e owned ] || fail "the entry '$1' ran os.execute"
    cd ..
    rm -r folder
  }
  chosen --trust run.iap
  chosen --trust=true run.iap
  chosen --env run.iap a.lua
  cp a.lua .a.lua
  chosen --env=.a.lua run.iap .a.lua
  mkdir ends
  cp run.iap ends
  touch ends/-- ends/--trust
  cd ends || exit 1
  run eval --csv *
  exits 2
  [ ! -e owned ] || fail "-- as the value of an option let --trust through"
  cd ..
  touch ./--trust ./-50
  run eval run.iap --episodes 1 --failed-return -50
  exits 0
  run eval --episodes 1 -- run.iap
  exits 0
  run eval run.iap --episodes 1
  exits 0
}

# --set finds out what an environment was given by building it without each of its options, of which a file may have many.
case_many_options() {
  cat >build.lua <<'LUA'
local iap = require "iap"
local options = { name = "e.lua", gain = 1, many = {}, source = [[return function(options)
  local gain, many = options.gain, options.many
  return { spec = { vector = 1, action_size = 1 }, reset = function() end, observe = function() return { 1 } end, step = function() return 1, true end }
end]] }
for i = 1, 6000 do options.many["a" .. i] = i end
iap.policy.build(iap.policy.linear {}, iap.env.make(options)):save("many.iap")
LUA
  run run build.lua
  exits 0
  SECONDS=0
  timeout --foreground --preserve-status --signal=INT 2 "$iap" eval many.iap --set gain=2 >out 2>err </dev/null
  code=$?
  exits 130
  [ $SECONDS -lt 30 ] || fail "Ctrl-C was heard after $SECONDS s"
}
