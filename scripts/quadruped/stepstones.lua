-- Figures 6 (top) and 8 (right) of the second version of "Unlocking Pixels for Reinforcement Learning via Implicit Attention" (section
-- 5.2): Laikago crosses stones with gaps between them. IAP-rank with masking and IAP-trans with softmax features against
-- convolutions, each with a linear layer that chooses footholds twenty times a second; model predictive control walks.
--
--   ./dev run scripts/quadruped/stepstones.lua                     IAP-rank
--   ./dev run scripts/quadruped/stepstones.lua --set policy=trans  or cnn, or blind
--   ... --resume                                                   continue where it stopped
--   ... --set iterations=1 --set optimizer.population=4 --set eval_episodes=1 --set episodes=1     a trial of seconds
--
-- Gaps grow and episodes become longer in stages; evaluations are on the papers' gaps throughout.
local footholds = require "footholds"

footholds.run("stepstones", {
  -- What no gap asks for stays as it is, so that a search in the policy's parameters does not overthrow the robot.
  env = { toe_y = 0, toe_z = 0, twist = 0, pitch = 0, roll = 0, time_limit = 400 },
  curriculum = {
    { through = 60, least_gap = 0.04, most_gap = 0.12, time_limit = 80 },
    { through = 120, least_gap = 0.08, most_gap = 0.16, time_limit = 100 },
    { through = 300, time_limit = 200 },
    {},
  },
  iterations = 400,
})
