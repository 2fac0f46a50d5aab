local check = require "check"
local iap = require "iap"

local names = {}
for _, row in ipairs(iap.env.list()) do names[row.name] = row.summary end
assert(names["cheetah-run"] and names["cartpole-swingup"])

local env = iap.env.make("cartpole-swingup", { action_repeat = 2 })
assert(tostring(env):find("env 'cartpole-swingup': 1 actions in [-1, 1], sees a vector of 5", 1, true), tostring(env))
local spec = env:spec()
check.equal(spec.name, "cartpole-swingup")
check.equal(spec.config.action_repeat, 2)
check.equal(spec.action_size, 1)
check.equal(spec.observation.vector, 5)

-- An episode is a function of its seed.
local function episode(seed)
  local first, total = env:reset(seed).vector[1], 0
  for i = 1, 10 do
    local reward, terminated, truncated = env:step { (i % 3 - 1) * 0.7 }
    check.equal(terminated, false)
    check.equal(truncated, false)
    total = total + reward
  end
  return first, total, env:observe().vector
end
local first_a, total_a, end_a = episode(3)
local first_b, total_b, end_b = episode(3)
local first_c = episode(4)
check.equal(first_a, first_b)
check.equal(total_a, total_b)
check.same_list(end_a, end_b)
assert(first_a ~= first_c)

-- The same options in one table, and a rebuild from the spec.
check.equal(iap.env.make { name = "cartpole-swingup", action_repeat = 2 }:spec().config.action_repeat, 2)
check.equal(iap.env.make(spec.config):spec().config.action_repeat, 2)
-- In two, the second goes before the first, whatever that is, and what it does not name stays.
for _, first in ipairs { { name = "cartpole-swingup", action_repeat = 3, time_limit = 7 },
  iap.env.make("cartpole-swingup", { action_repeat = 3, time_limit = 7 }) } do
  local config = iap.env.make(first, { action_repeat = 2 }):spec().config
  check.equal(config.action_repeat, 2)
  check.equal(config.time_limit, 7)
end
check.equal(iap.env.check(env, 20), true)

-- The contract, rule by rule.
local passed, report, rules = iap.env.check("cartpole-balance", { steps = 20, seed = 3, episodes = 2 })
check.equal(passed, true)
assert(report:find("2 episodes from seed 3 on, up to 20 steps each", 1, true), report)
check.equal(rules[1].name, "spec")
check.equal(rules[1].promise, "sizes, ranges, control rate, time limit and names are sound")
for _, rule in ipairs(rules) do check.equal(rule.result, "passed") end
local path = os.tmpname()
local file = assert(io.open(path .. ".lua", "w"))
file:write [[
return function()
  local env = { spec = { action_size = 1, vector = 1 } }
  function env:reset() self.place = math.random() end
  function env:step() self.place = self.place + 1; return self.place end
  function env:observe() self.place = self.place + 1; return { self.place } end
  return env
end
]]
file:close()
passed, report, rules = iap.env.check(path .. ".lua", { steps = 4 })
os.remove(path)
os.remove(path .. ".lua")
check.equal(passed, false)
for _, rule in ipairs(rules) do
  check.equal(rule.result, rule.name == "looking" and "failed" or (rule.name == "time limit" or rule.name == "end") and "skipped" or "passed")
  if rule.name == "looking" then
    assert(rule.finding:find("with no look at each step instead of one the reward is", 1, true), rule.finding)
    check.equal(rule.remedy, "compute in the step whatever counts or moves; observe only reads")
    assert(report:find(rule.finding, 1, true), report)
  end
end
check.fails({ "iap.env.check: option 'episodes' must be", "got 0" }, iap.env.check, "cartpole-balance", { episodes = 0 })
check.fails({ "iap.env.check: unknown option 'step'; did you mean 'steps'?" }, iap.env.check, "cartpole-balance", { step = 3 })
check.fails({ "iap.env.check: argument 3 'seed': expected nothing beside a table of options", "got a number (5)" }, iap.env.check, "cartpole-balance", { steps = 3 }, 5)
assert(select(2, iap.env.check("cartpole-balance", 3, 5)):find("from seed 5 on, up to 3 steps", 1, true))
assert(select(2, iap.env.check("cartpole-balance", nil, 5)):find("from seed 5 on", 1, true))
check.fails({ "there is no environment 'cartpole'" }, iap.env.check, "cartpole")

check.fails({ "option 'name' has 5000 characters, at most 4096 are taken" }, iap.env.make, ("x"):rep(5000))
check.fails({ "env_test.lua:", "there is no environment 'cartpole-swingap'; did you mean 'cartpole-swingup'?" }, function() iap.env.make("cartpole-swingap") end)
check.fails({ "environment 'cheetah-run'", "unknown option 'action_repaet'; did you mean 'action_repeat'?" }, iap.env.make, "cheetah-run", { action_repaet = 2 })
-- Names that stand for nothing make the empty table.
local height, width
for name, otherwise in pairs { ["cheetah-run"] = "no picture", ["car-racing"] = "{96, 96}", ["a1-obstacle-course"] = "{32, 32}", legged = "no picture" } do
  check.fails({ "environment '" .. name .. "': option 'pixels' must be {height, width}, got an empty table", "leave it out (null) for " .. otherwise },
    iap.env.make, name, { pixels = { height, width }, state = true })
end
check.fails({ "option 'pixels'", "empty table" }, iap.env.make, { name = "cheetah-run", pixels = { 16, 16 } }, { pixels = {} })
check.fails({ "iap.env.make: argument 1 'name': expected an environment, its name, or a table {name = ...}, got a number (3)" }, iap.env.make, 3)
check.fails({ "iap.env.make: option 'render.samples': expected a plain value" }, iap.env.make, "cheetah-run", { render = { samples = print } })
check.fails({ "env:step: argument 1 'action': expected a list of numbers, got nothing" }, env.step, env)
check.fails({ "action" }, env.step, env, { 1, 2 })
check.fails({ "action" }, env.step, env, { 0 / 0 })
check.fails({ "env:step: expected an object of type env before the colon" }, env.step, { 1 })
check.fails({ "env:reset: argument 1 'seed': expected an integer" }, env.reset, env, 0.5)
-- Seeds have 64 bits, of which Lua shows half as negative.
check.same_list(env:reset(-1).vector, env:reset(0xffffffffffffffff).vector)
check.same_list(env:reset(math.mininteger).vector, env:reset(math.mininteger).vector)
assert(env:reset(math.mininteger).vector[1] ~= env:reset(0).vector[1])
check.fails({ "env has no 'stop'; did you mean 'step'?" }, function() env:stop() end)

env:close()
check.fails({ "this env is closed" }, env.observe, env)

-- Actions beyond single precision are none; places in messages count from 1, as Lua does.
local narrow = iap.env.make("cartpole-swingup")
narrow:reset(1)
for _, beyond in ipairs { 1e300, math.huge, 0 / 0 } do check.fails({ "value 1 of the action is " }, narrow.step, narrow, { beyond }) end
check.fails({ "initial parameter 2 is ", "it must be finite" }, function() return iap.optim.es { population = 2 }:start { 0, 0 / 0 } end)
