-- The environment keeps its contract, and a short training gets somewhere: iap run NAME/test.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

assert(iap.env.check(folder .. "/task.lua")) -- an error is the whole report
print "the environment keeps its contract"

local run = iap.train {
  env = iap.env.make(folder .. "/task.lua"),
  policy = iap.policy.sequence {
    iap.policy.mlp { hidden = { 16 }, output_activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 64, sigma = 0.3, learning_rate = 0.2 },
  iterations = 15,
  eval_every = 15,
  seed = 1,
  quiet = true,
}
print(string.format("a short training: return %.1f before, %.1f after", run.first_eval, run.last_eval))
assert(run.last_eval > run.first_eval + 40, "it learned too little")
