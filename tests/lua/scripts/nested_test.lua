-- Names in the tables inside the options of what is written in Lua: slips are told, and what a file reads in whatever way is sound.
local check = require "check"
local iap = require "iap"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir '" .. folder .. "'"))
local written = 0
local function write(text)
  written = written + 1
  local path = folder .. "/" .. written .. ".lua"
  assert(io.open(path, "w")):write(text):close()
  return path
end

-- The world of a file whose function begins with `body` and whose observation is `seen`.
local function world(body, seen)
  return write("return function(options)\n" .. body .. [[

    local self = { spec = { action_size = 1, vector = 1 } }
    function self:reset() end
    function self:step() return 0 end
    function self:observe() return { ]] .. (seen or "0") .. [[ } end
    return self
  end]])
end
local function sees(expected, file, options)
  check.equal(iap.env.make(file, options):reset(1).vector[1], expected)
end

local strength = world("local k = (options.physics or {}).strength or 1", "k")
sees(3, strength, { physics = { strength = 3 } })
sees(1, strength, { physics = {} })
check.fails({ "environment '" .. strength .. "': unknown option 'physics.strenght'; did you mean 'physics.strength'?" }, iap.env.make, strength,
  { physics = { strenght = 3 } })
-- Nobody writes an option twice.
sees(1, strength, { physics = { strength = 1, strengt = 3 } })
-- What is no slip of anything may be a remark.
sees(1, strength, { physics = { note = 3 } })
local deep = world("local k = options.tasks[1].load.mass or 1", "k")
sees(2, deep, { tasks = { { load = { mass = 2 } } } })
check.fails({ "unknown option 'tasks.1.load.maas'; did you mean 'tasks.1.load.mass'?" }, iap.env.make, deep, { tasks = { { load = { maas = 2 } } } })

-- The first and the last letter, case, digits that were added, and names that are none of Lua's.
for _, slip in ipairs { "strengtg", "atrength", "Strength", "STRENGTH", "STRENGHT", "strength1", "strngth", "strengths", "strength_" } do
  check.fails({ "unknown option 'physics." .. slip .. "'; did you mean 'physics.strength'?" }, iap.env.make, strength, { physics = { [slip] = 3 } })
end
local dashes = world([[local physics = options.physics
  local k = (physics["max-speed"] or 10) + (physics["härte"] or 1) ]], "k")
sees(5, dashes, { physics = { ["max-speed"] = 4 } })
for slip, meant in pairs { ["max-sped"] = "max-speed", ["max_speed"] = "max-speed", ["härt"] = "härte", ["Härte"] = "härte" } do
  check.fails({ "unknown option 'physics." .. slip .. "'; did you mean 'physics." .. meant .. "'?" }, iap.env.make, dashes, { physics = { [slip] = 3 } })
end

-- What stands beside each other on purpose may also stand alone.
local function alone(wanted, given)
  local file = world("local k = options.limits." .. wanted .. " or 1", "k")
  sees(3, file, { limits = { [wanted] = 3 } })
  sees(1, file, { limits = { [given] = 3 } })
end
for _, pair in ipairs { "gain1 gain2", "gain1 gain12", "damping damping_y", "hip_l hip_r", "xpos ypos", "pos_x_low pos_z_low", "kp kd", "kp_pos kd_pos",
  "max_speed min_speed", "maximum minimum", "speedmax speedmin", "x_max x_mean", "far_plane near_plane", "row_count col_count", "fwd_gain bwd_gain",
  "upper_limit lower_limit", "stop_angle start_angle", "knee_stiffness hip_stiffness", "left_knee left_heel", "thigh_length calf_length" } do
  local one, other = pair:match("(%S+) (%S+)")
  alone(one, other)
  alone(other, one)
end

-- Names that are made, found by a loop, or read later.
local gains = { gains = { shoulders = 3 } }
sees(4, world("local k = 0\nfor _, joint in ipairs(options.joints) do k = k + (options.gains[joint] or 1) end", "k"),
  { joints = { "shoulder", "shoulders" }, gains = { shoulders = 3 } })
sees(3, world("local k = options.gains.shoulder or 0\nfor _, gain in pairs(options.gains) do k = k + gain end", "k"), gains)
sees(3, world("local k = options.gains.shoulder or 0\nfor _, gain in next, options.gains do k = k + gain end", "k"), gains)
sees(3, world("local k = options.gains.shoulder or 0\nk = rawget(options.gains, 'shoulder' .. 's')", "k"), gains)
sees(3, world("local gains = setmetatable(options.gains, { __index = { shoulder = 0 } })\nlocal k = gains.shoulder + gains['shoulder' .. 's']", "k"),
  gains)
