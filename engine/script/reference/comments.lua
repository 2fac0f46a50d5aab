-- comments.lua: what the comments of the sources say that begin with `/// @lua`, as a list of entries. CONTRIBUTING.md has the rules.
local comments = {}

local kinds = { ["table"] = true, topic = true, ["function"] = true, method = true, class = true, options = true, value = true }

local function fail(where, message) error(where .. ": " .. message, 0) end

-- "NAME TYPE [LOW..HIGH] [= DEFAULT | ?] - TEXT" as {name, type, low, high, default, optional, text}.
local function read_option(line, where)
  local head, text = line:match "^(.-) %- (.*)$"
  if not head then fail(where, "write 'NAME TYPE ... - TEXT', got '" .. line .. "'") end
  local option = { text = text }
  local before, default = head:match "^(.-) = (.*)$"
  option.default, head = default, before or head
  local words = {}
  for word in head:gmatch "%S+" do table.insert(words, word) end
  if words[#words] == "?" then
    option.optional = true
    table.remove(words)
  end
  option.name, option.type = words[1], words[2]
  if words[3] then
    option.low, option.high = words[3]:match "^(.-)%.%.(.*)$"
    if not option.low then fail(where, "'" .. words[3] .. "' is no range LOW..HIGH") end
  end
  if not option.type or words[4] then fail(where, "write 'NAME TYPE [LOW..HIGH] [= DEFAULT | ?] - TEXT', got '" .. line .. "'") end
  return option
end

-- "TYPE [NAME] - TEXT"
local function read_return(line, where)
  local type, name, text = line:match "^(%S+) (%S*) ?%- (.*)$"
  if not type then fail(where, "write 'TYPE [NAME] - TEXT', got '" .. line .. "'") end
  return { type = type, name = name ~= "" and name or nil, text = text }
end

local readers = { param = read_option, option = read_option, field = read_option, ["return"] = read_return }
local lists = { param = "params", option = "options", field = "fields", ["return"] = "returns", use = "uses", see = "see", example = "examples" }

local function joined(parts, separator) return (table.concat(parts, separator):gsub("%s+$", "")) end

-- One comment: `lines` without slashes, the first one "@lua KIND NAME".
local function read_entry(lines, where)
  local kind, name = lines[1]:match "^@lua (%l+) (%S+)$"
  if not kinds[kind] then fail(where, "write '@lua KIND NAME' with a kind such as function, got '" .. lines[1] .. "'") end
  local entry = { kind = kind, name = name, where = where:match "^[^:]*" }
  for _, list in pairs(lists) do entry[list] = {} end
  local text, tag, parts = {}, nil, nil
  local function close()
    if not tag then return end
    local value = joined(parts, tag == "example" and "\n" or " ")
    if tag == "page" then
      entry.page = value
    elseif lists[tag] then
      table.insert(entry[lists[tag]], readers[tag] and readers[tag](value, where) or value)
    else
      fail(where, "there is no @" .. tag)
    end
  end
  for i = 2, #lines do
    local begins, rest = lines[i]:match "^@(%l+) (.*)$"
    if begins then
      close()
      tag, parts = begins, { rest }
    else
      table.insert(tag and parts or text, lines[i])
    end
  end
  close()
  local paragraphs = {}
  for paragraph in (table.concat(text, "\n") .. "\n\n"):gmatch "(.-)\n\n" do table.insert(paragraphs, (paragraph:gsub("\n", " "))) end
  entry.text = joined(paragraphs, "\n\n")
  return entry
end

-- Appends the entries of one source to `entries`.
function comments.read(source, path, entries)
  local lines, first, number = nil, nil, 0
  local function close()
    if lines then table.insert(entries, read_entry(lines, path .. ":" .. first)) end
    lines = nil
  end
  for line in source:gmatch "([^\n]*)\n" do
    number = number + 1
    local comment = line:match "^%s*///%s?(.*)$"
    if comment and comment:find "^@lua " then
      close()
      lines, first = { comment }, number
    elseif comment and lines then
      table.insert(lines, comment)
    else
      close()
    end
  end
  close()
end

return comments
