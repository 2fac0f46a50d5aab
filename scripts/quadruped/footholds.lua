-- What the experiments with footholds share: policies that look at two depth images, their training, and a comparison with the
-- blind trot. --set policy=NAME takes
--   look    attention whose queries are where toes are about to land, and which begins by asking for that (glance.lua)
--   rank    IAP-rank with masking, softmax features: of each image the patches that score highest, the others masked out
--   trans   IAP-trans, softmax features: each image compressed to a few rows
--   cnn     two layers of convolutions over each image
--   blind   no image
-- and a linear layer on what they hand over and on the vector. The last layer begins near 0: the policy begins as the blind trot.
local iap = require "iap"
local glance = require "glance"
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
  error("policy must be look, rank, trans, cnn or blind, got " .. kind, 0)
end

local function blueprint(kind, env)
  if kind == "look" then return glance.policy(env) end
  local parts = { iap.policy.observation {} }
  if kind ~= "blind" then
    for _, image in ipairs { "front", "belly" } do table.insert(parts, eye(kind, image)) end
  end
  return iap.policy.sequence { iap.policy.concat(parts), iap.policy.linear { activation = "tanh", scale = 0.02 } }
end

-- settings: env (options of the environment beside those below), ways (glance.begin), curriculum, iterations, marks (how many gaps, rows or
-- steps there are).
function footholds.run(name, settings)
  local options = iap.options { policy = "look", seed = 1, episodes = 20 }
  -- The robot's own legs are not in its pictures. The ground is .4 m below a camera, a hole 1.4 m.
  local env_options = { body = false, depth_far = 1.5, depth = options.policy ~= "blind" }
  for key, value in pairs(settings.env) do env_options[key] = value end
  local env = iap.env.make("laikago-" .. name, env_options)
  local policy = iap.policy.build(blueprint(options.policy, env), env)
  policy:initialise(options.seed)
  if options.policy == "look" then glance.begin(policy, env, settings.ways or {}) end
  print(policy:summary())
  local out = iap.run_folder(string.format("runs/quadruped/%s-%s-seed%d", name, options.policy, options.seed))
  iap.train {
    env = env,
    init = policy,
    -- Steps are small: a query reacts to each of its numbers strongly.
    optimizer = iap.optim.es {
      population = 64, sigma = 0.04, sigma_decay = 0.98, sigma_min = 0.02, learning_rate = 0.01, shaping = "pair_ranks",
    },
    curriculum = settings.curriculum,
    iterations = settings.iterations,
    episode_seeds = "pairs",
    eval_every = 10,
    eval_episodes = 16,
    eval_env = { time_limit = 400 },
    seed = options.seed,
    out = out,
  }
  iap.report.learning_curve(out, out .. "/media/curve.png")

  -- With so high a cap the return is the way in metres. An episode may last to the course's end.
  local far = iap.policy.load(out):metadata().env
  far.cap, far.time_limit = 1, nil
  local trained = iap.eval(out, { episodes = options.episodes, seed = 1000, env = far })
  far.reward = "crossed"
  local crossed, whole = iap.eval(out, { episodes = options.episodes, seed = 1000, env = far }), 0
  for _, episode in ipairs(crossed.episodes) do
    if episode.total >= settings.marks then whole = whole + 1 end
  end
  local trot = iap.policy.sequence { iap.policy.observation {}, iap.policy.linear { scale = 0, bias = false } }
  far.reward, far.depth = "way", false
  local blind = iap.eval(iap.policy.build(trot, iap.env.make(far)), { episodes = options.episodes, seed = 1000, env = far })
  print(string.format("%d episodes: %.2f m (%.2f to %.2f), %.1f of %d crossed, %d to the end; the blind trot %.2f m: %s", options.episodes,
    trained.mean, trained.low or trained.mean, trained.high or trained.mean, crossed.mean, settings.marks, whole, blind.mean, out))
end

return footholds
