-- Figure 6 (bottom) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section
-- 5.2): Laikago climbs stairs. Policies are those of stepstones.lua.
--
--   ./dev run scripts/quadruped/stairs.lua                     attention that is asked where toes land (glance.lua)
--   ./dev run scripts/quadruped/stairs.lua --set policy=rank       IAP-rank, or trans, cnn, blind
--   ... --resume                                               continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- Steps grow in stages from 3 cm to the papers' 16 to 19.
local footholds = require "footholds"

footholds.run("stairs", {
  env = { time_limit = 200 },
  ways = { heights = true },
  curriculum = {
    { through = 20, least_rise = 0.03, most_rise = 0.06, time_limit = 150 },
    { through = 40, least_rise = 0.07, most_rise = 0.12, time_limit = 200 },
    { through = 60, least_rise = 0.11, most_rise = 0.16 },
    {},
  },
  iterations = 100,
  marks = 12,
})
