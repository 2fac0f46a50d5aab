-- The policy of two levels that A1's experiments share (v1, section 5.3): a high level that looks at the picture now and then, by attention
-- over its patches or, to compare with, by convolutions; below it a low level that drives the trajectory generator of the legs at
-- every step.
local iap = require "iap"
local levels = {}

-- The papers' network: with three outputs above a linear low level 14,954 parameters.
function levels.convolutions(settings)
  return iap.policy.sequence {
    iap.policy.cnn { layers = { { channels = 4 }, { channels = 8 }, { channels = 8, pool = 2 } }, bias = false },
    iap.policy.linear { units = 10, activation = "tanh", bias = false },
    iap.policy.linear { activation = "tanh", bias = false, scale = settings and settings.scale },
  }
end

-- The settings of a script's command line that say what looks: `policy` (iap or cnn), `patch`, `stride` (0: the patch).
-- Returns the high level and a name for it; `side` is that of the picture in pixels, `top` how many patches count at most.
local function high_level(options, side, top)
  if options.policy == "cnn" then
    return levels.convolutions(), "cnn"
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

-- A low level that can be steered: a linear one whose weights are linear in the latent, products of what it reads with the latent, because
-- a turn is a step aside at one phase of a leg and back at the other, and so a product of latent and phase. `scale` keeps it slow: what the
-- search changes shakes the legs little and the high level much.
local state, latent, first_phase, scale = 24, 2, 16, 0.25
function levels.steered(high, duration)
  local low = iap.policy.sequence {
    iap.policy.product { groups = { state, latent }, keep = false, scale = scale },
    iap.policy.linear { activation = "tanh", scale = 0 },
  }
  return iap.policy.hierarchy { high = high, low = low, duration = duration, latent = latent }
end

-- Where the search begins with it: a trot (`gait`: four actions) that turns by the first number of the latent. While they stand, front feet
-- step aside one way, rear feet the other; `turn` is the action for a latent of 1. State: IMU (4), joints (12), phases of four legs.
function levels.trot(policy, gait, turn)
  local parameters = policy:parameters()
  for _, slice in ipairs(policy:slices()) do
    if slice.name:find "^low.*bias$" then table.move(gait, 1, 4, slice.first, parameters) end
    if slice.name:find "^low.*weight$" then
      for leg = 0, 3 do
        local row = slice.first + (4 + 3 * leg) * state * latent
        for other = 0, 3 do
          -- Diagonal legs trot together and half a cycle from the others: a difference of phases is free of their mean.
          local together = (leg == 0 or leg == 3) == (other == 0 or other == 3)
          local sign = (together and 1 or -1) * (leg < 2 and 1 or -1)
          parameters[row + (first_phase + 2 * other) * latent] = sign * turn / scale / 2
        end
      end
    end
  end
  policy:set_parameters(parameters)
end

return levels
