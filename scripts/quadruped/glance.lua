-- An eye for feet: attention whose queries are made of where toes are about to land (iap.attention.look), for each leg in the one of
-- Laikago's two depth images that shows its ground. The last layer hears where these toes go and what the queries found.
local iap = require "iap"
local numbers = require "numbers"
local glance = {}

local eyes = { { image = "front", legs = { "FR", "FL" } }, { image = "belly", legs = { "RR", "RL" } } }
local camera_x = { front = 0.197, belly = -0.092 } -- m ahead of the base's middle
local patch, d, temperature = 4, 5, 0.02
local ground, contrast = 0.42, 40                  -- m from a camera to level ground; what a metre of depth is to a key
local half_height = ground * math.tan(math.rad(75 / 2)) -- m of level ground from an image's middle to its edge
local half_width = half_height * 32 / 24
local nearness, hold = 350, 0.5

-- What is told of legs: where their toes are sent, and the offset that this holds already, along these axes.
local function told(legs, axes)
  local names = {}
  for _, leg in ipairs(legs) do
    for _, what in ipairs { "toe target of ", "last offset of " } do
      for axis in axes:gmatch "." do names[#names + 1] = what .. leg .. " " .. axis end
    end
  end
  return names
end
local all = told({ "FR", "FL", "RR", "RL" }, "xyz")

local function observation(env, names)
  local number, chosen = numbers(env), {}
  for i, name in ipairs(names) do chosen[i] = number[name] end
  return iap.policy.observation { numbers = chosen }
end

function glance.policy(env)
  local parts = { observation(env, all) }
  for _, eye in ipairs(eyes) do
    parts[#parts + 1] = iap.policy.sequence {
      name = eye.image,
      observation(env, told(eye.legs, "xy")),
      iap.attention.look {
        name = "look", image = eye.image, patch = patch, stride = 2, d = d, queries = #eye.legs, bias = true, pixel_offset = -ground,
        temperature = temperature, values = { "position", "projection" }, dv = 1,
      },
    }
  end
  return iap.policy.sequence { iap.policy.concat(parts), iap.policy.linear { activation = "tanh", scale = 0 } }
end

-- Where the search begins. A query asks for the patch nearest to where its toe would land, with the score
--   -nearness (x - wanted x)^2 - aside (y - wanted y)^2
-- and the toe is sent there: on its way. That some patches are to be shunned, and by what, is left to the search. "Wanted" is between where
-- Raibert's rule alone would send the toe and where it is sent already (`hold`), so that what was chosen is kept. `ways`: where toes are
-- sent beside ahead: `aside`, too, `heights`, to those that are seen.
function glance.begin(policy, env, ways)
  local spec, parameters, slices = env:spec(), policy:parameters(), {}
  for _, slice in ipairs(policy:slices()) do slices[slice.name] = slice end
  local reach, reach_y, unit = spec.config.toe_x, spec.config.toe_y, math.sqrt(d) * temperature -- the softmax divides by `unit`
  local aside = ways.aside and nearness or 50
  local last, biases = slices["2.linear.weight"], slices["2.linear.bias"]
  local inputs, position = (last.last - last.first + 1) // spec.action_size, {}
  for i, name in ipairs(all) do position[name] = i end

  local output, action = #all, 1
  for _, eye in ipairs(eyes) do
    local names, x = told(eye.legs, "xy"), camera_x[eye.image]
    local input = {}
    for i, name in ipairs(names) do input[name] = i end
    local function array(name) return slices["1.concat." .. eye.image .. ".look." .. name] end
    for _, name in ipairs { "key", "key_bias", "query", "query_bias" } do
      for i = array(name).first, array(name).last do parameters[i] = 0 end
    end
    -- Keys: row, column, their squares, depth.
    local pixels = patch * patch
    local function key(row, column) return array "key".first + (row - 1) * (pixels + 4) + column - 1 end
    for place = 1, 4 do parameters[key(place, pixels + place)] = 1 end
    for pixel = 1, pixels do
      parameters[key(5, pixel)] = contrast / pixels
      parameters[array "value".first + pixel - 1] = 1 / pixels
    end
    for i, leg in ipairs(eye.legs) do
      local function query(k, name) return array "query".first + ((i - 1) * d + k - 1) * #names + input[name] - 1 end
      local function bias(k) return array "query_bias".first + (i - 1) * d + k - 1 end
      local function weight(number, axis) return last.first + (action + axis - 1) * inputs + number - 1 end
      local target, offset = "toe target of " .. leg, "last offset of " .. leg
      local slope = 2 * half_height * nearness * unit -- x = camera_x - half_height row, y = -half_width column
      parameters[query(1, target .. " x")] = -slope
      parameters[query(1, offset .. " x")] = slope * (1 - hold) * reach
      parameters[bias(1)] = slope * x
      local across = 2 * half_width * aside * unit
      parameters[query(2, target .. " y")] = -across
      if ways.aside then parameters[query(2, offset .. " y")] = across * (1 - hold) * reach_y end
      parameters[bias(3)] = -half_height ^ 2 * nearness * unit
      parameters[bias(4)] = -half_width ^ 2 * aside * unit
      parameters[weight(position[target .. " x"], 0)] = -1 / reach
      parameters[weight(position[offset .. " x"], 0)] = 1
      parameters[weight(output + 1, 0)] = -half_height / reach
      parameters[biases.first + action - 1] = x / reach
      if ways.aside then
        parameters[weight(position[target .. " y"], 1)] = -1 / reach_y
        parameters[weight(position[offset .. " y"], 1)] = 1
        parameters[weight(output + 2, 1)] = -half_width / reach_y
      end
      if ways.heights then parameters[weight(output + 3, 2)] = -1 / spec.config.toe_z end
      output, action = output + 3, action + 3
    end
  end
  policy:set_parameters(parameters)
end

return glance
