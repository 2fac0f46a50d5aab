local check = require "check"
local iap = require "iap"

local blueprint = iap.optim.es { population = 16, sigma = 0.2, learning_rate = 0.1 }
check.equal(tostring(blueprint), "iap.optim.es { learning_rate = 0.1, population = 16, sigma = 0.2 }")
check.fails({ "optim_test.lua:", "optimizer: unknown option 'sigam'; did you mean 'sigma'?" }, function()
  return iap.optim.es { sigam = 0.1 }
end)
check.fails({ "optimizer: option 'max_speed' goes with optimizer = \"clipup\"" }, function() return iap.optim.es { max_speed = 1 } end)
check.fails({ "option 'momentum' goes with optimizer = \"sgd\" or \"clipup\"" }, function() return iap.optim.pgpe { momentum = 0 } end)
check.fails({ "option 'beta1' goes with optimizer = \"adam\"" }, function() return iap.optim.pgpe { optimizer = "sgd", beta1 = 0.5 } end)
check.fails({ "option 'max_speed' goes with optimizer = \"clipup\"" }, function() return iap.optim.es { optimizer = "sgd", max_speed = 1 } end)
check.fails({ "option 'sigma' must be" }, iap.optim.es, { sigma = "x" })
for _, kind in ipairs { "es", "ars", "pgpe" } do
  check.fails({ "optim_test.lua:", "option 'population' must be even", "got 3" }, function() return iap.optim[kind] { population = 3 } end)
end
check.fails({ "iap.optim.es: takes one table of options, got 2 arguments" }, iap.optim.es, { population = 8 }, { sigma = 1 })

-- Directions of the three that have pairs.
check.equal(tostring(iap.optim.ars { directions = "orthogonal" }), 'iap.optim.ars { directions = "orthogonal" }')
check.fails({ "optim_test.lua:", "unknown directions 'hadamar'; did you mean 'hadamard'?" }, function() return iap.optim.pgpe { directions = "hadamar" } end)

-- Ask and tell on a sphere whose top is at (1, -2, 0.5).
local function sphere(x) return -(x[1] - 1) ^ 2 - (x[2] + 2) ^ 2 - (x[3] - 0.5) ^ 2 end
local function search(seed)
  local es = blueprint:start({ 0, 0, 0 }, seed)
  for _ = 1, 150 do
    local population, fitness = es:ask(), {}
    check.equal(#population, 16)
    for i, member in ipairs(population) do fitness[i] = sphere(member) end
    es:tell(fitness)
  end
  return es
end
local es = search(1)
check.equal(es:iteration(), 150)
check.close(es:mean()[1], 1, 0.2)
check.close(es:mean()[2], -2, 0.2)
check.close(es:mean()[3], 0.5, 0.2)
check.equal(type(es:metrics()), "table")
check.same_list(search(1):mean(), es:mean())
assert(search(2):mean()[1] ~= es:mean()[1])

local fresh = blueprint:start({ 0, 0 }, 0)
check.fails({ "search:tell: argument 1 'fitness'" }, fresh.tell, fresh)
fresh:ask()
check.fails({ "fitness" }, fresh.tell, fresh, { 1, 2 })
check.fails({ "optimizer:start: argument 1 'initial': element 2 must be a number" }, blueprint.start, blueprint, { 0, {} })

-- maximise: the loop above as one call.
local best, value, mean = iap.optim.maximise(sphere, { initial = { 0, 0, 0 }, optimizer = blueprint, iterations = 150, seed = 1 })
check.equal(value, sphere(best))
check.same_list(mean, es:mean())
local plain = { initial = { 0, 0, 0 }, iterations = 9 }
local by_itself = iap.optim.maximise(sphere, plain)
plain.optimizer = iap.optim.es {}
check.same_list(by_itself, (iap.optim.maximise(sphere, plain)))
check.fails({ "optim_test.lua:", "inside f" }, iap.optim.maximise, function() error("inside f") end, { initial = { 0 } })
check.fails({ "must return its value as a number, got nil" }, iap.optim.maximise, function() end, { initial = { 0 } })
check.fails({ "iap.optim.maximise: unknown option 'iteration'; did you mean 'iterations'?" }, iap.optim.maximise, sphere, { initial = { 0, 0, 0 }, iteration = 1 })

-- Plateaus of those that have a learning rate.
check.equal(tostring(iap.optim.ars { plateau = { patience = 3 } }), "iap.optim.ars { plateau = { patience = 3 } }")
check.fails({ "optim_test.lua:", "optimizer.plateau: unknown option 'factr'; did you mean 'factor'?" }, function() return iap.optim.es { plateau = { factr = 1 } } end)
check.fails({ "optim_test.lua:", "option 'plateau' lowers a learning rate, which cma_es does not have" }, function() return iap.optim.cma_es { plateau = {} } end)

check.fails({ "optim_test.lua:", "option 'max_restarts' is 3, but without restarts it does nothing" }, function() return iap.optim.cma_es { max_restarts = 3 } end)

-- Restarts with a growing population, through ask and tell and through maximise. A condition number of 2 ends a run after a few
-- iterations.
for _, kind in ipairs { "cma_es", "sep_cma_es" } do
  for _, restarts in ipairs { "ipop", "bipop" } do
    local growing = iap.optim[kind] { population = 4, restarts = restarts, max_restarts = 3, tol_condition = 2 }
    local search, sizes, seen, asked = growing:start({ 0, 0, 0 }, 1), {}, 0, 0
    while search:stop_reason() == "" do
      local population, fitness = search:ask(), {}
      check.equal(#population, search:metrics().population)
      if not sizes[#population] then sizes[#population], seen = true, seen + 1 end
      for i, member in ipairs(population) do fitness[i] = sphere(member) end
      search:tell(fitness)
      asked = asked + #population
    end
    assert(seen > 2 and sizes[8] and sizes[16], kind .. " " .. restarts .. ": " .. seen .. " sizes")
    local calls = 0
    local _, _, last = iap.optim.maximise(function(x) calls = calls + 1 return sphere(x) end,
      { initial = { 0, 0, 0 }, optimizer = growing, iterations = 1000, seed = 1 })
    check.equal(calls, asked)
    check.same_list(last, search:mean())
  end
end

-- A full covariance matrix of 2^20 parameters fits no machine.
local many = {}
for i = 1, 1 << 20 do many[i] = 0 end
check.fails({ "cma_es: a covariance matrix of 1048576 parameters", "needs 16384 GiB", "sep_cma_es" },
  iap.optim.maximise, sphere, { initial = many, optimizer = iap.optim.cma_es {} })

-- What older scripts call pgpe.
check.equal(tostring(iap.optim.pepg { population = 8 }), "iap.optim.pgpe { population = 8 }")
local function climb(optimizer) return (iap.optim.maximise(sphere, { initial = { 0, 0, 0 }, optimizer = optimizer, iterations = 9 })) end
check.same_list(climb(iap.optim.pepg {}), climb(iap.optim.pgpe {}))
check.same_list(climb { kind = "pepg" }, climb { kind = "pgpe" })
