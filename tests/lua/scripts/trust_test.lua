-- Lua that comes out of a policy file runs confined unless it is trusted.
local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."
local path = os.tmpname()
local pendulum = iap.env.make(folder .. "/pendulum.lua")
local state = pendulum:reset(1)

-- A block that runs `body` when it acts, saved and loaded again. What `body` returns is the action.
local function saved(body)
  local source = "return function(options) return { parameters = 0, outputs = 1, forward = function(self)\n" .. body .. "\nend } end"
  iap.policy.build(iap.policy.script { file = "probe.lua", source = source }, pendulum):save(path)
  return path
end
local function confined(body) return iap.policy.load(saved(body)):act(state)[1] end

-- Each reaches outside, or makes code of text, and is refused by its name.
local escapes = {
  { "os.execute", "os.execute('true')" },
  { "os.getenv", "return { os.getenv('HOME') and 1 or 0 }" },
  { "os.exit", "os.exit(3)" },
  { "os.remove", "os.remove('x')" },
  { "os.rename", "os.rename('x', 'y')" },
  { "os.tmpname", "os.tmpname()" },
  { "os.setlocale", "os.setlocale('C')" },
  { "io.open", "io.open('/etc/passwd')" },
  { "io.popen", "io.popen('true')" },
  { "io.lines", "for _ in io.lines('/etc/passwd') do end" },
  { "io.write", "io.write('x')" },
  { "io.stderr", "io.stderr:write('x')" },
  { "io.stdout", "io.stdout.write(1)" },
  { "load", "load('return 1')" },
  { "load", "load(string.char(27) .. 'Lua')" },
  { "loadfile", "loadfile('/etc/passwd')" },
  { "dofile", "dofile('/etc/passwd')" },
  { "string.dump", "string.dump(print)" },
  { "string.dump", "return { #(''):dump() }" },
  { "collectgarbage", "collectgarbage('stop')" },
  { "warn", "warn('@on')" },
  { "debug.getinfo", "debug.getinfo(1)" },
  { "debug.getregistry", "debug.getregistry()" },
  { "debug.sethook", "debug.sethook()" },
  { "debug.getupvalue", "debug.getupvalue(require, 1)" },
  { "debug.setmetatable", "debug.setmetatable(0, {})" },
  { "package.loaded", "package.loaded.io.open('x')" },
  { "package.preload", "package.preload.x = print" },
  { "package.searchers", "package.searchers[2]('x')" },
  { "package.loadlib", "package.loadlib('libc.so.6', '*')" },
  { "os.execute", "_G.os.execute('true')" },
  { "os.execute", "_ENV['os']['execute']('true')" },
  { "os.execute", "require('os').execute('true')" },
  { "io.open", "require('io').open('x')" },
  { "io.open", "require('_G').io.open('x')" },
  { "os.execute", "coroutine.wrap(function() os.execute('true') end)()" },
  { "os.execute", "local ok, message = pcall(os.execute, 'true') error(message, 0)" },
  { "os.execute", "local ok, message = xpcall(os.execute, function(m) return m end, 'true') error(message, 0)" },
  { "os.execute", "return { #setmetatable({}, { __index = os }).execute('true') }" },
  { "os.execute", "local stolen = rawget(os, 'execute') stolen('true')" },
  { "os.execute", "os.execute.command = 1" },
  { "the metatable of strings", "getmetatable('').__index = {}" },
  { "debug.traceback", "xpcall(print, debug.traceback)" },
  { "a table with weak keys", "setmetatable({}, { __mode = 'k' })" },
  { "a metatable with __gc", "setmetatable({}, { __gc = print })" },
  { "the module 'check'", "package.path = '" .. folder .. "/?.lua' require('che' .. 'ck')" },
}
for _, escape in ipairs(escapes) do
  local name, body = escape[1], escape[2]
  check.fails({ path .. ": ", name, "is not available to Lua that comes out of a file; if you trust '" .. path .. "', pass --trust (trust = true in Lua" },
    confined, body)
end
check.fails({ path .. ": probe.lua:2: os.execute is not available" }, confined, "os.execute('true')")

