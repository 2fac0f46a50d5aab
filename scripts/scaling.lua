-- How long an iteration takes on 1 to 10,000 cores (docs/clusters.md): list scheduling of drawn episode times, as the ranks deal them,
-- with what is not parallel - dealing, the broadcast of the optimizer's state, its turn - from measured constants. A chart and a table.
--
--   ./dev run scripts/scaling.lua
--   ./dev run scripts/scaling.lua --set population=10240 --set episode=2 --set spread=0.5
--   ./dev run scripts/scaling.lua --set latency=0.025 --set bandwidth=1e7     # between two sites
--
-- `iap run EXPERIMENT.lua --dry-run` prints `episode` (seconds on one core) and `turn` of an experiment.
local iap = require "iap"
local o = iap.options({
  episode = 0.3, spread = 0.2, -- seconds of an episode on one core, and their standard deviation as a share of it
  population = 256, episodes = 1, parameters = 6931,
  turn = 0,                    -- seconds of the optimizer's ask and tell; 0: 20 ns a member and parameter (es, pgpe and ars, whose
                               -- tell draws again, in as much time, what is more than 32 MiB of directions)
  latency = 5e-5, bandwidth = 1e9, -- of a message: seconds, bytes a second
  message = 2e-5,              -- rank 0's time for a message
  threads = 1,                 -- of a rank
  cores = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 10000 },
  out = "scaling.png",
}, { training = false })

local draws = 20

-- Lognormal, of mean o.episode.
local function episode_time()
  local s2 = math.log(1 + o.spread ^ 2)
  local u, v = math.random(), math.random()
  local normal = math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)
  return o.episode * math.exp(math.sqrt(s2) * normal - s2 / 2)
end

-- A binary heap of times.
local function push(heap, value)
  local i = #heap + 1
  heap[i] = value
  while i > 1 and heap[i // 2] > heap[i] do
    heap[i // 2], heap[i] = heap[i], heap[i // 2]
    i = i // 2
  end
end
local function pop(heap)
  local first, last = heap[1], table.remove(heap)
  if #heap > 0 then
    local i = 1
    heap[1] = last
    while true do
      local least = i
      for child = 2 * i, 2 * i + 1 do
        if heap[child] and heap[child] < heap[least] then least = child end
      end
      if least == i then break end
      heap[i], heap[least] = heap[least], heap[i]
      i = least
    end
  end
  return first
end

local turn = o.turn > 0 and o.turn or (2 * o.population * o.parameters > 2^25 and 4e-8 or 2e-8) * o.population * o.parameters

-- Seconds of an iteration on so many cores, and of what all cores would need without any waiting.
local function iteration(cores)
  local tasks, ranks = o.population * o.episodes, math.max(1, cores // o.threads)
  local alone = ranks == 1
  local state = 24 * o.parameters
  local announced = alone and 0 or math.ceil(math.log(ranks, 2)) * (o.latency + state / o.bandwidth)
  local free, work = {}, 0
  for _ = 1, cores do push(free, announced) end
  local dealt, last, waiting = announced, 0, math.max(tasks - cores, 0)
  for task = 1, tasks do
    local duration = episode_time()
    work = work + duration
    -- The first tasks leave rank 0 one after the other; later ones have been waiting at their rank while there is plenty.
    local at = pop(free)
    if not alone then
      dealt = math.max(dealt, task <= cores and announced or 0) + (task <= cores and o.message or 0)
      if task <= cores then
        at = math.max(at, dealt + o.latency)
      elseif task > waiting then
        at = at + 2 * o.latency
      end
    end
    push(free, at + duration)
    last = math.max(last, at + duration)
  end
  -- Rank 0 takes every result.
  local gathered = alone and last or math.max(last + o.latency, announced + 2 * tasks * o.message)
  return gathered + turn, (work + turn) / cores
end

math.randomseed(1)
local rows = {}
print(string.format("%d members x %d episodes of %.3g s, %d parameters", o.population, o.episodes, o.episode, o.parameters))
print("cores    iteration  speed-up  efficiency")
local one, below
for _, cores in ipairs(o.cores) do
  local seconds = 0
  for _ = 1, draws do seconds = seconds + (iteration(cores)) / draws end
  one = one or seconds * cores
  local speedup = one / seconds
  rows[#rows + 1] = { cores = cores, seconds = seconds, speedup = speedup, efficiency = speedup / cores }
  print(string.format("%5d %10.4g s %9.1f %10.0f%%", cores, seconds, speedup, 100 * speedup / cores))
  if speedup / cores < 0.9 and not below then below = cores end
end
if below then
  local tasks = o.population * o.episodes
  local ranks = math.max(1, below // o.threads)
  local shares = {
    { "the last episodes, which others wait for (more members or episodes help)", math.ceil(tasks / below) * o.episode - tasks * o.episode / below + o.spread * o.episode },
    { "the optimizer's turn on rank 0", turn * (1 - 1 / below) },
    { "dealing and gathering on rank 0 (more threads a rank do not change it, longer episodes do)", 2 * tasks * o.message },
    { "the broadcast of the state", math.ceil(math.log(ranks, 2)) * (o.latency + 24 * o.parameters / o.bandwidth) },
  }
  table.sort(shares, function(a, b) return a[2] > b[2] end)
  print(string.format("below 90%% from %d cores on: above all %s", below, shares[1][1]))
end

local x, share, limit = {}, {}, {}
for i, row in ipairs(rows) do x[i], share[i], limit[i] = row.cores, 100 * row.efficiency, 90 end
iap.report.line_chart {
  out = o.out, title = "Efficiency of an iteration", x_label = "cores", y_label = "% of the cores' time at work", log_x = true,
  series = { { label = "modelled", x = x, y = share, dots = true }, { label = "90%", x = x, y = limit } },
}
print("wrote " .. o.out)
