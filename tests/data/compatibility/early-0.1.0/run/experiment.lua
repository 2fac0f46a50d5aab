-- run with --set iterations=3
local iap = require "iap"
iap.train {
  env = { name = "point.lua", steps = 12, action_repeat = 2 },
  policy = iap.policy.sequence { iap.policy.linear { units = 2 } },
  optimizer = iap.optim.es { population = 4, learning_rate = 0.1 },
  iterations = 6, seed = 9, eval_every = 2, eval_episodes = 3, out = "point", quiet = true,
}
