local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

local env = iap.env.make(folder .. "/pendulum.lua", { start = 0.3, length = 2 })
check.equal(env:spec().max_steps, 100)
check.equal(iap.env.check(env, 250), true)
check.equal(iap.env.check(folder .. "/pendulum.lua"), true)
-- What no file brings back as it is.
check.fails({ "pendulum.lua: option 'length' is inf, which no policy file can hold" }, iap.env.make, folder .. "/pendulum.lua", { length = math.huge })
check.fails({ "nan, which no policy file can hold" }, iap.env.make, folder .. "/pendulum.lua", { length = 0 / 0 })
check.fails({ "latin.lua:2: holds bytes that are no UTF-8" }, iap.env.make, { name = "latin.lua", source = "-- Grad:\n-- \xb0\n" })
check.fails({ "latin.lua:1: holds bytes" }, iap.policy.build, iap.policy.script { file = "latin.lua", source = "local tag = '\xfc'" }, env)

-- The same pendulum, computed here.
local angle, velocity = 0.3, 0
env:reset(1)
for i = 1, 50 do
  local torque = math.sin(i)
  local reward = env:step { torque }
  -- Actions and observations pass through 32-bit floats.
  torque = string.unpack("f", string.pack("f", torque))
  velocity = velocity + 0.02 * (torque / 4 - 9.81 / 2 * math.sin(angle))
  angle = angle + 0.02 * velocity
  check.equal(reward, -math.cos(angle))
end
local seen = env:observe().vector
check.close(seen[1], math.cos(angle), 1e-6)
check.close(seen[3], velocity, 1e-6)

-- Time limit, own seeds, wrappers.
local steps, truncated = 50, false
repeat
  local _, _, cut = env:step { 0 }
  steps, truncated = steps + 1, cut
until truncated
check.equal(steps, 100)
check.fails({ "pendulum.lua: the episode has not begun or is over; call reset before step" }, env.step, env, { 0 })
local free = iap.env.make(folder .. "/pendulum.lua")
check.equal(free:reset(5).vector[2], free:reset(5).vector[2])
assert(free:reset(5).vector[2] ~= free:reset(6).vector[2])
check.equal(iap.env.make(folder .. "/pendulum.lua", { action_repeat = 4 }):spec().config.action_repeat, 4)

-- Pictures: bytes as a string, floats as a list.
local tracker = iap.env.make(folder .. "/tracker.lua")
check.equal(iap.env.check(tracker, 60), true)
local images = tracker:reset(2).images
local column = images.depth:pixel(2, 2)
check.same_list({ images.pixels:shape() }, { 12, 16, 3, "uint8" })
check.same_list({ images.pixels:pixel(5, column + 1) }, { 255, 200, 100 })
check.same_list({ images.pixels:pixel(1, column + 1) }, { 0, 0, 0 })
check.equal(#images.pixels:bytes(), 12 * 16 * 3)

-- A folder of videos whose name no policy file can hold.
local latin = os.tmpname() .. "\xff"
assert(os.execute("mkdir -p '" .. latin .. "/one'"))
images.pixels:save_png(latin .. "/one/1.png")
check.fails({ "'cheetah-run': option 'distraction.videos' is ", "no UTF-8" }, iap.env.make, "cheetah-run",
  { pixels = { 16, 16 }, distraction = { background = { count = 1 }, videos = latin } })
os.execute("rm -r '" .. latin .. "'")

-- The text travels with the config: the environment is rebuilt without its file.
local config = free:spec().config
assert(config.source:find("frictionless", 1, true))
config.name = "elsewhere/pendulum.lua"
check.equal(iap.env.make(config):reset(5).vector[2], free:reset(5).vector[2])

-- Whatever goes wrong names the file.
local function bad(body, options)
  return function()
    options = options or {}
    options.name, options.source = "bad.lua", body
    local made = iap.env.make(options)
    made:reset(1)
    made:step { 0 }
    made:observe()
  end
end
local head = "return function(options) local self = {spec = {action_size = 1, vector = 1}}\n"
local reset = "function self:reset() end\n"
local step = "function self:step() return 0 end\n"
local observe = "function self:observe() return {0} end\n"
local tail = "return self end"
bad(head .. reset .. step .. observe .. tail)()
check.fails({ "cannot read 'missing.lua'" }, iap.env.make, "missing.lua")
check.fails({ "bad.lua:1:", "near" }, bad("return function("))
check.fails({ "bad.lua: must return function(options), got nil" }, bad(""))
check.fails({ "bad.lua: function(options) must return a table, got a number (3)" }, bad("return function() return 3 end"))
check.fails({ "bad.lua: the table that function(options) returns must have a table 'spec'" }, bad("return function() return {} end"))
check.fails({ "bad.lua: spec: option 'action_size' is missing" }, bad("return function() return {spec = {}} end"))
check.fails({ "bad.lua: spec: unknown option 'vectr'; did you mean 'vector'?" }, bad("return function() return {spec = {action_size = 1, vectr = 1, vector = 1}} end"))
check.fails({ "bad.lua: spec", "'f'", "function" }, bad("return function() return {spec = {action_size = 1, f = print}} end"))
check.fails({ "must have a function 'observe', got nil" }, bad(head .. reset .. step .. tail))
check.fails({ "must have a function 'step', got a number (1)" }, bad(head .. reset .. observe .. "self.step = 1\n" .. tail))
check.fails({ "bad.lua:2: no reset today" }, bad(head .. "function self:reset() error('no reset today') end\n" .. step .. observe .. tail))
check.fails({ "bad.lua: step must return a finite reward first, got a number (", "nan", "at step 1 of the episode with seed 1" },
  bad(head .. reset .. "function self:step() return 0 / 0 end\n" .. observe .. tail))
check.fails({ "step must return a finite reward first, got nil" }, bad(head .. reset .. "function self:step() end\n" .. observe .. tail))
check.fails({ "step must return terminated as true or false, got a number (1)" },
  bad(head .. reset .. "function self:step() return 0, 1 end\n" .. observe .. tail))
check.fails({ "bad.lua: the vector from observe must be a list of 1 numbers, got 2 values" },
  bad(head .. reset .. step .. "function self:observe() return {0, 1} end\n" .. tail))
check.fails({ "the vector from observe must be finite numbers, got the string 'x' at 1" },
  bad(head .. reset .. step .. "function self:observe() return {'x'} end\n" .. tail))
check.fails({ "environment 'bad.lua': unknown option 'lenght'; did you mean 'length'?" },
  bad(head:gsub("\n", " local l = options.length\n") .. reset .. step .. observe .. tail, { lenght = 2 }))

-- A file that changes, or goes, once it was read changes nothing: later stages and other threads play its text.
local changing = os.tmpname()
os.remove(changing)
changing = changing .. ".lua"
local function write(before, reward)
  local file <close> = assert(io.open(changing, "w"))
  file:write(before, "return function() return { spec = { action_size = 1, vector = 1, max_steps = 4 }, reset = function() end, ",
    "step = function() return ", reward, " end, observe = function() return { 0 } end } end\n")
end
write("", 1)
local trained = iap.train {
  env = changing, policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 }, iterations = 2, eval_every = 1,
  eval_episodes = 2, threads = 2, quiet = true, curriculum = { { through = 1 }, { time_limit = 3 } },
  on_iteration = function() write("", 1000) end,
}
check.equal(trained.last_eval, 3)
write(("os.remove('%s')\n"):format(changing), 2)
check.equal(iap.eval(trained.policy, { env = changing, episodes = 8, threads = 2 }).mean, 8)
