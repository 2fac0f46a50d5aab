-- annotations.lua FILE: the annotations of iap.meta.lua, read by a parser of its own: every line is one that the Lua language server knows,
-- every type is well formed and names classes that are there, and parameters are those of the function below.
local path = arg[1]
assert(loadfile(path))
local classes, parents, lines = {}, {}, {}
for line in io.lines(path) do
  table.insert(lines, line)
  local name, above = line:match "^%-%-%-@class ([%w_.]+):?%s*(.*)$"
  if name then
    assert(not classes[name], "the class " .. name .. " is there twice")
    classes[name] = true
    parents[name] = above
  end
end
local basic = { integer = true, number = true, string = true, boolean = true, table = true, any = true, ["function"] = true, ["nil"] = true }

-- A type at the beginning of `text`; returns the rest.
local function read_type(text)
  local function read_one(rest)
    local after
    if rest:find "^%(" then
      after = read_type(rest:sub(2))
      assert(after:find "^%)", "a parenthesis is not closed")
      after = after:sub(2)
    elseif rest:find '^"' then
      after = assert(rest:match '^"[^"]*"(.*)$', "a quote is not closed")
    elseif rest:find "^fun%(" then
      after = rest:sub(5)
      while not after:find "^%)" do
        local more = assert(after:match "^[%a_][%w_]*%??:(.*)$", "a function's parameter has no type: " .. after)
        after = read_type(more):gsub("^,", "")
      end
      after = after:sub(2)
      if after:find "^:" then
        repeat after = read_type(after:sub(2)) until not after:find "^,"
      end
    else
      local name, more = rest:match "^([%a_][%w_.]*)(.*)$"
      assert(name, "no type: '" .. rest .. "'")
      assert(basic[name] or classes[name], "nothing is called " .. name)
      after = more
    end
    while after:find "^%[%]" do after = after:sub(3) end
    return (after:gsub("^%?", ""))
  end
  local rest = read_one(text)
  while rest:find "^|" do rest = read_one(rest:sub(2)) end
  return rest
end

local params, counted, fields, functions = {}, 0, 0, 0
for number, line in ipairs(lines) do
  local ok, message = pcall(function()
    local tag, rest = line:match "^%-%-%-@(%a+) ?(.*)$"
    if tag == "param" then
      local name, optional, type = rest:match "^([%w_.]+)(%??) (.*)$"
      assert(name and optional, "no name")
      assert(read_type(type):find "^ ", "no text behind the type")
      table.insert(params, name)
      counted = counted + 1
    elseif tag == "return" then
      assert(read_type(rest):find "^ [%w_.]+ %S", "a result without name and text")
    elseif tag == "field" then
      local type = rest:match "^[%a_][%w_]* (.*)$" or rest:match '^%["[^"]+"%] (.*)$'
      assert(read_type(assert(type, "no name")):find "^ ", "no text behind the type")
      fields = fields + 1
    elseif tag == "type" then
      assert(read_type(rest) == "", "more than a type")
    elseif tag == "class" then
      for parent in parents[rest:match "^[%w_.]+"]:gmatch "[^, ]+" do assert(classes[parent], "no class " .. parent) end
    elseif tag then
      assert(tag == "meta", "no such annotation: " .. tag)
    elseif line:find "^function " then
      local wanted = line:match "%((.*)%) end$"
      assert(table.concat(params, ", ") == wanted, "described are (" .. table.concat(params, ", ") .. ")")
      functions = functions + 1
      params = {}
    end
  end)
  if not ok then error(path .. ":" .. number .. ": " .. message .. "\n" .. line, 0) end
end
assert(functions > 100 and fields > 500 and counted > 100, functions .. " functions, " .. fields .. " fields")

-- It fills a table, too: what it declares is what help_test.lua finds in the module.
local iap = dofile(path)
assert(iap.attention.rank and iap.env.make and iap.report.video)
print(functions .. " functions, " .. fields .. " fields")
