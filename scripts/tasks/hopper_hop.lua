-- DM Control's hopper-hop (Tassa et al. 2018): hop ahead at 2 m/s or faster, with the torso high above the foot. Its reward, its
-- episodes of 20 s and its initial states, on our own writing of its model.
local iap = require "iap"
local joints = { "rootz", "rooty", "waist", "hip", "knee", "ankle" }

local function observe(data)
  -- All but where it is along the way: hopping should not depend on that.
  local seen = {}
  for _, joint in ipairs(joints) do seen[#seen + 1] = data.qpos[joint] end
  seen[#seen + 1] = data.qvel.rootx
  for _, joint in ipairs(joints) do seen[#seen + 1] = data.qvel[joint] end
  seen[#seen + 1] = math.log(1 + data.sensor.toe)
  seen[#seen + 1] = math.log(1 + data.sensor.heel)
  return seen
end

local names = {}
for _, joint in ipairs(joints) do names[#names + 1] = "position of " .. joint end
names[#names + 1] = "velocity of rootx"
for _, joint in ipairs(joints) do names[#names + 1] = "velocity of " .. joint end
names[#names + 1], names[#names + 2] = "touch of toe", "touch of heel"

return {
  model = "hopper.xml",
  camera = "side",
  control_dt = 0.02,
  max_steps = 1000,
  state_names = names,
  reset = function(data, random) data:randomize_joints(random) end,
  reward = function(data)
    local height = data.body.torso.centre.z - data.body.foot.centre.z
    local standing = iap.tolerance(height, { lower = 0.6, upper = 2 })
    local hopping = iap.tolerance(data.sensor.torso_velocity.x,
      { lower = 2, margin = 1, value_at_margin = 0.5, sigmoid = "linear" })
    return standing * hopping
  end,
  observe = observe,
}
