-- How far scripted policies come over step-stones, a grid of stones and stairs: one that chooses footholds from the depth images
-- (chooser.lua) and the blind trot, whose action is 0. Both see and do what a trained policy may.
--
--   ./dev run scripts/quadruped/baselines.lua                          20 episodes of each, some minutes
--   ./dev run scripts/quadruped/baselines.lua --set env=laikago-grid --set episodes=5
--   ... --set reward=crossed                                           gaps, rows of stones or steps left behind, in place of metres
local iap = require "iap"
local chooser = require "chooser"

local options = iap.options({ env = "all", episodes = 20, decisions = 600, engine = "bullet", body = false, noise = true, reward = "way", quiet = true },
  { training = false })

local names = { "laikago-stepstones", "laikago-grid", "laikago-stairs" }
if options.env ~= "all" then
  if not chooser.settings[options.env] then error("env must be all or one of " .. table.concat(names, ", ") .. ", got " .. options.env, 0) end
  names = { options.env }
end

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

local unit = options.reward == "way" and " m" or ""
for _, name in ipairs(names) do
  -- With so high a cap the return is the way in metres.
  local env_options = { engine = options.engine, body = options.body, cap = 1, time_limit = options.decisions, reward = options.reward }
  if not options.noise then env_options.angle_noise, env_options.rate_noise = 0, 0 end
  local env = iap.env.make(name, env_options)
  for _, kind in ipairs { "chooser", "blind" } do
    local ways, last = {}, 0
    for seed = 1, options.episodes do
      local observation, way, over, out = env:reset(seed), 0, false, false
      local choose = kind == "chooser" and chooser.new(env, chooser.settings[name])
      local still = {}
      for i = 1, env:spec().action_size do still[i] = 0 end
      while not over and not out do
        local reward
        reward, over, out = env:step(choose and choose(observation) or still)
        observation, way = env:observe(), way + reward
      end
      table.insert(ways, way)
      if out then last = last + 1 end
      if not options.quiet then print(name, kind, seed, way) end
    end
    table.sort(ways)
    print(string.format("%-20s %-8s %2d episodes: mean %5.2f%s, median %5.2f%s, %.2f to %.2f%s; %d lasted %d decisions", name,
      kind, #ways, mean(ways), unit, ways[(#ways + 1) // 2], unit, ways[1], ways[#ways], unit, last, options.decisions))
  end
end
