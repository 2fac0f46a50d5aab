-- A bright square on a dark 12 x 16 picture; the reward is how close the action is to its column.
local height, width, side = 12, 16, 4

return function(options)
  local self = {
    spec = {
      action_size = 1,
      max_steps = 20,
      images = {
        pixels = { height = height, width = width },
        depth = { height = 2, width = 2, channels = 1, type = "float32" },
      },
    },
  }

  function self:reset()
    self.column = math.random(0, width - side)
  end

  function self:step(action)
    local target = 2 * self.column / (width - side) - 1
    self.column = math.random(0, width - side)
    return -math.abs(action[1] - target)
  end

  function self:observe()
    local rows = {}
    for row = 0, height - 1 do
      local lit = row >= 4 and row < 4 + side
      rows[#rows + 1] = lit and ("\0\0\0"):rep(self.column) .. ("\255\200\100"):rep(side) .. ("\0\0\0"):rep(width - side - self.column) or ("\0\0\0"):rep(width)
    end
    return nil, { pixels = table.concat(rows), depth = { 0.5, 1, 1.5, self.column } }
  end

  return self
end
