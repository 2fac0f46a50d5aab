-- Figure 6 (bottom) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section 5.2): Laikago
-- climbs stairs. Policies are those of stepstones.lua.
--
--   ./dev run scripts/quadruped/stairs.lua                     IAP-rank
--   ./dev run scripts/quadruped/stairs.lua --set policy=trans  or cnn, or blind
--   ... --resume                                               continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- Steps grow in stages from 5 cm to the papers' 16 to 19.
local footholds = require "footholds"

footholds.run("stairs", {
  env = { time_limit = 400 },
  curriculum = {
    { through = 80, least_rise = 0.03, most_rise = 0.06, time_limit = 100 },
    { through = 200, least_rise = 0.07, most_rise = 0.12, time_limit = 150 },
    { through = 300, least_rise = 0.11, most_rise = 0.16, time_limit = 200 },
    {},
  },
  iterations = 400,
})
