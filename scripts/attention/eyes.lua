-- What does each eye hand over? A linear probe (docs/probe.md) of blocks with random weights: how much of each joint's
-- position and velocity is a linear function of what the block hands over.
--
--   ./dev run scripts/attention/eyes.lua                             cheetah-run, 64 x 64 pixels, clean
--   ./dev run scripts/attention/eyes.lua --set distraction=medium --set height=240 --set width=320 --set steps=50 --set per_episode=true
--   ./dev run scripts/attention/eyes.lua --set only=trans --set env=walker-walk --out eyes.csv
--
-- A trial: --set episodes=3 --set steps=10 --set only=top. The weights are drawn `seeds` times; the figures are means.
local iap = require "iap"
local options = iap.options({
  env = "cheetah-run", height = 64, width = 64, action_repeat = 1, distraction = "", patch = 4, episodes = 16, steps = 100, seed = 0,
  seeds = 1, actions = "random", per_episode = false, only = "", out = "",
}, { training = false })

local rank, trans = iap.attention.rank, iap.attention.trans
local eyes = {
  { "rank, top 5, position + motion", rank, { top = 5, motion = true } },
  { "rank hybrid (10, 5), top 5, position + motion", rank, { kernel = "hybrid", m = 10, r = 5, top = 5, motion = true } },
  { "rank, top 20, position + motion", rank, { top = 20, motion = true } },
  { "rank, top 5, position + projection (dv 4) + motion", rank, { top = 5, values = { "position", "projection" }, dv = 4, motion = true } },
  { "rank, 4 heads x 3, position + motion", rank, { heads = 4, top = 3, motion = true } },
  { "rank, 8 heads x 2, d 4, position + motion", rank, { heads = 8, top = 2, d = 4, motion = true } },
  { "rank, 8 heads x 2, d 4, sinusoidal, position + motion", rank, { heads = 8, top = 2, d = 4, encoding = "sinusoidal", motion = true } },
  { "rank, 16 heads x 1, d 4, sinusoidal, position + motion", rank, { heads = 16, top = 1, d = 4, encoding = "sinusoidal", motion = true } },
  { "rank, 8 heads, d 4, centroid", rank, { heads = 8, top = 1, d = 4, values = "centroid" } },
  { "rank, 8 heads, d 4, centroid, contrast frame", rank, { heads = 8, top = 1, d = 4, values = "centroid", contrast = "frame" } },
  { "rank, 8 heads, d 4, centroid, contrast episode", rank, { heads = 8, top = 1, d = 4, values = "centroid", contrast = "episode" } },
  { "trans, position, rows normalised, 10 tokens", trans, { values = "position", tokens = 10, residual = false, normalise_rows = true } },
  { "trans, the same, 8 heads x 2 tokens, d 4, sinusoidal", trans,
    { values = "position", tokens = 2, heads = 8, d = 4, encoding = "sinusoidal", residual = false, normalise_rows = true } },
  { "trans exp (m = 15), position, rows normalised, 10 tokens", trans,
    { kernel = "exp", m = 15, values = "position", tokens = 10, residual = false, normalise_rows = true } },
  { "trans, average, 32 tokens, dv 2", trans, { compression = "average", tokens = 32, dv = 2 } },
  { "trans, projection (dv 4), 10 tokens, residual", trans, { tokens = 10, dv = 4 } },
  { "trans, the same, contrast frame", trans, { tokens = 10, dv = 4, contrast = "frame" } },
}

local env = iap.env.make(options.env, {
  pixels = { options.height, options.width }, action_repeat = options.action_repeat,
  distraction = options.distraction ~= "" and options.distraction or nil,
})

-- All eyes lie side by side in one policy, which sees every frame once.
local shown, blocks, paths = {}, {}, {}
for i, eye in ipairs(eyes) do
  local name, make, settings = table.unpack(eye)
  if name:find(options.only, 1, true) then
    settings.patch, settings.name = options.patch, "eye" .. i
    table.insert(shown, name)
    table.insert(blocks, make(settings))
    table.insert(paths, "eyes." .. settings.name)
  end
end
assert(shown[1], "--set only=" .. options.only .. ": no eye has that in its name")
blocks.name = "eyes"
local policy = iap.policy.build(iap.policy.sequence { iap.policy.concat(blocks), iap.policy.linear { activation = "tanh" } }, env)
local results = {}
for seed = options.seed, options.seed + options.seeds - 1 do
  policy:initialise(seed)
  table.insert(results, iap.report.probe {
    policy = policy, env = env, blocks = paths, episodes = options.episodes, steps = options.steps, seed = options.seed,
    actions = options.actions, per_episode = options.per_episode,
  })
end

-- The mean of an eye's r2 over the variables that `counts(name)`, each counted as 0 where it is negative; "-" where there is none.
local function mean(eye, counts)
  local sum, count = 0, 0
  for _, result in ipairs(results) do
    for name, r2 in pairs(result.blocks[eye].r2) do
      if counts(name) then sum, count = sum + math.max(r2, 0), count + 1 end
    end
  end
  return count > 0 and string.format("%.2f", sum / count) or "-"
end

local function begins(word) return function(name) return name:sub(1, #word) == word end end
local function is(word) return function(name) return name == word end end

local first = results[1]
print(string.format("%s, %d x %d pixels%s, patch %d; %d + %d episodes of at most %d decisions, %s actions%s; weights of seed %d%s",
  options.env, options.height, options.width, options.distraction ~= "" and ", " .. options.distraction .. " distractions" or "",
  options.patch, first.fitted_episodes, first.tested_episodes, options.steps, options.actions,
  options.per_episode and ", each episode less its mean" or "", options.seed,
  options.seeds > 1 and " to " .. options.seed + options.seeds - 1 or ""))
print("| eye | outputs | all | positions | velocities | each |")
print("|---|---|---|---|---|---|")
for i, name in ipairs(shown) do
  local each = {}
  for _, variable in ipairs(first.variables) do table.insert(each, mean(i, is(variable))) end
  print(string.format("| %s | %d | %s | %s | %s | %s |", name, first.blocks[i].outputs, mean(i, begins ""), mean(i, begins "position"),
    mean(i, begins "velocity"), table.concat(each, " ")))
end
print("each: " .. table.concat(first.variables, ", "))

if options.out ~= "" then
  local file = assert(io.open(options.out, "w"))
  file:write("eye,outputs,seed,state,r2\n")
  for i, name in ipairs(shown) do
    for seed, result in ipairs(results) do
      for _, variable in ipairs(result.variables) do
        local r2 = result.blocks[i].r2[variable]
        file:write(string.format("\"%s\",%d,%d,%s,%s\n", name, result.blocks[i].outputs, options.seed + seed - 1, variable,
          r2 and string.format("%.17g", r2) or ""))
      end
    end
  end
  file:close()
end
