-- Replays every policy that ships against what docs/results.md says of it (scripts/shipped.lua), and says of each
--   passed, same    all figures are the printed ones, to the last digit
--   passed, within  the mean lies in the printed interval: on a machine with other instruction sets than the printed figures come from
--                   (an AMD EPYC with AVX-512), scores differ in their last bits, and episodes may part
--   FAILED          neither; the script ends with an error
--
--   iap verify                 all of them; it says beforehand how long that takes
--   iap verify cheetah walker  those whose file's name contains one of these words
--   iap verify --list          what ships, and what is printed of it
-- In the source tree: ./dev iap verify. The command runs this script: iap run scripts/verify.lua --set list=true
local iap = require "iap"
local options = iap.options({ list = false }, { training = false })
local folder = arg[0]:match "^(.*)/" or "."
local shipped = dofile(folder .. "/shipped.lua")

local chosen, seconds = {}, 0
local function matches(row, word) return row.policy:find(word, 1, true) ~= nil end
for _, word in ipairs(arg) do
  local found = false
  for _, row in ipairs(shipped) do
    found = found or matches(row, word)
  end
  if not found then error(string.format("no policy that ships has '%s' in its name; iap verify --list names them", word), 0) end
end
for _, row in ipairs(shipped) do
  local wanted = #arg == 0
  for _, word in ipairs(arg) do
    wanted = wanted or matches(row, word)
  end
  if wanted then
    chosen[#chosen + 1] = row
    seconds = seconds + row.seconds
  end
end

-- As many places behind the point as are printed of a row.
local function figures(row, places)
  local number = string.format("%%.%df", places or 0)
  return string.format(number .. " +- " .. number .. ", " .. number .. " to " .. number, row.mean, row.deviation, row.low, row.high)
end

local function duration(some)
  return some < 60 and string.format("%.0f s", math.max(some, 1)) or string.format("%.0f minutes", some / 60)
end

local function padded(word, width) return word .. string.rep(" ", width - #word) end
local name_width, duration_width = 0, 0
for _, row in ipairs(chosen) do
  name_width = math.max(name_width, #row.policy)
  duration_width = math.max(duration_width, #duration(row.seconds))
end

if options.list then
  for _, row in ipairs(chosen) do
    print(string.format("%s  %3d episodes, about %s  printed %s", padded(row.policy, name_width), row.episodes,
      padded(duration(row.seconds), duration_width), figures(row, row.places)))
  end
  return
end

local threads = iap.threads()
print(string.format("%d of %d policies; about %s of processor time, on %d thread%s some %s", #chosen, #shipped, duration(seconds), threads,
  threads == 1 and "" or "s", duration(seconds / threads)))
local failed = 0
for _, row in ipairs(chosen) do
  local policy = iap.policy.load(folder .. "/" .. row.policy)
  local env = policy:metadata().env
  for option, value in pairs(row.set) do env[option] = value end
  local now = iap.eval(policy, { episodes = row.episodes, seed = row.seed, env = env })
  now.deviation = now.standard_deviation
  local verdict = "FAILED"
  local printed, played = figures(row, row.places), figures(now, row.places)
  if played == printed then
    verdict = "passed, same"
  elseif row.low <= now.mean and now.mean <= row.high then
    verdict = "passed, within"
  else
    failed = failed + 1
  end
  print(string.format("%-14s  %s  printed %-24s  played %s", verdict, padded(row.policy, name_width), printed, played))
end
if failed > 0 then error(string.format("%d of %d policies do not earn what is printed", failed, #chosen), 0) end
print(#chosen == 1 and "the policy earns what is printed" or string.format("all %d policies earn what is printed", #chosen))
