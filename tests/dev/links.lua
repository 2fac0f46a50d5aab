-- links.lua FILE.md ...: every link of these documents leads to a file that is there, and to a heading that it has.
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
    if heading then found[heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")] = true end
  end
  return found
end

local broken, checked = {}, 0
for _, document in ipairs(arg) do
  local folder = document:match "^(.*)/" or "."
  for link in content(document):gsub("`[^`\n]*`", ""):gmatch "%]%(([^)%s]+)%)" do
    local path, anchor = link:match "^([^#]*)#?(.*)$"
    if not path:find "^%a+:" then
      local target = path == "" and document or folder .. "/" .. path
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
for _, line in ipairs(broken) do print(line) end
if #broken > 0 or checked == 0 then error(string.format("%d of %d links lead nowhere", #broken, checked), 0) end
print(checked .. " links lead somewhere")
