-- Trains on the environment in pendulum.lua, from its state: ./dev run scripts/examples/train_pendulum.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local run = iap.train {
  env = iap.env.make(folder .. "/pendulum.lua", { strength = 4.0 }),
  policy = iap.policy.sequence { iap.policy.mlp { hidden = { 16 }, output_activation = "tanh" } },
  optimizer = iap.optim.es { population = 64, sigma = 0.2, learning_rate = 0.1 },
  iterations = 40,
  seed = 1,
  out = iap.run_folder("runs/pendulum"),
}
print(string.format("return %.1f before, %.1f after training, of at most 200", run.first_eval, run.last_eval))
