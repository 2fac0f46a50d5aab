-- Plays the trained policies of table 1 in docs/results.md again: five tasks, two eyes, 20 episodes each that training never saw; also
-- without distractions, with easier and harder ones, and before videos that training never showed.
--
--   ./dev run scripts/paper/evaluate.lua                                  table 1's rows; half a minute on 2 cores
--   ./dev run scripts/paper/evaluate.lua --set worlds=all                 in all worlds; 2 minutes (worlds=hard: in this one)
--   ./dev run scripts/paper/evaluate.lua reacher-easy --set episodes=100  some tasks only
--   --set eyes=rank (the papers' eye) or change (ours)
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"

local options = iap.options({ episodes = 20, worlds = "medium", eyes = "all" }, { training = false })
local folder = (arg[0]:match "^(.*)/" or ".") .. "/policies/"
local tasks = distracted.chosen(arg)

local worlds = {
  { name = "medium" }, -- as trained
  { name = "clean", distraction = false },
  { name = "easy", distraction = { difficulty = "easy" } },
  { name = "hard", distraction = { difficulty = "hard" } },
  { name = "unseen", distraction = { difficulty = "medium", split = "validation" } },
}
local wanted, names = {}, {}
for _, world in ipairs(worlds) do
  if options.worlds == "all" or options.worlds == world.name then table.insert(wanted, world) end
  table.insert(names, world.name)
end
if #wanted == 0 then
  error("--set worlds: take all or one of " .. table.concat(names, ", ") .. ", not " .. options.worlds, 0)
end

-- Every task has a policy with the papers' eye; ours is shipped where it learned the task.
local eyes = {}
for _, eye in ipairs { { name = "rank", ending = ".iap" }, { name = "change", ending = "-change.iap" } } do
  if options.eyes == "all" or options.eyes == eye.name then table.insert(eyes, eye) end
end
if #eyes == 0 then error("--set eyes: take all, rank or change, not " .. options.eyes, 0) end

local rows = {}
for _, task in ipairs(tasks) do
  for _, eye in ipairs(eyes) do
    local path = folder .. task.name .. eye.ending
    local shipped = io.open(path)
    if shipped then
      shipped:close()
      for _, world in ipairs(wanted) do
        local earned = paper.earned(path, options.episodes, world.distraction)
        table.insert(rows, { task.name, eye.name, world.name, earned.mean, earned.standard_deviation, earned.low, earned.high, task.iap, task.sac, task.qt_opt })
      end
    end
  end
end
paper.show({ "task", "eye", "world", "return", "deviation", "low", "high", "paper_iap", "paper_sac", "paper_qt_opt" }, rows)
