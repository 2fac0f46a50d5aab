-- Figure 3 of v1: mean squared errors of the estimators of the softmax kernel over the angle between x and y and their length,
-- in closed form (above) and by Monte Carlo (below).
--
--   ./dev run scripts/theory/fig3.lua --out docs/theory-fig3.png
local iap = require "iap"
local options = iap.options({
  m = 10, r = 5, length = 1, angles = 24, lengths = 16, draws = 4000, seed = 1, out = "runs/theory/fig3.png",
}, { training = false })
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

local closed = {}
for _, kind in ipairs { "trig", "exp", "favor++", "hybrid" } do
  local sizes = { kind = kind, m = options.m, r = kind == "hybrid" and options.r or nil }
  closed[#closed + 1] = { kind = kind, of = function(x, y) return theory.mse(x, y, sizes) end }
end
local function log10(value) return math.log(value, 10) end

local panels, ratios = {}, {}
for _, estimator in ipairs(closed) do
  panels[#panels + 1] = {
    title = estimator.kind .. ", closed form",
    rows = grid(160, 120, function(x, y) return log10(estimator.of(x, y)) end),
  }
end
for _, estimator in ipairs(closed) do
  ratios[estimator.kind] = {}
  panels[#panels + 1] = {
    title = estimator.kind .. ", " .. options.draws .. " draws",
    rows = grid(options.angles, options.lengths, function(x, y)
      local _, mse = theory.estimate(x, y, {
        kind = estimator.kind, m = options.m, r = estimator.kind == "hybrid" and options.r or nil,
        ensemble = "iid", seed = options.seed, draws = options.draws,
      })
      table.insert(ratios[estimator.kind], mse / estimator.of(x, y))
      return log10(mse)
    end),
  }
end

iap.report.heat_maps {
  out = options.out,
  title = string.format("Mean squared error of estimators of exp(x . y), m = %d, r = %d", options.m, options.r),
  x_label = "angle between x and y", y_label = "length of x and y", value_label = "log10 MSE",
  x_range = { 0, math.pi }, y_range = { 0, options.length }, value_range = { -5, 2 },
  panels = panels, panels_per_row = #closed, width = 1400, height = 720,
}
-- Where x and y are long, few draws carry most of the error: most Monte Carlo means are below the truth, a few far above.
for _, estimator in ipairs(closed) do
  local sorted = ratios[estimator.kind]
  table.sort(sorted)
  local function quantile(share) return sorted[math.ceil(share * #sorted)] end
  print(string.format("%-7s Monte Carlo over closed form: median %.3f, 5%% to 95%% of cells %.3f to %.3f", estimator.kind,
    quantile(0.5), quantile(0.05), quantile(0.95)))
end
print("written to " .. options.out)
