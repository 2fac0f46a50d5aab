local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

-- Blueprints print as the code that makes them, and that code makes them again.
local blueprint = iap.policy.sequence {
  iap.policy.concat { iap.attention.rank { patch = 4, d = 4, top = 3, values = { "position", "content" } }, iap.policy.observation {} },
  iap.policy.lstm { units = 4 },
  iap.policy.linear { activation = "tanh", scale = 0.5 },
}
local printed = tostring(blueprint)
check.equal(tostring(load("local iap = ... return " .. printed)(iap)), printed)
assert(printed:find("iap.attention.rank { d = 4, patch = 4, top = 3, values = { \"position\", \"content\" } }", 1, true), printed)

-- A typo is an error where it stands, before there is an environment.
check.fails({ "policy_test.lua:", "policy.linear: unknown option 'activatoin'; did you mean 'activation'?" }, function()
  return iap.policy.linear { activatoin = "tanh" }
end)
check.fails({ "unknown kernel 'hibrid'; did you mean 'hybrid'?" }, iap.attention.rank, { patch = 4, kernel = "hibrid" })
check.fails({ "option 'patch' is missing" }, iap.attention.rank, {})
check.fails({ "option 'patch' must be an integer" }, iap.attention.rank, { patch = "x" })
check.fails({ "iap.policy.linear: option 'units': expected a plain value" }, iap.policy.linear, { units = print })
check.fails({ "leave it out" }, iap.policy.linear, { kind = "lstm" })
check.fails({ "iap.policy has no 'lienar'; did you mean 'linear'?" }, function() return iap.policy.lienar end)
for _, row in ipairs(iap.attention.kernels()) do
  iap.attention.rank { patch = 4, kernel = row.name }
  check.equal(pcall(iap.attention.cross, { patch = 4, kernel = row.name }), row.abilities:find("cross") ~= nil)
  check.equal(pcall(iap.attention.trans, { patch = 4, kernel = row.name }), row.abilities:find("trans") ~= nil)
end
check.fails({ "kernel 'softmax' cannot", "kernels that can: relu, exp, favor++" }, iap.attention.cross, { patch = 4, kernel = "softmax" })

-- What depends on shapes is judged on the environment.
local env = iap.env.make(folder .. "/tracker.lua")
check.fails({ "option 'top' is 500" }, iap.policy.build, iap.policy.sequence { iap.attention.rank { patch = 4, top = 500, image = "pixels" }, iap.policy.linear {} }, env)

