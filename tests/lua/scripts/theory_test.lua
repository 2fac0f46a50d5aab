local check = require "check"
local iap = require "iap"
local theory = iap.theory

-- The closed forms, written out again.
local function dot(a, b)
  local sum = 0
  for i = 1, #a do sum = sum + a[i] * b[i] end
  return sum
end
local x, y = { 0.3, -0.5, 0.7 }, { 0.6, 0.2, 0.4 }
local xx, yy, xy, m, r = dot(x, x), dot(y, y), dot(x, y), 7, 3
local sum, difference = xx + yy + 2 * xy, xx + yy - 2 * xy
local trig = math.exp(sum) * math.exp(-2 * xy) * (1 - math.exp(-difference)) ^ 2 / (2 * m)
local exp = math.exp(sum) * math.exp(2 * xy) * (1 - math.exp(-sum)) / m
local t = math.acos(xy / math.sqrt(xx * yy)) / math.pi
local shared = 2 * (1 - 1 / r) / m * math.exp(2 * xy) * (1 - math.cos(xx - yy))
local hybrid = t ^ 2 * exp + (1 - t) ^ 2 * trig + t * (1 - t) * ((exp + trig) / r - shared)
check.close(theory.softmax_kernel(x, y), math.exp(xy), 1e-12)
check.close(theory.mse_trig(x, y, m), trig, 1e-12)
check.close(theory.mse_exp(x, y, m), exp, 1e-12)
check.close(theory.mse_hyb(x, y, m, r), hybrid, 1e-12)
check.close(theory.hash_bits(0.1, 0.05, 100, 10), 200 * math.log(2 * 100 * 10 / 0.05), 1e-9)
assert(theory.projections_trig(0.5, 0.1, 4, 1) > 0 and theory.projections_trig_stated(0.5, 0.1, 4, 1) > 0)
check.close(theory.projections_exp(0.2, 0.1, 4, 0.5, 6, 7), 4 * theory.projections_exp(0.2, 0.1, 4, 0.5, 3, 7), 1e-9)

-- Vectors whose kernel no double holds: errors of 0 stay 0, features are numbers.
for _, length in ipairs { 11, 20 } do
  check.equal(theory.mse_trig({ length }, { length }, m), 0)
  check.equal(theory.mse_hyb({ length }, { length }, m, r), 0)
  check.equal(theory.mse_hyb({ length }, { -length }, m, r), 0)
end
check.equal(theory.mse({ 60 }, { -30 }, { kind = "favor++", spread = 0 }), 0)
for _, kind in ipairs { "exp", "favor++" } do
  for _, value in ipairs(theory.feature_map({ 1000, 500, 0 }, { kind = kind, m = 50 })) do assert(value >= 0, value) end
end

-- Bounds at their ends.
check.equal(theory.projections_trig(100, 0.5, 4, 1e-3), 0)
check.equal(theory.projections_trig_stated(100, 0.5, 4, 1e-3), 0)
assert(theory.projections_exp(0.2, 0.1, 4, math.pi, 3, 7) > theory.projections_exp(0.2, 0.1, 4, 3, 3, 7))
check.fails({ "iap.theory.projections_exp", "argument 4 'alpha'", "an angle of at most pi" }, theory.projections_exp, 0.2, 0.1, 4, 3.2, 3, 7)

