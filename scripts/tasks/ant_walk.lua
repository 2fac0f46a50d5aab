-- A walker on four legs that is to walk ahead, along x, at the wanted speed: options.speed, in m/s.
local iap = require "iap"
local legs = { "front_left", "back_left", "back_right", "front_right" }

return function(options)
  local speed = options.speed or 1.0
  local joints, names = {}, {}
  for _, leg in ipairs(legs) do
    for _, part in ipairs { "hip", "knee" } do joints[#joints + 1] = leg .. "_" .. part end
  end

  local task = { model = "ant.xml", camera = "behind", physics_steps = 5, max_steps = 400 }

  function task.reset(data, random)
    for _, joint in ipairs(joints) do data.qpos[joint] = random:uniform(-0.1, 0.1) end
    data.qpos.root.z = 0.6
  end

  -- Fast enough and upright: a product, so that neither pays alone; a little for standing, to have something to begin with.
  function task.reward(data)
    local upright = iap.tolerance(data.body.torso.rotation.zz, { lower = 0.9, upper = 1, margin = 0.9, sigmoid = "linear", value_at_margin = 0 })
    local moving = iap.tolerance(data.sensor.velocity.x, { lower = speed, margin = speed, value_at_margin = 0, sigmoid = "linear" })
    return upright * (0.1 + 0.9 * moving)
  end

  function task.terminated(data) return data.body.torso.rotation.zz < 0.2 end -- it lies on its back

  function task.observe(data)
    local torso, seen = data.body.torso, {}
    local function add(value) seen[#seen + 1] = value end
    add(torso.position.z)
    for i = 7, 9 do add(torso.rotation[i]) end -- which way is up, seen from the trunk
    for i = 1, 6 do add(data.qvel.root[i]) end
    for _, joint in ipairs(joints) do add(data.qpos[joint]) end
    for _, joint in ipairs(joints) do add(data.qvel[joint] / 5) end
    for _, leg in ipairs(legs) do add(data:touching(leg .. "_foot", "floor") and 1 or 0) end
    return seen
  end

  for _, name in ipairs { "height", "up along x", "up along y", "up along z" } do names[#names + 1] = name end
  for _, name in ipairs { "x", "y", "z" } do names[#names + 1] = "speed along " .. name end
  for _, name in ipairs { "x", "y", "z" } do names[#names + 1] = "turning about " .. name end
  for _, kind in ipairs { "position of ", "velocity of " } do
    for _, joint in ipairs(joints) do names[#names + 1] = kind .. joint end
  end
  for _, leg in ipairs(legs) do names[#names + 1] = "touch of " .. leg .. "_foot" end
  task.state_names = names
  return task
end
