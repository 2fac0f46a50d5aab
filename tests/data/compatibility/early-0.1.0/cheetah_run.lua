local iap = require "iap"
iap.train {
  env = iap.env.make("cheetah-run", { pixels = { 24, 24 }, action_repeat = 4, time_limit = 40, distraction = "medium" }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, stride = 4, kernel = "relu", d = 4, top = 3 }, iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 4 },
  iterations = 6, seed = 3, eval_every = 3, eval_episodes = 2, out = "cheetah", quiet = true,
}
