-- Acts by what numbers become as text, as text is read and ordered: all of which a host's locale could change.
return function(options, shapes)
  return {
    parameters = 1, outputs = 1,
    forward = function(self, parameters, inputs)
      local text = tostring(inputs[1]) .. string.format("%.3f %5.1e", inputs[2], inputs[1])
      local plain = not text:find(",") and tonumber("0,5") == nil and tonumber("0.5") == 0.5 and "a" > "B" and not ("\xe4"):find("%a")
      return { plain and math.sin(tonumber(string.format("%.17g", inputs[1]))) or -1 }
    end,
  }
end
