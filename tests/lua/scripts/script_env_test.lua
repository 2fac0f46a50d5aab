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
check.fails({ "bad.lua: the table that function(options) returns must have a table 'spec', got nil" }, bad("return function() return {} end"))
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
check.fails({ "bad.lua: spec: unknown option 'acton_size'; did you mean 'action_size'?" }, bad("return function() return {spec = {acton_size = 1}} end"))
check.fails({ "bad.lua: spec.images.cam: unknown option 'heigth'; did you mean 'height'?" },
  bad("return function() return {spec = {action_size = 1, images = {cam = {heigth = 2, width = 2}}}} end"))
check.fails({ "bad.lua:2: os.exit would end the whole program (call error(message)" },
  bad(head .. "function self:reset() os.exit(3) end\n" .. step .. observe .. tail))

-- What a text or a module mentions takes time in proportion to it, and what nobody gave is offered where there are not too many.
local function mentioning(count, options)
  local words = {}
  for i = 1, count do words[i] = "options.a" .. i end
  options.name, options.source = "many.lua", head .. reset .. step .. observe .. tail
  options.required_modules = { never = table.concat(words, " ") }
  return options
end
check.fails({ "unknown option 'a9x'; did you mean 'a9'?" }, iap.env.make, mentioning(200, { a9x = 1 }))
check.fails({ "unknown option 'other'" }, iap.env.make, mentioning(200000, { other = 1 }))
local begin = os.clock()
iap.env.make(mentioning(200000, { a200000 = 1 }))
assert(os.clock() - begin < 20, "the square of what a module mentions")

-- What the spec leaves out would be seen by nobody.
local function seeing(spec, seen)
  return bad("return function() return {spec = {action_size = 1, " .. spec .. "}, reset = function() end, step = function() return 0 end,\n" ..
    "observe = function() return " .. seen .. " end} end")
end
local cam = "images = {cam = {height = 1, width = 2, channels = 1}}"
seeing(cam, "nil, {cam = {0, 255}}")()
seeing(cam, "{}, {cam = '\\0\\255'}")()
seeing(cam, "false, {cam = {0.0, 255.0}}")()
seeing("vector = 1", "{0}, {}")()
check.fails({ "bad.lua: observe returns a list of 3 first, but the spec has no vector before step 1 of the episode with seed 1; set vector = 3 in the spec" },
  seeing(cam, "{1, 2, 3}, {cam = {0, 1}}"))
check.fails({ "bad.lua: observe must return nil first, as the spec has no vector, got a number (7)" }, seeing(cam, "7, {cam = {0, 1}}"))
check.fails({ "bad.lua: observe returns an image 'depth' that spec.images does not have", "of the episode with seed 1; describe it there, or leave it out" },
  seeing(cam, "nil, {cam = {0, 1}, depth = 'ignored'}"))
check.fails({ "bad.lua: observe returns an image 'cma' that spec.images does not have", "; did you mean 'cam'?" }, seeing(cam, "nil, {cma = {0, 1}}"))
check.fails({ "observe returns an image a number (1) that spec.images does not have" }, seeing(cam, "nil, {{0, 1}}"))
check.fails({ "observe returns an image 'cam' that spec.images does not have", "; describe it there" }, seeing("vector = 1", "{0}, {cam = {0, 1}}"))
check.fails({ "observe must return nothing second, as the spec has no images, got a number (1)" }, seeing("vector = 1", "{0}, 1"))
check.fails({ "observe must return a table of images second, got nil" }, seeing(cam, "{cam = {0, 1}}"))
check.fails({ "image 'cam' must be a string of 2 bytes or a flat list of 2 numbers, got nil" }, seeing(cam, "nil, {}"))
check.fails({ "image 'cam' must be a string of 2 bytes or a flat list of 2 numbers, got a number (1)" }, seeing(cam, "nil, {cam = 1}"))
check.fails({ "image 'cam': value 2 must be a whole number from 0 to 255, got 0.5", "of the episode with seed 1; set type = \"float32\" in spec.images.cam, or scale to 255 and round" },
  seeing(cam, "nil, {cam = {1, 0.5}}"))
