-- How many of the patches that brute force ranks highest do m random features find? Frames of cheetah-run, random heads, a table over
-- m. `input` is the form of queries and keys (v1 eq. 4 or 5).
--
--   ./dev run scripts/theory/overlap.lua
--   ./dev run scripts/theory/overlap.lua --set scale=1   heads as wide as a policy's first ones, not three times
--   ./dev run scripts/theory/overlap.lua --set input=normalised --set d=16
local iap = require "iap"
local options = iap.options({
  env = "cheetah-run", pixels = 100, patch = 4, d = 4, r = 5, top = 10, input = "plain", trials = 40, scale = 3,
}, { training = false })

local env = iap.env.make(options.env, { pixels = { options.pixels, options.pixels } })

local function build(rank)
  rank.patch, rank.d, rank.top, rank.input, rank.pixel_offset = options.patch, options.d, options.top, options.input, -0.5
  return iap.policy.build(iap.policy.sequence { iap.attention.rank(rank), iap.policy.linear {} }, env)
end

-- One frame and one head a trial. Heads are drawn wider than a policy's first ones, so that attention has something to prefer.
local trials = {}
local brute = build { kernel = "exp", brute_force = true }
math.randomseed(1)
for trial = 1, options.trials do
  local observation = env:reset(trial)
  for _ = 1, 20 do
    local action = {}
    for i = 1, 6 do action[i] = 2 * math.random() - 1 end
    env:step(action)
  end
  observation = env:observe()
  brute:initialise(trial)
  local parameters = brute:parameters()
  for i = 1, #parameters do parameters[i] = options.scale * parameters[i] end
  brute:set_parameters(parameters)
  brute:act(observation)
  trials[trial] = { observation = observation, parameters = parameters, exact = {} }
  for _, patch in ipairs(brute:views()[1].selected) do trials[trial].exact[patch] = true end
end

local function overlap(kernel, m)
  local found = 0
  for index, trial in ipairs(trials) do
    local policy = build { kernel = kernel, m = m, r = kernel == "hybrid" and options.r or nil, feature_seed = index }
    policy:set_parameters(trial.parameters)
    policy:act(trial.observation)
    for _, patch in ipairs(policy:views()[1].selected) do
      if trial.exact[patch] then found = found + 1 end
    end
  end
  return found / #trials / options.top
end

local view = brute:views()[1]
print(string.format("share of the exact top %d of %d patches, %s inputs, d = %d, r = %d, %d frames of %s", options.top, view.rows * view.columns,
  options.input, options.d, options.r, options.trials, options.env))
print("| m | exp | favor++ | trig | hybrid |")
print("|---|---|---|---|---|")
for _, m in ipairs { 2, 5, 10, 15, 30, 100, 300, 1000 } do
  print(string.format("| %d | %.2f | %.2f | %.2f | %.2f |", m, overlap("exp", m), overlap("favor++", m), overlap("trig", m),
    overlap("hybrid", m)))
end
