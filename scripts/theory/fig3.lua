-- Figure 3 of v1: mean squared errors of the three estimators of the softmax kernel over the angle between x and y and their length,
-- in closed form (above) and by Monte Carlo (below).
--
--   ./dev run scripts/theory/fig3.lua --set out=docs/theory-fig3.png
local iap = require "iap"
local options = iap.options { m = 10, r = 5, length = 1.5, angles = 24, lengths = 20, draws = 2000, seed = 1, out = "runs/theory/fig3.png" }
local theory = iap.theory

-- Vectors of four dimensions along no axis.
local function pair(length, angle)
  local x, y = {}, {}
  for i = 1, 4 do
    local first, second = 0.5, i % 2 == 1 and 0.5 or -0.5
    x[i] = length * first
    y[i] = length * (math.cos(angle) * first + math.sin(angle) * second)
  end
  return x, y
end

-- Values on a grid of cells; `of(x, y)` is evaluated in the middle of each.
local function grid(angles, lengths, of)
  local rows = {}
  for row = 1, lengths do
    rows[row] = {}
    for column = 1, angles do
      rows[row][column] = of(pair(options.length * (row - 0.5) / lengths, math.pi * (column - 0.5) / angles))
    end
  end
  return rows
end

local closed = {
  { kind = "trig", of = function(x, y) return theory.mse_trig(x, y, options.m) end },
  { kind = "exp", of = function(x, y) return theory.mse_exp(x, y, options.m) end },
  { kind = "hybrid", of = function(x, y) return theory.mse_hyb(x, y, options.m, options.r) end },
}
local function log10(value) return math.log(value, 10) end

local panels, worst = {}, {}
for _, estimator in ipairs(closed) do
  panels[#panels + 1] = {
    title = estimator.kind .. ", closed form",
    rows = grid(160, 120, function(x, y) return log10(estimator.of(x, y)) end),
  }
end
for _, estimator in ipairs(closed) do
  worst[estimator.kind] = 0
  panels[#panels + 1] = {
    title = estimator.kind .. ", " .. options.draws .. " draws",
    rows = grid(options.angles, options.lengths, function(x, y)
      local _, mse, _, deviation = theory.estimate(x, y, {
        kind = estimator.kind, m = options.m, r = estimator.kind == "hybrid" and options.r or nil,
        ensemble = "iid", seed = options.seed, draws = options.draws,
      })
      worst[estimator.kind] = math.max(worst[estimator.kind], math.abs(mse - estimator.of(x, y)) / deviation)
      return log10(mse)
    end),
  }
end

iap.report.heat_maps {
  out = options.out,
  title = string.format("Mean squared error of estimators of exp(x . y), m = %d, r = %d", options.m, options.r),
  x_label = "angle between x and y", y_label = "length of x and y", value_label = "log10 MSE",
  x_range = { 0, math.pi }, y_range = { 0, options.length }, value_range = { -5, 2 },
  panels = panels, panels_a_row = 3, width = 1100, height = 720,
}
for _, estimator in ipairs(closed) do
  print(string.format("%-7s Monte Carlo is at most %.1f standard deviations from the closed form", estimator.kind, worst[estimator.kind]))
end
print("written to " .. options.out)