check.fails({ "image 'cam': value 1 must be a whole number from 0 to 255, got 256" }, seeing(cam, "nil, {cam = {256, 0}}"))
check.fails({ "environment 'bad.lua': unknown option 'lenght'; did you mean 'length'?" },
  bad(head:gsub("\n", " local l = options.length\n") .. reset .. step .. observe .. tail, { lenght = 2 }))
-- What is read later counts by the name options.NAME; whoever calls the options otherwise is told.
local function later(name)
  return "return function(" .. name .. ") return { spec = { action_size = 1, vector = 1 }, reset = function() end, step = function() return 0 end, " ..
    "observe = function() return { " .. name .. ".gain or 1 } end } end"
end
check.equal(iap.env.make { name = "later.lua", source = later "options", gain = 3 }:reset(1).vector[1], 3)
check.fails({ "environment 'bad.lua': option 'gain' goes with a file that reads it while function(options) runs, or later by the name options.gain, " ..
  "not as o.gain; write local gain = o.gain at its beginning" }, bad(later "o", { gain = 3 }))
check.fails({ "environment 'bad.lua': unknown option 'gian'" }, bad(later "o", { gian = 3 }))
-- What keeps the options and reads them later.
for _, read in ipairs { "kept.gain or 1", "get('gain')" } do
  local keeper = "return function(options) local kept = options local function get(name) return kept[name] or 1 end return { spec = { action_size = 1, vector = 1 }, " ..
    "reset = function() end, step = function() return 0 end, observe = function() return { " .. read .. " } end } end"
  check.fails({ "option 'gain' goes with a file that reads it while function(options) runs, or later by the name options.gain, in these words" },
    bad(keeper, { gain = 3 }))
  check.fails({ "unknown option 'gian'" }, bad(keeper, { gian = 3 }))
end
local function wrapping(name, options)
  return function()
    local all = { name = "wrapping.lua", source = "return require 'wrapped'", required_modules = { wrapped = later(name) } }
    for key, value in pairs(options) do all[key] = value end
    return iap.env.make(all)
  end
end
check.equal(wrapping("options", { gain = 3 })():reset(1).vector[1], 3)
check.fails({ "'gain' goes with a file that reads it while function(options) runs", "not as given.gain" }, wrapping("given", { gain = 3 }))
check.fails({ "environment 'wrapping.lua': unknown option 'gian'; did you mean 'gain'?" }, wrapping("options", { gian = 3 }))

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

-- `pairs` has one order, whichever worker's state plays.
local keyed = { name = "keyed.lua", source = [[
return function()
  local parts, env = {}, { spec = { action_size = 1, vector = 1, max_steps = 3 } }
  for i = 1, 40 do parts["part" .. i] = i end
  function env:reset() end
  function env:observe() return { 0 } end
  function env:step()
    local digest = 0
    for _, part in pairs(parts) do digest = (31 * digest + part) % 1000003 end
    return digest
  end
  return env
end]] }
local digests = {}
for i = 1, 4 do
  local one = iap.env.make(keyed)
  one:reset(1)
  digests[i] = one:step { 0 }
end
check.same_list(digests, { digests[1], digests[1], digests[1], digests[1] })

