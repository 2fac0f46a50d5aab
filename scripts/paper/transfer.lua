-- What does a policy keep when the distractions come or go? One policy learns on the clean task, another on Distracting Control
-- (static, medium); each is evaluated on both, and on backgrounds that no training showed (the validation videos).
--
--   ./dev run scripts/paper/transfer.lua                     2 runs of 100 iterations; 18 minutes of one core
--   ./dev run scripts/paper/transfer.lua --set task=walker-walk --set "pixels=[240,320]" --set patch=2 --set top=10
--   ./dev run scripts/paper/transfer.lua --set iterations=2 --set optimizer.population=8 --set episodes=2
--   --set kernel=relu (default hybrid), --set distraction=hard, --set videos=FOLDER
--
-- Writes runs/paper/transfer/: the run folders and TASK.csv. Seed 1.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"
local jobs = require "jobs"

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

local kinds = {}
for i, world in ipairs { worlds[1], worlds[2] } do
  local env = iap.env.make(options.task,
    { pixels = options.pixels, action_repeat = paper.action_repeat, distraction = world.distraction or nil })
  local shape = { patch = options.patch, d = options.d, top = options.top }
  kinds[i] = {
    name = options.task .. "-" .. world.name, trained = world.name, env = env,
    policy = paper.policy(paper.attention(variant, shape)),
  }
end

-- What a run earns in a world; each is played once a start.
local played = {}
local function earned_by(run, world)
  local key = run .. "\n" .. world.name
  played[key] = played[key] or paper.earned(run, options.episodes, world.distraction)
  return played[key]
end

-- What the runs of a group earn together in a world; in their own they have played.
local function earned_in(world, group)
  if world.name == group.kind.trained then return group.earned end
  local all = {}
  for i, run in ipairs(group.runs) do all[i] = earned_by(run, world) end
  return paper.joined(all)
end

local columns = { "trained", "evaluated", "seeds", "return", "low", "high", "span" }
jobs.run(root, kinds, jobs.wanted(root, options, kinds), options.episodes, function(complete)
  local rows = {}
  for _, group in ipairs(jobs.grouped(kinds, complete)) do
    for _, world in ipairs(worlds) do
      local earned = earned_in(world, group)
      table.insert(rows, { group.kind.trained, world.name, earned.runs, earned.mean, earned.low, earned.high, earned.span })
    end
  end
  paper.write_table(string.format("%s/%s.csv", root, options.task), columns, rows)
end)
