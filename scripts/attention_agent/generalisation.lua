-- How a policy trained on the unmodified game plays its modifications (Tang, Nguyen & Ha 2020, section 4.4): one row each, beside
-- what the paper reports for AttentionAgent.
--
--   ./dev run scripts/attention_agent/generalisation.lua -- POLICY      a run folder, a policy file or published weights (.npz)
--   ... --set episodes=20 --set seed=7 --set csv=table.csv
local iap = require "iap"
local agent = require "agent"

local options = iap.options({ episodes = 100, seed = 1000, csv = "" }, { training = false })
local policy, env = agent.open(arg[1])

-- Modifications in the paper's order with its mean and standard deviation over 100 episodes.
local games = {
  ["car-racing"] = {
    { "none", 914, 15 }, { "colour", 866, 112 }, { "bars", 900, 35 }, { "blob", 898, 53 }, { "noise", -58, 12 },
  },
  ["take-cover"] = {
    { "none", 1125, 589 }, { "walls", 934, 560 }, { "floor", 1120, 613 }, { "text", 1035, 627 },
  },
}

local game = games[env.name] or error("there are no modifications of '" .. env.name .. "'; car-racing and take-cover have some", 0)

local rows = { "modification,mean,standard_deviation,low,high,paper_mean,paper_standard_deviation" }
print(string.format("%s, %d episodes from seed %d\n", env.name, options.episodes, options.seed))
print(string.format("%-14s %18s %22s %18s", "modification", "return", "95% interval", "paper"))
for _, row in ipairs(game) do
  local modification, paper_mean, paper_deviation = table.unpack(row)
  env.modification = modification
  local result = iap.eval(policy, { env = env, episodes = options.episodes, seed = options.seed })
  local deviation, low, high = result.standard_deviation, result.low, result.high -- one episode has none of them
  local earned = deviation and string.format("%9.1f +- %5.1f %10.1f to %8.1f", result.mean, deviation, low, high)
    or string.format("%9.1f %31s", result.mean, "one episode: no interval")
  print(string.format("%-14s %s %9d +- %5d", modification, earned, paper_mean, paper_deviation))
  local spread = deviation and string.format("%.17g,%.17g,%.17g", deviation, low, high) or ",,"
  rows[#rows + 1] = string.format("%s,%.17g,%s,%d,%d", modification, result.mean, spread, paper_mean, paper_deviation)
end
if options.csv ~= "" then
  local file = assert(io.open(options.csv, "w"))
  file:write(table.concat(rows, "\n"), "\n")
  file:close()
end
