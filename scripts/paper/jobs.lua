-- A list of trainings, each a run in a folder of its own, that one process after another or several at once bring to their end. Every
-- process goes through the list and takes what is neither complete nor in another's hands, so that a machine with more cores, or a
-- cluster with one folder, starts the same command as often as it has cores. After every job the table and the page of all runs so
-- far are written again.
local iap = require "iap"
local paper = require "paper"
local jobs = {}

-- Trains, or continues, the run of `job` = {out, env, policy, ...}; false if another process is at it.
local function train(job, iterations)
  local ended, problem = pcall(iap.train, {
    env = job.env,
    policy = job.policy,
    optimizer = paper.optimizer,
    iterations = iterations,
    episode_seeds = paper.episode_seeds,
    eval_every = 5,
    confirm_episodes = 0, -- paper.earned plays the best policies on fresh episodes
    seed = job.seed,
    out = job.out,
    resume = true,
  })
  if not ended and not tostring(problem):find("is in use by another process", 1, true) then error(problem, 0) end
  return ended
end

-- What the best policy of `out` earned, from earned.csv there if it is about this policy and as many episodes: several processes and
-- every later start ask for it.
local function earned(out, episodes)
  local key = { iap.policy.load(out):metadata().iteration, episodes }
  local names, file = { "mean", "standard_deviation", "low", "high" }, io.open(out .. "/earned.csv")
  if file then
    local cells = {}
    for cell in (file:read "a" .. ","):gmatch "([^,\n]*)[,\n]" do table.insert(cells, tonumber(cell) or false) end
    file:close()
    if cells[1] == key[1] and cells[2] == key[2] then
      local known = {}
      for n, name in ipairs(names) do known[name] = cells[2 + n] or nil end
      return known
    end
  end
  local fresh, cells = paper.earned(out, episodes), { tostring(key[1]), tostring(key[2]) }
  for _, name in ipairs(names) do table.insert(cells, fresh[name] and string.format("%.17g", fresh[name]) or "") end
  paper.write_whole(out .. "/earned.csv", table.concat(cells, ",") .. "\n")
  return fresh
end

-- Brings every job of `list` to its end; `show(jobs)` is called with those that are complete after each of them. A job has `out`,
-- `env`, `policy` and `seed`; it gains `earned` (see paper.earned), of `episodes` episodes.
function jobs.run(list, episodes, show)
  local function pass(wanted)
    local others = {}
    for _, job in ipairs(wanted) do
      print(string.format("%s  %s", os.date("%H:%M"), job.out))
      if train(job, paper.iterations) then
        job.earned = earned(job.out, episodes)
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
