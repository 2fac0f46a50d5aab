-- An environment that is all Lua: a point that is drawn and pushed; `fragile` makes episodes of some seeds fail.
local places = require "places"
return function(options)
  local size, fragile, how = options.size or 12, options.fragile or 0, options.how or "error"
  local wind = options.wind or {}
  local pay, bonus = options.pay or 1, 0
  -- Values of options come to something else if a bit, or the kind, of one of them is lost.
  for _, value in ipairs(options.exact or {}) do
    for i, byte in ipairs { string.pack(math.type(value) == "integer" and "j" or "n", value):byte(1, -1) } do bonus = bonus + i * byte end
  end
  for i, byte in ipairs { (options.label or ""):byte(1, -1) } do bonus = bonus + i * byte end
  if options.off == false then bonus = bonus + 1 end
  local depth, numbers = options.depth or false, options.numbers or 3
  local images = {}
  if options.rgb ~= false then images.rgb = { height = size, width = size + 2, channels = options.channels or 3 } end
  if depth then images.depth = { height = size, width = size, channels = 1, type = "float32" } end
  local world = { spec = { action_size = options.actions or 2, vector = numbers, max_steps = 25, control_dt = 0.04, images = images,
    action_low = options.low or -1, action_high = 1 } }
  function world:reset(seed)
    if how == "reset" and fragile > 0 and seed % fragile == 0 then error("no such beginning") end
    self.x, self.y, self.t, self.bad = math.random() * 2 - 1, math.random() * 2 - 1, 0, fragile > 0 and seed % fragile == 0
  end
  function world:step(action)
    self.t = self.t + 1
    if self.bad and self.t == 3 then
      if how == "error" then error("this seed breaks")
      elseif how == "exit" then os.exit(3)
      elseif how == "nan" then return 0 / 0
      elseif how == "table" then error({}) end
    end
    self.x = places.clip(self.x + 0.2 * action[1] + 0.05 * (math.random() - 0.5) + (wind.x or 0))
    self.y = places.clip(self.y + 0.2 * action[#action])
    for _, gust in ipairs(wind.gusts or {}) do self.y = places.clip(self.y + gust * math.sin(self.t)) end
    local far = places.distance(self.x, self.y)
    return pay * (1 - far) + 1e-6 * bonus, far < 0.05, false
  end
  function world:observe()
    local vector, shown = {}, {}
    local count = numbers + (self.bad and how == "long" and self.t == 2 and 1 or 0)
    for i = 1, count do vector[i] = i % 3 == 1 and self.x or i % 3 == 2 and self.y or self.t / 25 end
    if images.rgb then
      local n, bytes = images.rgb.channels, {}
      local row, column = math.floor((self.y + 1) / 2 * (size - 1)), math.floor((self.x + 1) / 2 * (size + 1))
      for r = 0, size - 1 do for c = 0, size + 1 do
        local near = math.abs(r - row) + math.abs(c - column)
        for k = 1, n do bytes[#bytes + 1] = string.char(near <= 2 and 255 - 40 * near - 20 * k or (r * 7 + c * 3) % 64) end
      end end
      shown.rgb = table.concat(bytes)
    end
    if depth then
      local values = {}
      for r = 0, size - 1 do for c = 0, size - 1 do
        values[#values + 1] = 1 + (r / size - (self.y + 1) / 2) ^ 2 + (c / size - (self.x + 1) / 2) ^ 2
      end end
      shown.depth = values
    end
    return vector, shown
  end
  return world
end
