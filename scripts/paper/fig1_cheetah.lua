-- Figure 1 of "Unlocking Pixels": cheetah-run from 100 x 100 RGB pixels, patches of 4 x 4 (L = 625), the top 5 of
-- them, 100 iterations of the evolution strategy. Linear-time attention earns what brute force attention earns, at a fraction of
-- its inference time.
--
--   ./dev run scripts/paper/fig1_cheetah.lua --threads 1     3 seeds of 3 kinds; 84 minutes of one core: start it as often as there are cores
--   ./dev run scripts/paper/fig1_cheetah.lua --set iterations=2 --set seeds=1 --set episodes=2     a trial of a minute
--
-- Writes runs/paper/cheetah/: a run folder for each kind and seed, which figure 6 has, too; fig1-curves.png (mean return over the
-- seeds, bands of one standard deviation), fig1-inference.png (return against the time of a decision, from the lowest to the highest
-- seed), fig1.csv, all of them drawn again after each run. Seeds 1 to 3; the paper took 5.
local iap = require "iap"
local paper = require "paper"
local cheetah = require "cheetah"

cheetah.run({ paper.kernels.relu, paper.kernels.hybrid, paper.kernels.brute }, function(groups, root)
  local rows, points, span = {}, {}, paper.spans(groups)
  for i, group in ipairs(groups) do
    local earned = group.earned
    rows[i] = { group.kind.label, group.kind.size, earned.runs, earned.mean, earned.deviation, group.kind.ms }
    points[i] = {
      label = group.kind.label, x = { group.kind.ms }, y = { earned.mean }, low = { earned.low }, high = { earned.high },
      dots = true, line = false,
    }
  end
  cheetah.curves(groups, root .. "/fig1-curves.png", "cheetah-run, 100 x 100 pixels")
  iap.report.line_chart {
    series = points,
    out = root .. "/fig1-inference.png",
    title = "cheetah-run, 100 x 100 pixels",
    x_label = "CPU milliseconds per decision (logarithmic)",
    y_label = "return",
    caption = "Dot: mean return." .. (span ~= "" and " Whiskers: " .. span .. "." or ""),
    log_x = true,
    y_from_zero = false,
  }
  paper.write_table(root .. "/fig1.csv", { "attention", "parameters", "seeds", "return", "deviation", "inference_ms" }, rows)
end)