-- The options' order is the same, with what the script assigned among them.
local listing = { name = "listing.lua", source = [[
return function(options)
  options.missing, options.k3, options[1] = options.missing or "own", nil, 1
  options[#options + 1] = 2
  local names = {}
  for name in pairs(options) do names[#names + 1] = tostring(name) end
  error("order: " .. table.concat(names, " "), 0)
end]] }
for i = 1, 9 do listing["k" .. i] = i end
check.fails({ "order: 1 2 k1 k2 k4 k5 k6 k7 k8 k9 missing name" }, iap.env.make, listing)

-- Who took the options' metatable lost all that was given; stored texts that do act as they did.
local inheriting = [[
return function(options)
  setmetatable(options, { __index = { gain = 1 } })
  return { spec = { action_size = 1, vector = 1 }, reset = function() end, step = function() return 0 end, observe = function() return { options.gain } end }
end]]
local taken = os.tmpname()
assert(os.rename(taken, taken .. ".lua"))
taken = taken .. ".lua"
local function take(text)
  local file <close> = assert(io.open(taken, "w"))
  file:write(text)
end
take(inheriting)
check.fails({ taken .. ":2: cannot change a protected metatable, as that of the options is; where one has a default, write options.NAME or DEFAULT" },
  iap.env.make, taken, { gain = 3 })
check.equal(iap.env.make({ name = "stored.lua", source = inheriting, gain = 3 }):reset(1).vector[1], 1)

-- What iap fills in of the options that every environment takes would be read in trainings alone.
local function reading(what, spec, step)
  return "return function(o) local read = " .. what .. "\n  return { spec = { action_size = 1, vector = 1, " .. spec .. " }, reset = function() end,\n" ..
    "  step = function() " .. (step or "") .. " return 0 end, observe = function() return { read or 0 } end } end"
end
for name, spec in pairs { time_limit = "max_steps = 9", action_repeat = "", keys = "keys = { left = { -1 } }" } do
  take(reading("o." .. name, spec))
  check.fails({ taken .. ": function(options): option '" .. name .. "' is read and was not given", "give it, or read an option with a name of the file's own" },
    iap.env.make, taken)
end
take(reading("(function() o.time_limit = o.time_limit or 5 end)()", "max_steps = 9"))
check.fails({ "option 'time_limit' is read and was not given" }, iap.env.make, taken)
take(reading("nil", "max_steps = 9", "local later = o.time_limit"))
local late = iap.env.make(taken)
late:reset(1)
check.fails({ taken .. ":3: option 'time_limit' is read and was not given" }, late.step, late, { 0 })
take(reading("o.time_limit", "max_steps = 9"))
check.equal(iap.env.make(iap.env.make(taken, { time_limit = 4 }):spec().config):reset(1).vector[1], 4)
take(reading("o.time_limit or o.keys", ""))
check.equal(iap.env.make(iap.env.make(taken):spec().config):reset(1).vector[1], 0)
-- A stored text reads what it did.
check.equal(iap.env.make({ name = "stored.lua", source = reading("o.time_limit or 5", "max_steps = 9") }):reset(1).vector[1], 5)
os.remove(taken)

-- What editors on Windows and shells put at the head of a file is no Lua, as in Lua's own loader; lines keep their numbers.
local head = "\xEF\xBB\xBF#!/usr/bin/env iap\n"
local headed = iap.env.make { name = "headed.lua", source = head .. [[
return function() return { spec = { action_size = 1, vector = 1 }, reset = function() end, observe = function() return { 0 } end,
  step = function() error("here") end } end]] }
headed:reset(1)
check.fails({ "headed.lua:3: here" }, headed.step, headed, { 0 })
local block = head .. "return function() return { parameters = 0, outputs = 1, forward = function() return { (require 'head_module') } end } end"
local module_folder = os.tmpname()
os.remove(module_folder)
assert(os.execute("mkdir '" .. module_folder .. "'"))
local function put(name, text)
  local file = assert(io.open(module_folder .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end
put("block.lua", block)
put("head_module.lua", head .. "return 0.5")
local one = iap.policy.build(iap.policy.script { file = module_folder .. "/block.lua" }, env)
check.equal(one:act(env:reset(1))[1], 0.5)
one:save(module_folder .. "/one.iap")
check.equal(iap.policy.load(module_folder .. "/one.iap"):act(env:reset(1))[1], 0.5)
os.execute("rm -r '" .. module_folder .. "'")

-- What is raised may describe itself, as at the prompt; what cannot is told so.
for body, message in pairs {
  ["return 'code ' .. self.code"] = "code 7", ["error(self)"] = "raised no text but a table; raise one, such as", ["return 7"] = "raised no text but a table",
} do
  local raising = iap.env.make { name = "raising.lua", source = [[
local failure = setmetatable({ code = 7 }, { __tostring = function(self) ]] .. body .. [[ end })
return function() return { spec = { action_size = 1, vector = 1 }, reset = function() end, observe = function() return { 0 } end,
  step = function() error(failure) end } end]] }
  raising:reset(1)
  check.fails({ message }, raising.step, raising, { 0 })
end

-- What follows from an option that is changed follows where the options are those that were given.
local long = iap.policy.build(iap.policy.linear {}, { name = "long.lua", source = [[return function(options) return {
  spec = { action_size = 1, vector = 1, max_steps = options.length or 10 },
  reset = function() end, observe = function() return { 0 } end, step = function() return 0 end } end]] }):metadata()
check.equal(iap.env.make(long.env_given, { length = 25 }):spec().max_steps, 25)
check.equal(iap.env.make(iap.env.make(long.env_given):spec().given, { length = 25 }):spec().max_steps, 25)
check.equal(iap.env.make(long.env, { length = 25 }):spec().max_steps, 10)

-- A policy's 0.5 is three quarters of the range in iap.eval, and its 4 the end; a loop of one's own hands over what it likes.
local paying = iap.env.make { name = "paying.lua", source = [[return function() return {
  spec = { action_size = 2, action_low = 10, action_high = 30, vector = 1, max_steps = 1 },
  reset = function() end, observe = function() return { 0 } end, step = function(_, action) return 100 * action[1] + action[2] end } end]] }
local steady = iap.policy.build(iap.policy.script { file = "steady.lua", source = [[return function() return {
  parameters = 0, outputs = 2, forward = function() return { 0.5, 4 } end } end]] }, paying)
check.equal(iap.eval(steady, { episodes = 1 }).mean, 2530)
local decided = steady:act(paying:reset(1))
check.same_list(decided, { 0.5, 4 })
check.equal(paying:step(decided), 1010)

-- Its images come by name, whatever order they are written in.
local two = iap.env.make { name = "two.lua", source = [[return function() return {
  spec = { action_size = 1, images = { rgb = { height = 2, width = 2 }, depth = { height = 2, width = 2, type = "float32", channels = 1 } } },
  reset = function() end, step = function() return 0 end,
  observe = function() return nil, { rgb = ("\0"):rep(12), depth = { 0, 0, 0, 0 } } end } end]] }
local looking = iap.policy.build(iap.policy.sequence { iap.attention.rank { patch = 1, top = 1 }, iap.policy.linear {} }, two)
looking:act(two:reset(1))
check.equal(looking:views()[1].image, "depth")

-- The functions of the table are taken once; what one of them calls may change.
local changing = iap.env.make { name = "changing.lua", source = [[return function() return {
  spec = { action_size = 1, vector = 1 }, observe = function() return { 0 } end, rule = function() return 1 end,
  reset = function(self)
    self.rule = function() return 2 end
    self.step = function() return 3 end
  end,
  step = function(self) return self.rule() end,
} end]] }
changing:reset(1)
check.equal(changing:step { 0 }, 2)

-- Whoever has a spec keeps in its table what it likes: a model of its own, and a list.
local own = [[return function(options)
  local self = { spec = { action_size = 1, vector = 1 }, model = OWN, reward = function() end, 1, 2 }
  function self:reset() self[1] = 5 end
  function self:step() return 0 end
  function self:observe() return { self[1] + self[2] } end
  return self
end]]
for _, model in ipairs { "{ gain = 1 }", "function(x) return x end", "'pole.xml'" } do
  check.equal(iap.env.make({ name = "own.lua", source = (own:gsub("OWN", model)) }):reset(1).vector[1], 7)
end
check.fails({ "a MuJoCo task has no entry 'step'" }, iap.env.make, { name = "own.lua", source = "return { model = 'pole.xml', step = print }" })
