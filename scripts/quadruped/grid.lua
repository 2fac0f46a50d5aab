-- Figure 6 (middle) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section
-- 5.2): Laikago crosses a grid of stones of 15 x 15 cm. Policies are those of stepstones.lua.
--
--   ./dev run scripts/quadruped/grid.lua                     attention that is asked where toes land (glance.lua)
--   ./dev run scripts/quadruped/grid.lua --set policy=rank         IAP-rank, or trans, cnn, blind
--   ... --resume                                               continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- Gaps grow in stages from a floor with narrow slits.
local footholds = require "footholds"

footholds.run("grid", {
  env = { time_limit = 200 },
  ways = { aside = true },
  curriculum = {
    { through = 10, stone = 0.25, least_gap = 0.02, most_gap = 0.06, time_limit = 100 },
    { through = 25, stone = 0.2, least_gap = 0.06, most_gap = 0.1, time_limit = 150 },
    { through = 40, stone = 0.17, least_gap = 0.1, most_gap = 0.13 },
    {},
  },
  iterations = 100,
  marks = 13,
})
