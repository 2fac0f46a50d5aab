-- Builds everything that takes options while `test.take_reads` notes what the readers ask for, and compares that with the reference: the
-- same names in both, with the same types, ranges, choices and defaults. Returns "" or what differs.
local iap = require "iap"
local attention, blocks, optim, report, legged = iap.attention, iap.policy, iap.optim, iap.report, iap.legged
local reference, wrong = _ENV.reference, {}
local function complain(...) table.insert(wrong, string.format(...)) end

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)
local function file(name, text)
  local path = folder .. "/" .. name
  local out = assert(io.open(path, "w"))
  out:write(text)
  out:close()
  return path
end

local seen = iap.env.make("cheetah-run", { pixels = { 64, 64 } })
local policy = blocks.build(blocks.sequence { attention.rank { patch = 8, top = 2 }, blocks.linear {} }, seen)
local run = folder .. "/run"
local script = file("env.lua", [[return function(options) return {
  spec = { action_size = 1, vector = 1, images = { pixels = { height = 4, width = 4 } } }, gain = options.gain,
  reset = function() end, step = function() return 0 end, observe = function() return { 0 }, { pixels = string.rep("a", 48) } end } end]])
local model = string.format("%q", [[<mujoco><option timestep=".01"/><worldbody><camera/><body><joint name="j" type="hinge"/><geom size=".1"/></body>
  </worldbody><actuator><motor joint="j" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]])
