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

-- The papers' eye: patches of 2 x 2 pixels, and of 4 x 4 where a picture has 120 rows or fewer.
local function rank(variant)
  return function(options)
    local patch = math.max(2, math.tointeger(math.min(4, 480 // options.pixels[1])))
    return paper.policy(paper.attention(variant, { patch = patch, d = 8, top = 10 }))
  end
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

-- The eyes by name. The papers' has the name of its kernel, sees every pixel, and is trained with their options.
local eyes = {
  { name = "relu", make = rank(paper.kernels.relu), papers = true },
  { name = "hybrid", make = rank(paper.kernels.hybrid), papers = true },
  { name = "brute", make = rank(paper.kernels.brute), papers = true },
  { name = "trans", make = trans },
  { name = "change", make = change },
}

-- Options of iap.train in place of the papers'.
local function training(task, eye)
  if eye.papers or not sudden[task] then return nil end
  return { optimizer = paper.bold_optimizer, eval_episodes = 64 }
end

-- The names of the eyes that --set eyes=NAME asks for, each true.
local function chosen_eyes(options)
  local rank_eye = paper.variant(options.kernel).name
  local choices = {
    all = { [rank_eye] = true, trans = true, change = true },
    rank = { [rank_eye] = true },
    trans = { trans = true },
    change = { change = true },
  }
  return choices[options.eyes] or error("--set eyes: take all, rank, trans or change, not " .. options.eyes, 0)
end

-- The rows of `groups` of jobs: all seeds of a task and an eye in one.
local function rows_of(groups, printed)
  local rows = {}
  for i, group in ipairs(groups) do
    local kind, earned = group.kind, group.earned
    rows[i] = { kind.task.name, kind.eye.name, earned.runs, earned.mean, earned.low, earned.high, earned.span }
    -- By number: the ends of an interval may be missing.
    for n, column in ipairs(printed) do rows[i][7 + n] = kind.task[column[2]] end
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
  local tasks_now, eyes_now = {}, chosen_eyes(options)
  for _, task in ipairs(distracted.chosen(arg)) do tasks_now[task.name] = true end
  local kinds, now = {}, {}
  for _, task in ipairs(distracted.tasks) do
    for _, eye in ipairs(eyes) do
      local kind = {
        name = task.name .. "-" .. eye.name, task = task, eye = eye,
        env = experiment.make(task.name, options, eye.papers and options.pixels or distracted.small(options.pixels)),
        policy = eye.make(options, task.name),
        training = training(task.name, eye),
        pixels = options.pixels,
      }
      table.insert(kinds, kind)
      if tasks_now[task.name] and eyes_now[eye.name] then table.insert(now, kind) end
    end
  end
  local columns = { "task", "eye", "seeds", "return", "low", "high", "span" }
  for _, column in ipairs(experiment.printed) do table.insert(columns, column[1]) end
  jobs.run(root, kinds, jobs.wanted(root, options, now), options.episodes, function(complete)
    paper.write_table(root .. "/results.csv", columns, rows_of(jobs.grouped(kinds, complete), experiment.printed))
    jobs.page(root, kinds)
  end)
end

return table1
