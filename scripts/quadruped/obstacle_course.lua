-- Figure 11 of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3): A1 walks along a raised platform
-- past walls that it sees through a camera. The policy has two levels: a high level that looks at 32 x 32 pixels, now and then, and
-- a linear low level that drives the trajectory generator of the legs at every step. With attention over single pixels, or with
-- the convolutional network that the paper compares with; the rows of table 2 are --set patch=4 --set stride=2 and so on.
--
--   ./dev run scripts/quadruped/obstacle_course.lua                       attention
--   ./dev run scripts/quadruped/obstacle_course.lua --set policy=cnn      convolutions: 14,954 parameters
--   ... --resume                                                          continue where it stopped
--   ... --set iterations=2 --set curriculum=null --set env.time_limit=200 --set eval_episodes=2     a trial of seconds
--
-- How many walls the best policy passes on courses that no training saw is printed at the end; iap eval RUN --set reward=walls
-- --set courses=[2000000,2999999] says it again, and iap play RUN --view outside shows it.
local iap = require "iap"
local levels = require "levels"

local options = iap.options { policy = "iap", patch = 1, stride = 0, seed = 1, courses = 20 }
-- A decision of the low level holds for 20 ms, so that these durations are the papers' 10 to 800 steps of 4 ms.
local policy, name = levels.policy(options, 32, 10, { 2, 160 })

local unseen = { 2000000, 2999999 }
-- The middles of these ranges are a steady trot, so that evolution begins with a robot that walks. 50 Hz and 2 ms hold as well as 250 Hz
-- and 1 ms do, for half the physics and a fifth of the decisions.
local env = iap.env.make("a1-obstacle-course", {
  leg_phases = true, courses = { 0, 999999 }, time_limit = 1000, timestep = 0.002, physics_steps = 10, cap = 0.02,
  frequency = { 2, 3 }, intensity = { 0.3, 1 }, height = { -0.3, 0.3 }, ratio = { 1, 3 },
})
local out = iap.run_folder(string.format("runs/quadruped/obstacle-course-%s-seed%d", name, options.seed))
print(iap.policy.build(policy, env):summary())

iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 64, sigma = 0.1, learning_rate = 0.05, learning_rate_decay = 0.99, shaping = "pair_ranks" },
  -- Walls that leave the middle of the way free come first: steering pays little by little, not all at once.
  curriculum = { { through = 40, wall_side = 0.9, time_limit = 500 }, { through = 80, wall_side = 0.7, time_limit = 700 }, {} },
  iterations = 200,
  episode_seeds = "pairs",
  eval_every = 10,
  eval_episodes = 8,
  seed = options.seed,
  out = out,
}
iap.report.learning_curve(out, out .. "/media/curve.png")

local elsewhere = iap.policy.load(out):metadata().env
elsewhere.courses = unseen
local way = iap.eval(out, { episodes = options.courses, seed = 1000, env = elsewhere })
elsewhere.reward = "walls"
local walls = iap.eval(out, { episodes = options.courses, seed = 1000, env = elsewhere })
print(string.format("%d unseen courses: return %.2f, %.2f walls passed (%.2f to %.2f): %s", options.courses, way.mean, walls.mean,
  walls.low or walls.mean, walls.high or walls.mean, out))
