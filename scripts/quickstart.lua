-- Learns to run from pixels: a half cheetah sees 100 x 100 RGB pictures of itself, attends to 5 patches of 4 x 4 pixels and
-- moves 6 joints; 894 parameters, trained by an evolution strategy in a few minutes on two cores.
--
--   ./dev run scripts/quickstart.lua                      train, then draw what was learned
--   ./dev run scripts/quickstart.lua --seed 2 --threads 1
--   ./dev run scripts/quickstart.lua --set optimizer.sigma=0.05 --set iterations=100
local iap = require "iap"

local env = iap.env.make("cheetah-run", { pixels = { 100, 100 }, action_repeat = 4 })

local policy = iap.policy.sequence {
  -- Which patches matter? The scores of all 625 come from linear attention; the positions of the best 5 go on (IAP-rank).
  iap.attention.rank { patch = 4, stride = 4, d = 8, kernel = "relu", top = 5, values = "position", motion = true },
  iap.policy.linear { activation = "tanh" }, -- six joint torques in [-1, 1]
}

local out = iap.run_folder("runs/quickstart")
print(iap.policy.build(policy, env):summary())

local run = iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 32, sigma = 0.1, learning_rate = 0.05 },
  iterations = 60,
  eval_every = 5,
  seed = 1,
  out = out,
}

iap.report.learning_curve(out, out .. "/media/curve.png")
local shown = iap.report.strip { policy = out, frames = 6, seed = 1, out = out .. "/media/strip.png" }
iap.report.video { policy = out, seed = 1, out = out .. "/media/play.webp" }
local report = iap.report.html { runs = out }

print(string.format("untrained policy %.1f, trained %.1f (best %.1f) of 1000, in %.0f s", run.first_eval, run.last_eval, run.best_eval, run.seconds))
print("learning curve     " .. out .. "/media/curve.png")
print(string.format("what it attends to %s/media/strip.png (an episode of return %.1f)", out, shown))
print("the same moving    " .. out .. "/media/play.webp")
print("all on one page    " .. report .. " (open it in a browser)")
print("try it             iap eval " .. out .. " --episodes 20 (in the source tree: ./dev iap eval)")
