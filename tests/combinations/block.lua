-- A block in Lua that remembers and draws.
local places = require "places"
return function(options, shapes)
  local n, keep, noise, state = shapes.inputs, options.keep or 0.9, options.noise or 0, {}
  local outputs = options.few and math.min(n, 3) or n
  local gains = options.gains or { 1 }
  local block = { parameters = n, outputs = outputs,
    reset = function() for i = 1, n do state[i] = 0 end end,
    forward = function(_, parameters, inputs, vector)
      local out = {}
      for i = 1, n do
        state[i] = keep * state[i] + (gains[i] or 1) * math.exp(parameters[i]) * inputs[i] + noise * (math.random() - 0.5)
      end
      for i = 1, outputs do out[i] = state[i] + places.clip(vector[1] or 0) end
      return out
    end }
  if options.even then
    function block:initialise()
      local first = {}
      for i = 1, n do first[i] = options.even + math.random() / 10 end
      return first
    end
  end
  return block
end
