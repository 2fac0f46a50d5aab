-- The policy of two levels that A1's experiments share (v1, section 5.3): a high level that looks at the picture now and then, by attention
-- over its patches or, to compare with, by convolutions; below it a low level that drives the trajectory generator of the legs at
-- every step.
local iap = require "iap"
local levels = {}

-- The papers' network: with three outputs above a linear low level 14,954 parameters. `beside`: a block whose numbers the last layer
-- reads, too; `scale`: of that layer's first weights.
function levels.convolutions(settings)
  settings = settings or {}
  local seen = iap.policy.sequence {
    iap.policy.cnn { layers = { { channels = 4 }, { channels = 8 }, { channels = 8, pool = 2 } }, bias = false },
    iap.policy.linear { units = 10, activation = "tanh", bias = false },
  }
  return iap.policy.sequence {
    settings.beside and iap.policy.concat { seen, settings.beside } or seen,
    iap.policy.linear { units = 3, activation = "tanh", bias = false, scale = settings.scale },
  }
end

-- Options of the environments, with `more` of them. 50 Hz and 3.3 ms hold as well as 250 Hz and 1 ms do, for a third of the physics and a
-- fifth of the decisions.
function levels.world(more)
  local options = {
    leg_phases = true, timestep = 1 / 300, physics_steps = 6, cap = 0.02,
    frequency = { 2, 3 }, intensity = { 0.3, 1 }, height = { -0.3, 0.3 }, ratio = { 1, 3 },
  }
  for key, value in pairs(more) do options[key] = value end
  return options
end

-- A low level that can be steered: a linear one whose weights are linear in the latent, products of what it reads with the latent, because
-- a turn is a step aside at one phase of a leg and back at the other, and so a product of latent and phase. `scale` keeps it slow: what the
-- search changes shakes the legs little and the high level much. The high level is asked of its mirror image, too, where the latent's
-- first number, which turns, changes sign; `odd_inputs`: numbers of the vector that do.
local latent, first_phase, scale = 2, 16, 0.1
local function steered(high, state, odd_inputs)
  local low = iap.policy.sequence {
    iap.policy.product { groups = { state, latent }, keep = false, scale = scale },
    iap.policy.linear { activation = "tanh", scale = 0 },
  }
  return iap.policy.hierarchy {
    high = iap.policy.mirror { block = high, odd = { 2 }, odd_inputs = odd_inputs }, low = low, duration = { 2, 12 }, latent = latent,
  }
end

-- Where the search begins with it: a trot that turns by the first number of the latent. While they stand, front feet step aside one way, rear
-- feet the other; `turn` is the action for a latent of 1. State: IMU (4), joints (12), phases of four legs (8), and what else there is.
local gait, turn = { 0.7, 0.2, 0, 0.6 }, 2
local function trot(policy, state)
  local parameters = policy:parameters()
  for _, slice in ipairs(policy:slices()) do
    if slice.name:find "^low.*bias$" then table.move(gait, 1, 4, slice.first, parameters) end
    if slice.name:find "^low.*weight$" then
      for leg = 0, 3 do
        local row = slice.first + (4 + 3 * leg) * state * latent
        for other = 0, 3 do
          -- Diagonal legs trot together and half a cycle from the others: a difference of phases is free of their mean.
          local together = (leg == 0 or leg == 3) == (other == 0 or other == 3)
          local sign = (together and 1 or -1) * (leg < 2 and 1 or -1)
          parameters[row + (first_phase + 2 * other) * latent] = sign * turn / scale / 2
        end
      end
    end
  end
  policy:set_parameters(parameters)
end

-- A policy on `env` whose high level is `high`, three numbers: a duration and the latent.
function levels.build(high, env, seed, odd_inputs)
  local state = env:spec().observation.vector
  local policy = iap.policy.build(steered(high, state, odd_inputs), env)
  policy:initialise(seed)
  trot(policy, state)
  return policy
end

-- Trains `policy`, as it is, into the folder `out`, and draws its curve.
function levels.train(env, policy, out, seed, iterations)
  iap.train {
    env = env,
    init = policy,
    optimizer = iap.optim.es {
      population = 64, sigma = 0.1, sigma_decay = 0.98, sigma_min = 0.03, learning_rate = 0.05, learning_rate_decay = 0.985,
      shaping = "pair_ranks",
    },
    iterations = iterations,
    episode_seeds = "pairs",
    eval_every = 10,
    eval_episodes = 24,
    seed = seed,
    out = out,
  }
  iap.report.learning_curve(out, out .. "/media/curve.png")
end

return levels
