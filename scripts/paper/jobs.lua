-- A list of trainings, each a run in a folder of its own, that one process after another or several at once bring to their end. Every
-- process goes through the list and takes what is neither complete nor in another's hands, so that a machine with more cores, or a
-- cluster with one folder, starts the same command as often as it has cores. After every job the table and the page of all runs so
-- far are written again.
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
  for name, value in pairs(job.training or {}) do options[name] = value end
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

-- What the policy of `job` earned, kept in earned.csv: several processes and every later start ask for it.
local function earned(job, episodes)
  local path, iteration = judged(job)
  local before = known(job, iteration, episodes)
  if before then return before end
  local fresh, cells = paper.earned(path, episodes, nil, job.pixels), { tostring(iteration), tostring(episodes) }
  for _, name in ipairs(figures) do table.insert(cells, fresh[name] and string.format("%.17g", fresh[name]) or "") end
  paper.write_whole(job.out .. "/earned.csv", table.concat(cells, ",") .. "\n")
  return fresh
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

-- A job for each of `kinds` = {name, env, policy, ...} and each seed of `options`, in ROOT/NAME-seedN. Seeds first: each compares all
-- kinds, so that a table stands early.
function jobs.of_seeds(root, options, kinds)
  local list = {}
  for seed = options.seed, options.seed + options.seeds - 1 do
    for _, kind in ipairs(kinds) do
      local job = { kind = kind, seed = seed, out = string.format("%s/%s-seed%d", root, kind.name, seed) }
      for name, value in pairs(kind) do job[name] = value end
      table.insert(list, job)
    end
  end
  return list
end

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

-- Brings every job of `list` to its end; `show(jobs)` is called with those that are complete after each of them. A job has `out`,
-- `env`, `policy` and `seed`, and may have `training`, options of iap.train in place of the papers', and `final`: the last policy counts,
-- not the best; and `pixels`, the size of the pictures that it plays. It gains `earned` (see paper.earned), of `episodes` episodes.
function jobs.run(list, episodes, show)
  local function pass(wanted)
    local others = {}
    for _, job in ipairs(wanted) do
      print(string.format("%s  %s", os.date("%H:%M"), job.out))
      if train(job) then
        job.earned = earned(job, episodes)
        local complete = {}
        for _, one in ipairs(list) do
          if one.earned then table.insert(complete, one) end
        end
        show(complete)
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

-- The page about all runs of the list that have a first iteration behind them, as ROOT/report.html.
function jobs.page(list, root)
  local folders = {}
  for _, job in ipairs(list) do
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