local head = iap.attention.rank { image = "pixels", patch = 4, top = 1, d = 4 }
local policy = iap.policy.build(iap.policy.sequence { head, iap.policy.linear { activation = "tanh" } }, env)
check.equal(tostring(policy), "policy of " .. policy:size() .. " parameters, 1 actions")
check.equal(#policy:parameters(), policy:size())
assert(policy:summary():find("linear", 1, true))
local last = 0
for _, slice in ipairs(policy:slices()) do
  check.equal(slice.first, last + 1)
  last = slice.last
end
check.equal(last, policy:size())

-- act, and what it looked at.
local observation = env:reset(3)
policy:reset(0)
local action = policy:act(observation)
check.equal(#action, 1)
local view = policy:views()[1]
check.equal(view.rows * view.columns, 12)
check.equal(#view.scores, 12)
for _, score in ipairs(view.scores) do assert(score <= view.scores[view.selected[1]]) end
local shown = observation.images.pixels:enlarge(3):overlay(view, 3)
check.same_list({ shown:shape() }, { 36, 48, 3, "uint8" })
for _, side in ipairs { 2 ^ 31, -1, 0, 1.5 } do
  check.fails({ "view.patch is ", "views have an integer from 1 to " }, shown.overlay, shown, { columns = 4, rows = 3, patch = side, stride = 4 })
end
check.fails({ "view.stride is missing; pass one of policy:views()" }, shown.overlay, shown, { columns = 4, rows = 3, patch = 4 })
check.fails({ "view.selected holds 13" }, shown.overlay, shown, { columns = 4, rows = 3, patch = 4, stride = 4, selected = { 13 } })

-- Parameters, seeds, files.
policy:initialise(7)
local seventh = policy:parameters()
policy:initialise(8)
assert(policy:parameters()[1] ~= seventh[1])
policy:set_parameters(seventh)
check.same_list(policy:parameters(), seventh)
check.fails({ "parameters" }, policy.set_parameters, policy, { 1, 2 })
for _, change in ipairs { { "initialise", 3 }, { "set_parameters", seventh } } do
  local path = os.tmpname()
  policy:save(path, { iteration = 4, ["return"] = 977.5 })
  local played = iap.policy.load(path)
  check.equal(played:metadata()["return"], 977.5)
  played[change[1]](played, change[2])
  assert(played:metadata()["return"] == nil and played:metadata().iteration == nil, change[1] .. " keeps the return of other parameters")
end
-- What was earned in an environment stays with a policy that is made for the same one.
local pole, earned = iap.env.make "cartpole-swingup", os.tmpname()
iap.policy.build(iap.policy.linear {}, pole):save(earned, { iteration = 4, ["return"] = 977.5 })
for _, place in ipairs { pole, iap.policy.load(earned):metadata().env } do
  local same = iap.policy.load(earned):resized(place):metadata()
  check.equal(same["return"], 977.5)
  check.equal(same.iteration, 4)
end
check.equal(iap.policy.load(earned):resized("cartpole-balance"):metadata()["return"], nil)
-- One that was resized begins an episode, as one that was read does, wherever the policy that it was made of is in its own.
local eye = iap.env.make("cartpole-balance", { pixels = { 12, 12 }, time_limit = 3 })
local seen = eye:reset(3)
local attend = iap.attention
for _, case in ipairs { { attend.rank, "episode" }, { attend.rank, 2 }, { attend.trans, "episode" }, { attend.trans, 2 }, { attend.cross, "episode" } } do
  local block = case[1] { patch = 2, d = 3, kernel = "exp", redraw = case[2] }
  local drawing, stored = iap.policy.build(iap.policy.sequence { block, iap.policy.linear {} }, eye), os.tmpname()
  drawing:save(stored)
  local begun = iap.policy.load(stored):act(seen)
  check.same_list(drawing:resized(eye):act(seen), begun)
  for _ = 1, 3 do drawing:act(seen) end
  check.same_list(drawing:resized(eye):act(seen), begun)
end
-- A random P is of the patches that it was drawn for, at every door to another size.
local larger = iap.env.make("cartpole-balance", { pixels = { 24, 24 }, time_limit = 3 })
local drawn = iap.policy.sequence { iap.attention.trans { patch = 4, tokens = 2, compression = "random" }, iap.policy.linear {} }
local other_patches = "its random P was drawn for 3 x 3 patches and would be another one for 6 x 6"
local of_drawn = iap.policy.build(drawn, eye)
local run = { policy = drawn, env = eye, iterations = 2, optimizer = iap.optim.es { population = 2 }, on_iteration = function() end }
check.fails({ "block '1.trans' does not fit", other_patches, 'fit "pool"' }, of_drawn.resized, of_drawn, larger)
of_drawn:resized(larger, { fit = "pool" })
for name, change in pairs {
  curriculum = { { through = 1 }, { pixels = { 24, 24 } } }, eval_env = { pixels = { 24, 24 } },
} do
  run[name] = change
  check.fails({ other_patches }, iap.train, run)
  run.fit = "pool"
  iap.train(run)
  run[name], run.fit = nil, nil
end
run.env, run.init = larger, of_drawn
check.fails({ "option 'init'", other_patches }, iap.train, run)
-- An environment that cannot be built here, where its files are not, is another one.
iap.policy.build(iap.policy.linear {}, pole):save(earned, { env = "lost.lua.world", ["return"] = 977.5 })
check.equal(iap.policy.load(earned):resized(pole):metadata()["return"], nil)
seventh[1] = 0 / 0
check.fails({ "must be finite" }, policy.set_parameters, policy, seventh)
local path = os.tmpname()
policy:save(path, { note = "kept" })
local loaded = iap.policy.load(path)
check.same_list(loaded:parameters(), policy:parameters())
check.equal(loaded:metadata().note, "kept")
check.fails({ "cannot write '" .. path .. ".lua': a policy is no script; its name must not end in .lua" }, policy.save, policy, path .. ".lua")
check.equal(loaded:metadata().env.name, env:spec().name)
-- What would come back as another value is refused before anything is written.
local unwritten = os.tmpname()
os.remove(unwritten)
for _, value in ipairs { 0 / 0, -math.huge, { b = { 1, math.huge } }, "\xFC" } do
  check.fails({ "policy:save: metadata entry 'note' is ", "which no policy file can hold; give finite numbers and text in UTF-8" },
    policy.save, policy, unwritten, { note = value })
  check.equal(io.open(unwritten), nil)
end
check.fails({ "policy:save: the name of an entry of its metadata is " }, policy.save, policy, unwritten, { ["\xFC"] = 1 })
-- An environment that names a Lua file takes its text along, however it is named.
for _, named in ipairs { folder .. "/tracker.lua", { name = folder .. "/tracker.lua" }, env } do
  loaded:save(path, { env = named })
  local kept = iap.policy.load(path):metadata()
  assert(kept.env.source and kept.env_given.source, "the file's text is not kept")
  check.equal(iap.eval(path, { episodes = 1 }).mean, iap.eval(policy, { episodes = 1 }).mean)
end
loaded:save(path, { env = { name = folder .. "/tracker.lua", time_limit = 2 } })
check.equal(iap.eval(path, { episodes = 1 }).episodes[1].steps, 2)
check.equal(iap.policy.load(path):metadata().env_given.time_limit, 2)
-- What an environment was given goes with it.
for _, other in ipairs { "cartpole-balance", { name = "cartpole-balance", time_limit = 2 } } do
  loaded:save(path, { env = other })
  check.equal(iap.policy.load(path):metadata().env_given, nil)
end
loaded:save(path, { env = loaded:metadata().env, note = "the same" })
assert(iap.policy.load(path):metadata().env_given, "what the same environment was given is gone")
check.fails({ "cannot read 'missing.lua'" }, policy.save, policy, unwritten, { env = "missing.lua" })
check.equal(io.open(unwritten), nil)
check.equal(tostring(loaded:blueprint()), tostring(policy:blueprint()))
loaded:reset(0)
policy:reset(0)
check.same_list(loaded:act(observation), policy:act(observation))

-- What normalise gathered in training goes from policy to policy as parameters do.
local gathering = iap.policy.sequence { iap.policy.normalise { over = "training" }, iap.policy.linear {} }
local trained = iap.train { env = "cartpole-balance", policy = gathering, optimizer = iap.optim.es { population = 2 }, iterations = 1,
  eval_episodes = 1, confirm_episodes = 0, quiet = true }.policy
local moments = trained:moments()
check.equal(#moments, 5)
assert(moments[1][1] > 0 and moments[1][3] > 0, "nothing was gathered")
local transplanted = iap.policy.build(trained:blueprint(), "cartpole-balance")
transplanted:set_parameters(trained:parameters())
local balance = iap.env.make "cartpole-balance"
local function acts(of) of:reset(0) return of:act(balance:reset(3)) end
assert(acts(transplanted)[1] ~= acts(trained)[1], "moments have no effect")
check.equal(transplanted:moments()[1][1], 0.0)
transplanted:set_moments(moments)
check.same_list(acts(transplanted), acts(trained))
check.same_list(policy:moments(), {})
policy:set_moments {}
check.fails({ "got 0 moments, its blocks gather 5" }, trained.set_moments, trained, {})
check.fails({ "policy:set_moments: moment 2 is ", "not three numbers" }, trained.set_moments, trained, { moments[1], { 1, 2 }, moments[3], moments[4], moments[5] })
check.fails({ "moments must be finite, count and squares not negative" }, trained.set_moments, trained, { { 1, 0 / 0, 2 }, moments[2], moments[3], moments[4], moments[5] })
check.fails({ "a list as policy:moments() gives it" }, trained.set_moments, trained, { a = 1 })

-- A policy file with a block written in Lua needs no other file.
local pendulum = iap.env.make(folder .. "/pendulum.lua")
local scripted = iap.policy.build(iap.policy.script { file = folder .. "/linear_block.lua", gain = 2 }, pendulum)
local native = iap.policy.build(iap.policy.linear { bias = false }, pendulum)
scripted:set_parameters { 0.5, -1, 0.25 }
native:set_parameters { 1, -2, 0.5 }
for seed = 1, 5 do
  local state = pendulum:reset(seed)
  check.close(scripted:act(state)[1], native:act(state)[1], 1e-6)
end
scripted:save(path)
check.close(iap.policy.load(path):act(pendulum:reset(1))[1], native:act(pendulum:reset(1))[1], 1e-6)
os.remove(path)
check.fails({ "policy.script: unknown option 'gian'; did you mean 'gain'?" }, iap.policy.script, { file = folder .. "/linear_block.lua", gian = 2 })
-- A mirror takes no Lua, whether it remembers or not, and says so rather than that it does.
check.fails({ "policy: '1.sequence.2.script' is written in Lua, which may remember, and a mirror asks its block twice a step; put it outside the mirror" },
  iap.policy.build, iap.policy.mirror { block = iap.policy.sequence { iap.policy.observation {}, iap.policy.script { file = folder .. "/linear_block.lua" } } }, pendulum)
-- Neither the world nor another block draws what a block draws.
local drawing = [[return function() return { parameters = 0, outputs = 1, forward = function() return { 2 * math.random() - 1 } end } end]]
local function draws(name) return iap.policy.script { file = name .. ".lua", name = name, source = drawing } end
local hidden = iap.env.make { name = "hidden.lua", source = [[return function()
  return { spec = { action_size = 1, vector = 1, max_steps = 50 }, reset = function() end, observe = function() return { 0 } end,
    step = function(_, action) return math.abs(action[1] - (2 * math.random() - 1)) < 1e-6 and 1 or 0 end } end]] }
check.equal(iap.eval(iap.policy.build(draws("one"), hidden), { env = hidden, episodes = 2 }).mean, 0)
local both = iap.policy.build(iap.policy.concat { draws("one"), draws("two") }, { name = "two.lua", source = [[return function()
  return { spec = { action_size = 2, vector = 1 }, reset = function() end, observe = function() return { 0 } end, step = function() return 0 end } end]] })
local drawn = both:act { vector = { 0 } }
check.equal(drawn[1] ~= drawn[2], true)
both:reset()
check.same_list(both:act { vector = { 0 } }, drawn)

-- What a block sets in its reset is there as soon as it is built or loaded; its seed is any 64-bit integer.
local counting = iap.policy.build(iap.policy.script { file = "count.lua", source = [[return function() return {
  parameters = 0, outputs = 1,
  reset = function(self, seed) self.memory = seed end,
  forward = function(self) self.memory = self.memory + 1 return { self.memory } end,
} end]] }, pendulum)
local before = pendulum:reset(1)
check.equal(counting:act(before)[1], 1)
check.equal(counting:act(before)[1], 2)
counting:reset(-5)
check.equal(counting:act(before)[1], -4)
local counting_file = os.tmpname()
counting:save(counting_file)
check.equal(iap.policy.load(counting_file):act(before)[1], 1)
os.remove(counting_file)
-- So is what it draws at random, whatever its parameters were drawn with.
local lucky = iap.policy.build(iap.policy.script { file = "lucky.lua", source = [[return function() return {
  parameters = 1, outputs = 1,
  initialise = function() return { math.random() } end,
  forward = function() return { math.random() } end,
} end]] }, pendulum)
local lucky_file = os.tmpname()
lucky:save(lucky_file)
local luck = lucky:act(before)[1]
check.equal(iap.policy.load(lucky_file):act(before)[1], luck)
lucky:initialise(1)
check.equal(lucky:act(before)[1], luck)
lucky:reset(0)
check.equal(lucky:act(before)[1], luck)
os.remove(lucky_file)
-- A printed block is Lua, whatever its options are called.
local named, reads = { file = "named.lua" }, {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true until while plain"):gmatch("%a+") do
  named[word] = 3
  table.insert(reads, "options['" .. word .. "']")
end
named.source = "return function(options) assert(" .. table.concat(reads, " + ") .. " == 69) return { parameters = 0, outputs = 1, forward = function() return { 1 } end } end"
local shown = tostring(iap.policy.script(named))
for _, part in ipairs { '["end"] = 3', '["nil"] = 3', ", plain = 3" } do assert(shown:find(part, 1, true), shown) end
assert(load("local iap = ... return " .. shown), shown)
check.fails({ "cannot read 'missing.lua'" }, iap.policy.script, { file = "missing.lua" })

-- Observations that do not fit.
check.fails({ "policy:act: argument 1 'observation'", "got nothing" }, policy.act, policy)
check.fails({ "observation.images must be a table of images" }, policy.act, policy, {})
check.fails({ "observation.images.depth must be an image, got nil" }, policy.act, policy, { images = { pixels = observation.images.pixels } })
check.fails({ "image 'depth' is 12 x 16 x 3" }, policy.act, policy, { images = { pixels = observation.images.pixels, depth = observation.images.pixels } })
check.fails({ "observation.vector: element 2 must be a number" }, native.act, native, { vector = { 1, "x", 3 } })

-- What is no finite float is refused by its place, and stays out of what a policy remembers.
local remembering = iap.policy.build(iap.policy.sequence { iap.policy.observation {}, iap.policy.lstm { units = 2 }, iap.policy.linear {} }, "cartpole-swingup")
local function remembered(between)
  remembering:reset(1)
  remembering:act { vector = { 1, 2, 3, 4, 5 } }
  between()
  return remembering:act { vector = { 5, 4, 3, 2, 1 } }
end
local undisturbed = remembered(function() end)
for number, shown in pairs { [1e300] = "inf", [math.huge] = "inf", [-math.huge] = "-inf", nan = "nan" } do
  check.same_list(remembered(function()
    local value = tonumber(number) or 0 / 0
    check.fails({ "policy:act: observation.vector holds ", shown .. " as value 4; give finite values" }, remembering.act, remembering, { vector = { 1, 2, 3, value, 5 } })
  end), undisturbed)
end

-- Published weights come in as a policy, and go out as the same weights.
local weights = folder .. "/../../data/attention_agent/car_racing.npz"
local agent = iap.policy.import_attention_agent(weights)
check.equal(agent:size(), 3667)
check.equal(agent:metadata().env.name, "car-racing")
local exported = os.tmpname()
agent:export_attention_agent(exported)
check.same_list(iap.policy.import_attention_agent(exported):parameters(), agent:parameters())
os.remove(exported)
check.equal(iap.policy.import_attention_agent(weights, { name = "car-racing", modification = "bars" }):metadata().env.modification, "bars")
check.fails({ "car_racing.npz", "'take-cover'", "3633" }, iap.policy.import_attention_agent, weights, { name = "take-cover", art = "procedural" })
check.fails({ "only policies of kind attention_agent can be exported" }, policy.export_attention_agent, policy, exported)
