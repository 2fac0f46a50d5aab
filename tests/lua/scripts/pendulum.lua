-- A pendulum on a frictionless pivot: angle 0 hangs down, the torque is in [-1, 1]. Semi-implicit Euler.
local gravity, dt = 9.81, 0.02

return function(options)
  local length = options.length or 1.0
  local Pendulum = {}
  Pendulum.__index = Pendulum

  function Pendulum:reset(seed)
    self.angle = options.start or (math.random() - 0.5)
    self.velocity = 0
  end

  function Pendulum:step(action)
    self.velocity = self.velocity + dt * (action[1] / length ^ 2 - gravity / length * math.sin(self.angle))
    self.angle = self.angle + dt * self.velocity
    return -math.cos(self.angle), math.abs(self.velocity) > 50, false
  end

  function Pendulum:observe()
    return { math.cos(self.angle), math.sin(self.angle), self.velocity }
  end

  return setmetatable({ spec = { action_size = 1, vector = 3, max_steps = 100, control_dt = dt } }, Pendulum)
end
