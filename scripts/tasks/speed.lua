-- What a task costs because it is written in Lua: DM Control's cheetah-run in C++ and the same task in Lua, which must agree, step by
-- step in microseconds of processor time, in the source tree: ./dev run scripts/tasks/speed.lua
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local options = iap.options({ steps = 20000, rounds = 5 }, { training = false })
local tasks = { { "C++", iap.env.make("cheetah-run") }, { "Lua", iap.env.make(folder .. "/../../tests/lua/scripts/cheetah_task.lua") } }
local action = { 0.5, -0.5, 0.2, 0.1, -0.3, 0.4 }
local best = { math.huge, math.huge }

local function run(env, observes)
  env:reset(1)
  local sum, started = 0, os.clock()
  for i = 1, options.steps do
    action[1] = math.sin(i)
    local reward, terminated, truncated = env:step(action)
    sum = sum + reward
    if observes then env:observe() end
    if terminated or truncated then env:reset(i) end
  end
  return 1e6 * (os.clock() - started) / options.steps, sum
end

for _, observes in ipairs { false, true } do
  best = { math.huge, math.huge }
  local sums = {}
  for _ = 1, options.rounds do
    for k, task in ipairs(tasks) do
      local cost, sum = run(task[2], observes)
      best[k], sums[k] = math.min(best[k], cost), sum
    end
  end
  assert(sums[1] == sums[2], "the two tasks differ")
  print(string.format("%-18s C++ %6.2f us a step, Lua %6.2f, Lua costs %5.2f more", observes and "step and observe" or "step", best[1], best[2], best[2] - best[1]))
end
