-- pages.lua: the reference as Markdown, a page an area.
local pages = {}

-- In the order of the book.
local areas = {
  { "iap", "The table `iap`" }, { "env", "Environments" }, { "task", "Environments, tasks and blocks in Lua" },
  { "robots", "Robots on four legs: options of their environments" }, { "attention", "Attention" }, { "policy", "Policies and their blocks" },
  { "optim", "Optimizers" }, { "report", "Pictures and reports" }, { "image", "Images" }, { "theory", "Theory of random features" },
  { "legged", "Parts of legged robots" },
}

local notice = "<!-- Generated from the comments in the sources by `./dev docs`; edit those. -->\n"

local rank = {}
for number, area in ipairs(areas) do rank[area[1]] = number end
-- Where a page stands in the book.
function pages.rank(page) return rank[page] end

function pages.page_of(entry)
  if entry.page then return entry.page end
  local first = entry.name:match "^iap%.([%w_]+)" or (entry.name == "iap" and "iap") or entry.name:match "^[%w_-]+"
  return rank[first] and first or "iap"
end

-- As GitHub makes them of headings.
local function anchor(heading) return (heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")) end

-- What a cell of a table says of an option's default.
local function default_cell(option, reference, required)
  local default = reference.default(option)
  if default == "none" then return "" end
  if default == "required" then return required and "required" or "" end
  return option.default:find "^%(" and default or "`" .. default .. "`"
end

local function cell(text) return (text:gsub("|", "\\|"):gsub("\n", " ")) end

-- Texts name documents as they are called in docs/; pages lie in a folder below.
local function see_link(target)
  local title = target:match "^[^#]+"
  return string.format("[%s](../%s)", title, target)
end

function pages.make(reference, by_page)
  local by_name = reference.by_name
  local function link(name, label)
    local entry = by_name[name]
    if not entry then error("the reference names '" .. name .. "', which it does not have", 0) end
    return string.format("[%s](%s.md#%s)", label or "`" .. name .. "`", pages.page_of(entry), anchor(name))
  end
  local function table_of(list, title)
    local lines = { "| " .. title .. " | type | default | |", "|---|---|---|---|" }
    local required = title ~= "entry"
    for _, option in ipairs(list) do
      local more = option.type:match "{([%w._-]+)}"
      table.insert(lines, string.format("| `%s` | `%s` | %s | %s%s |", option.name, cell(reference.facts(option)),
        cell(default_cell(option, reference, required)),
        cell(option.text), more and ": " .. link(more) or ""))
    end
    return table.concat(lines, "\n")
  end
  local function described(entry)
    local call = entry.kind == "function" or entry.kind == "method"
    local parts = { "## " .. entry.name }
    if call then table.insert(parts, "`" .. reference.signature(entry) .. "`") end
    table.insert(parts, entry.text)
    if #entry.params > 0 then table.insert(parts, table_of(entry.params, "argument")) end
    if #entry.options > 0 then table.insert(parts, table_of(entry.options, "option")) end
    if #entry.uses > 0 then
      local links = {}
      for _, use in ipairs(entry.uses) do table.insert(links, link(use)) end
      table.insert(parts, (#entry.options > 0 and "It also takes the options of " or "It takes the options of ") .. table.concat(links, ", ") .. ".")
    end
    if #entry.fields > 0 then table.insert(parts, table_of(entry.fields, "entry")) end
    if #entry.returns > 0 then
      local lines = {}
      for _, value in ipairs(entry.returns) do
        local more = value.type:match "{([%w._-]+)}"
        table.insert(lines, string.format("- returns %s`%s`: %s%s", value.name and "`" .. value.name .. "`, " or "", reference.facts(value),
          value.text, more and ": " .. link(more) or ""))
      end
      table.insert(parts, table.concat(lines, "\n"))
    end
    for _, example in ipairs(entry.examples) do table.insert(parts, "```lua\n" .. example .. "\n```") end
    if #entry.see > 0 then
      local links = {}
      for _, target in ipairs(entry.see) do table.insert(links, see_link(target)) end
      table.insert(parts, "More: " .. table.concat(links, ", ") .. ".")
    end
    return table.concat(parts, "\n\n")
  end
  local made, contents = {}, {}
  for number, area in ipairs(areas) do
    local key, title = area[1], area[2]
    local parts, inside = {}, {}
    for _, entry in ipairs(by_page[key] or {}) do
      table.insert(parts, described(entry))
      table.insert(inside, string.format("[`%s`](#%s)", entry.name, anchor(entry.name)))
    end
    local before, after = areas[number - 1], areas[number + 1]
    local way = "[Contents](../README.md) · [Reference](README.md)" .. (before and " · before: [" .. before[2] .. "](" .. before[1] .. ".md)" or "") ..
      (after and " · next: [" .. after[2] .. "](" .. after[1] .. ".md)" or "")
    made[key .. ".md"] = notice .. "# " .. title .. "\n\n" .. way .. "\n\n" .. table.concat(inside, ", ") .. "\n\n" .. table.concat(parts, "\n\n") .. "\n"
    local lines = { string.format("## [%s](%s.md)", title, key), "| | |\n|---|---|" }
    for _, entry in ipairs(by_page[key] or {}) do
      lines[2] = lines[2] .. string.format("\n| [`%s`](%s.md#%s) | %s |", entry.name, key, anchor(entry.name), cell(reference.summary(entry)))
    end
    table.insert(contents, table.concat(lines, "\n\n"))
  end
  made["README.md"] = notice .. [[
# The Lua reference

[Contents](../README.md)

Every name of `iap.*`, every option table and every object with its methods. The same texts are at hand at the prompt (`help(iap.attention.rank)`,
`help("sigma")`), on the command line (`iap help rank`) and in editors (`share/iap/iap.meta.lua`, [how](../lua.md#in-an-editor)).

A range `1..` has no upper end that matters; a default that is another option's name follows that option. An option table refuses names
that it does not know.

]] .. table.concat(contents, "\n\n") .. "\n"
  return made
end

return pages
