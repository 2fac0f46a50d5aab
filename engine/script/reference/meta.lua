-- meta.lua: the reference as annotations of the Lua language server.
local meta = {}

local words_of_lua = { ["end"] = true, ["repeat"] = true, ["function"] = true, ["until"] = true }

function meta.make(reference)
  local by_name, classes = reference.by_name, {}
  local function camel(name) return (("_" .. name):gsub("[_-](%l)", string.upper):gsub("^_", "")) end
  for _, entry in ipairs(reference.entries) do
    if entry.kind == "class" then classes[entry.name] = "iap." .. camel(entry.name) end
  end
  local function table_class(name)
    local plain = name:gsub("^iap%.", ""):gsub(":", "."):gsub("[^%w_.]", "_")
    return by_name[name].kind == "options" and "iap.options." .. plain or "iap." .. plain .. ".options"
  end
  local function type_of(text, optional)
    -- Classes by their names, then tables, whose own names hold such words.
    local plain = text:gsub("table{", "{")
    local made = plain:gsub("%f[%w_.\"{]([%l_]+)%f[^%w_.\"}]()", function(word, after)
      return plain:sub(after, after) ~= ":" and classes[word] or nil -- with a colon, a parameter's name
    end)
    made = made:gsub("{([%w._-]+)}", function(name)
      if not by_name[name] then error("the reference names '" .. name .. "', which it does not have", 0) end
      return table_class(name)
    end)
    if optional and made:find "[|(]" then made = "(" .. made .. ")" end
    return optional and made .. "?" or made
  end
  local lines = { "---@meta iap", "-- Generated from the comments in the sources: what editors know of the module iap.", "" }
  local function add(...) table.insert(lines, string.format(...)) end
  local function text(entry_text)
    for line in (entry_text .. "\n"):gmatch "([^\n]*)\n" do table.insert(lines, "---" .. line) end
  end
  local function told(option)
    local default = reference.default(option)
    local range = option.low and (" " .. option.low .. ".." .. option.high) or ""
    return option.text .. ((default ~= "none" and default ~= "required") and " (default: " .. default .. ")" or "") .. (range ~= "" and " [" .. range:sub(2) .. "]" or "")
  end
  local function key(name) return name:find "^[%a_][%w_]*$" and name or "[\"" .. name .. "\"]" end
  local function options_class(entry)
    local parents = {}
    for _, use in ipairs(entry.uses) do table.insert(parents, table_class(use)) end
    add("---@class %s%s", table_class(entry.name), #parents > 0 and ": " .. table.concat(parents, ", ") or "")
    for _, list in ipairs { entry.options, entry.fields } do
      for _, option in ipairs(list) do
        add("---@field %s %s %s", key(option.name), type_of(option.type, option.default or option.optional), told(option))
      end
    end
    add ""
  end
  local function has_options(entry) return #entry.options > 0 or #entry.uses > 0 end
  for _, entry in ipairs(reference.entries) do
    if entry.kind == "options" or ((entry.kind == "function" or entry.kind == "method") and has_options(entry)) then options_class(entry) end
  end
  local function call(entry, target, separator)
    text(entry.text)
    local names, taken = {}, false
    for _, param in ipairs(entry.params) do
      local own = param.type:find "table" and has_options(entry) and param.name == "options"
      taken = taken or own
      local kind = own and param.type:gsub("%f[%w]table%f[%W]", (table_class(entry.name):gsub("%%", "%%%%"))) or param.type
      if param.name == "..." then
        add("---@param ... %s %s", type_of(kind), told(param))
      else
        add("---@param %s%s %s %s", param.name, (param.default or param.optional) and "?" or "", type_of(kind), told(param))
      end
      table.insert(names, param.name)
    end
    if has_options(entry) and not taken then
      add("---@param options %s by their names", table_class(entry.name))
      table.insert(names, "options")
    end
    for _, value in ipairs(entry.returns) do add("---@return %s %s%s", type_of(value.type), value.name and value.name .. " " or "_ ", value.text) end
    add("function %s%s%s(%s) end", target, separator, entry.name:match "[^.:]+$", table.concat(names, ", "))
    add ""
  end
  add "---@class iap"
  add "local iap = {}"
  add ""
  for _, entry in ipairs(reference.entries) do
    if entry.kind == "table" and entry.name ~= "iap" then
      text(entry.text)
      add("%s = {}", entry.name)
      add ""
    elseif entry.kind == "value" then
      text(entry.text)
      add("---@type %s", entry.fields[1].type)
      add("%s = nil", entry.name)
      add ""
    elseif entry.kind == "class" then
      text(entry.text)
      add("---@class %s", classes[entry.name])
      for _, option in ipairs(entry.fields) do add("---@field %s %s %s", key(option.name), type_of(option.type, option.default or option.optional), told(option)) end
      add("local %s = {}", entry.name)
      add ""
    end
  end
  for _, entry in ipairs(reference.entries) do
    if entry.kind == "function" then call(entry, entry.name:match "^(.*)[.][^.]+$", ".") end
    if entry.kind == "method" then
      local owner = entry.name:match "^[^:]+"
      if owner == "object" then
        for _, class in ipairs(reference.entries) do
          if class.kind == "class" and class.name ~= "object" and not class.plain then call(entry, class.name, ":") end
        end
      else
        call(entry, owner, ":")
      end
    end
  end
  add "return iap"
  return table.concat(lines, "\n") .. "\n"
end

return meta