sees(3, world("local gains, absent = options.gains, options.gains.shoulder", "gains.shoulders"), gains)
sees(4, world("local k = options.gains.right_knee_y or 1", "k + options.gains[#'x' == 1 and 'right_knee_' .. 'x']"), { gains = { right_knee_x = 3 } })
sees(4, world("local k = options.gains.layer1 or 1", "k + options.gains['layer' .. 2]"), { gains = { layer2 = 3 } })
sees(3, world("local k = options.gains.shoulder or 0\npcall(function() for _, gain in pairs(options.gains) do k = k + gain end end)", "k"), gains)
check.fails({ "did you mean 'physics.strength'?" }, iap.env.make,
  world("local p = options.physics\np.strength = p.strength or 1\nlocal k = p.strength", "k"), { physics = { strenght = 3 } })
-- Of two withheld the one that is read by a name that is made is none.
check.fails({ "unknown option 'gains.elbw'" }, iap.env.make,
  world("local g = options.gains\nlocal k = (g.shoulder or 0) + (g.elbow or 0) + g['shoulder' .. 's']", "k"), { gains = { shoulders = 3, elbw = 1 } })
sees(3, world("local p = options.gains", "p['damping_' .. 'y'] + p.damping"), { gains = { damping = 1, damping_y = 2 } })
-- However many tables there are, all are judged; so many unknown names are data.
local rocks, wide = {}, world("local k = 0\nfor _, rock in pairs(options.rocks) do k = k + (rock.width or 1) end", "k")
for i = 1, 900 do rocks["rock_" .. i] = { width = 1 } end
rocks.rock_700 = { widht = 3 }
check.fails({ "unknown option 'rocks.rock_700.widht'; did you mean 'rocks.rock_700.width'?" }, iap.env.make, wide, { rocks = rocks })
for i = 901, 1500 do rocks["rock_" .. i] = { width = 1 } end
sees(1500, wide, { rocks = rocks })
local many = {}
for i = 1, 2000 do many[i] = { width = 1 } end
many[1700] = { widht = 3 }
check.fails({ "unknown option 'rocks.1700.widht'" }, iap.env.make, wide, { rocks = many })
-- Tables stay what they are: they can be handed on, changed, measured and asked for a metatable.
sees(7, world([[
  local plain, list = options.plain, options.list
  assert(plain.absent == nil and rawlen(list) == 3 and #list == 3 and next(plain) == "a" and table.unpack(list) == 1)
  plain.more, list[#list + 1] = 2, 4
  local k = plain.a + plain.more + #list]], "getmetatable(plain) == nil and k"), { plain = { a = 1 }, list = { 1, 2, 3 } })

-- Plain tables are plain for whoever copies, merges or checks them, and so they are in what is stored.
local merged = write [[
  local function is_plain(t) return type(t) == "table" and getmetatable(t) == nil and debug.getmetatable(t) == nil end
  local function merge(base, over)
    local out = {}
    for k, v in pairs(base) do out[k] = v end
    for k, v in pairs(over) do
      if is_plain(v) and is_plain(out[k]) then out[k] = merge(out[k], v) else out[k] = v end
    end
    return out
  end
  return function(options)
    assert(is_plain(options.physics), "physics must be a plain table")
    local absent = options.physics.strength
    local o = merge({ physics = { strength = 1, friction = 2 } }, options)
    local self = { spec = { action_size = 1, vector = 1 } }
    function self:reset() end
    function self:step() return 0 end
    function self:observe() return { (o.physics.strength or 0) + (o.physics.friction or 0) } end
    return self
  end]]
sees(5, merged, { physics = { strength = 3 } })
sees(3, merged, { physics = { note = 3 } })
check.equal(iap.env.make(iap.env.make(merged, { physics = { note = 3 } }):spec().config):reset(1).vector[1], 3)
-- A copy that takes a metatable along.
check.fails({ "did you mean 'physics.strength'?" }, iap.env.make,
  world("local p = setmetatable({}, getmetatable(options.physics))\nlocal k = p.strength or options.physics.strength or 1", "k"), { physics = { strenght = 3 } })

-- A block's; what is stored goes on with what it has.
local block = write [[return function(options, shapes)
  local gain = (options.gains or {}).first or 1
  return { parameters = 0, outputs = 1, forward = function() return { gain } end }
end]]
local function policy(gains) return iap.policy.build(iap.policy.script { file = block, gains = gains }, "cartpole-balance") end
policy { first = 2 }
check.fails({ "unknown option 'gains.frist'; did you mean 'gains.first'?" }, policy, { frist = 2 })
local stored = iap.env.make(strength, { physics = { strength = 3 } }):spec().config
stored.physics = { strenght = 3 }
check.equal(iap.env.make(stored):reset(1).vector[1], 1)

os.execute("rm -r '" .. folder .. "'")
