-- DM Control's cheetah-run as a task in Lua, on the suite's own model.
local iap = require "iap"

return {
  model = "../../../envs/dm_control/cheetah.xml",
  physics_steps = 1,
  reset = function(data, random)
    data:randomize_joints(random, true)
    data:step(200)
    data.time = 0
  end,
  reward = function(data)
    return iap.tolerance(data.sensor.torso_velocity.x, { lower = 10, margin = 10, value_at_margin = 0, sigmoid = "linear" })
  end,
  observe = function(data)
    local seen = {}
    for i = 2, #data.qpos do seen[#seen + 1] = data.qpos[i] end
    for i = 1, #data.qvel do seen[#seen + 1] = data.qvel[i] end
    return seen
  end,
}
