-- Trains AttentionAgent (Tang, Nguyen & Ha 2020) on DoomTakeCover with the paper's settings: population 256, 5 rollouts each.
--
--   ./dev run scripts/attention_agent/train_take_cover.lua                        a cluster's work
--   ./dev run scripts/attention_agent/train_take_cover.lua --set preset=small     two cores, a night
--   ./dev run scripts/attention_agent/train_take_cover.lua --set env.art=procedural
--   ... --out runs/cover --resume                                                 continue where it stopped
local iap = require "iap"
local training = require "training"

training.run("take-cover", iap.env.make("take-cover"), 5, 2)
