-- Trains the ant of ant_walk.lua to walk ahead, from its state: ./dev run scripts/tasks/train_ant.lua
-- Then: iap play runs/ant --out ant.webp films it.
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local options = iap.options {
  speed = 0.5, iterations = 200, population = 64, sigma = 0.05, learning_rate = 0.05, time_limit = 200, hidden = 16,
}
local run = iap.train {
  env = iap.env.make(folder .. "/ant_walk.lua", { speed = options.speed, time_limit = options.time_limit }),
  policy = iap.policy.sequence { iap.policy.mlp { hidden = { options.hidden }, output_activation = "tanh" } },
  optimizer = iap.optim.es { population = options.population, sigma = options.sigma, learning_rate = options.learning_rate },
  iterations = options.iterations,
  seed = 1,
  out = iap.run_folder("runs/ant"),
}
print(string.format("return %.1f before, %.1f after training, of at most %d", run.first_eval, run.last_eval, options.time_limit))
