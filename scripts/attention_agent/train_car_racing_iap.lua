-- CarRacing on a small machine: AttentionAgent's network with IAP attention (hybrid features) in place of brute force, trained by the
-- evolution strategy of Salimans et al. 2017; docs/results.md has what it reached. An hour of one core for the first 500 iterations.
--
--   ./dev run scripts/attention_agent/train_car_racing_iap.lua
--   ... --out runs/car --resume                                     continue where it stopped
local iap = require "iap"

-- Who loses the road for 40 decisions does not come back; evaluate without this limit: iap eval RUN --set early_stop=0.
local env = iap.env.make("car-racing", { early_stop = 40, action_repeat = 2 })
local policy = iap.policy.sequence {
  iap.attention.rank { patch = 7, stride = 4, d = 4, kernel = "hybrid", m = 10, r = 5, top = 10, values = "position" },
  iap.policy.lstm { units = 16 },
  iap.policy.linear { activation = "tanh" },
}
local out = iap.run_folder("runs/car-racing-iap")
iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 64, sigma = 0.1, learning_rate = 0.03 },
  iterations = 1000,
  episodes = 2,
  eval_every = 10,
  eval_episodes = 16,
  seed = 1,
  out = out,
}
iap.report.learning_curve(out, out .. "/media/curve.png")
