-- Figures 6 (top) and 8 (right) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section
-- 5.2): Laikago crosses stones with gaps between them. IAP-rank with masking and IAP-trans with softmax features against
-- convolutions, each with a linear layer that chooses footholds twenty times a second; model predictive control walks.
--
--   ./dev run scripts/quadruped/stepstones.lua                     IAP-rank
--   ./dev run scripts/quadruped/stepstones.lua --set policy=trans  or cnn, or blind
--   ... --resume                                                   continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- From a policy fitted to the chooser of footholds a search of ten iterations came further than one of a hundred from nothing
-- (docs/robots.md):
--   ./dev run scripts/quadruped/imitate.lua
--   ./dev run scripts/quadruped/stepstones.lua --set init=runs/quadruped/imitated-stepstones-rank.iap --set curriculum=null
--     --set env.time_limit=150 --set eval_env.time_limit=200 --set optimizer.sigma=0.02 --set optimizer.learning_rate=0.01
--
-- Gaps grow and episodes become longer in stages; evaluations are on the papers' gaps throughout.
local footholds = require "footholds"

footholds.run("stepstones", {
  env = { time_limit = 400 },
  curriculum = {
    { through = 60, least_gap = 0.04, most_gap = 0.12, time_limit = 80 },
    { through = 120, least_gap = 0.08, most_gap = 0.16, time_limit = 100 },
    { through = 300, time_limit = 200 },
    {},
  },
  iterations = 400,
})
