-- A training of two iterations whose every part may differ in last bits: physics, pictures with distractions, attention, a memory, an optimizer.
--   iap run train.lua --set world=NAME --out FOLDER
local iap = require "iap"
local o = iap.options { world = "distracted" }
local eye = { patch = 4, d = 4, kernel = "hybrid", m = 4, r = 2, top = 3 }
local worlds = {
  distracted = { "cartpole-swingup", { pixels = { 32, 32 }, time_limit = 10, distraction = { difficulty = "medium" } }, eye },
  obstacles = { "a1-obstacle-course", { time_limit = 40 }, eye },
  rooms = { "a1-indoor", { time_limit = 40 }, eye },
  footholds = { "laikago-stairs", { time_limit = 2 }, eye },
  road = { "car-racing", { time_limit = 20 }, { patch = 12, d = 4, kernel = "relu", top = 5 } },
}
local name, settings, attention = table.unpack(worlds[o.world] or error("there is no world " .. o.world, 0))
iap.train {
  env = iap.env.make(name, settings),
  policy = iap.policy.sequence {
    iap.attention.rank(attention), iap.policy.normalise {}, iap.policy.lstm { units = 4 }, iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.cma_es { population = 4, sigma = 0.1 },
  iterations = 2, eval_every = 2, eval_episodes = 2, seed = 3, quiet = true, out = iap.run_folder("run"),
}
