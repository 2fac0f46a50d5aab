-- What the experiments with footholds share: policies that look at two depth images, their training, and a comparison with the
-- blind trot. --set policy=NAME takes
--   rank    IAP-rank with masking, softmax features: of each image the patches that score highest, the others masked out
--   trans   IAP-trans, softmax features: each image compressed to a few rows
--   cnn     two layers of convolutions over each image
--   blind   no image
-- and a linear layer on what they hand over and on the vector. The last layer begins near 0: the policy begins as the blind trot.
local iap = require "iap"
local footholds = {}

local function eye(kind, image)
  if kind == "rank" then
    return iap.attention.rank {
      image = image, patch = 4, d = 4, kernel = "exp", m = 15, top = 24, masked = true, values = "projection", dv = 1,
    }
  elseif kind == "trans" then
    return iap.attention.trans { image = image, patch = 4, d = 4, kernel = "exp", m = 15, tokens = 8, dv = 2 }
  elseif kind == "cnn" then
    return iap.policy.cnn { image = image, layers = { { channels = 4, pool = 2 }, { channels = 8, pool = 2 } } }
  end
  error("policy must be rank, trans, cnn or blind, got " .. kind, 0)
end

function footholds.policy(kind)
  local parts = { iap.policy.observation {} }
  if kind ~= "blind" then
    for _, image in ipairs { "front", "belly" } do table.insert(parts, eye(kind, image)) end
  end
  return iap.policy.sequence { iap.policy.concat(parts), iap.policy.linear { activation = "tanh", scale = 0.02 } }
end

-- Options of the environment, with `more` of them. The robot's own legs are not in its pictures. The ground is .4 m below a camera, a
-- hole 1.4 m.
function footholds.sees(more)
  local options = { body = false, depth_far = 1.5 }
  for key, value in pairs(more or {}) do options[key] = value end
  return options
end

-- settings: env (options of the environment beside those below), curriculum, iterations.
function footholds.run(name, settings)
  local options = iap.options { policy = "rank", seed = 1, episodes = 20 }
  local env_options = footholds.sees(settings.env)
  env_options.depth = options.policy ~= "blind"
  local env = iap.env.make("laikago-" .. name, env_options)
  local policy = footholds.policy(options.policy)
  print(iap.policy.build(policy, env):summary())
  local out = iap.run_folder(string.format("runs/quadruped/%s-%s-seed%d", name, options.policy, options.seed))
  iap.train {
    env = env,
    policy = policy,
    optimizer = iap.optim.es { population = 32, sigma = 0.05, learning_rate = 0.02, shaping = "pair_ranks" },
    curriculum = settings.curriculum,
    iterations = settings.iterations,
    episode_seeds = "pairs",
    eval_every = 20,
    eval_episodes = 8,
    seed = options.seed,
    out = out,
  }
  iap.report.learning_curve(out, out .. "/media/curve.png")

  -- With so high a cap the return is the way in metres.
  local far = iap.policy.load(out):metadata().env
  far.cap = 1
  local trained = iap.eval(out, { episodes = options.episodes, seed = 1000, env = far })
  local trot = iap.policy.sequence { iap.policy.observation {}, iap.policy.linear { scale = 0, bias = false } }
  far.depth = false
  local blind = iap.eval(iap.policy.build(trot, iap.env.make(far)), { episodes = options.episodes, seed = 1000, env = far })
  print(string.format("%d episodes: %.2f m (%.2f to %.2f), the blind trot %.2f m: %s", options.episodes, trained.mean,
    trained.low or trained.mean, trained.high or trained.mean, blind.mean, out))
end

return footholds
