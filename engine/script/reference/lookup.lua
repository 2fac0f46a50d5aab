-- lookup.lua: finds what the reference says of a name, and puts it in words for a terminal.
-- `return function(entries)` gives the functions below; `entries` is what comments.lua read.
local width, column = 96, 30

local function wrapped(text, indent, first)
  local lines, line = {}, first or indent
  -- A choice of many is wider than its column.
  text = text:gsub("%S+", function(word) return #word > width - #indent and word:gsub("|", "| ") or nil end)
  for word in text:gmatch "%S+" do
    if #line > #indent and #line + 1 + #word > width then
      table.insert(lines, line)
      line = indent
    end
    line = line .. ((#line == #indent or line == first) and "" or " ") .. word
  end
  table.insert(lines, line)
  return table.concat(lines, "\n")
end

local function paragraphs(text, indent)
  local parts = {}
  for part in (text .. "\n\n"):gmatch "(.-)\n\n" do table.insert(parts, wrapped(part, indent)) end
  return table.concat(parts, "\n\n")
end

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local changed = diagonal + (a:byte(i) == b:byte(j) and 0 or 1)
      diagonal, row[j] = row[j], math.min(changed, row[j] + 1, row[j - 1] + 1)
    end
  end
  return row[#b]
end

local function last_part(name) return name:match "[^.:]+$" end

return function(entries)
  local reference, by_name = {}, {}
  for _, entry in ipairs(entries) do by_name[entry.name] = entry end
  reference.entries, reference.by_name = entries, by_name

  -- The first sentence of a text.
  function reference.summary(entry)
    local text, from = entry.text:gsub("\n", " "), 1
    while true do
      local stop = text:find("[.]%s", from)
      if not stop then return text end
      if text:sub(stop - 2, stop - 1) ~= "al" then return text:sub(1, stop) end
      from = stop + 1
    end
  end

  -- "integer 1..4096", without what a choice or a table says of itself
  function reference.facts(option)
    local type = option.type:gsub("table{[%w._-]+}", "table"):gsub("{[%w._-]+}", "table")
    if option.low then type = type .. " " .. option.low .. ".." .. option.high end
    return type
  end

  function reference.default(option)
    if option.default then return (option.default:gsub("^%((.*)%)$", "%1")) end
    return option.optional and "none" or "required"
  end

  -- "iap.env.make(name, options)"
  function reference.signature(entry)
    local names = {}
    for _, param in ipairs(entry.params) do table.insert(names, param.name) end
    local takes_table = #names == 0 and (#entry.options > 0 or #entry.uses > 0)
    local call = takes_table and " { ... }" or "(" .. table.concat(names, ", ") .. ")"
    local returned = {}
    for _, value in ipairs(entry.returns) do table.insert(returned, value.name or reference.facts(value)) end
    return entry.name .. call .. (#returned > 0 and " -> " .. table.concat(returned, ", ") or "")
  end

  -- "(default 8)"
  local function default_in_words(option, required)
    local default = reference.default(option)
    if default == "required" then return required and " (required): " or ": " end
    return default == "none" and " (optional): " or " (default " .. default .. "): "
  end

  local function more(type)
    local name = type:match "{([%w._-]+)}"
    return name and " (help \"" .. name .. "\")" or ""
  end

  -- Names in a column, what they are beside it.
  local function rows(list, widest, given)
    local lines, start = {}, math.min(widest + 4, column)
    local indent = string.rep(" ", start)
    for _, option in ipairs(list) do
      local told = reference.facts(option) .. default_in_words(option, not given) .. option.text .. more(option.type)
      local name = "  " .. option.name
      if #name >= start then table.insert(lines, name) end
      table.insert(lines, wrapped(told, indent, #name < start and name .. string.rep(" ", start - #name) or nil))
    end
    return table.concat(lines, "\n")
  end

  -- The lists of options of an entry and of what it uses, each option once, with a title for all but its own.
  local function option_lists(entry, seen, found)
    local own = {}
    for _, option in ipairs(entry.options) do
      if not seen[option.name] then table.insert(own, option) end
      seen[option.name] = true
    end
    if #own > 0 then table.insert(found, { title = #found > 0 and reference.summary(entry) or nil, options = own }) end
    for _, use in ipairs(entry.uses) do option_lists(by_name[use], seen, found) end
    return found
  end

  -- All options that an entry takes.
  function reference.options_of(entry)
    local all = {}
    for _, list in ipairs(option_lists(entry, {}, {})) do
      for _, option in ipairs(list.options) do table.insert(all, option) end
    end
    return all
  end

  local function widest_of(...)
    local widest = 8
    for _, list in ipairs { ... } do
      for _, item in ipairs(list) do widest = math.max(widest, #item.name) end
    end
    return widest
  end

  local members -- of tables and classes

  local function described(entry)
    local call = entry.kind == "function" or entry.kind == "method"
    local parts = { (call and reference.signature(entry) or entry.name) .. "\n" .. paragraphs(entry.text, "  ") }
    local widest = widest_of(entry.params, entry.fields, reference.options_of(entry))
    if #entry.params > 0 then table.insert(parts, rows(entry.params, widest)) end
    for i, list in ipairs(option_lists(entry, {}, {})) do
      local title = list.title or (#entry.params > 0 and i == 1 and "Options:")
      table.insert(parts, (title and wrapped(title, "") .. "\n" or "") .. rows(list.options, widest))
    end
    if #entry.fields > 0 then table.insert(parts, rows(entry.fields, widest, true)) end
    local returned = {}
    for i, value in ipairs(entry.returns) do
      local name = value.name and value.name .. ", " or ""
      returned[i] = wrapped(name .. reference.facts(value) .. ": " .. value.text .. more(value.type), "     ", "  -> ")
    end
    if #returned > 0 then table.insert(parts, table.concat(returned, "\n")) end
    local inside = members(entry)
    if inside then table.insert(parts, inside) end
    for _, example in ipairs(entry.examples) do table.insert(parts, (("  " .. example):gsub("\n", "\n  "))) end
    return table.concat(parts, "\n\n")
  end

  local function list_of(found)
    local list = {}
    for _, entry in ipairs(found) do
      table.insert(list, { name = entry.name, text = reference.summary(entry) })
    end
    local widest = 0
    for _, row in ipairs(list) do widest = math.max(widest, #row.name) end
    local start = math.min(widest + 4, 40)
    local lines = {}
    for _, row in ipairs(list) do
      table.insert(lines, wrapped(row.text, string.rep(" ", start), "  " .. row.name .. string.rep(" ", math.max(2, start - #row.name - 2))))
    end
    return table.concat(lines, "\n")
  end

  -- What belongs directly to a table or class.
  function reference.members_of(entry)
    local found = {}
    if not (entry.kind == "table" or entry.kind == "class") then return found end
    local separator = entry.kind == "class" and ":" or "."
    for _, other in ipairs(entries) do
      local rest = other.name:sub(#entry.name + 2)
      if other ~= entry and other.kind ~= "options" and other.name:sub(1, #entry.name + 1) == entry.name .. separator and not rest:find "[.:]" then
        table.insert(found, other)
      end
    end
    return found
  end

  function members(entry)
    local found = reference.members_of(entry)
    if entry.kind == "table" or entry.kind == "topic" then
      local area = last_part(entry.name)
      for _, other in ipairs(entries) do
        if other.kind == "options" and other.name:match "^[^.]+" == area then table.insert(found, other) end
      end
    end
    return #found > 0 and list_of(found) or nil
  end

  local function same(a, b) return #a == #b and a:lower():gsub("[_%s]", "-") == b:lower():gsub("[_%s]", "-") end

  -- All entries that `name` may mean: by its whole name, else by the last part of it.
  function reference.find(name)
    local found, taken = {}, {}
    local function add(entry)
      if entry and not taken[entry] then table.insert(found, entry) end
      if entry then taken[entry] = true end
    end
    add(by_name[name])
    add(by_name["iap." .. name])
    if name:find ":close$" and by_name[name:match "^[^:]+"] then add(by_name["object:close"]) end
    if #found > 0 and name:find "[.:]" then return found end
    for _, entry in ipairs(entries) do
      if same(last_part(entry.name), name) then add(entry) end
    end
    return found
  end

  local function options_called(name)
    local found = {}
    for _, entry in ipairs(entries) do
      for _, list in ipairs { entry.options, entry.fields } do
        for _, option in ipairs(list) do
          if option.name == name then table.insert(found, { name = entry.name, text = reference.facts(option) .. ": " .. option.text }) end
        end
      end
    end
    return found
  end

  -- The names nearest to `name`, at most five, or "".
  local function nearest(name)
    local known, seen, lower = {}, {}, name:lower()
    local most = #name < 4 and 1 or math.max(2, #name // 3)
    local function add(candidate)
      -- As many letters as one is longer have to come or go: so the time does not grow with a name that is none.
      if seen[candidate] or math.abs(#name - #candidate) > most then return end
      seen[candidate] = true
      local d = distance(lower, candidate:lower())
      if d <= most then table.insert(known, { name = candidate, d = d }) end
    end
    for _, entry in ipairs(entries) do
      add(entry.name)
      add(last_part(entry.name))
      for _, option in ipairs(entry.options) do add(option.name) end
    end
    table.sort(known, function(a, b) return a.d < b.d or (a.d == b.d and a.name < b.name) end)
    local names = {}
    for i = 1, math.min(5, #known) do names[i] = "'" .. known[i].name .. "'" end
    return #names > 0 and "; did you mean " .. table.concat(names, ", ") .. "?" or "; without a name there is a list"
  end

  -- What there is: the areas.
  function reference.areas()
    local areas = {}
    for _, entry in ipairs(entries) do
      if entry.kind == "table" or entry.kind == "topic" then table.insert(areas, entry) end
    end
    return list_of(areas)
  end

  -- Help on `name`; nil and why not where there is none.
  function reference.help(name)
    if name == "" then return "Areas of the Lua reference:\n" .. reference.areas() .. '\nMore: help("iap.env"), help(iap.attention.rank), help("sigma").' end
    local found = reference.find(name)
    if #found == 0 then
      local options = options_called(name)
      local shown = #name > 100 and name:sub(1, 100) .. " ..." or name
      if #options == 0 then return nil, "the reference has no '" .. shown .. "'" .. nearest(name) end
      local rows_of = {}
      for _, option in ipairs(options) do
        table.insert(rows_of, wrapped(option.text, "      ", "  " .. option.name .. "\n      "))
      end
      return name .. " is an option of\n" .. table.concat(rows_of, "\n")
    end
    local texts = {}
    for i, entry in ipairs(found) do texts[i] = described(entry) end
    return table.concat(texts, "\n\n")
  end

  return reference
end
