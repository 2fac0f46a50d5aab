# shellcheck shell=bash
# What iap itself keeps of a file in Lua (its text, its modules), in the metadata of a stranger's policy: however a script puts these
# tables together, the stranger's text gets no rights.

# The stranger's gift.iap with the metadata $1, in Lua, where EVIL is the text of an environment that would write the file "owned",
# BLOCK that of a block and MODULE that of a module; and mine.lua, an environment of whoever gets it.
stranger_gives() {
  cat >helper.lua <<<'return { cost = function(x) return -x * x end }'
  cat >mine.lua <<'LUA'
local helper = require "helper"
return function(options)
  local x
  return { spec = { action_size = 1, vector = 1, max_steps = options.steps or 5 }, reset = function() x = 0 end,
    step = function(_, a) x = x + a[1]; return helper.cost(x) end, observe = function() return { x } end }
end
LUA
  cat >give.lua <<LUA
local iap = require "iap"
local own = [[pcall(function() local f = io.open("owned", "w"); f:write("a stranger's"); f:close() end) ]]
local EVIL = own .. [[return function(options)
  return { spec = { action_size = 1, vector = 1, max_steps = 5 }, reset = function() end,
    step = function() return 77 end, observe = function() return { 0 } end }
end]]
local MODULE = own .. "return { cost = function() return 77 end }"
local BLOCK = own .. "return function() return { parameters = 1, outputs = 1, forward = function(_, p) return { p[1] } end } end"
iap.policy.build(iap.policy.linear { activation = "tanh" }, "mine.lua"):save("gift.iap", $1)
LUA
  run run give.lua
  exits 0
  [ ! -e owned ] || fail "giving runs what is given"
}

# victim CODE: a script that loads the gift as p without trust and goes on with CODE; it has got nothing of the stranger's done
victim() {
  cat >victim.lua <<LUA
local iap = require "iap"
local p = iap.policy.load("gift.iap")
local function first_reward(env)
  env:reset(1)
  return (env:step { 1 })
end
local function train(options)
  options.env, options.init, options.iterations, options.eval_episodes, options.confirm_episodes = "mine.lua", p, 1, 1, 0
  options.optimizer, options.quiet, options.threads = iap.optim.es { population = 2 }, true, 1
  return iap.train(options)
end
$1
LUA
  run run victim.lua
  [ ! -e owned ] || fail "the stranger's text was trusted"
}

# Without a name they are laid over the run's own environment.
case_records_without_a_name() {
  local env flags
  for env in '{ source = EVIL }' '{ required_modules = { helper = MODULE } }'; do
    stranger_gives "{ env = $env, env_given = $env }"
    for flags in "" ", isolate = true"; do
      victim "train { eval_env = p:metadata().env $flags }"
      exits 0
    done
    victim 'train { eval_env = p:metadata().env_given }'
    exits 0
    victim 'train { curriculum = { p:metadata().env } }'
    exits 0
    victim 'assert(first_reward(iap.env.make("mine.lua", p:metadata().env)) == -1)'
    exits 0
  done
  stranger_gives '{ env = { source = EVIL, loaded_from = "mine.iap" } }'
  victim 'assert(next(p:metadata().env) == nil)'
  exits 0
}

# Nobody lays what is kept of one file over another: what is refused for --set is refused there.
case_records_in_changes() {
  local record
  training_script 'eval_env = { [arg[1]] = "return" },'
  for record in source required_modules model_files loaded_from; do
    run run train.lua "$record"
    exits 1
    says err "train: option 'eval_env': '$record' is no option but what iap itself writes beside the name of a file; leave it out"
    lines err 1
  done
  training_script 'curriculum = { { through = 1 }, { [arg[1]] = "return" } },'
  for record in source required_modules model_files loaded_from; do
    run run train.lua "$record"
    exits 1
    says err "train: option 'curriculum', stage 2: '$record' is no option but what iap itself writes beside the name of a file; leave it out"
    lines err 1
  done
}

# A table gets the name of another file, or is one among the entries of another.
case_records_under_other_names() {
  stranger_gives '{ env = { name = "cartpole-balance", source = EVIL, required_modules = { helper = MODULE } },
    env_given = { name = "cartpole-balance", source = EVIL } }'
  for env in env env_given; do
    victim "local env = p:metadata().$env env.name = 'mine.lua' assert(first_reward(iap.env.make(env)) == -1)"
    exits 0
    victim "local env = p:metadata().$env env.name = nil assert(first_reward(iap.env.make('mine.lua', env)) == -1)"
    exits 0
    victim "local env = { name = 'mine.lua' } for k, v in pairs(p:metadata().$env) do if k ~= 'name' then env[k] = v end end
      print(iap.eval(p, { env = env, episodes = 1 }).mean)"
    exits 0
  done
  run eval gift.iap --env mine.lua --episodes 1
  exits 0
  [ ! -e owned ] || fail "--env trusts what was kept of another file"

  # Elsewhere in the metadata they keep what they hold, and the mark that goes with it.
  stranger_gives '{ head = { file = "head.lua", source = BLOCK }, level = { source = EVIL }, helpers = { required_modules = { helper = MODULE } },
    list = { { { file = "head.lua", source = BLOCK } } }, note = { source = "paper" }, source = EVIL }'
  for head in head 'list[1][1]'; do
    victim "iap.policy.build(iap.policy.script(p:metadata().$head), 'mine.lua'):act { vector = { 0 } }"
    exits 0
    victim "local head = { file = 'mine.lua' } for k, v in pairs(p:metadata().$head) do head[k] = v end
      iap.policy.build(iap.policy.sequence { iap.policy.script(head) }, 'mine.lua'):act { vector = { 0 } }"
    exits 0
  done
  for table in level helpers; do
    victim "iap.env.make('mine.lua', p:metadata().$table):step { 1 }"
    victim "local env = p:metadata().$table env.name = 'mine.lua' iap.env.make(env)"
    victim "train { eval_env = p:metadata().$table }"
    exits 1
  done
  victim "local env = p:metadata() env.name = 'mine.lua' pcall(iap.env.make, env)"
  victim "assert(p:metadata().note.source == 'paper' and not p:metadata().note.loaded_from)"
  exits 0

  # Whoever trusts the file, or saves it as an own one, has no marks in it.
  victim 'p:save("again.iap") p:save("once.iap", p:metadata())
    for _, file in ipairs { "gift.iap", "again.iap", "once.iap" } do
      local meta = iap.policy.load(file, { trust = true }):metadata()
      assert(meta.head.source and not meta.head.loaded_from and not meta.loaded_from, file)
    end'
  exits 0
}

# A folder whose run has done more keeps its own script, which may be anybody's: it is not named in the place of the one that ran.
case_resume_piped_elsewhere() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
  echo 'os.execute("touch owned")' >run/experiment.lua
  echo 'print("ready") io.stdout:flush() while true do end' >>train.lua
  mkfifo pipe
  cat train.lua >pipe &
  interrupted run pipe --set iterations=2 --resume
  exits 130
  says err "continue with the script that came through the pipe as SCRIPT ('run' does not have it)"
  says err "iap run SCRIPT --set iterations=2 --resume"
  grep -q experiment.lua err && fail "another script is named"
  sed '$d' train.lua >SCRIPT
  goes_on_as_told
}
