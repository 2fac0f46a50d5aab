-- Figure 4 of v1: slices of figure 3 at one length over an extended angle, closed form (lines) and Monte Carlo (dots).
--
--   ./dev run scripts/theory/fig4.lua --out docs/theory-fig4.png
local iap = require "iap"
local options = iap.options({ m = 10, r = 5, length = 0.7, draws = 20000, seed = 1, out = "runs/theory/fig4.png" }, { training = false })
local theory = iap.theory

local function pair(angle)
  local x, y = {}, {}
  for i = 1, 4 do
    local first, second = 0.5, i % 2 == 1 and 0.5 or -0.5
    x[i] = options.length * first
    y[i] = options.length * (math.cos(angle) * first + math.sin(angle) * second)
  end
  return x, y
end

-- Errors vanish at multiples of pi; there the logarithm stops at the floor of the chart.
local floor = -4
local function log10(value) return math.max(floor, math.log(math.max(value, 1e-300), 10)) end

local estimators = {}
for _, kind in ipairs { "trig", "exp", "favor++", "hybrid" } do
  local sizes = { kind = kind, m = options.m, r = kind == "hybrid" and options.r or nil }
  estimators[#estimators + 1] = { kind = kind, of = function(x, y) return theory.mse(x, y, sizes) end }
end
local series = {}
for colour, estimator in ipairs(estimators) do
  local line = { label = estimator.kind, x = {}, y = {}, colour = colour }
  for i = -800, 800 do
    local angle = 2 * math.pi * i / 800
    line.x[#line.x + 1] = angle
    line.y[#line.y + 1] = log10(estimator.of(pair(angle)))
  end
  local dots = { x = {}, y = {}, colour = colour, line = false, dots = true }
  if colour == #estimators then dots.label = "Monte Carlo, " .. options.draws .. " draws" end
  local least, most = math.huge, 0
  for i = -15, 16 do
    local angle = 2 * math.pi * (i - 0.5) / 16
    local x, y = pair(angle)
    local _, mse = theory.estimate(x, y, {
      kind = estimator.kind, m = options.m, r = estimator.kind == "hybrid" and options.r or nil,
      ensemble = "iid", seed = options.seed, draws = options.draws,
    })
    local ratio = mse / estimator.of(x, y)
    least, most = math.min(least, ratio), math.max(most, ratio)
    dots.x[#dots.x + 1] = angle
    dots.y[#dots.y + 1] = mse > 10 ^ floor and log10(mse) or 0 / 0
  end
  print(string.format("%-7s Monte Carlo is %.3f to %.3f times the closed form", estimator.kind, least, most))
  series[#series + 1] = line
  series[#series + 1] = dots
end

iap.report.line_chart {
  out = options.out,
  title = string.format("Estimators of exp(x . y), x and y of length %g, m = %d, r = %d", options.length, options.m, options.r),
  x_label = "angle between x and y", y_label = "log10 of mean squared error", series = series,
}
print("written to " .. options.out)
