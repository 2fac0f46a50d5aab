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
check.equal(iap.env.check(env, 20), true)

check.fails({ "env_test.lua:", "there is no environment 'cartpole-swingap'; did you mean 'cartpole-swingup'?" }, function() iap.env.make("cartpole-swingap") end)
check.fails({ "environment 'cheetah-run'", "unknown option 'action_repaet'; did you mean 'action_repeat'?" }, iap.env.make, "cheetah-run", { action_repaet = 2 })
check.fails({ "iap.env.make: argument 1 'name': expected an environment, its name, or a table {name = ...}, got a number (3)" }, iap.env.make, 3)
check.fails({ "iap.env.make: option 'render.samples': expected a plain value" }, iap.env.make, "cheetah-run", { render = { samples = print } })
check.fails({ "env:step: argument 1 'action': expected a list of numbers, got nothing" }, env.step, env)
check.fails({ "action" }, env.step, env, { 1, 2 })
check.fails({ "action" }, env.step, env, { 0 / 0 })
check.fails({ "env:step: expected an object of type env before the colon" }, env.step, { 1 })
check.fails({ "env:reset: argument 1 'seed': expected an integer in [0," }, env.reset, env, -1)
check.fails({ "env has no 'stop'; did you mean 'step'?" }, function() env:stop() end)

env:close()
check.fails({ "this env is closed" }, env.observe, env)
