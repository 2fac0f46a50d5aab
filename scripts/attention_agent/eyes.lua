-- What the trainings by IAP attention share: heads that follow what they look for, what makes actions of what is seen, and AttentionAgent's
-- network with hybrid attention in place of brute force, to compare with.
local iap = require "iap"
local rank, lstm, linear = iap.attention.rank, iap.policy.lstm, iap.policy.linear
local eyes = {}

-- Where each of eight heads sees what it looks for, on average.
function eyes.centroids() return rank { patch = 4, d = 4, heads = 8, top = 1, kernel = "relu", values = "centroid" } end

-- The policy that --set eye asks for: `own`, blocks by the name `name`, with an LSTM and a straight path behind them, or "positions".
function eyes.policy(name, own)
  local options = iap.options { eye = name }
  if options.eye == name then
    table.insert(own, iap.policy.normalise {})
    table.insert(own, iap.policy.concat { lstm { units = 16 }, linear { units = 16 } })
    table.insert(own, linear { activation = "tanh" })
    return iap.policy.sequence(own)
  end
  if options.eye ~= "positions" then error(string.format("--set eye: take %s or positions, not %s", name, options.eye), 0) end
  return iap.policy.sequence {
    rank { patch = 7, stride = 4, d = 4, kernel = "hybrid", m = 10, r = 5, top = 10, values = "position" },
    lstm { units = 16 },
    linear { activation = "tanh" },
  }
end

return eyes
