-- Replays every policy that ships against what docs/results.md says of it (scripts/shipped.lua), in one of three ways:
--   same    all figures are the printed ones, to the last digit
--   within  the mean lies in the printed interval: on a machine with other instruction sets than the printed figures come from (an AMD EPYC
--           with AVX-512), scores differ in their last bits, and episodes may part
--   FAILED  neither; the script ends with an error
--
--   ./dev run scripts/verify.lua                 all of them; some minutes on 2 cores
--   ./dev run scripts/verify.lua cheetah walker  those whose file's name contains one of these words
local iap = require "iap"
iap.options({}, { training = false })
local folder = arg[0]:match "^(.*)/" or "."
local shipped = dofile(folder .. "/shipped.lua")

local function wanted(row)
  for _, word in ipairs(arg) do
    if row.policy:find(word, 1, true) then return true end
  end
  return #arg == 0
end

local function figures(row) return string.format("%.0f +- %.0f, %.0f to %.0f", row.mean, row.deviation, row.low, row.high) end

local played, differing = 0, 0
for _, row in ipairs(shipped) do
  if wanted(row) then
    local policy = iap.policy.load(folder .. "/" .. row.policy)
    local env = policy:metadata().env
    for option, value in pairs(row.set) do env[option] = value end
    local now = iap.eval(policy, { episodes = row.episodes, seed = row.seed, env = env })
    now.deviation = now.standard_deviation
    local verdict = "FAILED"
    if figures(now) == figures(row) then
      verdict = "same"
    elseif row.low <= now.mean and now.mean <= row.high then
      verdict = "within"
    end
    played, differing = played + 1, differing + (verdict == "FAILED" and 1 or 0)
    print(string.format("%-6s  %-44s  printed %-24s  played %s", verdict, row.policy, figures(row), figures(now)))
  end
end
if played == 0 then error("no policy that ships has one of these words in its name: " .. table.concat(arg, ", "), 0) end
if differing > 0 then error(string.format("%d of %d policies do not earn what is printed", differing, played), 0) end
print(string.format("all %d policies earn what is printed", played))
