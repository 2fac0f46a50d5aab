local check = require "check"
local iap = require "iap"

-- Every option of rank and trans is checked where it is written.
check.fails({ "blocks_test.lua:", "rank: unknown option 'maskd'; did you mean 'masked'?" }, function() return iap.attention.rank { patch = 4, maskd = true } end)
check.fails({ "trans: unknown option 'token'; did you mean 'tokens'?" }, iap.attention.trans, { patch = 4, token = 3 })
check.fails({ "unknown query_weights 'learnt'; did you mean 'learned'?" }, iap.attention.rank, { patch = 4, query_weights = "learnt" })
check.fails({ "unknown compression 'averaged'; did you mean 'average'?" }, iap.attention.trans, { patch = 4, compression = "averaged" })
check.fails({ "rank: option 'ensemble': 4096 orthogonal projections of 4096 values take too long to draw; take \"iid\", or fewer" }, iap.attention.rank, { patch = 4, kernel = "exp", m = 4096, d = 4096 })
check.fails({ "option 'motion' follows patches by rank" }, iap.attention.rank, { patch = 4, motion = true, masked = true })
check.fails({ "option 'layer_norm' must be true or false" }, iap.attention.trans, { patch = 4, layer_norm = 1 })
check.fails({ "option 'bins' goes with values = \"histogram\"" }, iap.attention.rank, { patch = 4, bins = 3 })

local env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 } })
local observation = env:reset(1)
local function build(block) return iap.policy.build(iap.policy.sequence { block, iap.policy.linear { activation = "tanh" } }, env) end

