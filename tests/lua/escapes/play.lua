-- Plays the cases in policy files and environments of strangers: iap run play.lua. Each must end as expected, and the process lives on.
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local cases = assert(loadfile(folder .. "/cases.lua"))(folder)
local path = os.tmpname()
local pendulum = iap.env.make(folder .. "/../scripts/pendulum.lua")
local state = pendulum:reset(1)
local limits = { STEPS = "took more than 300 million steps in one call", MEMORY = "used more than 256 MiB of memory",
  STRING = "made a string of more than 16 MiB" }

local function act(source, modules)
  iap.policy.build(iap.policy.script { file = "block.lua", source = "return function() return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end" },
    pendulum):save(path)
  return iap.policy.build(iap.policy.script { file = "block.lua", source = source, required_modules = modules, loaded_from = path }, pendulum):act(state)[1]
end
-- The value stands where an environment says what it shows.
local function describe(source) iap.env.make { name = "env.lua", source = source, loaded_from = path } end

local function play(case)
  if case.when == "load" then return act(case.body, case.modules) end
  local called = "(function()\n" .. case.body .. "\nend)()"
  if case.when == "entry" then return describe("return function() return { spec = " .. called .. " } end") end
  return act("return function() return { parameters = 0, outputs = 1, forward = function() " .. called .. " return { 0 } end } end", case.modules)
end

local tried = 0
for _, case in ipairs(cases) do
  local costly = case.expected == "STEPS" and not case.program
  if not costly and not case.small then
    local ended, message = pcall(play, case)
    local expected = limits[case.expected] or case.expected
    if expected then
      assert(not ended and message:find(expected, 1, true), case.name .. ": expected '" .. expected .. "', got " .. tostring(message):sub(1, 300))
      assert(not message:find("\27"), case.name .. " says what a terminal obeys")
    else
      assert(ended, case.name .. ": " .. tostring(message):sub(1, 300))
    end
    tried = tried + 1
  end
end

-- The door of the file itself: what it holds is confined when it is loaded, and the same process goes on with others.
local function save(body)
  local source = "return function() return { parameters = 0, outputs = 1, forward = function() " .. body .. " end } end"
  iap.policy.build(iap.policy.script { file = "block.lua", source = source }, pendulum):save(path)
  return iap.policy.load(path)
end
local endless = save "if calls then while true do end end calls = true return { 0.5 }"
assert(endless:act(state)[1] == 0.5)
for _ = 1, 2 do
  local ended, message = pcall(endless.act, endless, state)
  assert(not ended and message:find("the most that Lua out of a file may; if you trust '" .. path .. "', pass --trust", 1, true), message)
end
assert(save "return { 0.25 }":act(state)[1] == 0.25)
os.remove(path)
assert(tried >= 80, tried)
print(tried .. " cases as expected")
