-- What doing nothing and the best constant action earn, which a policy must beat to have learned anything. All corners and middles of the
-- action box and 500 random actions play `screen` episodes each, the best ten of them 30 others, and the best of these, like doing
-- nothing, `episodes` that neither saw.
--
--   ./dev run scripts/constant_action.lua                          cheetah-run
--   ./dev run scripts/constant_action.lua cheetah-run walker-walk cartpole-swingup ball-in-cup-catch reacher-easy
--   --set screen=4 --set episodes=400
local iap = require "iap"
local options = iap.options({ screen = 2, episodes = 100 }, { training = false })

local function episode(env, action, seed)
  env:reset(seed)
  local total = 0
  while true do
    local reward, terminated, truncated = env:step(action)
    total = total + reward
    if terminated or truncated then return total end
  end
end

-- Mean return of the seeds first ... first + count - 1, and its standard error.
local function earns(env, action, first, count)
  local sum, square = 0, 0
  for seed = first, first + count - 1 do
    local total = episode(env, action, seed)
    sum, square = sum + total, square + total ^ 2
  end
  local mean = sum / count
  return mean, math.sqrt(math.max(square / count - mean ^ 2, 0) / math.max(count - 1, 1))
end

-- Each joint is -1, 0 or 1: the digits of the index in base 3.
local function corner(index, joints)
  local action = {}
  for joint = 1, joints do
    action[joint] = index % 3 - 1
    index = index // 3
  end
  return action
end

local function random_action(joints)
  local action = {}
  for joint = 1, joints do action[joint] = 2 * math.random() - 1 end
  return action
end

-- `candidates` with what they earn as `mean`, the best first.
local function ranked(env, candidates, first, count)
  for _, candidate in ipairs(candidates) do candidate.mean = earns(env, candidate.action, first, count) end
  table.sort(candidates, function(a, b) return a.mean > b.mean end)
  return candidates
end

for _, task in ipairs(arg[1] and arg or { "cheetah-run" }) do
  local env = iap.env.make(task, { action_repeat = 4 })
  local joints = env:spec().action_size
  math.randomseed(1)
  local candidates, still = {}, {}
  for index = 0, 3 ^ joints - 1 do table.insert(candidates, { action = corner(index, joints) }) end
  for _ = 1, 500 do table.insert(candidates, { action = random_action(joints) }) end
  for joint = 1, joints do still[joint] = 0 end
  local few = table.move(ranked(env, candidates, 1, options.screen), 1, 10, 1, {})
  local best = ranked(env, few, 100, 30)[1].action
  local shown = {}
  for joint, value in ipairs(best) do shown[joint] = string.format("%.3g", value) end
  local nothing, nothing_error = earns(env, still, 1000, options.episodes)
  local constant, constant_error = earns(env, best, 1000, options.episodes)
  print(string.format("%s, %d episodes: doing nothing %.2f +- %.2f, the best of %d constant actions %.2f +- %.2f (%s)", task,
    options.episodes, nothing, nothing_error, #candidates, constant, constant_error, table.concat(shown, " ")))
end
