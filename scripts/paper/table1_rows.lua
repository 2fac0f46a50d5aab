-- What table1.lua and table1_clean.lua share: tasks x eyes x seeds as a list of jobs, and their table.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"
local jobs = require "jobs"
local table1 = {}

-- What moves rhythmically gets a clock of about its own frequency (Hz); the others a memory.
local rhythms = { ["cheetah-run"] = 2, ["walker-walk"] = 1.5 }

-- What is won at one moment takes strong reactions to small differences: what is seen comes at unit variance, the search makes larger
-- steps, and as returns are all or nothing, more episodes say which policy is best.
local sudden = { ["ball-in-cup-catch"] = true }

-- Patches of rank are 2 x 2 of 240 x 320 pixels, and the same share of a smaller picture.
local function rank(options, _)
  local patch = math.max(2, math.tointeger(math.min(4, 480 // options.pixels[1])))
  return paper.policy(paper.attention(paper.variant(options.kernel), { patch = patch, d = 8, top = 10 }))
end

-- An eye, its change since the frame before, and what makes actions of both.
local function moving(eye, task)
  local seen = { eye, iap.policy.delta { scale = 4 } }
  if sudden[task] then table.insert(seen, iap.policy.normalise {}) end
  eye = iap.policy.sequence(seen)
  local hands = iap.policy.linear { activation = "tanh" }
  if rhythms[task] then
    return iap.policy.sequence { iap.policy.concat { eye, iap.policy.clock { frequency = rhythms[task] } }, hands }
  end
  return iap.policy.sequence { eye, iap.policy.concat { iap.policy.lstm { units = 16 }, iap.policy.linear { units = 16 } }, hands }
end

local function trans(_, task)
  return moving(iap.attention.trans { patch = 4, d = 8, tokens = 10, dv = 4, kernel = "relu", values = "projection" }, task)
end

-- Where things are that differ from the mean of the episode so far (eight heads), and where that just moved (eight more).
local function change(_, task)
  local eyes = {}
  for _, against in ipairs { "episode", "frame" } do
    table.insert(eyes, iap.attention.rank {
      patch = 4, d = 4, heads = 8, top = 1, kernel = "relu", values = "centroid", contrast = against,
    })
  end
  return moving(iap.policy.concat(eyes), task)
end

-- Options of iap.train in place of the papers'.
local function training(task, eye)
  if eye == "rank" or not sudden[task] then return nil end
  return { optimizer = paper.bold_optimizer, eval_episodes = 64 }
end

local names, makers = { "rank", "trans", "change" }, { rank = rank, trans = trans, change = change }

-- The papers' eye sees every pixel.
local function learns_from(options, eye) return eye == "rank" and options.pixels or distracted.small(options.pixels) end

local function chosen_eyes(eyes)
  if eyes == "all" then return names end
  return makers[eyes] and { eyes } or error("--set eyes: take all, rank, trans or change, not " .. eyes, 0)
end

-- The rows of `groups` of jobs: all seeds of a task and an eye in one.
local function rows_of(groups, printed)
  local rows = {}
  for i, group in ipairs(groups) do
    local kind, earned = group.kind, group.earned
    rows[i] = { kind.task.name, kind.eye, earned.runs, earned.mean, earned.low, earned.high }
    -- By number: the ends of an interval may be missing.
    for n, column in ipairs(printed) do rows[i][6 + n] = kind.task[column[2]] end
  end
  return rows
end

-- Trains and shows the table `experiment` = {name, defaults = {pixels, distraction}, make, printed}.
function table1.run(experiment)
  local options = iap.options {
    seed = 1, seeds = 1, episodes = 20, eyes = "all", kernel = "hybrid", videos = "",
    pixels = experiment.defaults.pixels, distraction = experiment.defaults.distraction,
  }
  local root = paper.root(experiment.name, { "kernel", "eyes" })
  local wanted, eyes = distracted.chosen(arg), chosen_eyes(options.eyes)
  local kinds = {}
  for _, task in ipairs(wanted) do
    for _, eye in ipairs(eyes) do
      local named = eye == "rank" and options.kernel or eye
      table.insert(kinds, {
        name = task.name .. "-" .. named, task = task, eye = named,
        env = experiment.make(task.name, options, learns_from(options, eye)),
        policy = makers[eye](options, task.name),
        training = training(task.name, eye),
        pixels = options.pixels,
      })
    end
  end
  local list = jobs.of_seeds(root, options, kinds)
  local columns = { "task", "eye", "seeds", "return", "low", "high" }
  for _, column in ipairs(experiment.printed) do table.insert(columns, column[1]) end
  local file = root .. (#wanted == #distracted.tasks and "/results.csv" or "/results-" .. wanted[1].name .. ".csv")
  jobs.run(list, options.episodes, function(complete)
    paper.write_table(file, columns, rows_of(jobs.grouped(kinds, complete), experiment.printed))
    jobs.page(list, root)
  end)
end

return table1