-- L = 6 x 8 patches of c = 48 values.
local ranks = {
  { parameters = 2 * 48 * 8 + 48, outputs = 20, options = { query_weights = "learned" } },
  { parameters = 3 * 2 * 48 * 8, outputs = 3 * 20, options = { heads = 3 } },
  { parameters = 2 * 48 * 8, outputs = 48 * 2, options = { masked = true } },
  { parameters = 2 * 48 * 8 + 48 * 5, outputs = 10 * (2 + 5), options = { values = { "position", "projection" }, dv = 5 } },
  { parameters = 2 * 48 * 8, outputs = 10 * 6, options = { values = "histogram", bins = 6 } },
  { parameters = 2 * 48 * 8 + 2 * 25 * 3, outputs = 10 * 2, options = { values = "convolution", convolution_size = 5, convolution_channels = 2 } },
  { parameters = 2 * 48 * 8, outputs = 10 * 4, options = { values = "convolution", convolution = "fixed" } },
  { parameters = 2 * 48 * 8 + 48 * 48, outputs = 20, options = { encoding = "learned" } },
  { parameters = 2 * 48 * 8, outputs = 20, options = { encoding = "sinusoidal", encoding_scale = 0.5 } },
}
for _, row in ipairs(ranks) do
  row.options.patch = 4
  local policy = build(iap.attention.rank(row.options))
  check.equal(policy:size(), row.parameters + row.outputs + 1)
  policy:initialise(1)
  policy:reset(0)
  policy:act(observation)
  check.equal(#policy:views(), row.options.heads or 1)
  check.equal(#policy:views()[1].selected, 10)
end

-- A cnn is a block like any other, without patches to draw; 24 x 32 x 3 -> 11 x 15 x 4 -> 5 x 7 x 2.
local network = build(iap.policy.cnn { layers = { { channels = 4, kernel = 3, pool = 2 }, { channels = 2, kernel = 2, pool = 2 } }, activation = "tanh" })
check.equal(network:size(), 4 * 27 + 4 + 2 * 16 + 2 + 70 + 1)
network:initialise(1)
network:reset(0)
assert(network:act(observation)[1] ~= 0)
check.equal(#network:views(), 0)
assert(network:summary():find("24 x 32 x 3 -> 11 x 15 x 4 -> 5 x 7 x 2", 1, true), network:summary())
check.equal(tostring(load("local iap = ... return " .. tostring(network:blueprint()))(iap)), tostring(network:blueprint()))

-- A list that is empty, as the default of one or of one's own, is one in Lua, too: what is printed of a policy loads again.
local function reads(text) return load("local iap = ... return " .. text)(iap) end
local alike = build(iap.policy.mirror { block = iap.policy.cnn { layers = { { channels = 2 } } }, odd = {} })
check.equal(tostring(reads(tostring(alike:blueprint()))), tostring(alike:blueprint()))
assert(tostring(alike:blueprint()):find("odd = {}, odd_inputs = {}", 1, true), tostring(alike:blueprint()))
check.equal(build(iap.policy.sequence { iap.policy.cnn { layers = { { channels = 2 } } }, iap.policy.mlp { hidden = {}, units = 3 } }):summary():find("hidden {}", 1, true) ~= nil, true)
check.fails({ "option 'groups' must be sizes of at least 1 that add up to the 2 inputs, got {}" }, build, iap.policy.sequence { iap.attention.rank { patch = 4, top = 1 }, iap.policy.product { groups = {} } })

check.fails({ "cnn, layer 2: unknown option 'strid'; did you mean 'stride'?" }, iap.policy.cnn, { layers = { { channels = 2 }, { channels = 3, strid = 2 } } })
check.fails({ "write iap.policy.cnn { layers = { { channels = 4, pool = 2 } } }" }, iap.policy.cnn, { 4, 8 })

-- Two levels: the high one has 2 + 1 values by itself, the low one the environment's action.
local levels = iap.policy.build(iap.policy.hierarchy {
  high = iap.policy.sequence { iap.attention.rank { patch = 4, top = 3 }, iap.policy.linear { activation = "tanh" } },
  low = iap.policy.linear { activation = "tanh" }, duration = { 2, 5 },
}, env)
check.equal(levels:size(), 2 * 48 * 8 + 6 * 3 + 3 + 2 + 1)
levels:initialise(1)
levels:reset(0)
levels:act(observation)
check.equal(levels:views()[1].block, "high.1.rank")
check.equal(tostring(load("local iap = ... return " .. tostring(levels:blueprint()))(iap)), tostring(levels:blueprint()))
local called = iap.policy.build(iap.policy.hierarchy { high = iap.policy.linear { name = "brain", units = 3 }, low = iap.policy.linear {} }, "cartpole-balance")
called:act(iap.env.make("cartpole-balance"):reset(1))
check.equal(#called:outputs "brain", 3)
check.equal(#called:outputs "low", 1)
check.fails({ "option 'high' must be a block, got nothing" }, iap.policy.build, iap.policy.hierarchy { low = iap.policy.linear {} }, env)
check.fails({ "write iap.policy.hierarchy { high = a, low = b }" }, iap.policy.hierarchy, { iap.policy.linear {}, iap.policy.linear {} })

local policy = build(iap.attention.trans {
  patch = 4, d = 4, tokens = 3, dv = 5, kernel = "exp", m = 12, heads = 2, encoding = "sinusoidal", layer_norm = true,
})
check.equal(policy:size(), 2 * (2 * 48 * 4 + 48 * 5 + 3 * 48) + 2 * 10 + 30 + 1)
assert(policy:summary():find("trans: kernel exp, patch 4, stride 4, L 48, d 4, tokens 3, values projection (5), P learned, heads 2, residual, layer norm, encoding sinusoidal", 1, true), policy:summary())
policy:initialise(1)
policy:reset(0)
local action = policy:act(observation)
local views = policy:views()
check.equal(views[2].block, "1.trans.head_2")
check.equal(#views[2].selected, 3)
for _, score in ipairs(views[1].scores) do assert(score >= 0 and score <= views[1].scores[views[1].selected[1]]) end
check.same_list({ observation.images.pixels:overlay(views[1]):shape() }, { 24, 32, 3, "uint8" })

-- The policy knows every option, defaults included, and a file rebuilds it.
local blueprint = tostring(policy:blueprint())
for _, part in ipairs { "iap.attention.trans {", "compression = \"learned\"", "order = \"auto\"", "residual = true", "m = 12", "temperature = 1.0" } do
  assert(blueprint:find(part, 1, true), part .. " is missing in " .. blueprint)
end
check.equal(tostring(load("local iap = ... return " .. blueprint)(iap)), blueprint)
local path = os.tmpname()
policy:save(path)
local loaded = iap.policy.load(path)
os.remove(path)
loaded:reset(0)
check.same_list(loaded:act(observation), action)
check.equal(tostring(loaded:blueprint()), blueprint)

-- A number just beyond a bound shows that it is; the sizes of a block in Lua have an upper bound, too.
check.fails({ "option 'scale' must be in [0, 1e+06], got 1000001" }, iap.policy.linear, { scale = 1000001 })
for _, size in ipairs { { "outputs", "1 << 40", "[1, 16777216], got 1099511627776" }, { "parameters", "1e12", "[0, 16777216], got 1000000000000" },
  { "outputs", "nil", "[1, 16777216], got nil" } } do
  local source = "return function() return { outputs = 1, parameters = 0, forward = print, " .. size[1] .. " = " .. size[2] .. " } end"
  check.fails({ ("large.lua: '%s' must be an integer in %s"):format(size[1], size[3]) }, iap.policy.build,
    iap.policy.script { file = "large.lua", source = source }, iap.env.make("cartpole-swingup"))
end

-- A policy's own block has a name as those inside others have.
for _, name in ipairs { "a.b", "1a", "", ("x"):rep(101), 5 } do
  check.fails({ "policy: has the name ", "a name is at most 100 letters" }, iap.policy.build, iap.policy.linear { name = name },
    iap.env.make("cartpole-swingup"))
end

-- What a block in Lua writes into its lists stays in its step, or, of the parameters, in its episode.
local function lua_block(body)
  local source = "return function(options, shapes) local n = shapes.inputs return { parameters = n, outputs = 1, " .. body .. " } end"
  return iap.policy.sequence { iap.policy.observation {}, iap.policy.script { file = "written.lua", source = source } }
end
local pole = iap.env.make("cartpole-swingup")
local seen = pole:reset(1)
local function acts(policy) return policy:act(seen)[1] end

local appends = iap.policy.build(lua_block [[forward = function(_, w, x, vector)
  x[#x + 1], vector.extra = 1, vector.extra or #vector
  local y = 0
  for i = 1, #x do y = y + (w[i] or 1) * x[i] end
  return { y + vector.extra }
end]], pole)
appends:initialise(1)
check.equal(acts(appends), acts(appends))

local learns = iap.policy.build(lua_block [[forward = function(_, w, x)
  local y = 0
  for i = 1, n do y = y + w[i] * x[i] end
  for i = 1, n do w[i] = w[i] + 0.1 * y * x[i] end
  w[n + 1] = "a list of its own"
  return { y }
end]], pole)
learns:initialise(1)
learns:reset(1)
local first, second = acts(learns), acts(learns)
assert(first ~= second)
learns:reset(1)
check.equal(acts(learns), first)
check.equal(acts(learns), second)
learns:set_parameters(learns:parameters())
check.equal(acts(learns), first)

-- What outlives an episode is refused where it would come into returns.
local function trained(body)
  return iap.train {
    env = pole, policy = lua_block(body), optimizer = iap.optim.es { population = 2 },
    iterations = 1, eval_episodes = 1, quiet = true,
  }
end
local kept = [[forward = function(self, w, x)
  self.calls = (self.calls or 0) + 1
  return { self.calls >= 10 and 1 or w[1] * x[1] }
end]]
check.fails({ "policy: block '2.script' (written.lua): from step 1 of an episode on it gives other outputs", "give it a function reset(self, seed)" }, trained, kept)
trained(kept .. ", reset = function(self) self.calls = 0 end")
-- So is what only shows where the episodes before were others: a first frame, weights made of the parameters of another policy.
local frame = [[forward = function(self, w, x)
  self.first = self.first or x[1]
  return { w[1] + x[1] - self.first }
end]]
local weights = [[forward = function(self, w, x)
  self.weights = self.weights or { math.exp(w[1]) - 1 }
  return { self.weights[1] * x[1] + math.random() }
end]]
for body, what in pairs { [frame] = "first", [weights] = "weights" } do
  check.fails({ "policy: block '2.script' (written.lua): from step 1 of an episode on it gives other outputs" }, trained, body)
  trained(body .. (", reset = function(self) self.%s = nil end"):format(what))
end
-- Who takes no made-up observations is believed.
trained [[forward = function(self, w, x)
  assert(math.abs(x[1]) < 0.5, "a pole far from the middle")
  self.calls = (self.calls or 0) + 1
  return { 0 * self.calls }
end]]

-- What a block in Lua calls as blocks of iap do is its own where a policy goes to other sizes and to another time between decisions.
local small, large = iap.env.make("cartpole-balance", { pixels = { 8, 8 } }), iap.env.make("cartpole-balance", { pixels = { 16, 16 }, action_repeat = 2 })
local namesake = iap.policy.build(iap.policy.script {
  file = "written.lua", pool = 2, patch = 3, image = "left", gait = { kind = "clock", dt = small:spec().control_dt },
  source = [[return function(options)
    return { parameters = 0, outputs = 1, forward = function() return { options.pool / options.patch + options.gait.dt + #options.image } end }
  end]],
}, small)
namesake:reset(0)
local fitted = namesake:resized(large, { fit = "pool" })
fitted:reset(0)
check.equal(fitted:act(large:reset(1))[1], namesake:act(small:reset(1))[1])

-- A function that nobody calls, with almost the name of one that the block lacks.
local function block(functions)
  local source = "return function() local b = { parameters = 1, outputs = 1 }\nfunction b:forward(p) return { p[1] } end\n" .. functions .. "\nreturn b end"
  return iap.policy.build(iap.policy.script { file = "block.lua", source = source }, "cartpole-balance")
end
check.equal(block("function b:initialise() return { 5 } end"):parameters()[1], 5)
for name, functions in pairs {
  initialize = "function b:initialize() return { 5 } end", initialse = "local initialse = function() return { 5 } end b.initialse = initialse",
  rset = "b.rset = function() end", initialiser = "setmetatable(b, { __index = { initialiser = function() return { 5 } end } })",
} do
  check.fails({ "block.lua: the table that function(options) returns has a function '" .. name .. "', which nothing uses; did you mean '" ..
    (name == "rset" and "reset" or "initialise") .. "'?" }, block, functions)
end
block "function b:initialize() end b:initialize()"
block "function b:initialise() return { 5 } end function b:initialize() end"
block "b.presets = function() end b.reset = function() b.presets () end"
-- What is told is not done.
for _, told in ipairs { 'assert(b, "initialize: no inputs")', 'local text = "b:initialize of " .. 1', "-- initialize() begins at 5", "--[[ see\nb.initialize ]]",
  "local text = [==[ b:initialize() ]==]", [[local text = 'it\'s b:initialize()']], [[local text = "\z
      b:initialize()"]] } do
  check.fails({ "did you mean 'initialise'?" }, block, "function b:initialize() return { 5 } end " .. told .. "\n")
end
block "function b:initialize() end local calls = { ['initialize'] = 1 } -- \"\nb[next(calls)](b)"
block "function b:initialize() end local remark = [[ -- \" ]] b:initialize()"
-- Methods of a base class that others need, and names that are more than a letter off.
local base = [[local base = { rest = function() end, resets = function() end, initialize = function() end }
  base.__index = base
  return base]]
iap.policy.build(iap.policy.script { file = "derived.lua", required_modules = { base = base }, source = [[return function()
  return setmetatable({ parameters = 1, outputs = 1, forward = function(_, p) return { p[1] } end }, require "base")
end]] }, "cartpole-balance")
block "function b.react() end function b.unset() end function b.result() end function b.initialized() end"
