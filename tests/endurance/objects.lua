-- Environments and policies, made and freed many times: memory and file handles stay where they were after the first half,
-- by when every world has read its models.
--   iap run objects.lua --set envs=10000 --set policies=100000 --set policy=FILE
local iap = require "iap"
local o = iap.options({ envs = 120, policies = 1000, policy = "best.iap", most = 1.01 }, { training = false })
local folder = arg[0]:match("^(.*)/") or "."
package.path = folder .. "/?.lua;" .. package.path
local held = require "held"

-- Calls `make` so often, and says what is held after half of them and at the end.
local function repeated(what, count, make)
  local before, began = nil, os.clock()
  for i = 1, count do
    make(i)
    if i % 10 == 0 then collectgarbage() end -- pictures are large tables
    if i == count // 2 then
      collectgarbage()
      before = held()
    end
  end
  collectgarbage()
  local after = held()
  print(string.format("%s: %d in %.1f s; memory %.1f -> %.1f MiB, handles %d -> %d", what, count, os.clock() - began, before.memory,
    after.memory, before.handles, after.handles))
  assert(after.memory <= before.memory * o.most + 1, what .. ": memory grows")
  assert(after.handles <= before.handles, what .. ": file handles are left open")
end

local names = {}
for _, env in ipairs(iap.env.list()) do
  if env.name ~= "take-cover" then names[#names + 1] = env.name end -- needs the data of a game
end
repeated("environments", o.envs, function(i)
  local env = iap.env.make(names[i % #names + 1])
  env:reset(i)
  local action = {}
  for k = 1, env:spec().action_size do action[k] = 0 end
  env:step(action)
  env:close()
end)
repeated("policies", o.policies, function() iap.policy.load(o.policy):close() end)