local task = file("task.lua", [[return function(options) return { reward = function() return 0 end, camera = options.own and 0,
  control_dt = options.own and .02, model = ]] .. model .. " } end")
local block = file("block.lua", [[return function() return { parameters = 1, outputs = 1, forward = function() return { 0 } end } end]])

-- Every case: the entry, the owner that readers name, and calls that together make them read everything.
local cases = {}
local function case(entry, owner, ...) table.insert(cases, { entry = entry, owner = owner, calls = { ... } }) end
local function given(f, ...)
  local arguments = table.pack(...)
  return function() return f(table.unpack(arguments, 1, arguments.n)) end
end

local kernels = {}
for _, row in ipairs(attention.kernels()) do
  table.insert(kernels, row.name)
end
local function eyes(name, also)
  local calls = {}
  for _, kernel in ipairs(kernels) do
    if name ~= "cross" or kernel ~= "softmax" then table.insert(calls, given(attention[name], { patch = 4, kernel = kernel })) end
  end
  for _, values in ipairs { "position", "content", "projection", "histogram", "convolution" } do
    table.insert(calls, given(attention[name], { patch = 4, values = values }))
  end
  table.insert(calls, given(attention[name], { patch = 4, encoding = "sinusoidal" }))
  for _, options in ipairs(also) do table.insert(calls, given(attention[name], options)) end
  case("iap.attention." .. name, "policy." .. name, table.unpack(calls))
end
eyes("rank", { { patch = 4, kernel = "exp", selection = "sample" } })
eyes("trans", { { patch = 4, compression = "random" } })
eyes("cross", { { patch = 4, ranking = "hash" }, { patch = 4, kernel = "exp", ranking = "sample" } })
do
  local calls = {}
  for _, values in ipairs { "position", "content", "projection", "histogram", "convolution" } do
    table.insert(calls, given(attention.look, { patch = 4, values = values, encoding = "sinusoidal" }))
  end
  case("iap.attention.look", "policy.look", table.unpack(calls))
end
case("iap.attention.key_database", "iap.attention.key_database", given(attention.key_database, { features = 2, capacity = 4, bits = 8, tree = true }))
case("key_database:sample", "key_database:sample", function()
  local database = attention.key_database { features = 1, capacity = 2, tree = true }
  database:insert { 1 }
  database:sample({ 1 }, 1, 0, {})
end)

for name, options in pairs {
  sequence = { blocks.linear { units = 1 } }, concat = { blocks.linear { units = 1 } }, observation = { numbers = { 1 } }, linear = {}, mlp = {}, lstm = {}, rnn = {},
  delta = {}, stack = {}, product = {}, normalise = {}, clock = { dt = 0.1 }, cnn = { layers = { { channels = 2, pool = 2 } } }, attention_agent = {},
  hierarchy = { high = blocks.linear { units = 3 }, low = blocks.linear {} }, mirror = { block = blocks.linear {} },
} do
  case("iap.policy." .. name, "policy." .. name, given(blocks[name], options))
end
case("policy.layer", "policy.cnn, layer 1", given(blocks.cnn, { layers = { { channels = 2, pool = 2 } } }))
case("iap.policy.script", "policy.script", given(blocks.script, { file = block }), given(blocks.script, { file = block, loaded_from = "x.iap", required_modules = {} }))
case("iap.policy.load", "iap.policy.load", function() pcall(blocks.load, "nothing", {}) end)
case("policy:resized", "policy:resized", function() policy:resized(seen, {}) end)

local ascents = { { optimizer = "adam" }, { optimizer = "sgd" }, { optimizer = "clipup" } }
for name, tables in pairs { es = ascents, pgpe = ascents, pepg = ascents, ars = { {} }, simple_ga = { {} }, cma_es = { {}, { target = 1 } }, sep_cma_es = { {}, { target = 1 } } } do
  local calls = {}
  for _, options in ipairs(tables) do table.insert(calls, given(optim[name], options)) end
  case("iap.optim." .. name, "optimizer", table.unpack(calls))
end
case("optim.plateau", "optimizer.plateau", given(optim.es, { plateau = {} }))
case("iap.optim.maximise", "iap.optim.maximise", given(optim.maximise, function() return 0 end, { initial = { 0 }, optimizer = optim.es {}, iterations = 1 }))

for _, row in ipairs(iap.env.list()) do
  local entry = "env." .. row.name
  if not reference.by_name[entry] then entry = "robots." .. row.name end
  local calls = { given(iap.env.make, row.name, { pixels = { 16, 16 }, state = true }) }
  if row.name == "car-racing" then table.insert(calls, function() pcall(iap.env.make, row.name, { modification = "video", frames = "nothing" }) end) end
  if row.name == "take-cover" then table.insert(calls, function() pcall(iap.env.make, row.name, { wad = "nothing" }) end) end
  if row.name == "legged" then table.insert(calls, function() pcall(iap.env.make, row.name, { urdf = "nothing" }) end) end
  if row.name == "a1-indoor" then table.insert(calls, function() pcall(iap.env.make, row.name, { scene = "nothing" }) end) end
  if row.name:find "^a1" then
    table.insert(calls, given(iap.env.make, row.name, { frequency = { 1, 2 }, intensity = { 0, 1 }, height = { 0, 0 }, ratio = { 1, 2 } }))
  end
  case(entry, "environment '" .. row.name .. "'", table.unpack(calls))
end
local all = { difficulty = "easy", background = {}, camera = {}, colour = {}, noise = {} }
local distracted = given(iap.env.make, "cheetah-run", { pixels = { 8, 8 }, distraction = all })
case("env.render", "environment 'cheetah-run': render", distracted)
case("env.distraction", "environment 'cheetah-run': distraction", distracted)
for _, part in ipairs { "background", "camera", "colour", "noise" } do
  case("env.distraction." .. part, "environment 'cheetah-run': distraction." .. part, distracted)
end
case("iap.env.check", "iap.env.check", given(iap.env.check, "cartpole-balance", { steps = 1, episodes = 1 }))
case("task.spec", script .. ": spec", given(iap.env.make, script, { gain = 1 }))
case("task.image", script .. ": spec.images.pixels", given(iap.env.make, script, { gain = 1 }))
case("task.table", task, given(iap.env.make, task), given(iap.env.make, task, { own = true }))

local short = { env = "cartpole-balance", policy = blocks.linear {}, optimizer = optim.es { population = 2 }, iterations = 1, eval_episodes = 1,
  confirm_episodes = 0, threads = 1, quiet = true, curriculum = { { through = 1, episodes = 1, population = 2, time_limit = 1 } } }
local function training(also)
  local options = {}
  for key, value in pairs(short) do options[key] = value end
  for key, value in pairs(also) do options[key] = value end
  return given(iap.train, options)
end
case("train", "train", training {})
case("train.stage", "train: option 'curriculum', stage 1", training {})
case("iap.eval", "iap.eval", given(iap.eval, policy, { episodes = 1, threads = 1, env = iap.env.make("cheetah-run", { pixels = { 64, 64 }, time_limit = 1 }) }))
case("iap.options", "iap.options", given(iap.options, {}, { training = false }))
case("iap.run_folder", "iap.run_folder", given(iap.run_folder, "runs/x", {}))

local brief = { policy = policy, env = iap.env.make("cheetah-run", { pixels = { 64, 64 }, time_limit = 3 }) }
local function shown(f, also)
  local options = { policy = brief.policy, env = brief.env }
  for key, value in pairs(also) do options[key] = value end
  return given(f, options)
end
case("iap.report.strip", "iap.report.strip", shown(report.strip, { out = folder .. "/a.png", frames = 1 }))
case("iap.report.video", "iap.report.video", shown(report.video, { out = folder .. "/a.webp" }))
case("iap.report.importance", "iap.report.importance", shown(report.importance, { out = folder .. "/b.png", episodes = 1 }))
case("iap.report.probe", "iap.report.probe", shown(function(options) pcall(report.probe, options) end, { episodes = 3, ridge = 1, threads = 1 }))
case("iap.report.html", "iap.report.html", function() pcall(report.html, { runs = run }) end)
local lines = given(report.line_chart, { out = folder .. "/c.png", series = { { x = { 1, 2 }, y = { 1, 2 } } } })
local bars = given(report.bar_chart, { out = folder .. "/d.png", bars = { { label = "a", value = 1 } } })
local maps = given(report.heat_maps, { out = folder .. "/e.png", x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 1 }, panels = { { rows = { { 1 } } } } })
local function compared() pcall(report.compare, { out = folder .. "/f.png", groups = { { label = "a", runs = { run } } } }) end
case("iap.report.line_chart", "iap.report.line_chart", lines)
case("report.series", "iap.report.line_chart: series 1", lines)
case("iap.report.bar_chart", "iap.report.bar_chart", bars)
case("report.bar", "iap.report.bar_chart: bar 1", bars)
case("iap.report.heat_maps", "iap.report.heat_maps", maps)
case("report.panel", "iap.report.heat_maps: panel 1", maps)
case("iap.report.compare", "iap.report.compare", compared)
case("report.group", "iap.report.compare: group 1", compared)

