-- Blocks and runs written in ways that look right: one message each, with what came and how to write it.
local check = require "check"
local iap = require "iap"
local linear, sequence, rank = iap.policy.linear, iap.policy.sequence, iap.attention.rank
local a, b = rank { patch = 4 }, linear {}

check.fails({ "arguments_test.lua:8: iap.policy.sequence: takes its blocks in one table, got 2 arguments; write iap.policy.sequence { a, b } with braces" },
  function() sequence(a, b) end)
check.fails({ "iap.policy.concat: takes its blocks in one table, got an object of type blueprint" }, iap.policy.concat, a)
check.fails({ "iap.policy.mlp: takes options by name, got a number (10) without one; write iap.policy.mlp { hidden = { 10, 5 } }" }, iap.policy.mlp, { 10, 5 })
check.fails({ "iap.policy.mlp: takes one table of options, got 2 arguments; write iap.policy.mlp { hidden = { 10, 5 } }" }, iap.policy.mlp, 10, 5)
check.fails({ "iap.policy.linear: takes options by name, got a number (8) without one; write iap.policy.linear { units = 8 }" }, linear, { 8 })
check.fails({ "iap.policy.delta: takes options by name, got a number (8) without one; write iap.policy.delta { scale = 2 }" }, iap.policy.delta, { 8 })
check.fails({ "iap.policy.lstm: takes one table of options, got a number (8); write iap.policy.lstm { units = 8 }" }, iap.policy.lstm, 8)
check.fails({ "iap.attention.rank: takes options by name, got the string 'relu' without one; write iap.attention.rank { patch = 4 }" }, rank, { "relu" })
check.fails({ "iap.policy.script: takes one table of options, got the string 'block.lua'; write iap.policy.script { file = \"block.lua\" }" }, iap.policy.script, "block.lua")
check.fails({ "iap.policy.sequence: item 2 of the list is nil; a name that stands there may be misspelled" }, sequence, { a, nil, b })
check.fails({ "iap.policy.sequence: item 1 of the list is nil" }, sequence, { nil, b })
check.fails({ "iap.policy.sequence: holds no block; write iap.policy.sequence { a, b }" }, sequence, {})
check.fails({ "iap.policy.sequence: item 2 of the list is a function; call it with its options in braces" }, sequence, { a, linear })
check.fails({ "iap.policy.sequence: item 1 of the list must be a block, as in iap.policy.linear { units = 8 }, got the string 'rank'" }, sequence, { "rank" })
check.fails({ "iap.policy.sequence: item 1 of the list is a table without a kind" }, sequence, { { a, b } })
local env = iap.env.make("cartpole-swingup", { time_limit = 5 })
check.fails({ "item 1 of the list must be a block", "got an object of type env" }, sequence, { env })
local policy = iap.policy.build(b, env)
check.fails({ "item 1 of the list is a policy", "policy:blueprint()" }, sequence, { policy })
check.fails({ "iap.attention has no 'rnak'; did you mean 'rank'?" }, function() return iap.attention.rnak { patch = 4 } end)

check.fails({ "iap.policy.build: argument 1 'blueprint': expected a block, such as iap.policy.sequence { a, b }, got nil" }, iap.policy.build, nil, env)
check.fails({ "expected a block", "got an object of type policy" }, iap.policy.build, policy, env)

local function train(changes)
  local options = { env = env, policy = b, optimizer = iap.optim.es { population = 2 }, iterations = 0, eval_episodes = 1, quiet = true }
  for key, value in pairs(changes or {}) do options[key] = value end
  return options
end
local function without(key)
  local options = train()
  options[key] = nil
  return options
end
check.equal(iap.train(train()).iterations, 0)
check.equal(iap.train(train { env = "cartpole-swingup", iterations = 0 }).iterations, 0)
check.fails({ "iap.train: argument 1 'options': expected a table, got nothing; write iap.train { env = ..., policy = ..., optimizer = ... } with braces" }, iap.train)
check.fails({ "expected a table, got an object of type env", "with braces" }, iap.train, env, b)
check.fails({ "iap.train: takes one table, got 2 arguments" }, iap.train, train(), 3)
check.fails({ "iap.train: option 'env' is missing or nil; write env = iap.env.make(\"cheetah-run\")" }, iap.train, without "env")
check.fails({ "iap.train: option 'policy' is missing or nil; write policy = iap.policy.sequence { a, b }" }, iap.train, without "policy")
check.fails({ "option 'policy' must be a block, got a policy", "policy:blueprint()" }, iap.train, train { policy = policy })
check.fails({ "option 'policy' must be a block, got a table; write policy = iap.policy.sequence { a, b }" }, iap.train, train { policy = { a, b } })
check.fails({ "option 'policy' must be a block, got a function" }, iap.train, train { policy = linear })
check.fails({ "option 'policy' must be a block, got an object of type env" }, iap.train, train { policy = env })
check.fails({ "option 'env' must be an environment, its name, or a table {name = ...}, got a function" }, iap.train, train { env = iap.env.make })
check.fails({ "option 'env' must be an environment", "got an object of type blueprint" }, iap.train, train { env = b })
check.fails({ "option 'optimizer' must be an optimizer, got the string 'es'; write optimizer = iap.optim.es { population = 32 }" }, iap.train, train { optimizer = "es" })
check.fails({ "option 'optimizer' must be an optimizer, got a function" }, iap.train, train { optimizer = iap.optim.es })

-- What a table would inherit nobody would look for.
local base = { __index = { population = 128, action_repeat = 4, on_iteration = print } }
check.fails({ "iap.optim.es: option 'population': it comes through the metatable (__index), where nobody looks; write it into the table itself" },
  iap.optim.es, setmetatable({ sigma = 0.2, action_repeat = 1 }, base))
check.fails({ "option 'action_repeat': it comes through the metatable" }, iap.env.make, "cheetah-run", setmetatable({ state = true, population = 1 }, base))
check.fails({ "option 'on_iteration': it comes through the metatable" }, iap.train,
  setmetatable(train { population = 1, action_repeat = 1 }, base))

-- What stands in several places is many tables: 2^50 here.
local shared = {}
for _ = 1, 50 do shared = { shared, shared } end
check.fails({ "there are more than 1000000 tables; what stands in several places counts in each of them" }, iap.optim.es, { sigma = shared })
