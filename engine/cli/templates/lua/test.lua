-- The environment keeps its contract, and a short training gets somewhere: iap run NAME/test.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

assert(iap.env.check(folder .. "/task.lua")) -- an error is the whole report
print "the environment keeps its contract"

local run = iap.train {
  env = iap.env.make(folder .. "/task.lua"),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, stride = 2, d = 4, heads = 4, values = "centroid" },
    iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 32, sigma = 0.1, learning_rate = 0.3 },
  iterations = 40,
  eval_every = 40,
  seed = 1,
  quiet = true,
}
print(string.format("a short training: return %.1f before, %.1f after", run.first_eval, run.last_eval))
assert(run.last_eval > run.first_eval + 10, "it learned too little")
