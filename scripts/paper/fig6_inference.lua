-- Figures 1 and 6 (left) of v1: time of one step of a policy on a 100 x 100 picture of cheetah-run, patches of 4 x 4, for brute force,
-- relu and hybrid features with (m, r) projections. A step is everything from the frame to the action.
--
--   ./dev run scripts/paper/fig6_inference.lua --out docs/fig6-inference.png
local iap = require "iap"
local options = iap.options({ d = 8, top = 5, passes = 1000, rounds = 7, out = "runs/paper/fig6_inference.png" }, { training = false })

local env = iap.env.make("cheetah-run", { pixels = { 100, 100 } })
local observation = env:reset(1)

local variants = { { label = "relu", kernel = "relu" } }
for _, pair in ipairs { { 5, 2 }, { 5, 5 }, { 10, 5 }, { 10, 10 }, { 20, 10 } } do
  variants[#variants + 1] = { label = string.format("(%d, %d)", pair[1], pair[2]), kernel = "hybrid", m = pair[1], r = pair[2] }
end
variants[#variants + 1] = { label = "brute force", kernel = "softmax" }

for _, variant in ipairs(variants) do
  variant.best = math.huge
  variant.policy = iap.policy.build(iap.policy.sequence {
    iap.attention.rank { patch = 4, d = options.d, top = options.top, kernel = variant.kernel, m = variant.m, r = variant.r },
    iap.policy.linear { activation = "tanh" },
  }, env)
  variant.policy:act(observation)
end

-- Processor time, and the best of several rounds in which the variants take turns: other load on the machine matters little.
for _ = 1, options.rounds do
  for _, variant in ipairs(variants) do
    local start = os.clock()
    for _ = 1, options.passes do variant.policy:act(observation) end
    variant.best = math.min(variant.best, (os.clock() - start) / options.passes * 1e3)
  end
end

local bars = {}
print("| attention | ms per step | brute force takes |")
print("|---|---|---|")
for i, variant in ipairs(variants) do
  print(string.format("| %s | %.4f | %.1f x |", variant.label, variant.best, variants[#variants].best / variant.best))
  bars[i] = { label = variant.label, value = variant.best }
end
iap.report.bar_chart {
  out = options.out, title = "One step of the policy, 100 x 100 pixels, patches of 4 x 4 (L = 625)",
  y_label = "milliseconds", bars = bars, width = 800, height = 450,
}
print("written to " .. options.out)
