-- build.lua: makes the reference from the comments of the sources.
--   lua5.4 build.lua OUT SOURCES       writes OUT/reference.lua, which the engine embeds, and OUT/iap.meta.lua for editors
--   lua5.4 build.lua --write DOCS SOURCES   writes the pages into the folder DOCS
--   lua5.4 build.lua --check DOCS SOURCES   exit code 1 where a page in DOCS is not what would be written
-- SOURCES is a file that lists the sources, a line each. What stays the same is not written again.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local comments, pages, meta, lookup = require "comments", require "pages", require "meta", require "lookup"

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  if read(path) == text then return end
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
end

local mode, out, list
if arg[1]:find "^%-%-" then
  mode, out, list = arg[1], arg[2], arg[3]
else
  mode, out, list = "--build", arg[1], arg[2]
end

local entries = {}
for path in assert(io.lines(list)) do
  local text = assert(read(path), path)
  if text:find("@lua ", 1, true) then comments.read(text, path:match "([^/]+/[^/]+)$", entries) end
end

-- Tables, then what is in them, in the order of the sources' names.
local by_name = {}
for _, entry in ipairs(entries) do
  if by_name[entry.name] then error(entry.where .. " and " .. by_name[entry.name].where .. " both describe " .. entry.name, 0) end
  by_name[entry.name] = entry
end
for _, entry in ipairs(entries) do
  local owner = entry.kind == "method" and by_name[entry.name:match "^[^:]+"]
  if entry.kind == "method" and not owner then error(entry.where .. ": nothing describes the class of " .. entry.name, 0) end
  if owner then entry.page = owner.page end
end
local order = { table = 1, topic = 1, value = 2, ["function"] = 3, class = 4, method = 5, options = 6 }
table.sort(entries, function(a, b)
  local pa, pb = pages.page_of(a), pages.page_of(b)
  if pa ~= pb then return pages.rank(pa) < pages.rank(pb) end
  if order[a.kind] ~= order[b.kind] then return order[a.kind] < order[b.kind] end
  return a.name < b.name
end)
for _, entry in ipairs(entries) do
  for _, use in ipairs(entry.uses) do
    if not by_name[use] then error(entry.where .. ": " .. entry.name .. " uses '" .. use .. "', which nothing describes", 0) end
  end
end

local function literal(value, indent)
  if type(value) ~= "table" then return type(value) == "string" and string.format("%q", value):gsub("\\\n", "\\n") or tostring(value) end
  local parts = {}
  if #value > 0 or next(value) == nil then
    for _, item in ipairs(value) do table.insert(parts, (literal(item, indent))) end
  else
    local keys = {}
    for name in pairs(value) do table.insert(keys, name) end
    table.sort(keys)
    for _, name in ipairs(keys) do table.insert(parts, string.format("[%q]=%s", name, (literal(value[name], indent)))) end
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local reference = lookup(entries)
if mode == "--build" then
  local lines = {}
  for _, entry in ipairs(entries) do table.insert(lines, (literal(entry))) end
  write(out .. "/reference.lua", "return {\n" .. table.concat(lines, ",\n") .. "\n}\n")
  write(out .. "/iap.meta.lua", meta.make(reference))
  return
end

local by_page = {}
for _, entry in ipairs(entries) do
  local page = pages.page_of(entry)
  by_page[page] = by_page[page] or {}
  table.insert(by_page[page], entry)
end
local wrong = 0
for name, text in pairs(pages.make(reference, by_page)) do
  local path = out .. "/" .. name
  if mode == "--write" then
    write(path, text)
  elseif read(path) ~= text then
    print(path .. " is not what the comments say; ./dev docs writes it")
    wrong = wrong + 1
  end
end
os.exit(wrong == 0 and 0 or 1)
