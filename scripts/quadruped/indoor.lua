-- Figure 10 of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.3): A1 among the walls of a building,
-- which it sees through a front depth camera of 16 x 16; IAP-rank with patches of 4 chooses 4 of them. The paper says no more: the
-- policy is that of its obstacle course, in rooms that we generate (or a folder of the Gibson data set). The high level looks now
-- and then (every 10 to 100 steps; there 10 to 800), the linear low level drives the trajectory generator of the legs at every step.
--
--   ./dev run scripts/quadruped/indoor.lua                              attention
--   ./dev run scripts/quadruped/indoor.lua --set policy=cnn             convolutions beside it
--   ./dev run scripts/quadruped/indoor.lua --set scene=FOLDER           a building instead of rooms
--   ... --resume                                                        continue where it stopped
--   ... --set iterations=2 --set env.time_limit=200 --set eval_episodes=2     a trial of seconds
--
-- How many doorways and gates the best policy passes in flats that no training saw is printed at the end; iap eval RUN
-- --set reward=doors --set flats=[2000000,2999999] says it again, and iap play RUN --view outside shows it.
local iap = require "iap"
local levels = require "levels"

local options = iap.options { policy = "iap", patch = 4, stride = 0, seed = 1, flats = 20, scene = "" }
local policy, name = levels.policy(options, 16, 4, { 10, 100 })

-- Where actions are 0 the generator trots ahead, so that training begins with walking.
local world = {
  leg_phases = true, compass = true, frequency = { 1.5, 3 }, intensity = { 0.3, 0.9 }, height = { -0.2, 0.2 }, ratio = { 1, 3 },
  time_limit = 3000,
}
if options.scene ~= "" then
  world.scene = options.scene
else
  world.flats = { 0, 999999 }
end
local env = iap.env.make("a1-indoor", world)
local out = iap.run_folder(string.format("runs/quadruped/indoor-%s-seed%d", name, options.seed))
print(iap.policy.build(policy, env):summary())

iap.train {
  env = env,
  policy = policy,
  optimizer = iap.optim.es { population = 64, sigma = 0.05, learning_rate = 0.02, shaping = "pair_ranks" },
  iterations = 300,
  episode_seeds = "pairs",
  eval_every = 10,
  eval_episodes = 8,
  seed = options.seed,
  out = out,
}
iap.report.learning_curve(out, out .. "/media/curve.png")

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
