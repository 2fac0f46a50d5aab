-- Take Cover on a small machine, on the art that is built in, by the evolution strategy of Salimans et al. 2017; docs/results.md has
-- what it reached and how long it took. Two eyes:
--   centroids   where each of eight heads sees what it looks for, on average, and how that moves, all at unit variance
--   positions   AttentionAgent's: the ten best patches of one head, with hybrid attention in place of brute force
--
--   ./dev run scripts/attention_agent/train_take_cover_iap.lua
--   ... --out runs/cover --resume                                   continue where it stopped
--   ... --set eye=positions
local iap = require "iap"
local eyes = require "eyes"

local env = iap.env.make("take-cover", { art = "procedural", action_repeat = 2 })
local out = iap.run_folder("runs/take-cover-iap")
iap.train {
  env = env,
  policy = eyes.policy("centroids", { eyes.centroids(), iap.policy.delta { scale = 4 } }),
  -- How long an episode lasts is mostly luck: every antithetic pair meets imps of its own, and only twins are compared.
  optimizer = iap.optim.es { population = 128, sigma = 0.1, learning_rate = 0.05, shaping = "pair_ranks" },
  episode_seeds = "pairs",
  iterations = 500,
  eval_every = 10,
  eval_episodes = 32,
  seed = 1,
  out = out,
}
iap.report.learning_curve(out, out .. "/media/curve.png")
