-- Trains a policy on the environment in task.lua, from its pixels, and draws what it learned: iap run NAME/NAME.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

local env = iap.env.make(folder .. "/task.lua", { speed = 1.0 })

local policy = iap.policy.sequence {
  -- Each of 4 heads scores all patches of the picture by linear attention; the mean position by these scores goes on.
  iap.attention.rank { patch = 4, stride = 2, d = 4, heads = 4, values = "centroid" },
  iap.policy.linear { activation = "tanh" }, -- the action, in [-1, 1]
}

local out = iap.run_folder(folder .. "/run")
local run = iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 32, sigma = 0.1, learning_rate = 0.3 },
  iterations = 120,
  eval_every = 10,
  seed = 1,
  out = out,
}

iap.report.learning_curve(out, out .. "/media/curve.png")
iap.report.strip { policy = out, frames = 6, out = out .. "/media/strip.png" }
iap.report.video { policy = out, out = out .. "/media/play.webp" }
print(string.format("return %.1f before, %.1f after training, of at most 100, in %.0f s", run.first_eval, run.last_eval, run.seconds))
print("look at " .. out .. "/media: curve.png, strip.png, play.webp")