-- Of the engine there is what rewards are made of, and nothing else.
check.equal(confined "return { require('iap').tolerance(0) }", 1)
check.fails({ path .. ": probe.lua:2: iap has no 'train'" }, confined, "require('iap').train {}")
check.fails({ "the module 'iap.core'" }, confined, "require 'iap.core'")

-- Refusing leaves nothing behind in other states: each object has its own.
confined "string.rep = nil math.sin = nil _G.next = nil return { 0 }"
check.equal(confined "return { #('ab'):rep(2) }", 4)
check.equal(("x"):rep(2), "xx")

-- What is harmless works: the language, its libraries, the clock.
check.equal(confined [[
  local t = setmetatable({}, { __index = function(_, k) return #k end })
  assert(t.abc == 3 and select("#", 1, 2) == 2 and math.type(1) == "integer" and utf8.char(65) == "A")
  assert(os.time() > 0 and os.clock() >= 0 and #os.date() > 0 and os.difftime(2, 1) == 1)
  assert(coroutine.wrap(function() coroutine.yield(5) end)() == 5)
  assert(require "math" == math and not pcall(error) and tostring(1) == "1" and ("%d"):format(7) == "7")
  package.path = "./?.lua;" .. package.path
  return { table.unpack { 7 } }
]], 7)

-- Trust lifts all of it. A clone (each worker has one) and a copy of the file are as free or confined as what they come from.
local free = "return { os.getenv('PATH') and 1 or 0 }"
check.equal(iap.policy.load(saved(free), { trust = true }):act(state)[1], 1)
check.equal(iap.eval(saved(free), { episodes = 2, threads = 2, trust = true }).episodes[1].steps, 100)
check.fails({ "os.getenv is not available" }, iap.eval, saved(free), { episodes = 2, threads = 2 })
check.fails({ "os.getenv is not available" }, iap.eval, iap.policy.load(saved(free)), { episodes = 2, threads = 2 })
local loaded = iap.policy.load(saved(free))
local copy = os.tmpname()
loaded:save(copy)
check.fails({ copy .. ": ", "os.getenv is not available" }, function() iap.policy.load(copy):act(state) end)
check.equal(iap.policy.load(copy, { trust = true }):act(state)[1], 1)
-- So is a policy that is built anew from a confined one's blocks, and what its metadata says about the environment.
check.fails({ path .. ": ", "os.getenv is not available" }, function() iap.policy.build(loaded:blueprint(), pendulum):act(state) end)
-- What is loaded stays what it is.
check.fails({ "iap.eval: option 'trust' is true, but the policy is loaded already" }, iap.eval, loaded, { episodes = 1, trust = true })
check.fails({ "iap.report.strip: option 'trust' is true, but the policy is loaded already" }, iap.report.strip, { policy = loaded, out = "x.png", trust = true })
check.fails({ "iap.policy.load: option 'trust' must be true or false" }, iap.policy.load, path, { trust = 1 })
check.fails({ "iap.policy.load: unknown option 'trusted'; did you mean 'trust'?" }, iap.policy.load, path, { trusted = true })

local spying = [[return function(options)
  local self = { spec = { action_size = 1, vector = 3, max_steps = 5 } }
  function self:reset() self.seen = os.getenv("PATH") and 1 or 0 end
  function self:step() return self.seen end
  function self:observe() return { 0, 0, 0 } end
  return self
end]]
local spy = iap.env.make { name = "spy.lua", source = spying }
check.equal(spy:reset(1).vector[1], 0)
iap.policy.build(iap.policy.linear {}, spy):save(path)
check.fails({ path .. ": spy.lua:3: os.getenv is not available" }, iap.eval, path, { episodes = 1 })
check.equal(iap.eval(path, { episodes = 1, trust = true }).mean, 5)
local from_file = iap.env.make(iap.policy.load(path):metadata().env)
check.fails({ path .. ": spy.lua:3: os.getenv is not available" }, from_file.reset, from_file, 1)
for _, name in ipairs { "strip", "importance", "video" } do
  check.fails({ "iap.report." .. name .. ": option 'trust' must be true or false" }, iap.report[name], { policy = path, out = "x.png", trust = 1 })
end

-- Nor does a run that somebody handed over, when a script of one's own goes on with it: what differs is compared, not run.
local run, mark = os.tmpname(), os.tmpname()
os.remove(run)
os.remove(mark)
local function resume(text, more)
  return iap.train {
    env = { name = "spy.lua", source = text }, policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 },
    iterations = 1, eval_episodes = 1, quiet = true, out = run, resume = more,
  }
end
resume(("local file = io.open('%s', 'w') if file then file:close() end "):format(mark) .. spying)
assert(os.remove(mark))
check.fails({ "cannot resume '" .. run .. "' with other settings" }, resume, spying, true)
check.equal(io.open(mark), nil)
for _, name in ipairs { "checkpoint.iap", "checkpoint.previous.iap", "config.json", "metrics.csv", "best.iap", "final.iap", "result.json", "log.txt" } do
  os.remove(run .. "/" .. name)
end
os.remove(run)

-- A file that names Lua on the disk without holding it gets nothing from there.
loaded:save(copy, { env = { name = folder .. "/pendulum.lua", source = "" } })
check.forge(copy, '"source":""', '"sourcE":""')
check.fails({ "names the Lua file '" .. folder .. "/pendulum.lua' but does not hold its text" }, iap.eval, copy, { episodes = 1 })

-- Nothing of this concerns what a script names itself.
check.equal(iap.policy.build(iap.policy.script { file = "probe.lua", source = "return function() return { parameters = 0, outputs = 1, forward = function() " .. free .. " end } end" }, pendulum):act(state)[1], 1)

-- Whatever describes what came out of a file holds nothing that a terminal would obey, in a stock interpreter, too.
local steering = "\27]0;pwn\7\u{202E}"
local odd = { name = steering .. ".lua", source = ([[
return function()
  local env = { spec = { action_size = 1, max_steps = 3, images = { [NAME] = { height = 4, width = 4, channels = 1, type = "float32" } } } }
  function env:reset() end
  function env:step() return 0 end
  function env:observe() return nil, { [NAME] = string.pack("f", 0 / 0):rep(16) } end
  return env
end]]):gsub("NAME", ("%q"):format(steering)) }
local silent = "return function() return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end"
iap.policy.build(iap.policy.script { file = steering .. ".lua", source = silent }, odd):save(path)
local strange = iap.policy.load(path)
local strange_env = iap.env.make(strange:metadata().env)
local _, report, rules = iap.env.check(strange_env, { episodes = 1, steps = 2 })
local shown = { tostring(strange), strange:summary(), tostring(strange:blueprint()), tostring(strange_env), report,
                select(2, pcall(strange.act, strange, {})), select(2, pcall(iap.env.make, steering)) }
for _, rule in ipairs(rules) do shown[#shown + 1] = rule.finding end
for _, text in ipairs(shown) do
  assert(not text:find "[\0-\8\11-\31\127]" and not text:find("\u{202E}", 1, true), ("%q"):format(text))
end
assert(tostring(strange_env):find("env '?]0;pwn??.lua'", 1, true) and report:find("image '?]0;pwn??'", 1, true), report)

-- Lists that a block is given are as long as they are: they count as lists, and those of steps gone by are collected.
local wide = [[return function(_, shapes)
  local n = 196608
  return { parameters = shapes.last and 0 or n, outputs = shapes.last and 1 or n, forward = function(_, w, x) return shapes.last and { x[n] } or w end }
end]]
local function part(name) return iap.policy.script { file = name, source = wide } end
local widest = iap.policy.build(iap.policy.sequence { part "wide.lua", part "narrow.lua" }, pendulum)
widest:initialise(1)
widest:save(path)
local narrow = iap.policy.load(path)
local last = widest:act(state)[1]
for _ = 1, 60 do check.equal(narrow:act(state)[1], last) end

-- A file written by 0.1.0 before any of this: same returns, but for the last bits of another C library's sine.
local old = iap.eval(folder .. "/../../data/policy/lua_block_and_env.iap", { episodes = 2, seed = 1 })
check.close(old.episodes[1].total, -24.988238080588438, 1e-9)
check.close(old.episodes[2].total, -24.493080823525112, 1e-9)
os.remove(path)
os.remove(copy)
