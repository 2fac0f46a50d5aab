-- What the functions that charge for their loops do, and what they say when they cannot, as a text; but for what differs among
-- releases of Lua 5.4.
local log = {}
local function note(...)
  local values = table.pack(...)
  for i = 1, values.n do values[i] = tostring(values[i]):gsub("^[^:]*:%d+: ", ""):gsub("0x%x+", ""):gsub("bad argument #%d", "bad argument"):gsub("invalid value .* in", "invalid value in") end
  log[#log + 1] = table.concat(values, ",")
end
local function try(name, ...)
  local list = { "d", "a", "c", "b" }
  note(name, pcall(table[name], list, ...))
  note(list[0], table.unpack(list, 1, 7))
end
for _, place in ipairs { -1, 0, 1, 3, 4, 5, 6, "2", "x", 2.5 } do
  try("insert", place, "new")
  try("remove", place)
  try("unpack", place)
  try("concat", "+", place)
end
try("insert", "new")
try("insert")
try("insert", 1, 2, 3)
try("remove")
try("sort")
try("sort", function(a, b) return a > b end)
try("sort", 5)
try("concat", "-", 2, 3)
try("concat", nil)
try("concat", {})
try("unpack", 2, 3)
try("unpack", nil, 2)
try("move", 1, 3, 2)
try("move", 2, 4, 1, {})
note(pcall(table.concat, { 1, {}, 3 }))
note(pcall(table.concat, { 1, 2.5, "x" }, ", "))
note(pcall(table.remove, {}))
note(pcall(table.remove, {}, 0))
note(pcall(table.remove, {}, 1))
note(pcall(table.remove, {}, 2))
note(pcall(table.concat, {}))
for _, name in ipairs { "insert", "remove", "concat", "unpack", "sort", "move" } do note(name, pcall(table[name], 5, 1)) end
note(pcall(table.sort, { 3, "x" }))
for _, name in ipairs { "insert", "remove", "concat", "unpack", "sort", "move" } do note(name, pcall(table[name], "abc", 1)) end
note(pcall(table.move, "abc", 1, 2, 1, {}))
note(pcall(table.sort, {}, 5))
note(pcall(table.sort, { 2, 1 }, 5))
note(pcall(table.unpack, {}, 1, 1e7))
note(pcall(table.unpack, { 1, 2 }, 2, 1))
note(table.unpack({ 1, 2, 3 }, -1, 1))
note(pcall(table.move, { 1, 2, 3 }, 1, 3, math.maxinteger))
note(pcall(table.move, {}, math.mininteger, math.maxinteger, 1))
note(pcall(table.move, {}, -1, math.maxinteger - 1, 1))
note(pcall(table.move, { 1 }, 1))
note(pcall(table.move, { 1 }, 1, 1, 1, 5))
note(table.unpack(table.move({ 1, 2, 3 }, 1, 3, 2, nil, "extra")))
note(table.unpack(table.move({ 1, 2, 3 }, 2, 3, 1)))
note(table.remove({ 1, 2, 3 }, 1, "extra"))
do
  local list = { 1, 2, 3, 4 }
  note(table.unpack(table.move(list, 1, 3, 2, list)))
  local same = setmetatable({}, { __eq = function() return true end, __index = list, __newindex = list })
  local also = setmetatable({}, getmetatable(same))
  table.move(same, 1, 3, 2, also)
  note(table.unpack(list))
end
note(table.pack().n, table.pack(nil).n, table.pack(1, nil, 3).n, table.unpack(table.pack(1, nil, 3), 1, 3))
-- In which order elements are read and written.
for _, call in ipairs { { "insert", "x" }, { "insert", 2, "x" }, { "insert", 5, "x" }, { "remove" }, { "remove", 1 }, { "remove", 5 }, { "move", 1, 3, 2 },
  { "move", 2, 4, 1 }, { "move", 1, 0, 1 }, { "move", 1, 2, 3, {} }, { "unpack" }, { "unpack", 2, 3 }, { "unpack", 3, 2 }, { "concat", "," } } do
  local log = {}
  local list = setmetatable({}, {
    __len = function() log[#log + 1] = "length" return 4 end,
    __index = function(_, i) log[#log + 1] = "read " .. i return i * 10 end,
    __newindex = function(_, i, value) log[#log + 1] = "write " .. i .. " = " .. tostring(value) end,
  })
  note(call[1], pcall(table[call[1]], list, table.unpack(call, 2)))
  note(table.unpack(log))
end
local proxy = setmetatable({}, { __len = function() return 3 end, __index = function(_, i) return i * i end })
note(table.concat(proxy, " "), table.unpack(proxy))
note(pcall(string.byte, "abc", 1, -1))
note(pcall(string.byte, "abc", -2))
note(pcall(string.byte, "abc", -2, -1))
note(pcall(string.byte, "abc", 10))
note(pcall(string.byte, ""))
for _, count in ipairs { 3, 0, -1 } do note(string.rep("ab", count, "-"), string.rep("", count)) end
note(pcall(string.rep, "ab"))
note(string.pack("<i4s1", 7, "xyz"):byte(1, -1))
note(pcall(string.unpack, "<i2", "ab"))
note(pcall(string.packsize, "i4i8"))
note(pcall(string.pack, "i17", 1))
note(pcall(utf8.codepoint, "añ", 1, -1))
note(pcall(utf8.len, "añ\xff"))
note(pcall(utf8.offset, "añb", 3))
note(pcall(utf8.char, 241, 8364))
for _, number in ipairs { "0x10", " 5 ", "x", "1e3", {} } do note(pcall(tonumber, number)) end
note(pcall(tonumber, "zz", 36))
note(pcall(tonumber))
note(pcall(pcall))
note(pcall(xpcall, print))
note(pcall(xpcall, error, 5))
note(xpcall(error, function(m) return "handled " .. tostring(m) end, "x"))
note(xpcall(function(...) return select("#", ...), ... end, print, 1, nil, 3))
note(select("#", pcall(error)))
local co = coroutine.wrap(function(...)
  local got = coroutine.yield(...)
  error("inside " .. got, 0)
end)
note(co(1, 2))
note(pcall(co, "co"))
note(pcall(co))
local thread = coroutine.create(function(a)
  local b = coroutine.yield(a + 1)
  return a, b
end)
for i = 1, 3 do note(coroutine.resume(thread, i)) end
note(pcall(coroutine.wrap, 5))
note(pcall(coroutine.create))
local inner = coroutine.wrap(function() return pcall(function() error(coroutine.yield(1), 0) end) end)
note(inner())
note(inner("through pcall"))
note(pcall(setmetatable, {}, 5))
note(pcall(setmetatable, setmetatable({}, { __metatable = 1 }), {}))
note(pcall(setmetatable, 5, {}))
note(getmetatable(setmetatable({}, { __metatable = "m" })))
return table.concat(log, "\n")
