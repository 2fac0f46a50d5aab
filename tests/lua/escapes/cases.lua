-- All cases, by name: { topic, name, expected, body, when, modules, program, small }.
local folder = ...
local cases = {}
for _, topic in ipairs { "reach", "steps", "swallow", "memory", "messages" } do
  for _, case in ipairs(dofile(folder .. "/" .. topic .. ".lua")) do
    cases[#cases + 1] = { topic = topic, name = case[1], expected = case[2], body = case[3], when = case.when, modules = case.modules,
      program = case.program, small = case.small }
  end
end
return cases
