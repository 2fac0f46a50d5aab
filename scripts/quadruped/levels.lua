-- The policy of two levels that A1's experiments share (v1, section 5.3): a high level that looks at the picture now and then, by attention
-- over its patches or, to compare with, by convolutions; below it a linear level that drives the trajectory generator of the legs at
-- every step.
local iap = require "iap"
local levels = {}

-- The settings of a script's command line that say what looks: `policy` (iap or cnn), `patch`, `stride` (0: the patch).
-- Returns the high level and a name for it; `side` is that of the picture in pixels, `top` how many patches count at most.
local function high_level(options, side, top)
  if options.policy == "cnn" then
    return iap.policy.sequence {
      iap.policy.cnn { layers = { { channels = 4 }, { channels = 8 }, { channels = 8, pool = 2 } }, bias = false },
      iap.policy.linear { units = 10, activation = "tanh", bias = false },
      iap.policy.linear { activation = "tanh", bias = false },
    }, "cnn"
  elseif options.policy ~= "iap" then
    error("policy must be iap or cnn, got " .. options.policy, 0)
  end
  local stride = options.stride > 0 and options.stride or options.patch
  local cells = ((side - options.patch) // stride + 1) ^ 2
  return iap.policy.sequence {
    iap.attention.rank {
      patch = options.patch, stride = stride, d = 4, kernel = "relu", top = math.min(top, math.tointeger(cells)), values = "position",
    },
    iap.policy.linear { activation = "tanh" },
  }, string.format("iap-%d-%d", options.patch, stride)
end

-- The policy, whose high level decides for `duration` = {least, most} steps, and a name for it.
function levels.policy(options, side, top, duration)
  local high, name = high_level(options, side, top)
  return iap.policy.hierarchy { high = high, low = iap.policy.linear { activation = "tanh" }, duration = duration, latent = 2 }, name
end

return levels
