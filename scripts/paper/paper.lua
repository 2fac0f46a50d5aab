-- What the experiments of this folder share. Those that train have several runs, every one in a folder of its own below the experiment's.
-- Started again after Ctrl-C, a kill or a power cut, an experiment goes on: complete runs are not trained again, the others
-- continue from their last checkpoint, with the same results as if nothing had happened. What --set changes gives an experiment a
-- folder of its own, named after the changes, so that a trial and the full experiment do not meet.
--
-- They take, beside their own options:
--   --set iterations=20 --set optimizer.population=16 ...   any option of iap.train, for every run
--   --seed 7 --set seeds=5                                   five runs of each kind, with the seeds 7 to 11
--   --out FOLDER, --threads N
local iap = require "iap"
local paper = {}

-- Settings that suit a machine with a few cores. An action is held for 4 control steps: 250 decisions per episode.
paper.action_repeat = 4
paper.iterations = 100
-- Episodes differ by their backgrounds, cameras, starts and targets: every antithetic pair meets one of its own, and only twins
-- are compared.
paper.episode_seeds = "pairs"
local function es(sigma, learning_rate)
  return iap.optim.es {
    population = 64,
    sigma = sigma,
    learning_rate = learning_rate,
    learning_rate_decay = 0.995,
    shaping = "pair_ranks",
  }
end
paper.optimizer = es(0.1, 0.05)
paper.bold_optimizer = es(0.3, 0.15)

-- Attention over the patches, then AttentionAgent's controller, an LSTM of 16 units, with a straight path beside it, which reacts at once
-- and learns before the memory does. `motion` hands over how far each chosen position moved since the frame before.
function paper.policy(attention)
  attention.values, attention.motion = attention.values or "position", true
  return iap.policy.sequence {
    iap.attention.rank(attention),
    iap.policy.concat { iap.policy.lstm { units = 16 }, iap.policy.linear { units = 16 } },
    iap.policy.linear { activation = "tanh" },
  }
end

-- The attention variants by the names that the papers give them.
paper.kernels = {
  relu = { name = "relu", label = "IAP relu", kernel = "relu" },
  hybrid = { name = "hybrid", label = "IAP hybrid (10, 5)", kernel = "hybrid", m = 10, r = 5 },
  brute = { name = "brute", label = "brute force", kernel = "softmax" },
}