local function features(f, ...)
  local calls = {}
  for _, kind in ipairs { "exp", "favor++", "trig", "hybrid" } do
    local arguments = table.pack(...)
    arguments[arguments.n + 1] = { kind = kind }
    table.insert(calls, function() return f(table.unpack(arguments, 1, arguments.n + 1)) end)
  end
  return table.unpack(calls)
end
case("iap.theory.mse", "iap.theory.mse", features(iap.theory.mse, { 0.1 }, { 0.2 }))
case("iap.theory.feature_map", "iap.theory.feature_map", features(iap.theory.feature_map, { 0.1 }))
case("iap.theory.estimate", "iap.theory.estimate", features(iap.theory.estimate, { 0.1 }, { 0.2 }))

case("iap.legged.foot_placement", "iap.legged.foot_placement", given(legged.foot_placement, { hip = { 0, 0, 0 }, height = 0.4 }))
case("iap.legged.trajectory_generator", "iap.legged.trajectory_generator", given(legged.trajectory_generator, {}))
case("trajectory_generator:step", "trajectory_generator:step", function() legged.trajectory_generator({}):step(0.01, {}) end)
case("iap.legged.gait", "iap.legged.gait", given(legged.gait, {}))
case("iap.legged.stance", "iap.legged.stance", given(legged.stance, { robot = "a1" }))
local function solve()
  local feet = { { 0.2, -0.1, -0.3 }, { 0.2, 0.1, -0.3 }, { -0.2, -0.1, -0.3 }, { -0.2, 0.1, -0.3 } }
  legged.stance({ robot = "a1" }):solve { position = { 0, 0, 0.3 }, feet = feet, goal = { height = 0.3 } }
end
case("stance:solve", "stance:solve", solve)
case("legged.goal", "stance:solve: goal", solve)

-- Not read by Options, but by loops of their own, which other tests look at (help_test.lua, task_test.lua).
local read_otherwise = { ["iap.tolerance"] = true, ["task.env"] = true, ["task.block"] = true, ["iap.train"] = true, ["iap.env.make"] = true }
local functions_of_tasks = { reward = true, reset = true, terminated = true, observe = true }
-- What readers know before they begin.
local implied = { kind = true, name = true, model_files = true, required_modules = true, source = true, loaded_from = true }
-- Their range follows from the environment.
local ranges_follow = { time_limit = true, camera = true }
-- A number that no option reaches.
local far = 1e7

local function parts_of(type)
  local set = {}
  for part in (type .. "|"):gmatch "(.-)|" do set[part] = true end
  return set
