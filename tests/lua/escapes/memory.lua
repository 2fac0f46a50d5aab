-- What would fill the machine, or keep its collector busy.
return {
  { "string.rep", "STRING", "('x'):rep(1e8)", program = true },
  { "string.rep beyond the numbers", "STRING", "('xyz'):rep(math.maxinteger)" },
  { "doubling", "STRING", "local s = 'x' while true do s = s .. s end" },
  { "one concatenation of many", "STRING", "local s = ('x'):rep(2^19) local t = " .. ("s .. "):rep(100) .. "s", program = true },
  { "table.concat of one string many times", "STRING", "local s, t = ('x'):rep(1e5), {} for i = 1, 1e4 do t[i] = s end return table.concat(t)" },
  { "table.concat by a long separator", "STRING", "local t = {} for i = 1, 1e3 do t[i] = '' end return table.concat(t, ('x'):rep(1e5))" },
  { "gsub by a long replacement", "STRING", "local s = ('a'):rep(1e3) s:gsub('a', ('b'):rep(1e5))" },
  { "gsub by captures", "STRING", "local s = ('a'):rep(5e5) s:gsub('.+', ('%0'):rep(1e3))" },
  { "format", "STRING", "local s = ('\\0'):rep(9e5) for i = 1, 9 do s = ('%q'):format(s) end" },
  { "string.pack", "STRING", "string.pack('c2147483647', '')", program = true },
  { "a growing table", "MEMORY", "local t = {} for i = 1, 1e9 do t[i] = i end", program = true },
  -- Beyond this number, integer keys that all collide would keep a single instruction busy for hours.
  { "keys that collide", "made a table with more than 65536 keys besides its list", "local t, m = {}, (1 << 17) - 1 for i = 1, 1e6 do t[i * m] = i end" },
  { "a growing hash", "block.lua:2: made a table with more than 65536 keys besides its list", "local t = {} for i = 1, 1e9 do t[i .. ''] = i end" },
  { "a growing hash, caught", "made a table with more than 65536 keys besides its list", "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i .. ''] = i end end) end" },
  { "a growing hash behind many arguments", "made a table with more than 65536 keys besides its list", "local t = {} for i = 1, 65536 do t[i .. ''] = i end rawset(t, 'x', 1, table.unpack({}, 1, 2e5))" },
  { "a growing hash behind many arguments of table.move", "made a table with more than 65536 keys besides its list", "local t = {} for i = 1, 65536 do t[i .. ''] = i end table.move({ 1 }, 1, 1, -1, t, table.unpack({}, 1, 2e5))" },
  { "as many keys as there may be", nil, "local t = {} for i = 1, 65536 do t[i .. ''] = i end" },
  { "closures", "the most that Lua out of a file may", "local t = {} while true do t[#t + 1] = function() return t end end" },
  { "coroutines", "STEPS", "local t = {} while true do t[#t + 1] = coroutine.create(print) end" },
  { "deep recursion", "wants a stack of more than 262144 values", "local function f() return 1 + f() end f()" },
  { "a call of what is called through itself", "wants a stack of more than 262144 values", "local t = setmetatable({}, {}) getmetatable(t).__call = t t()", small = true },
  { "a call through many", nil, "local t = function() end for i = 1, 1000 do t = setmetatable({}, { __call = t }) end t()", small = true },
  { "deep recursion, caught", nil, "local function f() return 1 + f() end pcall(f)" },
  { "recursion through C", nil, "local function f() return (('x'):gsub('x', f)) end pcall(f)" },
  { "coroutines that close coroutines", nil, [==[
    local before
    for i = 1, 300 do
      local last = before
      local function deep(n) if n > 0 then pcall(deep, n - 1) elseif last then coroutine.close(last) end end
      before = coroutine.create(function()
        local x <close> = setmetatable({}, { __close = function() deep(150) end })
        coroutine.yield()
      end)
      coroutine.resume(before)
    end
    coroutine.close(before)]==] },
  { "closing what may be closed", nil, [==[
    local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() error("why", 0) end }) coroutine.yield() end)
    assert(coroutine.close(coroutine.create(print)))
    coroutine.resume(co)
    local closed, reason = coroutine.close(co)
    assert(not closed and reason == "why" and coroutine.status(co) == "dead" and coroutine.close(co))
    assert(not pcall(coroutine.close, coroutine.running()) and not pcall(coroutine.close, 1))
    local outer
    outer = coroutine.create(function() return coroutine.wrap(function() return pcall(coroutine.close, outer) end)() end)
    assert(select(2, coroutine.resume(outer)) == false)]==] },
  { "garbage", nil, "for i = 1, 1e4 do local t = { i, { i } } end" },
  { "much garbage", nil, "for i = 1, 200 do local s = ('x'):rep(1e5) .. i end" },
  { "weak keys", "a table with weak keys", "setmetatable({}, { __mode = 'k' })" },
  -- Chains through weak keys in an order by chance: a collection takes time in the square of their length.
  { "weak keys, later", nil, [==[
    local mt, keys = {}, {}
    local t = setmetatable({}, mt)
    mt.__mode = 'k'
    for i = 1, 4e4 do keys[i] = {} end
    for i = #keys, 2, -1 do
      local j = math.random(i)
      keys[i], keys[j] = keys[j], keys[i]
    end
    local first = keys[1]
    for i = 1, #keys - 1 do t[keys[i]] = keys[i + 1] end
    keys = nil
    for i = 1, 1e4 do local s = { {}, {}, {}, {} } end]==] },
  { "weak values", nil, "local t = setmetatable({}, { __mode = 'v' }) t[1] = {} for i = 1, 1e4 do local s = {} end" },
  { "finalizers", "a metatable with __gc", "setmetatable({}, { __gc = function() while true do end end })" },
  { "finalizers, later", nil, "local mt = {} local t = setmetatable({}, mt) mt.__gc = function() while true do end end t = nil for i = 1, 1e4 do local s = {} end" },
  { "options that are a tree of shared parts", "STEPS", "local t = { 1 } for i = 1, 60 do t = { t, t } end return t", when = "entry" },
  { "options that are one long text many times", "STEPS", "local s, t = ('x'):rep(1e5), {} for i = 1, 1e4 do t[i] = s end return t", when = "entry" },
  { "a program that is too long", "a program of", ("x = 1 "):rep(1e5), when = "load" },
  { "a program that is long to parse", "STEPS", "x = " .. ("a and "):rep(9e3) .. "a", when = "load", small = true },
  { "a deep program", "overflow", "x = " .. ("("):rep(1e4) .. "1" .. (")"):rep(1e4), when = "load" },
}
