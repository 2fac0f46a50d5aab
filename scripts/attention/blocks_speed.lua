-- CPU time of policy:act for the attention blocks on one core: the best of some calls. See docs/attention-blocks.md.
local iap = require "iap"
iap.options({}, { training = false })

local rank = function(options) return iap.attention.rank(options) end
local trans = function(options)
  options.tokens, options.dv = 10, 8
  return iap.attention.trans(options)
end

local cases = {
  { "rank, relu", rank, {} },
  { "rank, relu, sinusoidal encoding", rank, { encoding = "sinusoidal" } },
  { "rank, relu, learned P", rank, { query_weights = "learned" } },
  { "trans, relu", trans, {} },
  { "trans, exp, values first", trans, { kernel = "exp", order = "values_first" } },
  { "trans, exp, queries first", trans, { kernel = "exp", order = "queries_first" } },
  { "trans, hybrid (10, 5)", trans, { kernel = "hybrid" } },
  { "trans, exact softmax", trans, { kernel = "softmax" }, true },
}

for _, frame in ipairs { { pixels = { 100, 100 }, patch = 4, calls = 100 }, { pixels = { 240, 320 }, patch = 2, calls = 40 } } do
  local env = iap.env.make("cheetah-run", { pixels = frame.pixels })
  for _, case in ipairs(cases) do
    local name, make, options, slow = table.unpack(case)
    options.patch, options.d = frame.patch, 4
    local policy = iap.policy.build(iap.policy.sequence { make(options), iap.policy.linear {} }, env)
    policy:initialise(1)
    local observation = env:reset(1)
    policy:act(observation)
    local best = math.huge
    for _ = 1, slow and 3 or frame.calls do
      local start = os.clock()
      policy:act(observation)
      best = math.min(best, os.clock() - start)
    end
    print(string.format("%3d x %3d, patch %d  %-34s %8.3f ms", frame.pixels[1], frame.pixels[2], frame.patch, name, 1000 * best))
  end
end
