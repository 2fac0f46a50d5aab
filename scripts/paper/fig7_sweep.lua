-- Figure 7 of "Unlocking Pixels": which patch size {2, 4, 8}, embedding size d {4, 16, 64} and number of patches
-- l {10, 50, 100}? Distracting Control, static, medium, 240 x 320 pixels. The paper finds small patches and small l to be better.
--
--   ./dev run scripts/paper/fig7_sweep.lua --threads 1       27 runs of 100 iterations: start it as often as there are cores
--   ./dev run scripts/paper/fig7_sweep.lua --set "pixels=[100,100]" --set iterations=50 --threads 1     2 hours on 2 cores
--   ./dev run scripts/paper/fig7_sweep.lua --set "pixels=[100,100]" --set iterations=1 --set episodes=1 --set optimizer.population=4
--   --set task=walker-walk (default cheetah-run), --set kernel=hybrid (default relu), --set distraction=none, --set videos=FOLDER
--
-- Writes runs/paper/fig7/: a run folder for each combination and seed; TASK.csv and TASK-d4.png, -d16.png, -d64.png (return over
-- patch size, a line for each l), drawn again after each run. Seed 1.
local iap = require "iap"
local paper = require "paper"
local distracted = require "distracted"
local jobs = require "jobs"

local options = iap.options {
  seed = 1, seeds = 1, episodes = 20,
  task = "cheetah-run", kernel = "relu", pixels = { 240, 320 }, distraction = "medium", videos = "",
}
local root = paper.root("fig7", { "task" })
local env = distracted.make(options.task, options)
local variant = paper.variant(options.kernel)
local embeddings, tops, patches = { 4, 16, 64 }, { 10, 50, 100 }, { 2, 4, 8 }

local kinds = {}
for _, d in ipairs(embeddings) do
  for _, top in ipairs(tops) do
    for _, patch in ipairs(patches) do
      local policy = paper.policy(paper.attention(variant, { patch = patch, d = d, top = top }))
      iap.policy.build(policy, env) -- a picture too small for one of them is refused before the first is trained
      table.insert(kinds, {
        name = string.format("%s-patch%d-d%d-l%d", options.task, patch, d, top),
        patch = patch, d = d, top = top, env = env, policy = policy,
      })
    end
  end
end

-- The line of `top` among `groups`, which are of one d.
local function line_of(groups, top)
  local line = { label = "l = " .. top, x = {}, y = {}, low = {}, high = {}, dots = true }
  for _, group in ipairs(groups) do
    if group.kind.top == top then
      table.insert(line.x, group.kind.patch)
      table.insert(line.y, group.earned.mean)
      line.low[#line.x] = group.earned.low or 0 / 0 -- one episode has no interval
      line.high[#line.x] = group.earned.high or 0 / 0
    end
  end
  return line
end

local function draw(d, groups)
  local lines, span = {}, paper.spans(groups)
  for _, top in ipairs(tops) do
    local line = line_of(groups, top)
    if #line.x > 0 then table.insert(lines, line) end
  end
  if #lines == 0 then return end
  iap.report.line_chart {
    series = lines,
    out = string.format("%s/%s-d%d.png", root, options.task, d),
    title = string.format("%s, d = %d", options.task, d),
    x_label = "patch size",
    y_label = "return",
    caption = span ~= "" and "Band: " .. span .. "." or nil,
  }
end

jobs.run(root, kinds, jobs.wanted(root, options, kinds), options.episodes, function(complete)
  local rows, by_embedding = {}, {}
  for _, d in ipairs(embeddings) do by_embedding[d] = {} end
  for i, group in ipairs(jobs.grouped(kinds, complete)) do
    local kind, earned = group.kind, group.earned
    rows[i] = { kind.patch, kind.d, kind.top, earned.runs, earned.mean, earned.deviation }
    table.insert(by_embedding[kind.d], group)
  end
  for _, d in ipairs(embeddings) do draw(d, by_embedding[d]) end
  paper.write_table(string.format("%s/%s.csv", root, options.task), { "patch", "d", "l", "seeds", "return", "deviation" }, rows)
end)
