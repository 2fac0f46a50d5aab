-- Swing the pendulum of task.xml up and hold it there.
local iap = require "iap"

return function(options) -- what iap.env.make was given
  local start = options.start or 0.2 -- how far off the hanging pendulum begins, in radians
  return {
    model = "task.xml",
    camera = "side", -- of films, and of pixels = {height, width}
    control_dt = 0.04, -- seconds a step
    max_steps = 200,
    state_names = { "sine of the angle", "cosine of the angle", "speed of the hinge" },

    -- An episode is a function of its seed: whatever is drawn comes from `random`.
    reset = function(data, random) data.qpos.hinge = random:uniform(-start, start) end,

    -- 1 where the tip is at the top, less with every bit below, 0 at the bottom.
    reward = function(data)
      return iap.tolerance(data.geom.tip.position.z, { lower = 1.58, upper = 2, margin = 1.18, sigmoid = "linear", value_at_margin = 0 })
    end,

    observe = function(data)
      local angle = data.qpos.hinge
      return { math.sin(angle), math.cos(angle), data.qvel.hinge / 5 }
    end,
  }
end
