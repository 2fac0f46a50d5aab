-- What figures 1 and 6 share: cheetah-run from 100 x 100 pixels, patches of 4 x 4 (L = 625) of which the 5 best hand over their places,
-- by several kinds of attention. Both keep their runs in one folder, so that neither trains what the other has.
local iap = require "iap"
local paper = require "paper"
local jobs = require "jobs"
local cheetah = {}

-- Trains `variants` = {name, label, kernel, ...}. After each run, draw(groups, root) gets the groups of jobs.grouped that have a run, whose
-- kinds have `ms` (CPU time of a decision) and `size` (parameters), and the experiment's folder.
function cheetah.run(variants, draw)
  local options = iap.options { seed = 1, seeds = 3, episodes = 20 }
  local root = paper.root "cheetah"
  local env = iap.env.make("cheetah-run", { pixels = { 100, 100 }, action_repeat = paper.action_repeat })
  local kinds = {}
  for i, variant in ipairs(variants) do
    local policy = paper.policy(paper.attention(variant, { patch = 4, d = 8, top = 5 }))
    kinds[i] = { name = variant.name, label = variant.label, env = env, policy = policy }
  end
  jobs.run(root, kinds, jobs.wanted(root, options, kinds), options.episodes, function(complete)
    local groups = jobs.grouped(kinds, complete)
    for _, group in ipairs(groups) do
      local kind = group.kind
      if not kind.ms then kind.ms, kind.size = paper.inference_ms(kind.policy, env, 1000) end
    end
    draw(groups, root)
  end)
end

-- Learning curves of `groups`: means over the seeds, bands of one standard deviation.
function cheetah.curves(groups, out, title)
  local compared = {}
  for i, group in ipairs(groups) do compared[i] = { label = group.kind.label, runs = group.runs } end
  iap.report.compare { groups = compared, out = out, title = title, band = "deviation" }
end

return cheetah
