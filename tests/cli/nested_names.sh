# shellcheck shell=bash
# Names in the tables inside the options of what is written in Lua, at every door that sets them.

# A world and a block with a table inside their options, and a training of both. With OLD=1 the world's slips are not seen, as by
# programs that judged no names.
nested_script() {
  cat >world.lua <<'LUA'
local may_look, judged = pcall(function() return os.getenv "OLD" and debug.getinfo(getmetatable, "S").what ~= "C" end)
if may_look and judged then error "as where nobody judges names" end
return function(options)
  local k = (options.physics or {}).strength or 1
  local world = { spec = { action_size = 1, vector = 1, max_steps = 5 } }
  function world:reset() self.x = math.random() end
  function world:step(action) self.x = 0.9 * self.x + 0.1 * k * action[1] return -math.abs(self.x), false, false end
  function world:observe() return { self.x } end
  return world
end
LUA
  cat >block.lua <<'LUA'
return function(options, shapes)
  local gain = options.gains.first or 1
  return { parameters = 1, outputs = 1, forward = function(_, p, x) return { gain * p[1] * x[1] } end }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("world.lua", { physics = { strength = 3 } }), policy = iap.policy.script { file = "block.lua", gains = { first = 2 } },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_every = 1, eval_episodes = 2, quiet = true, out = iap.run_folder("run"),
}
LUA
}

# A slip in a table inside the options, wherever it is made.
case_set_nested_slips() {
  nested_script
  local place
  for place in env eval_env; do
    refuses "unknown option 'physics.strenght'; did you mean 'physics.strength'?" run train.lua --set $place.physics.strenght=7
  done
  refuses "unknown option 'physics.strenght'" run train.lua --set 'curriculum=[{"through":1},{"physics":{"strenght":7}}]'
  refuses "unknown option 'gains.frist'; did you mean 'gains.first'?" run train.lua --set policy.gains.frist=7
  run sweep train.lua --over env.physics.strenght=1,2
  exits 1
  says err "unknown option 'physics.strenght'"
  [ ! -e run ] || fail "something was trained"
  run run train.lua --set env.physics.strength=7
  exits 0
  run eval run --episodes 1 --set physics.strenght=7
  exits 1
  says err "unknown option 'physics.strenght'; did you mean 'physics.strength'?"
  run eval run --episodes 1 --set physics.strength=2
  exits 0
  refuses "unknown option 'physics.strenght'" check world.lua --set physics.strenght=7
  # What is taken out is no more known.
  refuses "unknown option 'physics.strenght'; did you mean 'physics.strength'?" run train.lua --set env.physics.strenght=null
  refuses "unknown option 'gains.frist'; did you mean 'gains.first'?" run train.lua --set policy.gains.frist=null --set out=other
  run run train.lua --set env.physics.strength=null --set out=other
  exits 0
}

# The function may run once more to learn which names it reads: what it prints comes once.
case_nested_names_told_once() {
  nested_script
  sed 's/local k = .*/local k = options.physics.strength or 1 for name in pairs(options.physics) do print(name) io.write(name, "\\n") end/' world.lua >loud.lua
  echo 'require("iap").env.make("loud.lua", { physics = { strengths = 2 } })' >make.lua
  run run make.lua
  exits 0
  silent err
  says out "$(printf 'strengths\nstrengths')"
  lines out 2
}

# What an earlier program began with a name that is taken for a slip now goes on and plays, though nothing new begins with it.
case_stored_nested_slips() {
  nested_script
  local env
  for env in 'iap.env.make("world.lua", { physics = { strenght = 3 } })' '{ name = "world.lua", physics = { strenght = 3 } }'; do
    rm -rf run
    sed -i "s/env = .*, policy/env = $env, policy/" train.lua
    refuses "unknown option 'physics.strenght'" run train.lua
    refuses "unknown option 'physics.strenght'" run train.lua --resume
    OLD=1 run run train.lua
    exits 0
    run run train.lua --resume --set iterations=2
    exits 0
    says run/log.txt "resumes at iteration 1 of 2"
    run run train.lua --resume --dry-run --set iterations=3
    exits 0
    run sweep train.lua --seeds 1 --out swept
    exits 1
    says err "unknown option 'physics.strenght'"
    OLD=1 run sweep train.lua --seeds 1 --out swept
    exits 0
    run sweep train.lua --seeds 1 --out swept --set iterations=2
    exits 0
    rm -r swept
  done
  run eval run --episodes 1
  exits 0
  run eval run --episodes 1 --set time_limit=3
  exits 0
  run check run --set time_limit=3
  exits 0
  refuses "unknown option 'physics.strnegth'; did you mean 'physics.strength'?" eval run --episodes 1 --set physics.strnegth=2
  refuses "unknown option 'physics.strenght'" eval run --episodes 1 --set 'physics={"strenght":2}'
}
