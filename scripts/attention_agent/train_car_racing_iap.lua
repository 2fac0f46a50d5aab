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
local function train(folder, early_stop, iterations, init)
  iap.train {
    env = iap.env.make("car-racing", { early_stop = early_stop, action_repeat = 2 }),
    policy = policy,
    init = init,
    -- Every antithetic pair drives on a track of its own, so that an iteration sees 64 of them.
    optimizer = iap.optim.es { population = 128, sigma = 0.1, learning_rate = 0.05, shaping = "pair_ranks" },
    episode_seeds = "pairs",
    iterations = iterations,
    eval_every = 10,
    eval_episodes = 16,
    seed = 1,
    out = folder,
  }
  iap.report.learning_curve(folder, folder .. "/media/curve.png")
end

train(out .. "/first", 40, 100)
train(out, 150, 200, out .. "/first")
