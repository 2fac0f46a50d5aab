-- Writes an untrained policy that sees pixels and the state, for hosts to run: lua policy.lua FILE
local iap = require "iap"
local env = iap.env.make("cheetah-run", { pixels = { 48, 64 }, state = true, action_repeat = 4, time_limit = 200 })
local policy = iap.policy.build(iap.policy.sequence {
  iap.policy.concat {
    iap.attention.rank { patch = 4, d = 4, top = 6, motion = true },
    iap.policy.observation {},
  },
  iap.policy.lstm { units = 8 },
  iap.policy.linear { activation = "tanh" },
}, env)
policy:initialise(3)
policy:save(arg[1], { env = env })
