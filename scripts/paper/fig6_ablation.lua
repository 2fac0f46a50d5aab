-- Figure 6 of "Unlocking Pixels": how many random features? cheetah-run as in figure 1, with relu features, hybrid
-- features of m projections and r signs, and brute force attention; 100 iterations each.
--
--   ./dev run scripts/paper/fig6_ablation.lua --threads 1    3 seeds of 6 kinds: start it as often as there are cores
--   ./dev run scripts/paper/fig6_ablation.lua --set iterations=2 --set seeds=1 --set episodes=2
--
-- Writes runs/paper/cheetah/: a run folder for each kind and seed, which figure 1 has, too; fig6-curves.png (mean return over the
-- seeds, bands of one standard deviation), fig6-inference.png (CPU time of a decision), fig6.csv, all of them drawn again after each
-- run. Seeds 1 to 3.
local iap = require "iap"
local paper = require "paper"
local cheetah = require "cheetah"

local function hybrid(m, r)
  return { name = string.format("hybrid-%d-%d", m, r), label = string.format("IAP (%d, %d)", m, r), kernel = "hybrid", m = m, r = r }
end

local variants = { paper.kernels.relu, hybrid(5, 5), paper.kernels.hybrid, hybrid(10, 10), hybrid(20, 10), paper.kernels.brute }

cheetah.run(variants, function(groups, root)
  local rows, times = {}, {}
  for i, group in ipairs(groups) do
    rows[i] = { group.kind.label, group.earned.runs, group.earned.mean, group.earned.deviation, group.kind.ms }
    times[i] = { label = group.kind.label, value = group.kind.ms }
  end
  cheetah.curves(groups, root .. "/fig6-curves.png", "cheetah-run: how many random features?")
  iap.report.bar_chart {
    bars = times,
    out = root .. "/fig6-inference.png",
    title = "cheetah-run, 100 x 100 pixels, patches of 4",
    y_label = "CPU milliseconds per decision",
  }
  paper.write_table(root .. "/fig6.csv", { "attention", "seeds", "return", "deviation", "inference_ms" }, rows)
end)
