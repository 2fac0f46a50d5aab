-- Which options of the search help? One small training for each variant, task and seed, all with as many training episodes:
--   baseline      antithetic Gaussian pairs, one episode a member, 40 iterations
--   orthogonal    directions = "orthogonal"
--   hadamard      directions = "hadamard"
--   growing       one episode a member for 20 iterations, then two for 10
--   noise-0.01    action_noise = 0.01
--   noise-0.1     action_noise = 0.1
--   plateau       plateau = { patience = 5 }: half the learning rate where returns stop rising
-- Tasks: cheetah-run, walker-walk, cartpole-swingup, clean, at 64 x 64 pixels. What counts is the last policy, over 16 episodes of
-- another seed.
--
--   ./dev run scripts/search.lua --threads 1              all of it, three seeds; start it as often as there are cores
--   ./dev run scripts/search.lua walker-walk --threads 1 --seed 2 --set seeds=1 --set variants=hadamard     one training
--   ./dev run scripts/search.lua --set show=true          no training: the table of what is finished (a trial's: --out FOLDER)
--   --set variants=baseline,growing --set episodes=100 (that are played at the end)
--   --set iterations=1 --set optimizer.population=4 --set seeds=1     a trial, in a folder of its own
--
-- Writes runs/search/: a run folder for each training; results.csv, written again after each, from all that is finished there: per
-- variant and task the mean over the seeds and its standard error, and the mean over the tasks of the return in baselines' returns.
-- Started again it goes on.
package.path = (arg[0]:match "^.*/" or "") .. "paper/?.lua;" .. package.path
local iap = require "iap"
local paper = require "paper"
local jobs = require "jobs"

local options = iap.options { seed = 1, seeds = 3, episodes = 16, variants = "all", show = false }
local root = iap.run_folder("runs/search", { shared = { "seed", "seeds", "episodes", "variants", "show", "threads", "quiet" } })

local function eye()
  return iap.policy.sequence {
    iap.attention.trans { patch = 4, d = 8, kernel = "relu", tokens = 10, values = "projection", dv = 4 },
    iap.policy.delta { scale = 4 },
  }
end

local function with_clock(frequency)
  return iap.policy.sequence {
    iap.policy.concat { eye(), iap.policy.clock { frequency = frequency } },
    iap.policy.linear { activation = "tanh" },
  }
end

local tasks = {
  { name = "cheetah-run", policy = with_clock(2) },
  { name = "walker-walk", policy = with_clock(1.5) },
  {
    name = "cartpole-swingup",
    policy = iap.policy.sequence {
      eye(),
      iap.policy.linear { units = 16, activation = "tanh" },
      iap.policy.linear { activation = "tanh" },
    },
  },
}
for _, task in ipairs(tasks) do task.env = iap.env.make(task.name, { pixels = { 64, 64 }, action_repeat = paper.action_repeat }) end

-- What a variant changes in the optimizer and in iap.train.
local variants = {
  { name = "baseline" },
  { name = "orthogonal", optimizer = { directions = "orthogonal" } },
  { name = "hadamard", optimizer = { directions = "hadamard" } },
  { name = "growing", training = { iterations = 30, curriculum = { { through = 20 }, { episodes = 2 } } } },
  { name = "noise-0.01", training = { action_noise = 0.01 } },
  { name = "noise-0.1", training = { action_noise = 0.1 } },
  { name = "plateau", optimizer = { plateau = { patience = 5 } } },
}

local function kind_of(variant, task)
  local optimizer = { population = 64, sigma = 0.1, learning_rate = 0.05, learning_rate_decay = 0.995, shaping = "pair_ranks" }
  for name, value in pairs(variant.optimizer or {}) do optimizer[name] = value end
  local training = { optimizer = iap.optim.es(optimizer), iterations = 40, eval_every = 10 }
  for name, value in pairs(variant.training or {}) do training[name] = value end
  return {
    name = task.name .. "-" .. variant.name, task = task.name, variant = variant.name, training = training, final = true,
    env = task.env, policy = task.policy,
  }
end

local wanted_variants = {}
if options.variants ~= "all" then
  for name in options.variants:gmatch "[^, ]+" do table.insert(wanted_variants, name) end
end
local function set_of(chosen)
  local names = {}
  for _, one in ipairs(chosen) do names[one.name] = true end
  return names
end
local tasks_now = set_of(paper.chosen("task", arg, tasks))
local variants_now = set_of(paper.chosen("variant", wanted_variants, variants))

local kinds, now = {}, {}
for _, variant in ipairs(variants) do
  for _, task in ipairs(tasks) do table.insert(kinds, kind_of(variant, task)) end
end
for _, job in ipairs(jobs.wanted(root, options, kinds)) do
  if tasks_now[job.task] and variants_now[job.variant] then table.insert(now, job) end
end

-- What the `finished` jobs of each variant earned on each task, as paper.joined says.
local function earned_by_variant(finished)
  local earned = {}
  for _, variant in ipairs(variants) do earned[variant.name] = {} end
  for _, group in ipairs(jobs.grouped(kinds, finished)) do earned[group.kind.variant][group.kind.task] = group.earned end
  return earned
end

local function show()
  local earned = earned_by_variant(jobs.finished(jobs.begun(root, kinds), options.episodes))
  local columns, rows = { "variant" }, {}
  for _, task in ipairs(tasks) do
    for _, column in ipairs { "", " error", " seeds" } do table.insert(columns, task.name .. column) end
  end
  table.insert(columns, "of baseline")
  for _, variant in ipairs(variants) do
    local row, ratio = { variant.name }, 0
    for t, task in ipairs(tasks) do
      local own, baseline = earned[variant.name][task.name], earned.baseline[task.name]
      if own then
        row[3 * t - 1] = own.mean
        row[3 * t] = own.runs > 1 and own.deviation / math.sqrt(own.runs) or nil -- the mean's standard error
      end
      row[3 * t + 1] = own and own.runs or 0
      ratio = ratio and own and baseline and baseline.mean > 0 and ratio + own.mean / baseline.mean / #tasks or nil
    end
    row[3 * #tasks + 2] = ratio
    table.insert(rows, row)
  end
  paper.write_table(root .. "/results.csv", columns, rows)
end

if not options.show then
  jobs.run(root, kinds, now, options.episodes, show)
elseif jobs.finished(jobs.begun(root, kinds), options.episodes)[1] then
  show()
else
  error(string.format("no training in %s is finished and played for %d episodes; take away --set show=true", root, options.episodes), 0)
end
