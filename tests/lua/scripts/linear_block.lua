-- One weight for every input, no bias: a linear block without an activation, for comparison with the engine's own.
return function(options, shapes)
  local outputs, gain = options.outputs or shapes.action_size, options.gain or 1
  return {
    parameters = outputs * shapes.inputs,
    outputs = outputs,
    forward = function(self, weights, inputs)
      local values = {}
      for i = 1, outputs do
        local sum = 0
        for j = 1, #inputs do sum = sum + weights[(i - 1) * #inputs + j] * inputs[j] end
        values[i] = gain * sum
      end
      return values
    end,
  }
end
