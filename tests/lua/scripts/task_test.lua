-- MuJoCo tasks in Lua: what they read and write, against closed forms, the suite's own task and the rules of environments.
local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

-- A ball on a rail under a motor of 2 to 6 newtons that weighs 2 kg, semi-implicit Euler: v += a h, then z += v h.
local ball = [[<mujoco><option timestep=".01"/><worldbody>
  <camera name="one" pos="0 -3 0" xyaxes="1 0 0 0 0 1"/><camera name="two" pos="0 -5 0" xyaxes="1 0 0 0 0 1"/>
  <body name="ball"><joint name="z" type="slide" axis="0 0 1"/><geom name="ball" size=".1" mass="2"/><site name="top" pos="0 0 .1"/></body>
  </worldbody><sensor><subtreelinvel name="speed" body="ball"/><jointpos name="height" joint="z"/></sensor>
  <actuator><motor name="push" joint="z" ctrllimited="true" ctrlrange="2 6"/></actuator></mujoco>]]

local function make(source, options)
  local all = { name = "made.lua", source = source }
  for key, value in pairs(options or {}) do all[key] = value end
  return iap.env.make(all)
end
local head = "local iap = require 'iap'\nlocal model = [==[" .. ball .. "]==]\n"

local env = make(head .. [[return { model = model, control_dt = 0.02, max_steps = 7,
  reset = function(data, random) data.qpos.z, data.qvel.z = 1, 0.5 end,
  reward = function(data)
    assert(data.body.ball.position.z == data.qpos.z and data.site.top.position[3] == data.qpos.z + 0.1)
    assert(data.geom.ball.position.z == data.qpos[1] and data.sensor.height == data.qpos.z and #data.qpos == 1)
    assert(math.abs(data.sensor.speed.z - data.qvel.z) < 1e-12 and data.body.ball.velocity.z == data.qvel.z)
    assert(data.body.ball.rotation.zz == 1 and data.body.ball.mass == 2 and data.body.ball.subtree_centre.z == data.qpos.z)
    assert(data.geom.ball.size[1] == 0.1 and data.joint.z.type == "slide" and not data.joint.z.limited)
    assert(#data.sensor == 4 and data.sensor[4] == data.sensor.height and #data.contacts == 0)
    return data.qpos.z + 1000 * data.ctrl.push + 1e6 * data.time
  end }]])
check.equal(env:spec().control_dt, 0.02)
check.same_list(env:spec().state_names, { "position of z", "velocity of z" })
check.equal(env:reset(1).vector[1], 1)
local z, v = 1, 0.5
for i, action in ipairs { -1, 1, 0, 0.5, 3, -0.25 } do
  local force = 4 + 2 * math.min(action, 1)
  for _ = 1, 2 do
    v = v + 0.01 * (force / 2 - 9.81)
    z = z + 0.01 * v
  end
  local reward, terminated, truncated = env:step { action }
  check.close(reward, z + 1000 * force + 1e6 * 0.02 * i, 1e-6)
  check.equal(terminated or truncated, false)
end
check.same_list({ select(2, env:step { 0 }) }, { false, true })

-- A background needs a sky to replace and a floor to shine through.
local function with_background(model)
  return make("return { model = [==[" .. model .. "]==], max_steps = 7, reset = function() end, reward = function() return 0 end }",
    { pixels = { 16, 16 }, distraction = { background = true } })
end
local under_sky = ball:gsub("<worldbody>",
  '<asset><texture type="skybox" builtin="gradient" rgb1="0 0 1" rgb2="1 1 1" width="16" height="96"/></asset><worldbody>', 1)
-- What only the picture has is nothing to sensors: neither a floor that cannot be seen nor a camera that was moved.
local watched = head:gsub("%[==%[.*%]==%]", function() return [==[ [[<mujoco><option timestep=".01"/><asset>
  <texture type="skybox" builtin="gradient" rgb1="1 1 1" rgb2="0 0 1" width="8" height="8"/><material name="grid" rgba=".5 .5 .5 1"/></asset>
  <worldbody><geom type="plane" size="3 3 .1" material="grid"/><body name="ball"><joint name="h" type="hinge" axis="0 0 1"/><geom size=".1" mass="1"/>
  <camera name="c" pos="0 1 1" xyaxes="1 0 0 0 0 1"/><site name="s" pos="0 0 1" xyaxes="1 0 0 0 -1 0"/></body></worldbody>
  <sensor><rangefinder site="s" name="range"/><framelinacc objtype="camera" objname="c" name="felt"/></sensor>
  <actuator><motor joint="h" ctrllimited="true" ctrlrange="-1 1" gear=".1"/></actuator></mujoco>]] ]==] end) .. [[
  return { model = model, camera = "c", physics_steps = 1, reset = function(data) data.qvel.h = 2 end,
    reward = function(data) return data.sensor.range + 10 * data.sensor.felt.y end }]]
local function rewards(distraction)
  local env, sum = make(watched, { pixels = { 8, 8 }, distraction = distraction }), {}
  for episode = 1, 2 do
    env:reset(3)
    for step = 1, 4 do
      sum[#sum + 1] = env:step { 0.5 }
      env:observe()
    end
  end
  return sum
end
check.same_list(rewards { difficulty = "hard", background = { count = 1, ground_alpha = 0 } }, rewards(false))

check.fails({ "made.lua", "distraction.background: the model has no sky", "background = false" }, with_background, ball)
check.fails({ "made.lua", "distraction.background: the model has no material 'grid'", "background = false" }, with_background, under_sky)

-- What a task ends; seeds; random is the engine's stream; math.random follows the seed, too.
local random = head .. [[local first
return function(options) return { model = model, max_steps = 0,
  reset = function(data, random)
    assert(random:uniform() >= 0 and random:uniform(2, 3) >= 2 and math.abs(random:normal(5, 0.001) - 5) < 0.1)
    local n = random:integer(4, 6)
    assert(n >= 4 and n <= 6)
    data.qpos.z = random:normal() + math.random()
  end,
  reward = function(data) return 0 end,
  terminated = function(data) return data.time > (options.seconds or 0.05) end,
  observe = function(data) return { data.qpos.z, 7 } end } end]]
env = make(random)
local first = env:reset(5).vector[1]
assert(first ~= env:reset(6).vector[1])
check.equal(env:reset(5).vector[1], first)
check.equal(make(random):reset(5).vector[1], first)
check.equal(env:spec().max_steps, 0)
local steps, ended = 0, false
repeat
  local _, terminated, truncated = env:step { 0 }
  steps, ended = steps + 1, terminated
  check.equal(truncated, false)
until ended
check.equal(steps, 6)
check.equal(make(random, { seconds = 0.025 }):spec().config.seconds, 0.025)
check.fails({ "unknown option 'secondes'; did you mean 'seconds'?" }, make, random, { secondes = 1 })
check.fails({ "made.lua: the episode has not begun or is over; call reset before step" }, env.step, env, { 0 })
check.fails({ "call reset before step" }, function() make(random):step { 0 } end)

-- An unstable simulation ends the episode, pays nothing and asks the task for nothing.
env = make(head .. [[return { model = model, reset = function(data) data.qvel.z = 1e11 end, reward = function() error("asked") end }]])
env:reset(1)
check.same_list({ env:step { 0 } }, { 0.0, true, false })

-- Options of every task.
check.equal(make(random, { pixels = { 16, 24 }, camera = "two" }):spec().config.camera, 1)
check.equal(make(random, { pixels = { 16, 24 }, state = true, action_repeat = 3 }):spec().observation.vector, 2)
check.fails({ "did you mean 'two'" }, make, random, { pixels = { 16, 24 }, camera = "tow" })
check.fails({ "'pixels' must be {height, width}" }, make, random, { pixels = { 16 } })

-- Free and ball joints are lists; writing one writes the simulation.
local free = [[local model = "<mujoco><worldbody><body name='a' pos='0 0 2'><freejoint name='root'/><geom name='skin' size='.1'/>" ..
  "<body name='b' pos='.3 0 0'><joint name='ball' type='ball'/><geom size='.1'/><geom name='mark' size='.01' contype='0' conaffinity='0'/></body></body>" ..
  "<geom name='floor' type='plane' size='1 1 1'/></worldbody><actuator><motor name='m' joint='ball' gear='1 0 0' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>"
return { model = model, reward = function(data) return 0 end, reset = function(data, random) BODY end, observe = OBSERVE }]]
local function with_free(body, observe)
  return make((free:gsub("BODY", (body:gsub("%%", "%%%%"))):gsub("OBSERVE", observe or "function(data) return {0} end")))
end
local function seen(body, expression) return with_free(body, "function(data) return " .. expression .. " end"):reset(3).vector end
check.same_list(seen("", "{#data.qpos.root, #data.qvel.root, #data.qpos.ball, #data.qvel.ball, #data.qpos, #data.qvel}"), { 7, 6, 4, 3, 11, 9 })
check.same_list(seen("data.qpos.root = {1, 2, 3, 0, 1, 0, 0}", "{table.unpack(data.qpos.root)}"), { 1, 2, 3, 0, 1, 0, 0 })
check.same_list(seen("data.qpos.root.x = 4; data.qpos.root[2] = 5", "{data.body.a.position.x, data.body.a.position.y, data.qpos.root.qw}"), { 4, 5, 1 })
check.same_list(seen("data.qvel.root = {0, 0, 0, 0, 0, 2}", "{data.body.a.angular_velocity.z, data.body.b.velocity.y}"), { 2, 0.6000000238418579 })
-- Velocities are the world's, also of a body that is turned, and those of the point: v + w x r.
local turned = [[return { model = "<mujoco><worldbody><body euler='0 0 90'><freejoint name='root'/><geom name='beside' pos='.25 .5 0' size='.1'/>" ..
  "<site name='across' pos='-.25 0 0'/></body><body name='turned' pos='2 0 0' euler='0 0 90'><freejoint name='free'/><geom size='.1'/></body>" ..
  "<body pos='9 0 0'><joint name='h'/><geom size='.1'/></body></worldbody><actuator><motor joint='h' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>",
  reset = function(data) data.qvel.root, data.qvel.free = {1, 0, 0, 0, 0, 2}, {1, 0, 0, 0, 0, 3} end, reward = function() return 0 end,
  observe = function(data) local seen = {}
    for _, what in ipairs { data.body.turned, data.geom.beside, data.site.across } do
      for i = 1, 3 do seen[#seen + 1] = what.velocity[i] end
    end
    return seen end }]]
for i, expected in ipairs { 1, 0, 0, 0.5, -1, 0, 1.5, 0, 0 } do check.close(make(turned):reset(1).vector[i], expected, 1e-6) end
check.same_list(seen("data.geom.mark.offset = {0, 0, 0.5}", "{data.geom.mark.position.z}"), { 2.5 })
local normal = seen("data:randomize_joints(random)", "{data.qpos.root.qw, data.qpos.root.qx, data.qpos.root.qy, data.qpos.root.qz}")
check.close(normal[1] ^ 2 + normal[2] ^ 2 + normal[3] ^ 2 + normal[4] ^ 2, 1, 1e-6)
-- An offset does not outlive its episode.
local moved = with_free("if random:uniform() > 0.5 then data.geom.mark.offset.z = 0.5 end", "function(data) return {data.geom.mark.position.z} end")
for seed = 1, 8 do check.equal(moved:reset(seed).vector[1], with_free("if random:uniform() > 0.5 then data.geom.mark.offset.z = 0.5 end",
  "function(data) return {data.geom.mark.position.z} end"):reset(seed).vector[1]) end
-- Nor does it reach the state from which the next one is made: what is read there, and what lies on the geom.
moved = with_free("data.qpos.root.z = data.geom.mark.position.z; data.geom.mark.offset.z = 1 + random:uniform()", "function(data) return {data.qpos.root.z} end")
for seed = 1, 3 do check.equal(moved:reset(seed).vector[1], 2) end
local block = [[return { model = "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 .1'/><geom name='block' type='box' pos='0 0 .1' size='.3 .3 .1'/>" ..
    "<body pos='0 0 .29'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/><geom size='.1' mass='1'/></body></worldbody>" ..
    "<actuator><motor joint='x' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>", control_dt = 0.02, max_steps = 20,
  reset = function(data, random) data.geom.block.offset.x = random:uniform(-1, 1); data:step(5) end,
  reward = function(data) return data.qpos.z end }]]
local function return_of(env, seed)
  env:reset(seed)
  local sum = 0
  for _ = 1, 5 do sum = sum + env:step { 0 } end
  return sum
end
local played = make(block)
for _, seed in ipairs { 1, 7, 2, 7, 3, 7, 4, 7, 5, 7, 6, 7 } do check.equal(return_of(played, seed), return_of(make(block), seed)) end
-- Contacts, by geoms and by bodies.
local lying = "data.qpos.root.z = 0.05; data:forward()"
check.same_list(seen(lying, [[{data:touching("skin", "floor") and 1 or 0, data:touching("floor", "b") and 1 or 0, data:touching("mark") and 1 or 0,
  #data.contacts, data.contacts[1].geom1 == "floor" and data.contacts[1].body2 == "a" and 1 or 0, -data.contacts[1].distance}]]), { 1, 1, 0, 2, 1, 0.05000000074505806 })

check.same_list(seen(lying, [[(function()
  local contact = data.contacts[2]
  return { contact.geom1 == "floor" and contact.geom2 == "" and 1 or 0, contact.body1 == "world" and contact.body2 == "b" and 1 or 0,
    #contact.position, contact.position[1], contact.force > 0 and 1 or 0 }
end)()]]), { 1, 1, 3, 0.30000001192092896, 1 })
check.same_list(seen(lying, [[(function()
  local contact, named, listed = data.contacts[2], 0, 0
  for _ in pairs(contact) do named = named + 1 end
  for _ in ipairs(contact.position) do listed = listed + 1 end
  local p = { table.unpack(contact.position) }
  return { named, listed, contact.position.x - p[1], contact.position.y - p[2], contact.position.z - p[3], contact.position[4] and 1 or 0 }
end)()]]), { 7, 3, 0, 0, 0, 0 })
check.same_list(seen("", "{data.joint.ball.limited and 1 or 0, data.joint.ball.low and 1 or 0, data.joint.root.high and 1 or 0}"), { 0, 0, 0 })
for expression, message in pairs {
  ["data.contacts[1].body_1"] = "a contact of data.contacts has no 'body_1'; did you mean 'body1'?",
  ["data.contacts[1].position.w"] = "the position of a contact has no 'w'",
  ["data.contacts[1].position[5]"] = "the position of a contact has the numbers 1 to 3, got a number (5)",
  ["data.contacts[1][1]"] = "a contact of data.contacts has named entries only, got a number (1)",
  ["data.joint.ball.hihg"] = "data.joint.NAME has no 'hihg'; did you mean 'high'?",
} do check.fails({ "made.lua:", message }, seen, lying, "{" .. expression .. "}") end
-- Many physics steps in one call are made in parts, which give the bits of as many calls, and of one step of the environment.
local rolling = [[return { model = [==[<mujoco><option timestep='.005'/><worldbody><geom name='floor' type='plane' size='5 5 .1'/>
    <body pos='0 0 .3'><freejoint/><site name='s'/><geom type='box' size='.1 .15 .2'/><geom type='box' pos='.2 0 .1' size='.1 .1 .1'/></body>
    <body pos='0 2 1'><joint name='j' axis='0 1 0'/><geom size='.1' pos='.2 0 0'/></body></worldbody><sensor><velocimeter site='s'/></sensor>
    <actuator><motor joint='j' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>]==], physics_steps = 400, RESET
  reward = function(data) return 0 end,
  observe = function(data)
    local bits = { #data.contacts }
    for i = 1, #data.qpos do
      for _, part in ipairs { string.unpack("<I2I2I2I2", string.pack("<d", data.qpos[i])) } do bits[#bits + 1] = part end
    end
    return bits
  end }]]
local function settled(body)
  return make((rolling:gsub("RESET", "reset = function(data) data.qvel[1], data.qvel[4] = 1, 3; data:forward() " .. body .. " end,")))
end
local whole = settled ""
whole:reset(1)
whole:step { 0 }
local after = whole:observe().vector
assert(after[1] > 0)
check.same_list(settled("data:step(400)"):reset(1).vector, after)
check.same_list(settled("for _ = 1, 400 do data:step() end"):reset(1).vector, after)
check.same_list(settled("data:step(123) data:step(277)"):reset(1).vector, after)
-- Of a stranger's, only as many as the steps of one call are worth.
local strange = whole:spec().config
strange.loaded_from = "some.iap"
check.same_list(iap.env.make(strange):reset(1).vector, whole:reset(1).vector)
strange.source = strange.source:gsub("data:forward%(%)", "%0 data:step(1000000)")
check.fails({ "some.iap: made.lua:", "took more than 300 million steps in one call" }, iap.env.make, strange)

-- Mistakes, each with one message that says where.
local function fails(parts, f, ...)
  check.fails(parts, f, ...)
  local _, message = pcall(f, ...)
  check.equal(select(2, message:gsub("\n", "")), 0)
end
local function run(source, options)
  return function()
    local made = make(source, options)
    made:reset(9)
    made:step { 0 }
    made:observe()
  end
end
local function task(entries) return head .. "return { model = model, reward = function(data) return 0 end, " .. entries .. " }" end
local function rewards(body) return head .. "return { model = model, reward = function(data)\n" .. body .. "\nend }" end
run(task(""))()
fails({ "made.lua:8: ", "has no joint 'y'", "at step 1 of the episode with seed 9" }, run(rewards("return data.qpos.y")))
fails({ "data has no 'qposs'; did you mean 'qpos'?" }, run(rewards("return data.qposs.z")))
fails({ "this model has no sensor 'sped'; did you mean 'speed'?" }, run(rewards("return data.sensor.sped.x")))
fails({ "data.sensor.speed has no 'q'" }, run(rewards("return data.sensor.speed.q")))
fails({ "data.sensor.speed has the numbers 1 to 3, got a number (5)" }, run(rewards("return data.sensor.speed[5]")))
fails({ "data.body.ball has no 'positoin'; did you mean 'position'?" }, run(rewards("return data.body.ball.positoin.x")))
fails({ "has no body 'bal'; did you mean 'ball'?" }, run(rewards("return data.body.bal.mass")))
fails({ "this model has no geom ''" }, run(rewards("return data.geom[''].position.z")))
fails({ "this model has no body 'ball?x'" }, run(rewards("return data.body['ball\\0x'].mass")))
fails({ "the model has no geom or body 'bal'; did you mean 'ball'?" }, run(rewards("return data:touching('bal') and 1 or 0")))
fails({ "the model has no geom or body ''; known: ball, world" }, run(rewards("return data:touching('ball', '') and 1 or 0")))
do
  -- Names that nobody would write do not fill the messages.
  local _, message = pcall(run((rewards("return data:touching('q') and 1 or 0"):gsub('geom name="ball"', 'geom name="' .. ("b"):rep(300) .. '"'))))
  assert(message:find("the model has no geom or body 'q'; known: world, ball", 1, true) and not message:find("bbb", 1, true), message)
end
fails({ "data.qpos.z can be written in reset alone" }, run(rewards("data.qpos.z = 1 return 0")))
fails({ "data:step: can be called in reset alone" }, run(rewards("data:step(1) return 0")))
fails({ "data.body.ball.position is computed and cannot be written" }, run(task("reset = function(data) data.body.ball.position = {1, 2, 3} end")))
fails({ "data.sensor.height is computed and cannot be written" }, run(task("reset = function(data) data.sensor.height = 1 end")))
fails({ "data.qpos.z must become a finite number, got a number (", "nan", "at the start of the episode with seed 9" },
  function() make(task("reset = function(data, random) if random:uniform() then data.qpos.z = 0 / 0 end end"), { state = true }):reset(9) end)
fails({ "made.lua:7: ", "random:uniform: low must be at most high, got 0.1 and -0.1", "of the episode with seed 9" },
  run(task("reset = function(data, random) data.qpos.z = random:uniform(0.1, -0.1) end")))
for draw, message in pairs {
  ["uniform(0 / 0)"] = "low, high and what lies between must be finite, got ", ["uniform(-1e308, 1e308)"] = "must be finite, got -1e+308 and 1e+308",
  ["uniform(0, math.huge)"] = "must be finite, got 0 and inf", ["normal(0, -1)"] = "deviation must be finite and not negative, got -1",
  ["normal(0 / 0)"] = "mean must be finite", ["normal(0, 0 / 0)"] = "deviation must be finite",
  ["integer(0, 2000000000)"] = "an integer in [0, 1000000000]",
} do
  fails({ "made.lua:7: ", "random:" .. draw:match("%a+"), message }, run(task("reset = function(data, random) random:" .. draw .. " end")))
end
fails({ "data.qpos cannot be replaced" }, run(task("reset = function(data) data.qpos = {1} end")))
fails({ "made.lua: reward must return a finite number, got nil at step 1 of the episode with seed 9" }, run(rewards("")))
fails({ "reward must return a finite number, got a number (", "nan" }, run(rewards("return 0 / 0")))
fails({ "terminated must return true or false, got a number (1)" }, run(task("terminated = function() return 1 end")))
fails({ "observe must return a list of at least one number, got nil" }, run(task("observe = function() end")))
-- Some keys far apart make a list of any length, for which no room is made.
local function far(length)
  return "local t = { 1, 1, 1, 1, 1, 1, 1, 1, 1 } t[17] = 1 for k = 4, 32 do t[1 << k] = 1 end for k = 0, 7 do t[" .. length .. " - k] = 1 end "
end
fails({ "observe must return a list of at most 16777216 numbers, got one of length 8589934592; fill it from 1 on" },
  run(task("observe = function() " .. far "(1 << 33)" .. "return t end")))
fails({ "observe must return a list of at most 16777216 numbers, got one of length 4294967297" },
  run(task("observe = function() " .. far "(1 << 32) + 1" .. "return t end")))
fails({ "data.qpos.root must become a list of 7 numbers, got 4294967303 values" }, with_free, far "(1 << 32) + 7" .. "data.qpos.root = t")
fails({ "what observe returns must be a list of 1 numbers, got 2 values at step 1 of the episode with seed 9" },
  run(task("observe = function(data) return data.time > 0 and {1, 2} or {1} end")))
fails({ "what observe returns must be finite numbers, got nothing" and "must be finite numbers" }, run(task("observe = function(data) return {0 / 0} end")))
fails({ "made.lua: a MuJoCo task has no entry 'rewrad'; did you mean 'reward'?" }, run(head .. "return { model = model, rewrad = print }"))
fails({ "must have a function 'reward', got nil" }, run(head .. "return { model = model }"))
fails({ "must have a function 'observe', got a number (3)" }, run(task("observe = 3")))
fails({ "made.lua: a MuJoCo task needs model = " }, run("return { reward = print }"))
fails({ "made.lua: the table that function(options) returns must have a table 'spec'" }, run("return {}"))
fails({ "option 'max_steps' must be" }, run(task("max_steps = -1")))
fails({ "option 'state_names'" }, run(task("state_names = { 'a', 'b', 'c' }")))
local comma = task(""):gsub('joint name="z"', 'joint name="left,z"'):gsub('joint="z"', 'joint="left,z"')
fails({ "made.lua: the state is named after the model's joints, and the name 'position of left,z' is empty or has a comma",
  "rename the joint in the MJCF, or give state_names or observe" }, run(comma))
fails({ "control_dt and physics_steps say the same thing" }, run(task("control_dt = 0.01, physics_steps = 1")))
fails({ "control_dt = 0.015 is no multiple of the model's timestep of 0.01 s" }, run(task("control_dt = 0.015")))
fails({ "made.lua: entry 'model': cannot read 'none.xml'" }, run("return { model = 'none.xml', reward = print }"))
fails({ "model.xml: MuJoCo cannot compile it: ", "line 1" }, run("return { model = \"<mujoco><worldbody><geom type='blob'/></worldbody></mujoco>\", reward = print }"))
fails({ "model.xml:2: cannot read 'none.stl'" }, run("return { model = \"<mujoco><asset>\\n<mesh file='none.stl'/></asset></mujoco>\", reward = print }"))
fails({ "the model has no actuator" }, run("return { model = '<mujoco><worldbody><geom size=\".1\"/></worldbody></mujoco>', reward = print }"))
fails({ "actuator 'push' has no control range", "ctrllimited=\"true\"" }, run((task(""):gsub("ctrllimited=\"true\" ctrlrange=\"2 6\"", ""))))
fails({ "the model has no camera; add <camera" }, run(free:gsub("BODY", ""):gsub("OBSERVE", "nil"), { pixels = { 8, 8 } }))
fails({ "iap has no 'train'", "tolerance" }, run(rewards("return iap.train")))

-- iap.tolerance, as in the suite's paper.
check.equal(iap.tolerance(0), 1)
check.equal(iap.tolerance(0.1), 0)
check.equal(iap.tolerance(3, { lower = 2 }), 1)
check.equal(iap.tolerance(1, { lower = 2 }), 0)
check.equal(iap.tolerance(-1e9, { upper = 2 }), 1)
check.close(iap.tolerance(1.5, { lower = 2, margin = 1, value_at_margin = 0.5, sigmoid = "linear" }), 0.75, 1e-12)
check.close(iap.tolerance(5, { lower = 1, upper = 3, margin = 2 }), 0.1, 1e-12)
check.close(iap.tolerance(4, { lower = 1, upper = 3, margin = 2 }), 0.1 ^ 0.25, 1e-12)
check.close(iap.tolerance(2, { margin = 1, sigmoid = "long_tail", value_at_margin = 0.25 }), 1 / 13, 1e-12)
fails({ "iap.tolerance: there is no sigmoid 'lineer'; did you mean 'linear'?" }, iap.tolerance, 1, { sigmoid = "lineer" })
fails({ "iap.tolerance: unknown option 'lowr'; did you mean 'lower'?" }, iap.tolerance, 1, { lowr = 2 })
fails({ "iap.tolerance: option 'margin' must be a number, got the string 'x'" }, iap.tolerance, 1, { margin = "x" })
fails({ "iap.tolerance: x is NaN" }, iap.tolerance, 0 / 0)
fails({ "the bounds must be numbers, got lower = -inf and upper = " }, iap.tolerance, 1, { upper = 0 / 0 })
fails({ "the lower bound 2 lies above the upper bound 1" }, iap.tolerance, 1, { lower = 2, upper = 1 })

-- The suite's cheetah, rewritten: the same bits.
local ours, theirs = iap.env.make(folder .. "/cheetah_task.lua"), iap.env.make("cheetah-run")
for seed = 1, 2 do
  check.same_list(ours:reset(seed).vector, theirs:reset(seed).vector)
  for i = 1, 60 do
    local action = {}
    for k = 1, 6 do action[k] = math.sin(i * k + seed) end
    check.equal((ours:step(action)), (theirs:step(action)))
  end
  check.same_list(ours:observe().vector, theirs:observe().vector)
end
local small = { pixels = { 32, 40 }, camera = "back" }
check.equal(iap.env.make(folder .. "/cheetah_task.lua", small):reset(1).images.pixels:bytes(), iap.env.make("cheetah-run", small):reset(1).images.pixels:bytes())

-- Seeded episodes of the tasks that ship, as they were when this was written: rewards and a weighted sum of what is seen at the end.
for name, golden in pairs { hopper_hop = { 3, 0, 54.778816 }, ant_walk = { 2, 3.158095, -26.028294 } } do
  local played = iap.env.make(folder .. "/../../../scripts/tasks/" .. name .. ".lua")
  played:reset(golden[1])
  local sum, seen = 0, 0
  for i = 1, 25 do
    local action = {}
    for k = 1, played:spec().action_size do action[k] = math.sin(i * k) end
    sum = sum + played:step(action)
  end
  for i, value in ipairs(played:observe().vector) do seen = seen + i * value end
  check.close(sum, golden[2], 1e-3)
  check.close(seen, golden[3], 1e-2)
end

-- The rules of environments hold for the tasks that ship, whoever plays them.
local shipped = folder .. "/../../../scripts/tasks"
for _, name in ipairs { "hopper_hop", "ant_walk" } do
  local path = shipped .. "/" .. name .. ".lua"
  check.equal(iap.env.check(path, 300), true)
  check.equal(iap.env.check({ name = path, pixels = { 24, 32 }, state = true, action_repeat = 2, distraction = "easy" }, 40), true)
  -- A second episode is what it is in a fresh environment.
  local used, fresh = iap.env.make(path), iap.env.make(path)
  local zeros = {}
  for i = 1, used:spec().action_size do zeros[i] = 0.3 * (-1) ^ i end
  used:reset(1)
  for _ = 1, 50 do used:step(zeros) end
  check.same_list(used:reset(2).vector, fresh:reset(2).vector)
  for _ = 1, 20 do check.equal((used:step(zeros)), (fresh:step(zeros))) end
  check.same_list(used:observe().vector, fresh:observe().vector)
  -- From its config alone, elsewhere.
  local config = used:spec().config
  assert(config.model_files["look.xml"])
  config.name = "elsewhere/" .. name .. ".lua"
  check.same_list(iap.env.make(config):reset(2).vector, fresh:reset(2).vector)
end

-- A model's file may be longer than any string of Lua out of a file, which is not shown it.
local corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n#"
local scanned = iap.env.make {
  name = "scanned.lua",
  source = [[return function(options)
    for name in pairs(options) do assert(name == "name", name) end
    return { model = "m.xml", max_steps = 5, reward = function() return 2 end }
  end]],
  model_files = {
    ["m.xml"] = [[<mujoco><asset><mesh name="m" file="scan.obj"/></asset><worldbody><body><joint name="h"/><geom type="mesh" mesh="m"/>
      </body></worldbody><actuator><motor joint="h" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]],
    ["scan.obj"] = corners .. ("x"):rep(17 << 20),
  },
  loaded_from = "scanned.iap",
}
scanned:reset(1)
check.equal((scanned:step { 0 }), 2)

-- Two boxes on a floor with room for one of them: the second would fall through it.
local crowded = [[<mujoco><size nconmax="4"/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 .11"><freejoint/><geom type="box" size=".1 .1 .1"/></body><body pos=".3 0 .12"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body pos="0 0 3"><joint name="h"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="h" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]]
local crowd = make("return { model = [==[" .. crowded .. "]==], control_dt = 0.01, reward = function() return 1 end }")
crowd:reset(1)
local paid, over, steps = 0, false, 0
while not over and steps < 100 do
  local reward, terminated = crowd:step { 0 }
  paid, over, steps = paid + reward, terminated, steps + 1
end
check.equal(over, true)
check.equal(paid, steps - 1)
local kept, report = iap.env.check(crowd, { steps = 100, episodes = 1 })
check.equal(kept, false)
check.equal(report:match("FAILED   (%S+)"), "stability")
check.equal(report:match("give it more by (<size[^>]*>)"), '<size nconmax="..." njmax="..."/>')

-- What iap fills in of a task's options its function would read elsewhere alone.
local reader = os.tmpname()
assert(os.rename(reader, reader .. ".lua"))
reader = reader .. ".lua"
for _, name in ipairs { "state", "render", "camera", "time_limit", "action_repeat" } do
  local file = assert(io.open(reader, "w"))
  file:write("return function(o) local read = o.", name, " return { model = [==[", ball, "]==], reward = function() return 0 end } end")
  file:close()
  check.fails({ reader .. ": function(options): option '" .. name .. "' is read and was not given" }, iap.env.make, reader)
end
iap.env.make(reader, { action_repeat = 2 })

-- Of what a task's table inherits functions alone are found; stored texts act as they did.
local inherited = "local base = { control_dt = 0.02, max_steps = 3, reward = function() return 7 end }\n" ..
  "return setmetatable({ model = [==[" .. ball .. "]==] }, { __index = base })"
local file = assert(io.open(reader, "w"))
file:write(inherited)
file:close()
check.fails({ reader .. ": entry 'control_dt' comes through the table's metatable (__index)", "write it into the table itself" }, iap.env.make, reader)
local stored = make(inherited)
check.equal(stored:spec().max_steps, 1000)
stored:reset(1)
check.equal((stored:step { 0 }), 7)
file = assert(io.open(reader, "w"))
file:write((inherited:gsub("control_dt = 0.02, max_steps = 3", "terminate = function() return true end")))
file:close()
check.fails({ reader .. ": the table that function(options) returns has a function 'terminate', which nothing uses; did you mean 'terminated'?" }, iap.env.make, reader)
os.remove(reader)
