-- Trains a policy on the task in task.lua and draws what it learned: iap run NAME/NAME.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

local env = iap.env.make(folder .. "/task.lua", { start = 0.2 }) -- shows its state; pixels = { 64, 64 } shows pictures

local policy = iap.policy.sequence {
  iap.policy.mlp { hidden = { 16 }, output_activation = "tanh" }, -- the action, in [-1, 1]
}

local out = iap.run_folder(folder .. "/run")
local run = iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 64, sigma = 0.3, learning_rate = 0.2 },
  iterations = 100,
  eval_every = 5,
  seed = 1,
  out = out,
}

iap.report.learning_curve(out, out .. "/media/curve.png")
iap.report.strip { policy = out, frames = 6, out = out .. "/media/strip.png" }
iap.report.video { policy = out, out = out .. "/media/play.webp" }
print(string.format("return %.1f before, %.1f after training, of at most 200, in %.0f s", run.first_eval, run.last_eval, run.seconds))
print("look at " .. out .. "/media: curve.png, strip.png, play.webp")
