-- Trains DM Control's hopper-hop, written in Lua in hopper_hop.lua, from its state: ./dev run scripts/tasks/train_hopper.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local options = iap.options {
  iterations = 300, population = 96, sigma = 0.05, learning_rate = 0.05, action_repeat = 2, time_limit = 1000,
}
local run = iap.train {
  env = iap.env.make(folder .. "/hopper_hop.lua", { action_repeat = options.action_repeat, time_limit = options.time_limit }),
  policy = iap.policy.sequence { iap.policy.mlp { hidden = { 32, 16 }, output_activation = "tanh" } },
  optimizer = iap.optim.es { population = options.population, sigma = options.sigma, learning_rate = options.learning_rate },
  iterations = options.iterations,
  seed = 1,
  out = iap.run_folder("runs/hopper"),
}
print(string.format("return %.1f before, %.1f after training, of at most 1000", run.first_eval, run.last_eval))
