-- links.lua FILE.md ...: every link of these documents leads to a file that is there, and to a heading that it has; and the documents in
-- docs read as a book: each is reached from its contents, docs/README.md, and leads back there.
local function content(path)
  local file = io.open(path)
  if not file then return nil end
  local all = file:read "a"
  file:close()
  return all or "" -- a folder opens, but has nothing to read
end

-- The anchors of a document: its headings in lower case, without punctuation, with dashes for spaces. Lines in fences are no headings.
local function anchors(text)
  local found, fenced = {}, false
  for line in text:gmatch "[^\n]+" do
    if line:find "^%s*```" then fenced = not fenced end
    local heading = not fenced and line:match "^#+ (.*)"
    if heading then
      heading = heading:gsub("%[([^%]]*)%]%b()", "%1")
      found[heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")] = true
    end
  end
  return found
end

-- "docs/reference/../README.md" as "docs/README.md"
local function plain(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

local broken, checked, leads = {}, 0, {}
for _, document in ipairs(arg) do
  local folder = document:match "^(.*)/" or "."
  local targets = {}
  leads[plain(document)] = targets
  for link in content(document):gsub("`[^`\n]*`", ""):gmatch "%]%(([^)%s]+)%)" do
    local path, anchor = link:match "^([^#]*)#?(.*)$"
    if not path:find "^%a+:" then
      local target = path == "" and document or folder .. "/" .. path
      targets[plain(target)] = true
      local text = content(target)
      checked = checked + 1
      if not text then
        table.insert(broken, document .. ": " .. link .. " is not there")
      elseif anchor ~= "" and not anchors(text)[anchor] then
        table.insert(broken, document .. ": " .. link .. " has no such heading")
      end
    end
  end
end

-- What is reached from the contents.
local reached = {}
local function follow(document)
  if reached[document] or not leads[document] then return end
  reached[document] = true
  for target in pairs(leads[document]) do follow(target) end
end
local contents = {}
for document in pairs(leads) do
  if document:find "docs/README%.md$" then
    follow(document)
    table.insert(contents, document)
  end
end
local pages = 0
for document, targets in pairs(leads) do
  local book = document:match "^(.*docs/)"
  if book and #contents > 0 then
    pages = pages + 1
    if not reached[document] then table.insert(broken, document .. " cannot be reached from " .. contents[1]) end
    if not targets[book .. "README.md"] and document ~= book .. "README.md" then table.insert(broken, document .. " has no link to the contents, README.md") end
  end
end
table.sort(broken)
for _, line in ipairs(broken) do print(line) end
if #broken > 0 or checked == 0 then error(string.format("%d of %d links and %d pages are wrong", #broken, checked, pages), 0) end
print(checked .. " links lead somewhere, " .. pages .. " pages are in the book")
