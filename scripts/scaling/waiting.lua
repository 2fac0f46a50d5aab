-- Episodes that take their time and no core: one step, which sleeps. So more ranks than cores can be tried on one machine.
return function(options)
  local Waiting = {}
  Waiting.__index = Waiting

  function Waiting:reset(seed)
    local uniform = 0
    for i = 1, 12 do uniform = uniform + math.random() end
    local s2 = math.log(1 + options.spread ^ 2)
    self.seconds = options.episode * math.exp(math.sqrt(s2) * (uniform - 6) - s2 / 2)
  end

  function Waiting:step()
    os.execute(string.format("sleep %.4f", self.seconds))
    return -self.seconds, true, false
  end

  function Waiting:observe() return { 1 } end

  return setmetatable({ spec = { action_size = 1, vector = 1, max_steps = 1, control_dt = 1 } }, Waiting)
end
