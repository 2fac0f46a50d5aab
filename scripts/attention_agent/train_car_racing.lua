-- Trains AttentionAgent (Tang, Nguyen & Ha 2020) on CarRacing with the paper's settings: population 256, 16 rollouts each.
--
--   ./dev run scripts/attention_agent/train_car_racing.lua                        a cluster's work
--   ./dev run scripts/attention_agent/train_car_racing.lua --set preset=small     two cores, a night
--   ./dev run scripts/attention_agent/train_car_racing.lua --set preset=small --set kernel=hybrid
--   ... --out runs/car --resume                                                   continue where it stopped
local iap = require "iap"
local training = require "training"

-- Who loses the road for more than 20 steps does not come back; early_stop counts the step that ends the episode. generalisation.lua
-- evaluates without this limit.
local env = iap.env.make("car-racing", { early_stop = 21 })
training.run("car-racing", env, 16, 2)
