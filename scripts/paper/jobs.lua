-- A list of trainings, each a run in a folder of its own, that one process after another or several at once bring to their end. Every
-- process goes through the list and takes what is neither complete nor in another's hands, so that a machine with more cores, or a
-- cluster with one folder, starts the same command as often as it has cores. After every job the tables are written again: they have
-- what every start of the experiment finished in its folder, be it other kinds or other seeds.
local iap = require "iap"
local paper = require "paper"
local jobs = {}

-- Trains, or continues, the run of `job` = {out, env, policy, ...}; false if another process is at it.
local function train(job)
  local options = {
    env = job.env,
    policy = job.policy,
    optimizer = paper.optimizer,
    iterations = paper.iterations,
    episode_seeds = paper.episode_seeds,
    eval_every = 5,
    confirm_episodes = 0, -- paper.earned plays policies on fresh episodes
    seed = job.seed,
    out = job.out,
    resume = true,
  }
  local training = job.training
  if type(training) == "function" then training = training(job.seed) end
  for name, value in pairs(training or {}) do options[name] = value end
  local ended, problem = pcall(iap.train, options)
  if not ended and not tostring(problem):find("is in use by another process", 1, true) then error(problem, 0) end
  return ended
end

local figures = { "mean", "standard_deviation", "low", "high" }

-- The policy of a job that counts, and the iteration that it is of.
local function judged(job)
  local path = job.final and job.out .. "/final.iap" or job.out
  return path, iap.policy.load(path):metadata().iteration
end

-- What earned.csv of `job` says, if it is about this iteration's policy and as many episodes.
local function known(job, iteration, episodes)
  local file, cells = io.open(job.out .. "/earned.csv"), {}
  if not file then return nil end
  for cell in (file:read "a" .. ","):gmatch "([^,\n]*)[,\n]" do table.insert(cells, tonumber(cell) or false) end
  file:close()
  if cells[1] ~= iteration or cells[2] ~= episodes then return nil end
  local found = {}
  for n, name in ipairs(figures) do found[name] = cells[2 + n] or nil end
  return found
end

-- Plays the policy of `job` unless that is done. What it earned is kept in earned.csv: several processes and every later start ask for it.
local function play(job, episodes)
  local path, iteration = judged(job)
  if known(job, iteration, episodes) then return end
  local fresh, cells = paper.earned(path, episodes, nil, job.pixels), { tostring(iteration), tostring(episodes) }
  for _, name in ipairs(figures) do table.insert(cells, fresh[name] and string.format("%.17g", fresh[name]) or "") end
  paper.write_whole(job.out .. "/earned.csv", table.concat(cells, ",") .. "\n")
end

-- Those of `list` that are complete and have been played, here or by another process, with what they `earned`.
function jobs.finished(list, episodes)
  local complete = {}
  for _, job in ipairs(list) do
    local result = io.open(job.out .. "/result.json") -- there is none while something is left to do
    if result then
      result:close()
      local _, iteration = judged(job)
      job.earned = known(job, iteration, episodes)
      if job.earned then table.insert(complete, job) end
    end
  end
  return complete
end

-- A job for each of `kinds` and each of `seeds`, in ROOT/NAME-seedN. Seeds first: each compares all kinds, so that a table stands early.
local function of_seeds(root, kinds, seeds)
  local list = {}
  for _, seed in ipairs(seeds) do
    for _, kind in ipairs(kinds) do
      local job = { kind = kind, seed = seed, out = string.format("%s/%s-seed%d", root, kind.name, seed) }
      for name, value in pairs(kind) do job[name] = value end
      table.insert(list, job)
    end
  end
  return list
end

-- ROOT/seeds.txt has the seeds of every start in this folder.
local function seeds_in(root)
  local seeds, there, file = {}, {}, io.open(root .. "/seeds.txt")
  if file then
    for line in file:lines() do
      local seed = math.tointeger(tonumber(line))
      if seed and not there[seed] then
        table.insert(seeds, seed)
        there[seed] = true
      end
    end
    file:close()
  end
  table.sort(seeds)
  return seeds, there
end

-- Notes the seed of `job`, whose folder is there.
local function note_seed(root, job)
  local _, there = seeds_in(root)
  if there[job.seed] then return end
  local file = assert(io.open(root .. "/seeds.txt", "a"))
  assert(file:write(job.seed .. "\n"))
  assert(file:close())
end

-- The jobs that a start with `options` = {seed, seeds} has of `kinds` = {name, env, policy, ...}.
function jobs.wanted(root, options, kinds)
  local seeds = {}
  for seed = options.seed, options.seed + options.seeds - 1 do table.insert(seeds, seed) end
  return of_seeds(root, kinds, seeds)
end

-- The jobs of `kinds` that any start may have begun in this folder.
function jobs.begun(root, kinds) return of_seeds(root, kinds, (seeds_in(root))) end

-- `complete` jobs by their kind, in the order of `kinds`, those that have any: {kind, runs (folders), earned (paper.joined)}.
function jobs.grouped(kinds, complete)
  local groups = {}
  for _, kind in ipairs(kinds) do
    local runs, all = {}, {}
    for _, job in ipairs(complete) do
      if job.kind == kind then
        table.insert(runs, job.out)
        table.insert(all, job.earned)
      end
    end
    if #runs > 0 then table.insert(groups, { kind = kind, runs = runs, earned = paper.joined(all) }) end
  end
  return groups
end

-- Brings every job of `list` to its end; after each, `show(jobs)` is called with all of `kinds` that are complete in the folder. A kind
-- has `name`, `env` and `policy`, and may have `training`, options of iap.train in place of the papers', or a function of the seed that
-- gives them; `final`: the last policy counts, not the best; and `pixels`, the size of the pictures that it plays. A complete job has
-- `earned` (see paper.earned), of `episodes` episodes.
function jobs.run(root, kinds, list, episodes, show)
  local function pass(wanted)
    local others = {}
    for _, job in ipairs(wanted) do
      print(string.format("%s  %s", os.date("%H:%M"), job.out))
      if train(job) then
        note_seed(root, job)
        play(job, episodes)
        show(jobs.finished(jobs.begun(root, kinds), episodes))
      else
        table.insert(others, job)
        print("another process is at it")
      end
    end
    return others
  end
  -- Once more for what others were at: they may have ended, well or not. Who ends last finds all of them complete.
  local left = #pass(pass(list))
  if left > 0 then print(string.format("%d of %d jobs are in other processes' hands; who ends last writes the whole table", left, #list)) end
end

-- The page about all runs of `kinds` in the folder that have a first iteration behind them, as ROOT/report.html.
function jobs.page(root, kinds)
  local folders = {}
  for _, job in ipairs(jobs.begun(root, kinds)) do
    local file = io.open(job.out .. "/metrics.csv")
    if file then
      local _, lines = file:read("a"):gsub("\n", "")
      file:close()
      if lines > 2 then table.insert(folders, job.out) end -- names, iteration 0, iteration 1
    end
  end
  iap.report.html { runs = folders, out = root .. "/report.html", pictures = false }
  print("written: " .. root .. "/report.html")
end

return jobs
