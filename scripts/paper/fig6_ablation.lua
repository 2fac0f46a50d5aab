-- Figure 6 of "Implicit Attention for Pixels": how many random features? cheetah-run as in figure 1, with relu features, hybrid
-- features of m projections and r signs, and brute force attention; 100 iterations each.
--
--   ./dev run scripts/paper/fig6_ablation.lua                3 seeds of 6 kinds; about 70 minutes on 2 cores
--   ./dev run scripts/paper/fig6_ablation.lua --set iterations=2 --set seeds=1 --set episodes=2
--
-- Writes runs/paper/fig6/: a run folder for each kind and seed, curves.png (mean return over the seeds, bands of one standard
-- deviation), inference.png (CPU time of a decision), results.csv. Seeds 1 to 3.
local iap = require "iap"
local paper = require "paper"

local options = iap.options { seed = 1, seeds = 3, episodes = 20 }
local root = paper.root("fig6")
local env = iap.env.make("cheetah-run", { pixels = { 100, 100 }, action_repeat = paper.action_repeat })

local variants = { { name = "relu", variant = paper.kernels.relu } }
for _, pair in ipairs { { 5, 5 }, { 10, 5 }, { 10, 10 }, { 20, 10 } } do
  local m, r = pair[1], pair[2]
  table.insert(variants, {
    name = string.format("hybrid-%d-%d", m, r),
    variant = { label = string.format("IAP (%d, %d)", m, r), kernel = "hybrid", m = m, r = r },
  })
end
table.insert(variants, { name = "brute", variant = paper.kernels.brute })

local groups, rows, times = {}, {}, {}
for _, entry in ipairs(variants) do
  local policy = paper.policy(paper.attention(entry.variant, { patch = 4, d = 8, top = 5 }))
  local folders = paper.train_seeds(root, entry.name, options, env, policy)
  local ms = paper.inference_ms(policy, env, 1000)
  local earned = paper.evaluate(folders, options.episodes)
  table.insert(groups, { label = entry.variant.label, runs = folders })
  table.insert(rows, { entry.variant.label, earned.runs, earned.mean, earned.deviation, ms })
  table.insert(times, { label = entry.variant.label, value = ms })
end

iap.report.compare {
  groups = groups, out = root .. "/curves.png", title = "cheetah-run: how many random features?", band = "deviation",
}
iap.report.bar_chart {
  bars = times,
  out = root .. "/inference.png",
  title = "cheetah-run, 100 x 100 pixels, patches of 4",
  y_label = "CPU milliseconds per decision",
}
paper.write_table(root .. "/results.csv", { "attention", "seeds", "return", "deviation", "inference_ms" }, rows)
