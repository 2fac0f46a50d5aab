-- An environment whose rewards go through text and through numbers too small to be normal.
return function(options)
  local self = { spec = { action_size = 1, vector = 2, max_steps = 6 } }
  local small
  function self:reset() self.x, small = math.random(), 1.25e-308 end
  function self:step(action)
    small = small / 3
    self.x = tonumber(tostring(self.x / 3 + action[1])) + small * 1e308
    return self.x, false, false
  end
  function self:observe() return { self.x, math.sin(self.x) } end
  return self
end
