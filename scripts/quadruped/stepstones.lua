-- Figures 6 (top) and 8 (right) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section
-- 5.2): Laikago crosses stones with gaps between them. A layer behind attention or convolutions chooses
-- footholds twenty times a second; model predictive control walks.
--
--   ./dev run scripts/quadruped/stepstones.lua                     attention that is asked where toes land (glance.lua)
--   ./dev run scripts/quadruped/stepstones.lua --set policy=rank   IAP-rank, or trans, cnn, blind
--   ... --resume                                               continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- Episodes become longer in stages.
local footholds = require "footholds"

footholds.run("stepstones", {
  env = { time_limit = 200 },
  curriculum = {
    { through = 20, time_limit = 100 },
    {},
  },
  iterations = 100,
  marks = 11,
})
