-- An environment written in Lua: a pendulum to be swung up and held. Angle 0 hangs down; the torque is in [-1, 1] times `strength`.
-- The file returns a function of the options; every worker calls it in a Lua state of its own.
local gravity, dt = 9.81, 0.05

return function(options)
  local length, strength = options.length or 1.0, options.strength or 5.0
  local pendulum = { spec = { action_size = 1, vector = 3, max_steps = 200, control_dt = dt } }

  function pendulum:reset(seed) -- an episode is a function of its seed
    math.randomseed(seed)
    self.angle = 0.2 * (math.random() - 0.5)
    self.velocity = 0
  end

  function pendulum:step(action) -- reward, terminated, truncated; the time limit is max_steps
    local acceleration = strength * action[1] / length ^ 2 - gravity / length * math.sin(self.angle) - 0.1 * self.velocity
    self.velocity = self.velocity + dt * acceleration
    self.angle = self.angle + dt * self.velocity
    return (1 - math.cos(self.angle)) / 2, false, false
  end

  function pendulum:observe() -- a list of `vector` numbers
    return { math.cos(self.angle), math.sin(self.angle), self.velocity / 5 }
  end

  return pendulum
end
