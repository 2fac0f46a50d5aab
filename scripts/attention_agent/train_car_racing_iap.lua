-- CarRacing on a small machine by the evolution strategy of Salimans et al. 2017; docs/results.md has what it reached and how long it
-- took. Two eyes:
--   tokens      ten tokens of IAP-trans beside the centroids of eight heads of IAP-rank, all at unit variance
--   positions   AttentionAgent's: the ten best patches of one head, with hybrid attention in place of brute force
--
--   ./dev run scripts/attention_agent/train_car_racing_iap.lua
--   ... --out runs/car --resume                                     continue where it stopped
--   ... --set eye=positions
local iap = require "iap"
local eyes = require "eyes"

local policy = eyes.policy("tokens", {
  iap.policy.concat {
    eyes.centroids(),
    iap.attention.trans { patch = 4, d = 8, tokens = 10, dv = 4, kernel = "relu", values = "projection" },
  },
})
local out = iap.run_folder("runs/car-racing-iap")

-- `early_stop` ends an episode after so many steps without a new piece of road: who is lost does not come back, who drives may.
-- Evaluate without it: iap eval RUN --set early_stop=0.
local function train(folder, early_stop, settings)
  local training = {
    env = iap.env.make("car-racing", { early_stop = early_stop, action_repeat = 2 }),
    policy = policy,
    -- Every antithetic pair drives on a track of its own, so that an iteration sees as many tracks as pairs.
    episode_seeds = "pairs",
    eval_every = 10,
    eval_episodes = 16,
    seed = 1,
    out = folder,
  }
  for name, value in pairs(settings) do training[name] = value end
  iap.train(training)
  iap.report.learning_curve(folder, folder .. "/media/curve.png")
end

local optimizer = iap.optim.es { population = 128, sigma = 0.1, learning_rate = 0.05, shaping = "pair_ranks" }
train(out .. "/first", 40, { optimizer = optimizer, iterations = 100 })
train(out .. "/second", 150, { optimizer = optimizer, init = out .. "/first", iterations = 200 })
-- A good driver's gradient drowns in the luck of 64 tracks: from here on there are four times as many, smaller steps, and evaluations
-- that can tell policies apart.
train(out, 150, {
  optimizer = iap.optim.es {
    population = 512, sigma = 0.07, learning_rate = 0.03, learning_rate_decay = 0.985, shaping = "pair_ranks",
  },
  init = out .. "/second",
  iterations = 60,
  eval_env = { early_stop = 0 },
  eval_episodes = 100,
  seed = 5,
})
