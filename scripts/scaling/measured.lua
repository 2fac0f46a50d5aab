-- Seconds of an iteration with episodes that wait instead of computing, to check the model of scripts/scaling.lua (docs/clusters.md):
--
--   for n in 1 2 3 4 8; do mpirun -n $n --oversubscribe iap run scripts/scaling/measured.lua --threads 1; done
--   iap run scripts/scaling.lua --set population=64 --set cores=[1,2,3,4,8] --set parameters=2
local iap = require "iap"
local o = iap.options { episode = 0.3, spread = 0.2, population = 64, iterations = 3 }
local folder = arg[0]:match("^(.*)/") or "."

local times = {}
iap.train {
  env = iap.env.make(folder .. "/waiting.lua", { episode = o.episode, spread = o.spread }),
  policy = iap.policy.linear {},
  optimizer = iap.optim.es { population = o.population },
  iterations = o.iterations, episode_seeds = "own", eval_every = 0, eval_episodes = 1, confirm_episodes = 0, quiet = true,
  on_iteration = function(row)
    if row.iteration > 0 then times[#times + 1] = o.population / row.steps_per_second end -- an episode is one step
  end,
}
local sum = 0
for _, seconds in ipairs(times) do sum = sum + seconds end
print(string.format("%.2f s an iteration, mean of %d", sum / #times, #times))
