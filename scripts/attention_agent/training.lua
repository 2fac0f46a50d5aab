-- What the training scripts of AttentionAgent share: its settings, those of a small machine, and its policy.
local iap = require "iap"
local training = {}

-- In the paper: CMA-ES, population 256, initial deviation 0.1, evaluation over 100 episodes every 10 iterations.
local presets = {
  paper = { population = 256, iterations = 2000, eval_every = 10, eval_episodes = 100, checkpoint_every = 1 },
  small = { population = 64, iterations = 400, eval_every = 20, eval_episodes = 16, checkpoint_every = 10 },
  trial = { population = 4, iterations = 1, eval_every = 1, eval_episodes = 1, checkpoint_every = 1 },
}

-- Trains the agent on `env`; `episodes` are the paper's rollouts per member, `small_episodes` those of the small preset.
function training.run(name, env, episodes, small_episodes)
  local options = iap.options {
    preset = "paper", -- "small" for two cores and a night; "trial" to see that it works
    kernel = "softmax", -- "hybrid": the same agent with IAP attention in place of brute force
  }
  local preset = presets[options.preset] or error("preset must be paper, small or trial, got " .. options.preset, 0)
  local paper = options.preset == "paper"
  -- Only the full covariance is the paper's; its diagonal learns with fewer evaluations and no memory of 3667 x 3667.
  local optimizer = paper and iap.optim.cma_es or iap.optim.sep_cma_es
  local rank = options.kernel ~= "softmax" and { kernel = options.kernel, input = options.kernel ~= "relu" and "normalised" or nil } or {}
  local out = iap.run_folder("runs/" .. name .. "-" .. options.preset .. (options.kernel ~= "softmax" and "-" .. options.kernel or ""))
  local run = iap.train {
    env = env,
    policy = iap.policy.attention_agent { rank = rank },
    -- The returns of a member differ from iteration to iteration: that they stop rising says nothing.
    optimizer = optimizer { population = preset.population, sigma = 0.1, stagnation = false },
    iterations = preset.iterations,
    episodes = paper and episodes or options.preset == "small" and small_episodes or 1,
    eval_every = preset.eval_every,
    eval_episodes = preset.eval_episodes,
    checkpoint_every = preset.checkpoint_every,
    seed = 1,
    out = out,
  }
  iap.report.learning_curve(out, out .. "/media/curve.png")
  print(string.format("return %.1f before, %.1f after %d iterations (best %.1f), in %.0f s: %s", run.first_eval, run.last_eval,
    run.iterations, run.best_eval, run.seconds, out))
end

return training