end

local function same(a, b)
  if type(a) == "number" and type(b) == "number" then return math.abs(a - b) <= 1e-5 * math.max(math.abs(a), math.abs(b)) end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do if not same(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end

local function compare_type(where, option, read)
  local parts, quoted = parts_of(option.type), {}
  for part in pairs(parts) do quoted[part:match '^"(.*)"$' or false] = true end
  quoted[false] = nil
  local fits = read.type == "any" or (read.type == "integers" and parts["integer[]"]) or (read.type == "list" and option.type:find("[]", 1, true)) or
    parts[read.type] or (read.type == "string" and next(quoted))
  if not fits then complain("%s: is read as %s, the reference says %s", where, read.type, option.type) end
  if read.names and next(quoted) then
    local names = {}
    for _, name in ipairs(read.names) do names[name] = true end
    for name in pairs(names) do if not quoted[name] then complain("%s: may be '%s', which the reference does not say", where, name) end end
    for name in pairs(quoted) do if not names[name] then complain("%s: may not be '%s', as the reference says", where, name) end end
  end
end

local function compare_range(where, option, read)
  if read.type ~= "number" and read.type ~= "integer" then return end
  if not option.low and (read.low or read.high) then complain("%s: the reference lacks the range %s..%s", where, read.low, read.high) end
  for end_name, text in pairs { low = option.low, high = option.high } do
    local number, bound = tonumber(text), read[end_name]
    local named = text ~= "" and not number -- another option
    local open = text == "" and (not bound or math.abs(bound) >= far)
    if not (named or open or (number and bound and same(number, bound))) then
      complain("%s: the %s end of its range is %s, the reference says '%s'", where, end_name, bound, text)
    elseif number and (end_name == "low" and number < bound or end_name == "high" and number > bound) then
      complain("%s: the reference's %s, rounded from %s, is refused", where, text, bound)
    end
  end
end

local function compare_default(where, option, read, names)
  local text = option.default
  if not text then
    if read.fallback ~= nil then complain("%s: falls back to %s, which the reference does not say", where, tostring(read.fallback)) end
    return
  end
  if text:find "^%(" or text:find "^iap[.]" or names[text] then return end
  local chunk = load("return " .. text)
  local value = chunk and chunk()
  if value == nil then return complain("%s: '%s' is no Lua value; write it in parentheses", where, text) end
  if read.fallback ~= nil and not same(value, read.fallback) then
    complain("%s: falls back to %s, the reference says %s", where, tostring(read.fallback), text)
  elseif read.fallback == nil and (read.type == "number" or read.type == "boolean" or read.type == "string") then
    complain("%s: has no fallback, the reference says %s", where, text)
  end
end

local looked_at = {}
local function look_at(entry)
  looked_at[entry.name] = true
  for _, use in ipairs(entry.uses) do look_at(reference.by_name[use]) end
end

for _, one in ipairs(cases) do
  local entry = reference.by_name[one.entry]
  if not entry then error("the reference has no " .. one.entry) end
  look_at(entry)
  local documented, names = {}, {}
  for _, option in ipairs(reference.options_of(entry)) do documented[option.name], names[option.name] = option, true end
  local asked = {}
  for number, call in ipairs(one.calls) do
    test.take_reads()
    local ok, message = pcall(call)
    if not ok then complain("%s: call %d fails: %s", one.entry, number, message) end
    for _, read in ipairs(test.take_reads()) do
      if read.owner == one.owner then
        asked[read.key] = true
        local option, where = documented[read.key], one.entry .. ", option '" .. read.key .. "'"
        if option then
          compare_type(where, option, read)
          if not ranges_follow[read.key] then compare_range(where, option, read) end
          compare_default(where, option, read, names)
        elseif not implied[read.key] then
          complain("%s: the reference does not have it", where)
        end
      end
    end
  end
  for name in pairs(documented) do
    if not asked[name] and not (one.entry == "task.table" and functions_of_tasks[name]) then complain("%s: nobody reads the option '%s' of the reference", one.entry, name) end
  end
end
for _, entry in ipairs(reference.entries) do
  if #entry.options + #entry.uses > 0 and not looked_at[entry.name] and not read_otherwise[entry.name] then
    complain("%s: this test does not look at its options", entry.name)
  end
end
os.execute("rm -r " .. folder)
return table.concat(wrong, "\n")
