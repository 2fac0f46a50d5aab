-- What an agent looks at, as AttentionAgent's paper shows it: frames of an episode with the chosen patches, the more opaque the more
-- important, and the histogram of all patches' scores with patches from four ranges of it.
--
--   ./dev run scripts/attention_agent/figures.lua -- POLICY     a run folder, a policy file or published weights (.npz); 3 seconds
--   ... --out FOLDER --set episodes=20
local iap = require "iap"
local agent = require "agent"

local options = iap.options({ episodes = 5, seed = 1, out = "" }, { training = false })
local policy, env = agent.open(arg[1])
local out = options.out ~= "" and options.out or "runs/figures-" .. env.name
local total = iap.report.strip {
  policy = policy, env = env, frames = 5, min_height = 192, seed = options.seed, out = out .. "/strip.png",
}
local shown = iap.report.importance {
  policy = policy, env = env, episodes = options.episodes, seed = options.seed, out = out .. "/importance.png",
}
print(string.format("%s/strip.png       an episode of return %.1f", out, total))
print(string.format("%s/importance.png  %d frames of %d episodes, mean return %.1f", out, shown.frames, options.episodes, shown.mean_return))
