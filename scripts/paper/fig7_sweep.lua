-- Figure 7 of "Implicit Attention for Pixels": which patch size {2, 4, 8}, embedding size d {4, 16, 64} and number of patches
-- l {10, 50, 100}? Distracting Control, static, medium, 240 x 320 pixels. The paper finds small patches and small l to be better.
--
--   ./dev run scripts/paper/fig7_sweep.lua                   27 runs of 100 iterations; about 9 hours on 2 cores
--   ./dev run scripts/paper/fig7_sweep.lua --set "pixels=[100,100]" --set iterations=50              about an hour
--   ./dev run scripts/paper/fig7_sweep.lua --set "pixels=[100,100]" --set iterations=1 --set episodes=1 --set optimizer.population=4
--   --set task=walker-walk (default cheetah-run), --set kernel=hybrid (default relu), --set distraction=none, --set videos=FOLDER
--
-- Writes runs/paper/fig7/: a run folder for each combination and seed, results.csv, and d4.png, d16.png, d64.png (return over
-- patch size, a line for each l). Seed 1.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"

local options = iap.options {
  seed = 1, seeds = 1, episodes = 20,
  task = "cheetah-run", kernel = "relu", pixels = { 240, 320 }, distraction = "medium", videos = "",
}
local root = paper.root("fig7", { "task" })
local env = distracted.make(options.task, options)
local variant = paper.variant(options.kernel)

local rows = {}
for _, d in ipairs { 4, 16, 64 } do
  local lines, span = {}, nil
  for _, top in ipairs { 10, 50, 100 } do
    local line = { label = "l = " .. top, x = {}, y = {}, low = {}, high = {}, dots = true }
    for _, patch in ipairs { 2, 4, 8 } do
      local policy = paper.policy(paper.attention(variant, { patch = patch, d = d, top = top }))
      local name = string.format("%s-patch%d-d%d-l%d", options.task, patch, d, top)
      local folders = paper.train_seeds(root, name, options, env, policy)
      local earned = paper.evaluate(folders, options.episodes)
      table.insert(line.x, patch)
      table.insert(line.y, earned.mean)
      if earned.lowest then -- one episode has no interval
        table.insert(line.low, earned.lowest)
        table.insert(line.high, earned.highest)
        span = earned.span
      end
      table.insert(rows, { patch, d, top, earned.runs, earned.mean, earned.deviation })
    end
    table.insert(lines, line)
  end
  iap.report.line_chart {
    series = lines,
    out = string.format("%s/d%d.png", root, d),
    title = string.format("%s, d = %d", options.task, d),
    x_label = "patch size",
    y_label = "return",
    caption = span and "Band: " .. span .. "." or nil,
  }
end
paper.write_table(root .. "/results.csv", { "patch", "d", "l", "seeds", "return", "deviation" }, rows)
