-- Figure 1 of "Implicit Attention for Pixels": cheetah-run from 100 x 100 RGB pixels, patches of 4 x 4 (L = 625), the top 5 of
-- them, 100 iterations of the evolution strategy. Linear-time attention earns what brute force attention earns, at a fraction of
-- its inference time.
--
--   ./dev run scripts/paper/fig1_cheetah.lua                 3 seeds of 3 kinds; about 40 minutes on 2 cores
--   ./dev run scripts/paper/fig1_cheetah.lua --set iterations=2 --set seeds=1 --set episodes=2     a trial of a minute
--
-- Writes runs/paper/fig1/: a run folder for each kind and seed, curves.png (mean return over the seeds, bands of one standard
-- deviation), inference.png (return against the time of a decision, from the lowest to the highest seed), results.csv. Seeds 1 to 3;
-- the paper took 5.
local iap = require "iap"
local paper = require "paper"

local options = iap.options { seed = 1, seeds = 3, episodes = 20 }
local root = paper.root("fig1")
local env = iap.env.make("cheetah-run", { pixels = { 100, 100 }, action_repeat = paper.action_repeat })

local groups, rows, points, span = {}, {}, {}, nil
for _, name in ipairs { "relu", "hybrid", "brute" } do
  local variant = paper.kernels[name]
  local policy = paper.policy(paper.attention(variant, { patch = 4, d = 8, top = 5 }))
  local folders = paper.train_seeds(root, name, options, env, policy)
  local ms, size = paper.inference_ms(policy, env, 100)
  local earned = paper.evaluate(folders, options.episodes)
  table.insert(groups, { label = variant.label, runs = folders })
  table.insert(rows, { variant.label, size, earned.runs, earned.mean, earned.deviation, ms })
  table.insert(points, {
    label = variant.label, x = { ms }, y = { earned.mean }, low = { earned.lowest }, high = { earned.highest }, dots = true, line = false,
  })
  span = earned.span
end

iap.report.compare {
  groups = groups, out = root .. "/curves.png", title = "cheetah-run, 100 x 100 pixels", band = "deviation",
}
iap.report.line_chart {
  series = points,
  out = root .. "/inference.png",
  title = "cheetah-run, 100 x 100 pixels",
  x_label = "CPU milliseconds per decision (logarithmic)",
  y_label = "return",
  caption = "Dot: mean return. Whiskers: " .. span .. ".",
  log_x = true,
  y_from_zero = false,
}
paper.write_table(root .. "/results.csv", { "attention", "parameters", "seeds", "return", "deviation", "inference_ms" }, rows)
