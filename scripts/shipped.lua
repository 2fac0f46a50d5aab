-- The trained policies that ship, and what docs/results.md says of each: how many episodes from which seed, their mean return, the
-- standard deviation of a single one, and the 95% interval of the mean. `seconds` is the processor time that playing it takes (one core
-- of an AMD EPYC); `set` is what differs from the environment it was trained in, `places` how many digits behind the
-- point are printed (none).
local games, table1, robots = "attention_agent/policies/", "paper/policies/", "quadruped/policies/"
local function row(policy, episodes, seed, mean, deviation, low, high, seconds, set, places)
  return {
    policy = policy, episodes = episodes, seed = seed, mean = mean, deviation = deviation, low = low, high = high, seconds = seconds,
    set = set or {}, places = places,
  }
end
local walls, doors = { reward = "walls", courses = { 2000000, 2999999 } }, { reward = "doors", flats = { 2000000, 2999999 } }
local crossed = { reward = "crossed", cap = 1, time_limit = 2000 }

return {
  row(games .. "car-racing-iap.iap", 100, 0, 743, 192, 705, 781, 5, { early_stop = 0 }),
  row(games .. "car-racing-tokens.iap", 100, 0, 859, 66, 846, 872, 9, { early_stop = 0 }),
  row(games .. "take-cover-iap.iap", 100, 0, 341, 157, 310, 372, 4),
  row(games .. "take-cover-centroids.iap", 100, 0, 658, 396, 580, 737, 8),
  row(table1 .. "cheetah-run-change.iap", 100, 1000, 303, 25, 298, 308, 19),
  row(table1 .. "walker-walk-change.iap", 100, 1000, 197, 36, 190, 204, 31),
  row(table1 .. "cartpole-swingup-change.iap", 100, 1000, 250, 33, 243, 256, 24),
  row(table1 .. "ball-in-cup-catch-change.iap", 100, 1000, 642, 272, 588, 696, 19),
  row(table1 .. "reacher-easy-change.iap", 100, 1000, 415, 348, 346, 484, 11),
  row(table1 .. "cheetah-run.iap", 20, 1000, 82, 20, 72, 91, 4),
  row(table1 .. "walker-walk.iap", 20, 1000, 109, 27, 96, 121, 7),
  row(table1 .. "cartpole-swingup.iap", 20, 1000, 188, 70, 156, 221, 5),
  row(table1 .. "ball-in-cup-catch.iap", 20, 1000, 94, 289, -42, 229, 4),
  row(table1 .. "reacher-easy.iap", 20, 1000, 60, 75, 24, 95, 3),
  row(robots .. "a1-obstacle-course-iap.iap", 100, 1000, 4.89, 1.70, 4.55, 5.23, 17, walls, 2),
  row(robots .. "a1-obstacle-course-cnn.iap", 100, 1000, 3.40, 1.77, 3.05, 3.75, 17, walls, 2),
  row(robots .. "a1-indoor-iap.iap", 100, 1000, 6.17, 1.42, 5.89, 6.45, 20, doors, 2),
  row(robots .. "laikago-stepstones.iap", 40, 1000, 10.78, 1.42, 10.32, 11.23, 36, crossed, 2),
  row(robots .. "laikago-stairs.iap", 40, 1000, 5.80, 1.18, 5.42, 6.18, 19, crossed, 2),
  row(robots .. "laikago-grid.iap", 40, 1000, 3.73, 2.10, 3.05, 4.40, 9, crossed, 2),
}
