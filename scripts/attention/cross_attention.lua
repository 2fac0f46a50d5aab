-- Cross-attention: a half cheetah compares what it sees with a frame from a moment ago. Every second step the patches of the frame
-- become keys in a database; at every step the queries of the current frame, on a coarser grid, choose 5 of them. What the layer
-- above sees are positions in two frames, so that it can tell motion. Learns for about a minute on two busy cores, then draws.
--
--   ./dev run scripts/attention/cross_attention.lua
--   ./dev run scripts/attention/cross_attention.lua --set ranking=exact
--   ./dev run scripts/attention/cross_attention.lua --set ranking=sample
local iap = require "iap"

local options = iap.options { ranking = "hash", every = 2, iterations = 15 }

local env = iap.env.make("cheetah-run", { pixels = { 64, 64 }, action_repeat = 4 })

local cross = { patch = 8, key_patch = 4, d = 4, top = 5, every = options.every, ranking = options.ranking, values = "position" }
if options.ranking == "sample" then
  -- Draws need positive features; a low temperature makes them choosy.
  cross.kernel, cross.m, cross.temperature = "exp", 15, 0.1
else
  -- Theorem 4.3 of the second paper hashes trigonometric features of normalised queries and keys.
  cross.kernel, cross.m, cross.input = "trig", 10, "normalised"
end
if options.ranking == "hash" then cross.bits = 256 end

local policy = iap.policy.sequence {
  iap.policy.concat {
    iap.attention.rank { patch = 4, d = 4, kernel = "relu", top = 5, values = "position" },
    iap.attention.cross(cross),
  },
  iap.policy.linear { activation = "tanh" },
}

local out = iap.run_folder("runs/cross_attention")
print(iap.policy.build(policy, env):summary())

local run = iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 32, sigma = 0.1, learning_rate = 0.05 },
  iterations = options.iterations,
  eval_every = 5,
  seed = 1,
  out = out,
}

local shown = iap.report.strip { policy = out .. "/best.iap", frames = 6, seed = 1, out = out .. "/media/strip.png" }
print(string.format("ranking %s: untrained policy %.1f, best %.1f of 1000, in %.0f s", options.ranking, run.first_eval, run.best_eval, run.seconds))
print(string.format("what it attends to %s/media/strip.png (an episode of return %.1f)", out, shown))
