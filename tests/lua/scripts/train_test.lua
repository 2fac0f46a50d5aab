local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

local function options(more)
  local all = {
    env = iap.env.make(folder .. "/pendulum.lua", { time_limit = 30 }),
    policy = iap.policy.linear { activation = "tanh" },
    optimizer = iap.optim.es { population = 8, sigma = 0.3, learning_rate = 0.2 },
    iterations = 3, eval_every = 1, eval_episodes = 3, seed = 5, quiet = true,
  }
  for key, value in pairs(more or {}) do all[key] = value end
  return all
end

-- The same numbers on one thread and on three, in Lua environments with states of their own.
local seen = {}
local one = iap.train(options { threads = 1, on_iteration = function(report) seen[#seen + 1] = report end })
local three = iap.train(options { threads = 3 })
check.same_list(one.parameters, three.parameters)
check.equal(one.last_eval, three.last_eval)
check.equal(one.stop_reason, "iterations")
check.equal(one.iterations, 3)
check.equal(#seen, 3)
check.equal(seen[3].iteration, 3)
check.equal(seen[3].eval_mean, one.last_eval)
assert(seen[2].return_best >= seen[2].return_mean and seen[2].steps_per_second > 0)
local rows = {}
iap.train(options { eval_every = 2, on_iteration = function(report) rows[#rows + 1] = report end })
check.equal(rows[1].eval_mean, nil)
check.equal(type(rows[2].eval_mean), "number")

-- One episode has no deviation: its cell is empty, in the row that a run that goes on asks about once more, too.
local lone = os.tmpname()
os.remove(lone)
for iterations = 1, 2 do
  iap.train(options { iterations = iterations, eval_episodes = 1, resume = iterations > 1, out = lone, on_iteration = function(report)
    assert(report.eval_mean and report.eval_std == nil)
  end })
end
os.execute("rm -r " .. lone)

-- A stage may say what holds already, whatever the optimizer.
local twice = options { optimizer = iap.optim.simple_ga {}, curriculum = { { through = 1 }, { population = 64 } } }
check.equal(iap.train(twice).last_eval, iap.train(options { optimizer = iap.optim.simple_ga {} }).last_eval)

-- The trained mean gives the evaluation's return again, by hand: episodes as iap.eval plays them.
local policy = iap.policy.build(options().policy, options().env)
policy:set_parameters(one.parameters)
local evaluation = iap.eval(policy, { episodes = 4, seed = 9 })
local sum = 0
for _, episode in ipairs(evaluation.episodes) do
  check.equal(episode.steps, 30)
  check.equal(episode.truncated, true)
  sum = sum + episode.total
end
check.close(evaluation.mean, sum / 4, 1e-12)
check.same_list({ iap.eval(policy, { episodes = 4, seed = 9, threads = 1 }).mean }, { evaluation.mean })

-- Both policies of a run are objects that play as its figures say; the best one was confirmed on episodes of its own.
check.same_list(one.policy:parameters(), one.parameters)
check.same_list(one.best_policy:parameters(), one.best_parameters)
check.equal(iap.eval(one.best_policy, { episodes = 3, seed = 5 }).mean, one.best_eval)
check.equal(one.best_policy:metadata().iteration, one.best_iteration)
check.equal(one.confirmed.episodes, 12)
check.equal(one.confirmed.mean, three.confirmed.mean)
assert(one.confirmed.mean ~= one.best_eval and one.confirmed.low < one.confirmed.mean)
check.equal(iap.train(options { confirm_episodes = 0 }).confirmed, nil)
local single = iap.train(options { confirm_episodes = 1 }).confirmed
check.equal(single.episodes, 1)
check.equal(math.type(single.mean), "float")
for _, name in ipairs { "standard_deviation", "low", "high" } do check.equal(single[name], nil) end

check.fails({ "iap.run_folder: unknown option 'share'; did you mean 'shared'?" }, iap.run_folder, "runs/x", { share = {} })
check.fails({ "option 'shared' must be a list, got 3" }, iap.run_folder, "runs/x", { shared = 3 })
check.fails({ "option 'shared' must be a list of names, got 3 in it" }, iap.run_folder, "runs/x", { shared = { 3 } })
check.equal(iap.run_folder("runs/none", { shared = {} }), "runs/none")

-- A folder that holds a run is left alone: the next free name is given out.
local taken = os.tmpname()
os.remove(taken)
check.equal(iap.run_folder(taken), taken)
iap.train(options { iterations = 0, out = iap.run_folder(taken) })
check.equal(iap.run_folder(taken .. "/"), taken .. "-2")
check.fails({ taken, "choose another folder with --out (out = FOLDER)" }, iap.train, options { iterations = 0, out = taken })
os.execute("rm -r " .. taken)

local stopped = iap.train(options { iterations = 100, on_iteration = function(report) return report.iteration < 2 end })
check.equal(stopped.iterations, 2)
check.equal(stopped.stop_reason, "on_iteration")

check.fails({ "train: unknown option 'iteration'; did you mean 'iterations'?" }, iap.train, options { iteration = 3 })
check.fails({ "train: option 'policy' must be a block" }, iap.train, options { policy = 3 })
check.fails({ "iap.train: argument 1 'options': expected a table, got nothing" }, iap.train)
check.fails({ "iap.train: option 'env.f': expected a plain value, a list or a table, got a function" }, iap.train, options { env = { f = print } })
check.fails({ "iap.eval: argument 1 'policy': expected a policy, or the path" }, iap.eval, 3)
check.fails({ "iap.eval: unknown option 'episode'; did you mean 'episodes'?" }, iap.eval, policy, { episode = 3 })
check.fails({ "nothing/here" }, iap.eval, "nothing/here")

-- Restarts change the population in the middle of a run; a run stopped within one goes on to the same end.
local scratch = os.tmpname()
os.remove(scratch)
for _, kind in ipairs { "cma_es", "sep_cma_es" } do
  for _, restarts in ipairs { "ipop", "bipop" } do
    local function train(name, more)
      local all = options {
        optimizer = iap.optim[kind] { population = 4, restarts = restarts, tol_condition = 2, max_restarts = 3 },
        iterations = 40, eval_every = 20, out = scratch .. kind .. restarts .. name,
      }
      for key, value in pairs(more) do all[key] = value end
      return iap.train(all)
    end
    local sizes = {}
    local whole = train("whole", { threads = 1, on_iteration = function(report) sizes[report.iteration] = report.population end })
    local stop, ended
    for i = 2, #sizes do
      if sizes[i] > sizes[i - 1] then stop, ended = i + 1, ended or i - 1 end
    end
    assert(stop and stop < 40, kind .. " " .. restarts .. ": no restart")
    train("part", { threads = 2, on_iteration = function(report) return report.iteration < stop end })
    local resumed = train("part", { threads = 2, resume = true })
    check.same_list(resumed.parameters, whole.parameters)
    check.equal(resumed.last_eval, whole.last_eval)
    -- What the first search came to is evaluated before the next one takes its place, and is what a run leaves that ends there.
    local alone = iap.train(options { optimizer = iap.optim[kind] { population = 4, tol_condition = 2 }, iterations = 40, eval_every = 20 })
    check.equal(alone.iterations, ended)
    local cut = train("cut", { iterations = ended })
    check.equal(cut.last_eval, alone.last_eval)
    check.same_list(cut.parameters, alone.parameters)
    assert(whole.best_eval >= alone.last_eval)
  end
end
os.execute("rm -rf '" .. scratch .. "'*")
