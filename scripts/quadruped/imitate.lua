-- Where a training of stepstones.lua, grid.lua or stairs.lua may begin: the last layer of its policy fitted to the chooser of footholds
-- (chooser.lua) by least squares, on episodes that the policy itself plays from the second round on (Ross et al. 2011, DAgger). What the
-- attention attends to stays as it was drawn.
--
--   ./dev run scripts/quadruped/imitate.lua                        writes runs/quadruped/imitated-stepstones-rank.iap
--   ./dev run scripts/quadruped/imitate.lua --set policy=cnn --set course=grid
--   ./dev run scripts/quadruped/stepstones.lua --set init=runs/quadruped/imitated-stepstones-rank.iap
local iap = require "iap"
local chooser = require "chooser"
local footholds = require "footholds"

local options = iap.options({
  course = "stepstones", policy = "rank", rounds = 6, episodes = 8, decisions = 200, ridge = 1, seed = 1, test_episodes = 20, out = "",
}, { training = false })

local name = "laikago-" .. options.course
local env = iap.env.make(name, footholds.sees { cap = 1, time_limit = options.decisions })
local policy = iap.policy.build(footholds.policy(options.policy), env)
policy:initialise(options.seed)
local spec = env:spec()
local parameters, weights, biases = policy:parameters(), nil, nil
for _, slice in ipairs(policy:slices()) do
  if slice.name:find "linear%.weight$" then weights = slice end
  if slice.name:find "linear%.bias$" then biases = slice end
end
local inputs = (weights.last - weights.first + 1) // spec.action_size
local n = inputs + 1

-- Sums over all decisions so far: features times features, features times what was wanted.
local squares, wanted = {}, {}
for i = 1, n do
  squares[i], wanted[i] = {}, {}
  for j = 1, n do squares[i][j] = 0 end
  for k = 1, spec.action_size do wanted[i][k] = 0 end
end

local function learn(features, action)
  features[n] = 1
  local targets = {}
  -- The last layer ends with tanh, which reaches its ends nowhere.
  for k, value in ipairs(action) do
    local inside = 0.95 * value
    targets[k] = 0.5 * math.log((1 + inside) / (1 - inside))
  end
  for i = 1, n do
    local f, row, right = features[i], squares[i], wanted[i]
    if f ~= 0 then
      for j = i, n do row[j] = row[j] + f * features[j] end
      for k = 1, #targets do right[k] = right[k] + f * targets[k] end
    end
  end
end

-- Solves (squares + ridge) x = wanted by Cholesky's factorisation.
local function solve()
  local l = {}
  for i = 1, n do
    l[i] = {}
    for j = 1, i do
      local sum = squares[j][i] + (i == j and options.ridge or 0)
      for k = 1, j - 1 do sum = sum - l[i][k] * l[j][k] end
      l[i][j] = i == j and math.sqrt(sum) or sum / l[j][j]
    end
  end
  for k = 1, spec.action_size do
    local x = {}
    for i = 1, n do
      local sum = wanted[i][k]
      for j = 1, i - 1 do sum = sum - l[i][j] * x[j] end
      x[i] = sum / l[i][i]
    end
    for i = n, 1, -1 do
      local sum = x[i]
      for j = i + 1, n do sum = sum - l[j][i] * x[j] end
      x[i] = sum / l[i][i]
    end
    for i = 1, inputs do parameters[weights.first - 1 + (k - 1) * inputs + i] = x[i] end
    parameters[biases.first - 1 + k] = x[n]
  end
  policy:set_parameters(parameters)
end

local episode = 0
for round = 1, options.rounds do
  local sum = 0
  for _ = 1, options.episodes do
    episode = episode + 1
    local observation, over, out, reward = env:reset(options.seed * 1000000 + episode), false, false, 0
    local choose = chooser.new(env, chooser.settings[name])
    policy:reset(episode)
    while not over and not out do
      local right, own = choose(observation), policy:act(observation)
      learn(policy:outputs "1.concat", right)
      reward, over, out = env:step(round == 1 and right or own)
      sum = sum + reward
      observation = env:observe()
    end
  end
  solve()
  print(string.format("round %d: %.2f m by %s", round, sum / options.episodes, round == 1 and "the chooser" or "the policy"))
end

local earned = iap.eval(policy, { episodes = options.test_episodes, seed = 1000 })
local out = options.out ~= "" and options.out or string.format("runs/quadruped/imitated-%s-%s.iap", options.course, options.policy)
policy:save(out)
print(string.format("%d unseen courses, %d decisions: %.2f m (%.2f to %.2f): %s", options.test_episodes, options.decisions, earned.mean,
  earned.low or earned.mean, earned.high or earned.mean, out))
