-- Table 1 of "Implicit Attention for Pixels": the Distracting Control Suite, static, medium, 240 x 320 pixels, patches of 2 x 2
-- (L = 19200), the top 10 of them.
--
--   ./dev run scripts/paper/table1_distracting.lua                                 all five tasks; 2 to 3 hours on 2 cores
--   ./dev run scripts/paper/table1_distracting.lua cheetah-run walker-walk         these tasks only
--   ./dev run scripts/paper/table1_distracting.lua --set iterations=1 --set optimizer.population=4 --set episodes=1   a trial
--   --set kernel=relu (default hybrid, with (m, r) = (10, 5)), --set videos=FOLDER (DAVIS 2017's frames), --set distraction=hard
-- docs/results.md has what came out; the walker's row there was trained with
--   --set optimizer.learning_rate=0.1 --set optimizer.learning_rate_decay=0.985
--
-- Writes runs/paper/table1/: a run folder for each task, kernel and seed, and results.csv (results-TASK.csv if not all tasks ran):
-- the mean return of the best policy over 20 episodes that training never saw, beside what the papers print. Seed 1. Several
-- processes may work on different tasks at the same time.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"

local options = iap.options {
  seed = 1, seeds = 1, episodes = 20,
  kernel = "hybrid", pixels = { 240, 320 }, distraction = "medium", videos = "",
}
local root = paper.root("table1", { "kernel" })
local variant = paper.variant(options.kernel)

local wanted = distracted.chosen(arg)

local rows = {}
for _, task in ipairs(wanted) do
  local env = distracted.make(task.name, options)
  local policy = paper.policy(paper.attention(variant, { patch = 2, d = 8, top = 10 }))
  local folders = paper.train_seeds(root, task.name .. "-" .. options.kernel, options, env, policy)
  local earned = paper.evaluate(folders, options.episodes)
  local row = { task.name, options.kernel, earned.runs, earned.mean, earned.low, earned.high, task.iap, task.sac, task.qt_opt }
  table.insert(rows, row)
end
local file = #wanted == #distracted.tasks and "results.csv" or "results-" .. wanted[1].name .. ".csv"
paper.write_table(root .. "/" .. file,
  { "task", "kernel", "seeds", "return", "low", "high", "paper_iap", "paper_sac", "paper_qt_opt" }, rows)
