-- Calls string functions with subjects and patterns by chance, the same ones in every state, and gives a text of what came of it.
local seed = 1
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n + 1
end
local function pick(list) return list[random(#list)] end
local pieces = { "a", "b", ".", "%a", "%d", "%s", "%w", "%p", "%x", "%l", "%u", "%c", "%g", "%z", "%A", "%W", "[ab]", "[^a]", "[a-c]",
  "%Z", "[%d_]", "[]]", "[^]]", "[a-]", "%.", "%%", "%b()", "%f[a]", "%f[%W]", "(a)", "()", "(", ")", "(.-)", "(a*)", "%1", "%2", "^", "$",
  "[", "%", "-", "[%a", "\0", "x" }
local times = { "", "", "", "*", "+", "-", "?" }
local letters = { "a", "a", "b", "c", "(", ")", "1", "_", " ", "]", "-", ".", "x", "\0", "A", "\n", "%", "^", "$" }
local replacements = { "%0", "<%1>", "%%", "%2", "x", "", "%", "%9", "-%0-%1-" }
local function text(parts, most, separate)
  local made = {}
  for i = 1, random(most) - 1 do made[i] = pick(parts) .. (separate and pick(separate) or "") end
  return table.concat(made)
end
local log = {}
local function note(...)
  local values = table.pack(...)
  for i = 1, values.n do values[i] = tostring(values[i]):gsub("^[^:]*:%d+: ", "") end
  log[#log + 1] = table.concat(values, ",")
end
for _ = 1, 6000 do
  local subject, pattern = text(letters, 12), text(pieces, 6, times)
  local start = random(3) == 1 and random(20) - 10 or nil
  note(pcall(string.find, subject, pattern, start))
  note(pcall(string.find, subject, pattern, start, true))
  note(pcall(string.match, subject, pattern, start))
  note(pcall(string.gsub, subject, pattern, pick(replacements), random(3) == 1 and random(4) or nil))
  note(pcall(string.gsub, subject, pattern, { a = "A", b = false, [""] = "e", ab = 1 }))
  note(pcall(string.gsub, subject, pattern, function(a, b) if a ~= "a" then return b end end))
  note(pcall(function()
    local found = {}
    for a, b in string.gmatch(subject, pattern) do found[#found + 1] = tostring(a) .. "/" .. tostring(b) end
    return table.concat(found, ";")
  end))
end
note(pcall(string.find, ("a"):rep(300), ("a?"):rep(250) .. "b"))
note(pcall(string.find, "", ("a?"):rep(250)))
note(pcall(string.find, ("("):rep(40), ("(%()"):rep(40)))
note(pcall(string.gsub, "a", "a", true))
note(pcall(string.find))
return table.concat(log, "\n")
