-- Help for every name: all that is reachable from `iap` has a text, and every text is about something that is there.
local iap = require "iap"
local check = require "check"

-- What is there: full name -> the value to ask about.
local there = {}
local function visit(name, value)
  there[name] = value
  if type(value) ~= "table" then return end
  for key, entry in pairs(value) do visit(name .. "." .. key, entry) end
end
visit("iap", iap)

local env = iap.env.make("cartpole-balance", { pixels = { 16, 16 } })
local block = iap.policy.sequence { iap.attention.rank { patch = 4, top = 2 }, iap.policy.linear {} }
local policy, optimizer = iap.policy.build(block, env), iap.optim.es { population = 2 }
local objects = {
  env = env, blueprint = block, policy = policy, optimizer = optimizer, search = optimizer:start { 0 }, image = env:reset(1).images.pixels,
  key_database = iap.attention.key_database { features = 1, capacity = 1 }, trajectory_generator = iap.legged.trajectory_generator {},
  gait = iap.legged.gait {}, stance = iap.legged.stance { robot = "a1" },
}
for name, object in pairs(objects) do
  there[name] = object
  for method, value in pairs(debug.getmetatable(object).__index) do there[name .. ":" .. method] = value end
end
local count = 0
for name, value in pairs(there) do
  local text = iap.help(name)
  -- What is closed is described once for all objects.
  local heading = name:gsub("^.*:close$", "object:close")
  if not ("\n" .. text):find("\n" .. heading:gsub("%p", "%%%0") .. "%f[^%w_]") then error("help('" .. name .. "') is about something else:\n" .. text) end
  if type(value) ~= "string" then check.equal(iap.help(value), text) end
  for line in text:gmatch "[^\n]+" do
    if utf8.len(line) > 96 then error(name .. ": a line of " .. utf8.len(line) .. " characters: " .. line) end
  end
  count = count + 1
end
assert(count > 150, count)

-- And back: the names that areas and classes list.
local listed = 0
local function names_in(text)
  local names = {}
  for line in text:gmatch "[^\n]+" do table.insert(names, line:match "^  ([%w_.:-]+)  " or line:match "^  ([%w_.:-]+)$") end
  local i = 0
  return function()
    i = i + 1
    return names[i]
  end
end
local function look(name)
  for member in names_in(iap.help(name)) do
    local about_object, method = member:match "^([%w_]+):([%w_]+)$"
    if member:find "^iap[.]" or objects[about_object] then
      assert(there[member] ~= nil or member == name, "help(" .. name .. ") lists " .. member .. ", which is not there")
      listed = listed + 1
    end
    if member:find "^iap[.]" and type(there[member]) == "table" and member ~= name then look(member) end
  end
end
for area in names_in(iap.help()) do look(area) end
for name in pairs(objects) do look(name) end
assert(listed > 120, listed)

-- An area has all of its environments.
for _, row in ipairs(iap.env.list()) do assert(iap.help(row.name):find(row.name, 1, true)) end

-- Tables that functions return have the entries that the reference names, and no others.
local function entries_of(name)
  local found, inside = {}, iap.help(name)
  for key in names_in(inside) do found[key] = true end
  return found
end
local function same_entries(name, got, optional)
  local told = entries_of(name)
  for key in pairs(got) do assert(told[key], name .. " has the entry " .. key .. ", which help does not name") end
  for key in pairs(told) do assert(got[key] ~= nil or optional[key], name .. " lacks the entry " .. key .. ", which help names") end
end
same_entries("env.spec", env:spec(), {})
same_entries("env.observation", env:observe(), {})
same_entries("legged.numbers", iap.legged.robot "a1", {})
policy:act(env:observe())
same_entries("policy.view", policy:views()[1], { frame = true })
same_entries("eval.result", iap.eval(policy, { episodes = 2, env = { name = "cartpole-balance", pixels = { 16, 16 }, time_limit = 1 } }), {})
local run = iap.train { env = "cartpole-balance", policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_episodes = 1, quiet = true }
same_entries("train.result", run, { out = true, confirmed = true, best_failed = true })

-- Options by their names, areas, and what is misspelled.
assert(iap.help "sigma":find("iap.optim.es", 1, true))
assert(iap.help():find("iap.attention", 1, true) and iap.help(nil) == iap.help())
check.fails({ "the reference has no 'rnak'", "did you mean 'rank'" }, iap.help, "rnak")
check.fails({ "argument 1 'what'", "got a function" }, iap.help, print)
check.fails({ "argument 1 'what'", "got a number" }, iap.help, 5)
check.fails({ "argument 1 'what'" }, iap.help, {})

-- In a task's functions: data and random have what help lists, as their own messages say.
local function known(message) return (message:match "known: (.*)$"):gmatch "[%w_]+" end
local path = os.tmpname()
local file = assert(io.open(path, "w"))
file:write [[return { model = [=[<mujoco><worldbody><camera/><body><joint name="j" type="hinge"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="j" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]=],
  reset = function(data, random)
    local wrong = ("q"):rep(60)
    error(select(2, pcall(function() return data[wrong] end)) .. "|" .. select(2, pcall(function() return random[wrong] end)), 0)
  end,
  reward = function() return 0 end }]]
file:close()
os.rename(path, path .. ".lua")
local task = iap.env.make(path .. ".lua")
local _, message = pcall(task.reset, task, 0)
os.remove(path .. ".lua")
local of_data, of_random = message:match "(.-)|(.*) at the start"
for name, text in pairs { data = of_data, random = of_random } do
  local told = iap.help(name)
  local got = {}
  for key in known(text) do
    got[key] = true
    assert(key == "close" or told:find("\n  " .. key .. "%f[^%w_]") or told:find("\n  " .. name .. ":" .. key .. "%f[^%w_]"), name .. " has '" .. key .. "', which help does not name")
  end
  for key in names_in(told) do
    local method = key:match "^%w+:([%w_]+)$" or key
    assert(got[method], "help(" .. name .. ") names '" .. key .. "', which is not there")
  end
end
print "ok"
