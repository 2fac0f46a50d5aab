-- Figure 11 of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3): A1 walks along a raised platform
-- past walls that it sees through a camera. The policy has two levels: a high level that looks at 32 x 32 pixels, now and then, and
-- a low level that drives the trajectory generator of the legs at every step. With attention over single pixels, or with the
-- convolutional network that the paper compares with.
--
--   ./dev run scripts/quadruped/obstacle_course.lua                       attention, 841 parameters: 2.9 million steps, 12 min of a free core
--   ./dev run scripts/quadruped/obstacle_course.lua --set policy=cnn      convolutions, 15,306 parameters
--   ... --seed 2                                                          another seed
--   ... --resume                                                          continue where it stopped
--   ... --set iterations=2 --set env.time_limit=200 --set eval_episodes=2     a trial of seconds
--   --set eyes=positions: the papers' eye, where the ten best pixels are; --set patch=4 --set stride=2 and so on: the rows of table 2
--
-- What is chosen by hand, where the papers say nothing or something else:
--   - the eye: three heads whose search begins at the colours of walls, platform and ground hand over the centroids of what they see of it
--   - the low level is linear in products of what it reads and the latent, and begins at a trot that the latent's first number turns
--     (levels.lua); the papers' is linear, which cannot turn
--   - the high level treats left and right alike (iap.policy.mirror): what is learned at a wall on one side holds for the other
--   - the camera sees 90 degrees: at 60 the free side of a wall that is near is outside the picture
--   - decisions of the high level hold for 2 to 12 steps of 20 ms (the papers': 10 to 800 of 4 ms)
-- Mirror, camera, low level, durations, search and episodes are the same for both.
--
-- How many walls the best policy passes on courses that no training saw is printed at the end; iap eval RUN --set reward=walls
-- --set courses=[2000000,2999999] --episodes 20 --seed 1000 says it again, and iap play RUN --view outside shows it.
local iap = require "iap"
local levels = require "levels"

local options = iap.options { policy = "iap", eyes = "colours", patch = 1, stride = 0, seed = 1, courses = 20 }
local stride = options.stride > 0 and options.stride or options.patch
local name = options.policy == "cnn" and "cnn" or string.format("iap-%d-%d", options.patch, stride)

-- Only ratios matter to the order of scores; what is grey (128, 128, 128) scores 0. The walls are red; of the platform, which is lighter
-- than the ground, green less blue tells it from walls and sky; the ground beside it is dark and bluish.
local colours = { { 4, -3, -3 }, { 0, 4.8, -3.6 }, { -5, -1, 3 } }

-- What is handed over begins without a say, so that the robot first walks straight ahead.
local function high_level()
  if options.policy == "cnn" then return levels.convolutions { scale = 0 } end
  if options.policy ~= "iap" then error("--set policy: take iap or cnn, not " .. options.policy, 0) end
  local eye = { patch = options.patch, stride = stride, kernel = "relu" }
  if options.eyes == "positions" then
    eye.d, eye.top, eye.values = 4, 10, "position"
  elseif options.eyes == "colours" then
    eye.d, eye.top, eye.values, eye.heads = 1, 1, "centroid", #colours
  else
    error("--set eyes: take colours or positions, not " .. options.eyes, 0)
  end
  return iap.policy.sequence {
    iap.attention.rank(eye), iap.policy.normalise { over = "training" }, iap.policy.linear { units = 3, activation = "tanh", scale = 0 },
  }
end

-- Courses from 2000000 on are for the end.
local env = iap.env.make("a1-obstacle-course", levels.world { courses = { 0, 999999 }, time_limit = 1200, camera_fov = 90 })
local built = levels.build(high_level(), env, options.seed)

-- Colours for keys; queries positive, so that what keys are multiplied by is never 0.
local parameters = built:parameters()
for _, slice in ipairs(options.eyes == "colours" and built:slices() or {}) do
  local head = slice.name:match "key_(%d)$"
  for i = slice.first, head and slice.last or 0 do parameters[i] = colours[tonumber(head)][(i - slice.first) % 3 + 1] / options.patch ^ 2 end
  for i = slice.first, slice.name:find "query_%d$" and slice.last or 0 do parameters[i] = 1 / options.patch ^ 2 end
end
built:set_parameters(parameters)
print(built:summary())

local out = iap.run_folder(string.format("runs/quadruped/obstacle-course-%s-seed%d", name, options.seed))
levels.train(env, built, out, options.seed, 60)

local elsewhere = iap.policy.load(out):metadata().env
elsewhere.courses = { 2000000, 2999999 }
local way = iap.eval(out, { episodes = options.courses, seed = 1000, env = elsewhere })
elsewhere.reward = "walls"
local walls = iap.eval(out, { episodes = options.courses, seed = 1000, env = elsewhere })
print(string.format("%d unseen courses: return %.2f, %.2f walls passed (%.2f to %.2f): %s", options.courses, way.mean, walls.mean,
  walls.low or walls.mean, walls.high or walls.mean, out))
