-- The policy of two levels that A1's experiments share (v1, section 5.3): a high level that looks at the picture now and then, by attention
-- over its patches or, to compare with, by convolutions; below it a low level that drives the trajectory generator of the legs at
-- every step.
local iap = require "iap"
local levels = {}

-- The papers' network: with three outputs above a linear low level 14,954 parameters. `beside`: a block whose numbers the last layer
-- reads, too; `scale`: of that layer's first weights.
function levels.convolutions(settings)
  settings = settings or {}
  local seen = iap.policy.sequence {
    iap.policy.cnn { layers = { { channels = 4 }, { channels = 8 }, { channels = 8, pool = 2 } }, bias = false },
    iap.policy.linear { units = 10, activation = "tanh", bias = false },
  }
  return iap.policy.sequence {
    settings.beside and iap.policy.concat { seen, settings.beside } or seen,
    iap.policy.linear { units = 3, activation = "tanh", bias = false, scale = settings.scale },
  }
end

-- The number of what a vector's number is called.
function levels.numbers(env)
  local number = {}
  for i, name in ipairs(env:spec().state_names) do number[name] = i end
  return number
end

-- A low level that can be steered: a linear one whose weights are linear in the latent, products of what it reads with the latent, because
-- a turn is a step aside at one phase of a leg and back at the other, and so a product of latent and phase. `scale` keeps it slow: what the
-- search changes shakes the legs little and the high level much. `state`: how many numbers the environment's vector has. The high level is
-- asked of its mirror image, too, where the latent's first number, which turns, changes sign; `odd_inputs`: numbers of the vector that do.
local latent, first_phase, scale = 2, 16, 0.1
function levels.steered(high, duration, state, odd_inputs)
  local low = iap.policy.sequence {
    iap.policy.product { groups = { state, latent }, keep = false, scale = scale },
    iap.policy.linear { activation = "tanh", scale = 0 },
  }
  return iap.policy.hierarchy {
    high = iap.policy.mirror { block = high, odd = { 2 }, odd_inputs = odd_inputs }, low = low, duration = duration, latent = latent,
  }
end

-- Where the search begins with it: a trot (`gait`: four actions) that turns by the first number of the latent. While they stand, front feet
-- step aside one way, rear feet the other; `turn` is the action for a latent of 1. State: IMU (4), joints (12), phases of four legs (8),
-- and what else there is.
function levels.trot(policy, gait, turn, state)
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
