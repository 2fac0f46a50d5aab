-- One training for so many minutes, with pictures, evaluations and checkpoints: after its first tenth, memory stays within 1% (and what an
-- allocator rounds up), file handles stay the same, and the speed does not fall. Distractions keep the backgrounds that they have painted,
-- up to 1 GiB, so that memory grows until all of them have been met: short runs go without.
--   iap run soak.lua --set minutes=480 --out FOLDER
--   iap run soak.lua --set distraction=none --out FOLDER
local iap = require "iap"
local o = iap.options { minutes = 0.1, slower = 0.9, most = 1.01, distraction = "medium" }
local distraction = nil
if o.distraction ~= "none" then distraction = o.distraction end
local folder = arg[0]:match("^(.*)/") or "."
package.path = folder .. "/?.lua;" .. package.path
local held = require "held"

local began, iterations, rows, every = os.time(), 0, {}, 1
-- At most 400 rows, evenly apart: a list that grew with the run would be what is measured.
local function keep(row)
  if iterations % every ~= 0 then return end
  rows[#rows + 1] = row
  if #rows < 400 then return end
  for i = 1, 200 do rows[i] = rows[2 * i] end
  for i = 201, 400 do rows[i] = nil end
  every = 2 * every
end
local clock = os.clock
iap.train {
  env = iap.env.make("cheetah-run", { pixels = { 32, 32 }, action_repeat = 4, time_limit = 80, distraction = distraction }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, top = 5 }, iap.policy.normalise { over = "training" }, iap.policy.lstm { units = 8 },
    iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 16 },
  iterations = 1000000000, eval_every = 20, eval_episodes = 4, confirm_episodes = 0, seed = 1, quiet = true, log = "jsonl",
  out = iap.run_folder("runs/soak"),
  on_iteration = function(row)
    local now = held()
    now.steps, now.clock = row.steps, clock()
    iterations = iterations + 1
    keep(now)
    return os.time() - began < 60 * o.minutes or iterations < 40
  end,
}
local tenth = math.max(2, #rows // 10)
local first, last = rows[tenth], rows[#rows]
local function speed(from, to) return (rows[to].steps - rows[from].steps) / (rows[to].clock - rows[from].clock) end
local early, late = speed(tenth, math.min(2 * tenth, #rows)), speed(math.max(1, #rows - tenth), #rows)
print(string.format("%d iterations in %d s; memory %.1f -> %.1f MiB, handles %d -> %d; steps a second of processor time %.0f -> %.0f", iterations,
  os.time() - began, first.memory, last.memory, first.handles, last.handles, early, late))
assert(last.memory <= first.memory * o.most + 2, "memory grows")
assert(last.handles <= first.handles, "file handles are left open")
assert(late > o.slower * early, "it gets slower")
