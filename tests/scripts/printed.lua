-- printed.lua SHIPPED RESULTS: every row of shipped.lua stands in results.md with the same figures, in a line of its own.
local rows, printed = dofile(arg[1]), {}
for line in io.lines(arg[2]) do
  printed[#printed + 1] = line
end
for _, row in ipairs(rows) do
  local number = string.format("%%.%df", row.places or 0)
  local deviation = string.format(number .. " +- " .. number, row.mean, row.deviation)
  local interval, found = string.format(number .. " to " .. number, row.low, row.high), 0
  for _, line in ipairs(printed) do
    if line:find(deviation, 1, true) and line:find(interval, 1, true) then found = found + 1 end
  end
  assert(found == 1, string.format("%s: %d lines say %s, %s", row.policy, found, deviation, interval))
end
print(#rows .. " rows are printed")
