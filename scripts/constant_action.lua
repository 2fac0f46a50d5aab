-- The best constant action of cheetah-run, which a policy must beat to have learned anything: all corners and middles of the action
-- box and 500 random actions play one episode each; the best of them plays 16 other episodes.
local iap = require "iap"
iap.options({}, { training = false })
local env = iap.env.make("cheetah-run", { action_repeat = 4 })

local function episode(action, seed)
  env:reset(seed)
  local total = 0
  while true do
    local reward, terminated, truncated = env:step(action)
    total = total + reward
    if terminated or truncated then return total end
  end
end

local function corner(index) -- -1, 0 or 1 for each of the 6 actions: the digits of the index in base 3
  local action = {}
  for joint = 1, 6 do
    action[joint] = index % 3 - 1
    index = index // 3
  end
  return action
end

local function random_action()
  local action = {}
  for joint = 1, 6 do action[joint] = 2 * math.random() - 1 end
  return action
end

math.randomseed(1)
local best, best_action = -math.huge, nil
for i = 0, 3 ^ 6 + 499 do
  local action = i < 3 ^ 6 and corner(i) or random_action()
  local total = episode(action, 1)
  if total > best then best, best_action = total, action end
end

local sum = 0
for seed = 100, 115 do sum = sum + episode(best_action, seed) end
print("best constant action  " .. table.concat(best_action, " "))
print(string.format("return on its seed    %.2f", best))
print(string.format("mean of 16 others     %.2f", sum / 16))
