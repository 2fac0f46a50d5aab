-- Assertions that say what they got.
local check = {}

local function show(value)
  return type(value) == "string" and string.format("%q", value) or tostring(value)
end

function check.equal(got, expected)
  if got ~= expected then error("expected " .. show(expected) .. ", got " .. show(got), 2) end
end

function check.close(got, expected, tolerance)
  if not (math.abs(got - expected) <= tolerance) then error("expected " .. show(expected) .. " within " .. tolerance .. ", got " .. show(got), 2) end
end

function check.same_list(got, expected)
  check.equal(#got, #expected)
  for i = 1, #expected do
    if got[i] ~= expected[i] then error("element " .. i .. ": expected " .. show(expected[i]) .. ", got " .. show(got[i]), 2) end
  end
end

-- f(...) must fail, with every text of `parts` in its message.
function check.fails(parts, f, ...)
  local ok, message = pcall(f, ...)
  if ok then error("expected an error with " .. show(parts[1]) .. ", got none", 2) end
  for _, part in ipairs(parts) do
    if not tostring(message):find(part, 1, true) then error("expected " .. show(part) .. " in the error, got " .. show(message), 2) end
  end
end

-- Puts `by`, which is as long, in the place of `from` in a sealed file, as somebody might who means no good.
function check.forge(path, from, by)
  local file = assert(io.open(path, "rb"))
  local before, rest = file:read("a"):match("^(.-)" .. from .. "(.*)....$")
  file:close()
  local body, sum = before .. by .. rest, 0xffffffff
  for i = 1, #body do
    sum = sum ~ body:byte(i)
    for _ = 1, 8 do sum = sum >> 1 ~ (sum & 1) * 0xedb88320 end
  end
  file = assert(io.open(path, "wb"))
  file:write(body, string.pack("<I4", sum ~ 0xffffffff))
  file:close()
end

return check
