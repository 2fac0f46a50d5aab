-- Plays the trained policies of docs/results.md again: table 1's five tasks, 20 episodes each that training never saw; also without
-- distractions and with those of other difficulties and videos that training never showed.
--
--   ./dev run scripts/paper/evaluate.lua                                  table 1's rows; 2 minutes on 2 cores
--   ./dev run scripts/paper/evaluate.lua --set worlds=all                 in all worlds; 15 minutes
--   ./dev run scripts/paper/evaluate.lua reacher-easy --set episodes=100  some tasks only
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"

local options = iap.options { episodes = 20, worlds = "trained" }
local folder = (arg[0]:match "^(.*)/" or ".") .. "/policies/"
local tasks = distracted.chosen(arg)

local worlds = {
  { name = "medium" }, -- as trained
  { name = "clean", distraction = false },
  { name = "easy", distraction = { difficulty = "easy" } },
  { name = "hard", distraction = { difficulty = "hard" } },
  { name = "unseen videos", distraction = { difficulty = "medium", split = "validation" } },
}
if options.worlds == "trained" then worlds = { worlds[1] } end

local rows = {}
for _, task in ipairs(tasks) do
  for _, world in ipairs(worlds) do
    local earned = paper.evaluate({ folder .. task.name .. ".iap" }, options.episodes, world.distraction)
    table.insert(rows, { task.name, world.name, earned.mean, earned.deviation, earned.low, earned.high, task.iap, task.sac, task.qt_opt })
  end
end
paper.show({ "task", "world", "return", "deviation", "low", "high", "paper_iap", "paper_sac", "paper_qt_opt" }, rows)
