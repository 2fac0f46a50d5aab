local check = require "check"
local iap = require "iap"

local folder = os.tmpname()
os.remove(folder)

-- A lamp that goes on and off on a picture, and numbers of which the picture shows only one. A picture of one colour has one patch's
-- worth of content: what shows its brightness explains the lamp and nothing else.
local source = [[
return function(options)
  local shows = options.state
  local self = { spec = {
    action_size = 1, max_steps = 40, images = { pixels = { height = 4, width = 4 } },
    vector = shows and 3 or 0, state_names = shows and NAMES or nil,
  } }
  function self:draw() self.light, self.hidden = math.random(), math.random() end
  function self:reset() self:draw() end
  function self:step() self:draw() return 0 end
  function self:observe()
    local byte = string.char(math.floor(255 * self.light + 0.5))
    return shows and { self.light, self.hidden, 7 } or nil, { pixels = byte:rep(48) }
  end
  return self
end]]
local function lamp(names) return { name = "lamp.lua", source = (source:gsub("NAMES", names)) } end

local eye = iap.attention.rank { patch = 4, d = 2, top = 1, values = "content" }
local blocks = iap.policy.sequence { eye, iap.policy.linear { activation = "tanh" } }
local named = lamp('{ "light", "hidden", "constant" }')
local result = iap.report.probe { policy = blocks, env = named, episodes = 9, csv = folder .. "/probe.csv", out = folder .. "/probe.png" }
check.same_list(result.variables, { "light", "hidden", "constant" })
check.equal(#result.blocks, 1)
local block = result.blocks[1]
check.equal(block.path, "1.rank")
check.equal(block.kind, "rank")
check.equal(block.outputs, 48)
check.equal(result.fitted_episodes, 6)
check.equal(result.tested_episodes, 3)
check.equal(result.fitted_rows, 6 * 40)
assert(block.r2.light > 0.999, block.r2.light) -- but for the rounding to bytes
assert(math.abs(block.r2.hidden) < 0.1, block.r2.hidden)
check.equal(block.r2.constant, nil)
check.close(block.mean, (block.r2.light + math.max(block.r2.hidden, 0)) / 2, 1e-12)
assert(block.ridge.light < block.ridge.hidden)
check.same_list({ select(2, iap.image.read(folder .. "/probe.png"):shape()) }, { 900, 3, "uint8" })
local lines = {}
for line in io.lines(folder .. "/probe.csv") do lines[#lines + 1] = line end
check.equal(lines[1], "block,outputs,state,r2,ridge")
local r2, ridge = lines[2]:match("^1%.rank,48,light,([^,]+),([^,]+)$")
check.equal(tonumber(r2), block.r2.light)
check.equal(tonumber(ridge), block.ridge.light)
check.equal(lines[4], "1.rank,48,constant,,")

-- A stranger's names are no formulas in the table, wherever cells end; numbers stay numbers, and other names as they are.
local function cells(...)
  local names = lamp(string.format("{ %q, %q, %q }", ...))
  iap.report.probe { policy = blocks, env = names, episodes = 3, csv = folder .. "/odd.csv" }
  local found = {}
  for line in io.lines(folder .. "/odd.csv") do found[#found + 1] = line:match "^1%.rank,48,([^,]+)" end
  return found
end
check.same_list(cells("=cmd|'/C calc'!A0", "@hidden", "-1.5"), { "'=cmd|'/C calc'!A0", "'@hidden", "-1.5" })
check.same_list(cells("a;=cmd|'/C calc'!A0;b", ";; -A1;-2", "\u{ff1d}A1"), { "a;'=cmd|'/C calc'!A0;b", ";; '-A1;-2", "'\u{ff1d}A1" })
check.same_list(cells(" =A1", "\u{a0}\u{ff20}A1", "x - y = z; w"), { " '=A1", "\u{a0}'\u{ff20}A1", "x - y = z; w" })

-- Names are the environment's own, or numbers.
check.same_list(iap.report.probe { policy = blocks, env = lamp("nil"), episodes = 3, steps = 4 }.variables, { "state 1", "state 2", "state 3" })
check.same_list(iap.env.make("cartpole-swingup"):spec().state_names,
  { "position of slider", "cosine of pole_1", "sine of pole_1", "velocity of slider", "velocity of hinge_1" })
check.fails({ "lamp.lua: spec: option 'state_names': 2 names for the 3 values of the vector" }, iap.report.probe,
  { policy = blocks, env = lamp('{ "a", "b" }'), episodes = 3 })

-- A policy is probed as it is, blocks with the weights that iap.policy.build gives; several blocks side by side.
local policy = iap.policy.build(blocks, named)
local function same(options)
  options.env, options.episodes = named, 9
  check.equal(iap.report.probe(options).blocks[1].r2.light, block.r2.light)
end
same { policy = policy }
same { policy = policy, threads = 3 }
policy:save(folder .. "/lamp.iap", {})
same { policy = folder .. "/lamp.iap" }
local both = iap.report.probe { policy = policy, blocks = { "2.linear", "1.rank" }, episodes = 3, steps = 9, actions = "random", ridge = 10, per_episode = true }
check.equal(both.blocks[1].path, "2.linear")
check.equal(both.blocks[2].ridge.light, 10)

-- What a block handed over can be read one by one.
local env = iap.env.make(named)
check.equal(#policy:outputs("1.rank"), 0)
local action = policy:act(env:reset(1))
check.same_list(policy:outputs("2.linear"), action)
check.same_list(policy:outputs("policy"), action)
check.equal(#policy:outputs("1.rank"), 48)
check.fails({ "policy: there is no block '1.rnak'; did you mean '1.rank'?" }, policy.outputs, policy, "1.rnak")

local function fails(parts, options)
  options.env = options.env or named
  check.fails(parts, iap.report.probe, options)
end
fails({ "there is no block '3.lstm'; known: policy, 1.rank, 2.linear" }, { policy = policy, blocks = { "3.lstm" } })
fails({ "2 episodes are too few to fit on two thirds and test on the rest; play at least 3" }, { policy = policy, episodes = 2 })
fails({ "unknown actions 'ranodm'; did you mean 'random'?" }, { policy = policy, actions = "ranodm" })
fails({ "option 'ridge'", "got 0" }, { policy = policy, ridge = 0 })
fails({ "option 'policy' must be a policy, blocks, or the path of a run or policy file, got a number (3)" }, { policy = 3 })
for name, closed in pairs { policy = iap.policy.load(folder .. "/lamp.iap"), blueprint = iap.policy.linear {} } do
  closed:close()
  fails({ "option 'policy': this " .. name .. " is closed" }, { policy = closed })
end
fails({ "unknown option 'episods'; did you mean 'episodes'?" }, { policy = policy, episods = 3 })
for _, name in ipairs { "/train.lua", "/best.iap" } do
  fails({ name .. "': a table is neither a script nor a policy; its name must not end in .lua or .iap" },
    { policy = blocks, env = named, csv = folder .. name })
end
check.fails({ "option 'env' is missing: blocks alone do not say which environment they are for" }, iap.report.probe, { policy = blocks })
local file = assert(io.open(folder .. "/lamp.iap", "rb"))
local bytes = file:read "a"
file:close()
file = assert(io.open(folder .. "/bad.iap", "wb"))
file:write(bytes:sub(1, -9))
file:close()
fails({ folder .. "/bad.iap" }, { policy = folder .. "/bad.iap" })

-- Without a state there is nothing to explain, whatever the environment is.
local tracker = (arg[0]:match("^(.*)/") or ".") .. "/tracker.lua"
local head = iap.policy.sequence { iap.attention.rank { image = "pixels", patch = 4, d = 2, top = 1 }, iap.policy.linear {} }
fails({ "tracker.lua' has no state vector beside its pixels; probe one that takes the option state = true", "let an environment in Lua say spec.vector" },
  { policy = head, env = tracker, episodes = 3 })
os.execute("rm -r '" .. folder .. "'")
