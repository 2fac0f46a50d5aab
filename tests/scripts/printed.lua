-- printed.lua SHIPPED RESULTS: every row of shipped.lua stands in results.md with the same figures, in a line of its own, and plays the
-- pictures that its section is named after ("from 240 x 320 pixels").
local iap = require "iap"
local folder = arg[1]:match "^(.*)/" or "."
local rows, printed, pixels = dofile(arg[1]), {}, nil
for line in io.lines(arg[2]) do
  if line:find "^## " then pixels = line:match "from (%d+ x %d+) pixels" end
  printed[#printed + 1] = { text = line, pixels = pixels }
end
for _, row in ipairs(rows) do
  local number = string.format("%%.%df", row.places or 0)
  local deviation = string.format(number .. " +- " .. number, row.mean, row.deviation)
  local interval, found = string.format(number .. " to " .. number, row.low, row.high), {}
  for _, line in ipairs(printed) do
    if line.text:find(deviation, 1, true) and line.text:find(interval, 1, true) then found[#found + 1] = line end
  end
  assert(#found == 1, string.format("%s: %d lines say %s, %s", row.policy, #found, deviation, interval))
  if found[1].pixels then
    local played = table.concat(iap.policy.load(folder .. "/" .. row.policy):metadata().env.pixels, " x ")
    assert(played == found[1].pixels, string.format("%s plays %s pixels, its section says %s", row.policy, played, found[1].pixels))
  end
end
print(#rows .. " rows are printed")
