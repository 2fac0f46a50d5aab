-- Figure 10 of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3): A1 among the walls of a building,
-- which it sees through a front depth camera of 16 x 16; IAP-rank with patches of 4, of which the paper chooses 4. Ours lie one pixel
-- apart, and each head hands over the centroid of all that it scores. Beside these, a narrow
-- gate and the Gibson data set the paper says nothing: the two levels are those of our obstacle course (levels.lua), in rooms that we
-- generate (or a folder of that data set).
--
--   ./dev run scripts/quadruped/indoor.lua                              attention
--   ./dev run scripts/quadruped/indoor.lua --set policy=cnn             convolutions beside it
--   ./dev run scripts/quadruped/indoor.lua --set scene=FOLDER           a building instead of rooms
--   ... --resume                                                        continue where it stopped
--   ... --set iterations=2 --set env.time_limit=200 --set eval_episodes=2     a trial of seconds
--
-- What is chosen by hand: one head begins by scoring what is far, one what is near, and both hand over the centroids of that; a compass
-- says where the way leads. The low level begins at a trot that the latent's first number turns.
--
-- How many doorways and gates the best policy passes in flats that no training saw is printed at the end; iap eval RUN
-- --set reward=doors --set flats=[2000000,2999999] --episodes 20 --seed 1000 says it again, and iap play RUN --view outside shows it.
local iap = require "iap"
local levels = require "levels"
local numbers = require "numbers"

local options = iap.options { policy = "iap", patch = 4, stride = 1, seed = 1, flats = 20, scene = "" }
local near = 1.5 -- m

local world = levels.world { compass = true, time_limit = 1500 }
if options.scene ~= "" then
  world.scene = options.scene
else
  world.flats = { 0, 999999 }
end
local env = iap.env.make("a1-indoor", world)
local number = numbers(env)
local heading = iap.policy.observation { numbers = { number["heading cosine"], number["heading sine"] } }

-- What is handed over begins without a say, so that the robot first walks straight ahead.
local function high_level()
  if options.policy == "cnn" then return levels.convolutions { scale = 0, beside = heading }, "cnn" end
  if options.policy ~= "iap" then error("--set policy: take iap or cnn, not " .. options.policy, 0) end
  return iap.policy.sequence {
    iap.policy.concat {
      iap.attention.rank {
        name = "eye", patch = options.patch, stride = options.stride, d = 1, kernel = "relu", top = 4, heads = 2, values = "centroid",
        bias = true, pixel_offset = 0,
      },
      heading,
    },
    iap.policy.normalise { over = "training" }, iap.policy.linear { units = 3, activation = "tanh", scale = 0 },
  }, string.format("iap-%d-%d", options.patch, options.stride)
end
local high, name = high_level()
local built = levels.build(high, env, options.seed, { number["heading sine"] })

-- Queries of 1; keys are a patch's mean depth, and `near` less that.
local parameters = built:parameters()
local begin = { query = 0, query_bias = 1, key_1 = 1 / options.patch ^ 2, key_bias_1 = 0, key_2 = -1 / options.patch ^ 2, key_bias_2 = near }
for _, slice in ipairs(built:slices()) do
  local array = slice.name:match "%.eye%.(.+)$"
  local value = array and (begin[array] or begin[array:gsub("_%d$", "")])
  for i = slice.first, value and slice.last or 0 do parameters[i] = value end
end
built:set_parameters(parameters)
print(built:summary())

local out = iap.run_folder(string.format("runs/quadruped/indoor-%s-seed%d", name, options.seed))
levels.train(env, built, out, options.seed, 20)

local elsewhere = iap.policy.load(out):metadata().env
if options.scene == "" then elsewhere.flats = { 2000000, 2999999 } end
local way = iap.eval(out, { episodes = options.flats, seed = 1000, env = elsewhere })
local line = string.format("%d unseen %s: return %.2f", options.flats, options.scene == "" and "flats" or "starts", way.mean)
if options.scene == "" then
  elsewhere.reward = "doors"
  local doors = iap.eval(out, { episodes = options.flats, seed = 1000, env = elsewhere })
  line = line .. string.format(", %.2f doorways and gates passed (%.2f to %.2f)", doors.mean, doors.low or doors.mean, doors.high or doors.mean)
end
print(line .. ": " .. out)