-- Feature maps: sizes, positivity, one norm, and products that are what `estimate` draws.
check.equal(#theory.feature_map(x, { kind = "exp", m = 6 }), 6)
check.equal(#theory.feature_map(x, { kind = "trig", m = 6 }), 12)
check.equal(#theory.feature_map(x, { m = 6, r = 2 }), 54)
for _, value in ipairs(theory.feature_map(x, { kind = "exp", m = 20, seed = 3 })) do assert(value > 0) end
local phi = theory.feature_map(x, { kind = "trig", m = 9, seed = 5 })
check.close(dot(phi, phi), math.exp(xx), 1e-12)
check.same_list(theory.feature_map(x, { seed = 5 }), theory.feature_map(x, { seed = 5, kind = "hybrid", m = 10, r = 5, ensemble = "orthogonal", side = "query" }))
local query, key = theory.feature_map(x, { seed = 1, side = "query" }), theory.feature_map(x, { seed = 1, side = "key" })
check.close(dot(query, key), math.exp(xx), 1e-12) -- the hybrid estimator is exact at angle 0
check.close(dot(query, theory.feature_map({ -0.3, 0.5, -0.7 }, { seed = 1, side = "key" })), math.exp(-xx), 1e-12)

-- Monte Carlo agrees with the closed forms, and repeats.
for kind, wanted in pairs { trig = trig, exp = exp, hybrid = hybrid } do
  local options = { kind = kind, m = m, r = kind == "hybrid" and r or nil, ensemble = "iid", seed = 2, draws = 20000 }
  local mean, mse, mean_deviation, mse_deviation = theory.estimate(x, y, options)
  check.close(mean, math.exp(xy), 4 * mean_deviation)
  check.close(mse, wanted, 4 * mse_deviation)
  check.close(theory.mse(x, y, { kind = kind, m = m, r = options.r }), wanted, 1e-15)
  check.equal(theory.estimate(x, y, options), mean)
  options.seed = 3
  assert(theory.estimate(x, y, options) ~= mean)
end

-- One draw has an error, whose square scatters nobody knows how far.
local _, error_of_one, deviation_of_one, nothing = theory.estimate(x, y, { kind = "exp" })
check.close(deviation_of_one, math.sqrt(error_of_one), 1e-12)
check.equal(nothing, nil)

-- FAVOR++ has a parameter of its own, in the closed form and in the draws.
for _, spread in ipairs { 0, 0.5, 3 } do
  local options = { kind = "favor++", m = m, spread = spread, ensemble = "iid", seed = 2, draws = 20000 }
  local mean, mse, mean_deviation, mse_deviation = theory.estimate(x, y, options)
  check.close(mean, math.exp(xy), 4 * mean_deviation)
  check.close(mse, theory.mse(x, y, { kind = "favor++", m = m, spread = spread }), 4 * mse_deviation)
end
check.close(theory.mse(x, y, { kind = "favor++", m = m, spread = 0 }), theory.mse_exp(x, y, m), 1e-12)

check.fails({ "iap.theory.mse_exp", "x has 3 elements and y 2" }, theory.mse_exp, x, { 1, 2 }, 3)
check.fails({ "argument 1 'x'", "at least one number" }, theory.softmax_kernel, {}, {})
check.fails({ "argument 2 'y'", "finite numbers" }, theory.softmax_kernel, { 1 }, { 0 / 0 })
check.fails({ "argument 3 'm'", "expected an integer in [1" }, theory.mse_trig, x, y, 0)
check.fails({ "argument 4 'r'" }, theory.mse_hyb, x, y, 3)
check.fails({ "argument 1 'epsilon'", "a positive number" }, theory.hash_bits, -1, 0.1, 2, 2)
check.fails({ "argument 2 'p'", "a probability" }, theory.projections_trig, 0.1, 1, 4, 1)
check.fails({ "unknown kind 'hibrid'; did you mean 'hybrid'?" }, theory.feature_map, x, { kind = "hibrid" })
check.fails({ "unknown option 'draw'" }, theory.feature_map, x, { draw = 2 })
check.fails({ "unknown option 'r'" }, theory.estimate, x, y, { kind = "exp", r = 2 })
for _, size in ipairs { { 1048576, 4095 }, { 20000, 71582 } } do
  check.fails({ "asks for 3 m (1 + r)" }, theory.feature_map, x, { m = size[1], r = size[2] })
  check.fails({ "asks for 3 m (1 + r)" }, theory.estimate, x, y, { m = size[1], r = size[2] })
end
check.fails({ "option 'draws' must be in" }, theory.estimate, x, y, { draws = 0 })