-- The experiment's folder. Runs that differ in the options `kept` share it, because their own folders have them in their names.
function paper.root(name, kept)
  local shared = { "seed", "seeds", "episodes", "threads", "quiet", "checkpoint_every" }
  table.move(kept or {}, 1, #(kept or {}), #shared + 1, shared)
  return iap.run_folder("runs/paper/" .. name, { shared = shared })
end

-- Those of `all`, a list of tables with a `name`, that `names` lists, in that order; all of them where it lists none.
function paper.chosen(what, names, all)
  local known, listed, chosen = {}, {}, {}
  for _, one in ipairs(all) do
    known[one.name] = one
    table.insert(listed, one.name)
  end
  for _, name in ipairs(names) do
    table.insert(chosen, known[name] or error(string.format("there is no %s %s; there are %s", what, name, table.concat(listed, ", ")), 0))
  end
  return #chosen > 0 and chosen or all
end

-- The variant that --set kernel=NAME asks for.
function paper.variant(name)
  return paper.kernels[name] or error("--set kernel: take relu, hybrid or brute, not " .. name, 0)
end

-- The options of rank for a variant, joined with `shape` = {patch, d, top, ...}.
function paper.attention(variant, shape)
  local options = {}
  for _, part in ipairs { variant, shape } do
    for key, value in pairs(part) do
      if key ~= "name" and key ~= "label" then options[key] = value end
    end
  end
  return options
end

-- A policy (a run's best, or a file) and its environment for pictures of `pixels`, averaged to the size that it learned from.
function paper.enlarged(folder, pixels)
  local policy = iap.policy.load(folder)
  local env = policy:metadata().env
  if not pixels or (env.pixels[1] == pixels[1] and env.pixels[2] == pixels[2]) then return policy, env end
  env.pixels = pixels
  return policy:resized(env, { fit = "pool" }), env
end

-- How good the best policy of a run is, or a policy file, on episodes that training never saw: iap.eval's mean, standard_deviation, low
-- and high. `distraction`, where given, takes the place of what it was trained with (false: none), `pixels` that of its pictures' size.
function paper.earned(folder, episodes, distraction, pixels)
  local policy, env = paper.enlarged(folder, pixels)
  if distraction ~= nil then env.distraction = distraction or nil end
  return iap.eval(policy, { episodes = episodes, seed = 1000, env = env })
end

-- What runs earned together (a list of what `paper.earned` gives): the mean return over the runs, the standard deviation between them
-- (for a single run, between its episodes), and `low` to `high`: the runs' extremes, or the 95% interval of the mean where there is
-- one run, which one episode has not; `span` says which.
function paper.joined(all)
  local means, first = {}, all[1]
  for i, evaluation in ipairs(all) do means[i] = evaluation.mean end
  local mean, square = 0, 0
  for _, value in ipairs(means) do mean = mean + value / #means end
  for _, value in ipairs(means) do square = square + (value - mean) ^ 2 end
  local several = #means > 1
  return {
    mean = mean, runs = #means,
    deviation = several and math.sqrt(square / (#means - 1)) or first.standard_deviation,
    low = several and math.min(table.unpack(means)) or first.low,
    high = several and math.max(table.unpack(means)) or first.high,
    span = several and string.format("from the lowest to the highest of %d seeds", #means) or "95% interval of the mean",
  }
end

-- What `low` to `high` are in a chart of `groups` (see jobs.grouped): more than one thing while some have more runs than others.
function paper.spans(groups)
  local spans, there = {}, {}
  for _, group in ipairs(groups) do
    local span = group.earned.span
    if group.earned.low and not there[span] then
      table.insert(spans, span)
      there[span] = true
    end
  end
  return table.concat(spans, " or ")
end

-- CPU time of one decision: the mean of `passes` forward passes on the first frame of an episode, in milliseconds.
function paper.inference_ms(policy, env, passes)
  local built, observation = iap.policy.build(policy, env), env:reset(1)
  for _ = 1, 3 do built:act(observation) end
  local begin = os.clock()
  for _ = 1, passes do built:act(observation) end
  return (os.clock() - begin) / passes * 1000, built:size()
end

-- Prints rows under columns; "-" where there is no value.
function paper.show(columns, rows)
  local widths = {}
  local function shown(value)
    if value == nil then return "-" end
    return math.type(value) == "float" and string.format("%.4g", value) or tostring(value)
  end
  for i, column in ipairs(columns) do
    widths[i] = #column
    for _, row in ipairs(rows) do widths[i] = math.max(widths[i], #shown(row[i])) end
  end
  local function show(row)
    local cells = {}
    for i = 1, #columns do cells[i] = string.format("%-" .. widths[i] .. "s", shown(row[i])) end
    print((table.concat(cells, "  "):gsub("%s+$", "")))
  end
  show(columns)
  for _, row in ipairs(rows) do show(row) end
end

-- Writes `text` as FILE: another process reads all of it, or what was there before.
function paper.write_whole(file, text)
  local part = file .. ".part"
  local stream = assert(io.open(part, "w"))
  assert(stream:write(text))
  assert(stream:close())
  assert(os.rename(part, file))
end

-- Prints rows under columns and writes them as FILE, all at once; a cell without a value stays empty.
function paper.write_table(file, columns, rows)
  paper.show(columns, rows)
  local function cell(value)
    local text = value == nil and "" or tostring(value)
    return text:find(",") and '"' .. text .. '"' or text
  end
  local lines = { table.concat(columns, ",") }
  for _, row in ipairs(rows) do
    local cells = {}
    for i = 1, #columns do cells[i] = cell(row[i]) end
    table.insert(lines, table.concat(cells, ","))
  end
  paper.write_whole(file, table.concat(lines, "\n") .. "\n")
  print("written: " .. file)
end

return paper
