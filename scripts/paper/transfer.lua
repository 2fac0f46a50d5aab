-- What does a policy keep when the distractions come or go? One policy learns on the clean task, another on Distracting Control
-- (static, medium); each is evaluated on both, and on backgrounds that no training showed (the validation videos).
--
--   ./dev run scripts/paper/transfer.lua                     2 runs of 100 iterations; about 10 minutes on 2 cores
--   ./dev run scripts/paper/transfer.lua --set task=walker-walk --set "pixels=[240,320]" --set patch=2 --set top=10
--   ./dev run scripts/paper/transfer.lua --set iterations=2 --set optimizer.population=8 --set episodes=2
--   --set kernel=relu (default hybrid), --set distraction=hard, --set videos=FOLDER
--
-- Writes runs/paper/transfer/: the run folders and results.csv. Seed 1.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"

local options = iap.options {
  seed = 1, seeds = 1, episodes = 50,
  task = "cheetah-run", kernel = "hybrid", pixels = { 100, 100 }, patch = 4, d = 8, top = 5, distraction = "medium", videos = "",
}
local root = paper.root("transfer", { "task" })
local variant = paper.variant(options.kernel)
local worlds = {
  { name = "clean", distraction = false },
  { name = "distracted", distraction = distracted.option(options, "train") },
  { name = "distracted, new backgrounds", distraction = distracted.option(options, "validation") },
}

local rows = {}
for trained = 1, 2 do
  local env = iap.env.make(options.task,
    { pixels = options.pixels, action_repeat = paper.action_repeat, distraction = worlds[trained].distraction or nil })
  local policy = paper.policy(paper.attention(variant, { patch = options.patch, d = options.d, top = options.top }))
  local folders = paper.train_seeds(root, options.task .. "-" .. worlds[trained].name, options, env, policy)
  for _, world in ipairs(worlds) do
    local earned = paper.evaluate(folders, options.episodes, world.distraction)
    table.insert(rows, { worlds[trained].name, world.name, earned.runs, earned.mean, earned.low, earned.high })
  end
end
paper.write_table(root .. "/results.csv", { "trained", "evaluated", "seeds", "return", "low", "high" }, rows)
