-- Take Cover on a small machine: AttentionAgent's network with IAP attention (hybrid features) in place of brute force, trained by the
-- evolution strategy of Salimans et al. 2017 on the art that is built in; docs/results.md has what it reached and how long it took.
--
--   ./dev run scripts/attention_agent/train_take_cover_iap.lua
--   ... --out runs/cover --resume                                   continue where it stopped
local iap = require "iap"

local env = iap.env.make("take-cover", { art = "procedural", action_repeat = 2 })
local policy = iap.policy.sequence {
  iap.attention.rank { patch = 7, stride = 4, d = 4, kernel = "hybrid", m = 10, r = 5, top = 10, values = "position" },
  iap.policy.lstm { units = 16 },
  iap.policy.linear { activation = "tanh" },
}
local out = iap.run_folder("runs/take-cover-iap")
iap.train {
  env = env,
  policy = policy,
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
