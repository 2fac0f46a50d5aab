-- The row of reacher-easy in table 1 of "Unlocking Pixels": the Distracting Control Suite, static, medium, played at 240 x 320
-- pixels, by two heads that begin at colours and a controller of products: 42 parameters.
--
--   ./dev run scripts/paper/reacher.lua                       seed 1: two minutes of one core
--   ./dev run scripts/paper/reacher.lua --set seeds=3         seeds 1 to 3: start it as often as there are cores
--   ./dev run scripts/paper/reacher.lua --set iterations=1 --set optimizer.population=4 --set episodes=1     a trial
--   --set distraction=hard or none, --set pixels=[100,100] (that are played; training has averages of about 60 rows)
--   --set colours=arm (the target's begins at random), --set colours=none (both do)
--
-- What is chosen by hand: the colours at which the search begins. For the target, which never moves, red less a sixth each of green and
-- blue, one of the best of thirteen by how much the place of its best 4 x 4 average tells of the target's; for the arm, in what changed,
-- yellow: red and green less twice blue. Training has a dense reward and episodes of 300 steps; what is evaluated, and chooses the policy
-- that counts, is the task itself.
--
-- Writes runs/paper/reacher/: a run folder for each seed, results.csv (all seeds that were trained there), report.html. Started
-- again it goes on where it was.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"
local jobs = require "jobs"

local options = iap.options { seed = 1, seeds = 1, episodes = 100, pixels = { 240, 320 }, distraction = "medium", colours = "both" }

-- Only ratios matter to the order of scores: keys of this size turn slowly in a search with steps of .1.
local target, arm = { 6, -1, -1 }, { 5, 5, -10 }
local choices = { both = { target = target, arm = arm }, arm = { arm = arm }, none = {} }
local colours = choices[options.colours] or error("--set colours: take both, arm or none, not " .. options.colours, 0)

-- Each head hands over where it sees its colour most: in 15 x 20 averages of the frame, in the change of every pixel.
local function head(name, pool, contrast)
  return iap.attention.rank {
    name = name, patch = 1, pool = pool, contrast = contrast, d = 1, top = 1, kernel = "relu", values = "position",
  }
end

-- A torque is a cross product of two places, a reach the square of one.
local policy = iap.policy.sequence {
  iap.policy.concat { head("target", 4, "none"), head("arm", 1, "episode") },
  iap.policy.product { squares = true, scale = 16 },
  iap.policy.linear { activation = "tanh" },
}

-- The initial policy of a seed, its keys those of the colours, its queries positive: what they are multiplied by is never 0 throughout.
local function beginning(env, seed)
  local built = iap.policy.build(policy, env)
  built:initialise(seed)
  local parameters = built:parameters()
  for _, slice in ipairs(built:slices()) do
    local colour = colours[slice.name:match "(%a+)%.key$"]
    if colour then table.move(colour, 1, 3, slice.first, parameters) end
    for i = slice.first, slice.name:find "%.query$" and slice.last or 0 do parameters[i] = math.abs(parameters[i]) end
  end
  built:set_parameters(parameters)
  return built
end

local env = distracted.make("reacher-easy", options, distracted.small(options.pixels)):spec().given
env.reward, env.time_limit = "dense", 300
local function training(seed)
  return {
    init = beginning(env, seed),
    optimizer = iap.optim.es { population = 256, sigma = 0.1, learning_rate = 0.1, learning_rate_decay = 0.99, shaping = "pair_ranks" },
    iterations = 60,
    eval_env = { reward = "task", time_limit = 1000 },
    eval_every = 10,
    eval_episodes = 32,
  }
end

local root = paper.root "reacher"
local kinds = { { name = "reacher-easy", env = env, policy = policy, pixels = options.pixels, training = training } }
jobs.run(root, kinds, jobs.wanted(root, options, kinds), options.episodes, function(complete)
  local rows = {}
  for _, job in ipairs(complete) do
    table.insert(rows, { job.seed, job.earned.mean, job.earned.standard_deviation, job.earned.low, job.earned.high })
  end
  paper.write_table(root .. "/results.csv", { "seed", "return", "deviation", "low", "high" }, rows)
  jobs.page(root, kinds)
end)
