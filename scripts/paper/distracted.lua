-- The Distracting Control experiments share how they name and make their environments.
local iap = require "iap"
local paper = require "paper"
local distracted = {}

-- The tasks of table 1 with the returns that the papers print: IAP, SAC, QT-Opt; and, clean, of DrQ-v2 after 100,000 frames.
distracted.tasks = {
  { name = "cheetah-run", iap = 134, sac = 77, qt_opt = 74, drq = 273 },
  { name = "walker-walk", iap = 125, sac = 24, qt_opt = 111, drq = 170 },
  { name = "cartpole-swingup", iap = 196, sac = 167, qt_opt = 212, drq = 626 },
  { name = "ball-in-cup-catch", iap = 135, sac = 109, qt_opt = 62, drq = 359 },
  { name = "reacher-easy", iap = 128, sac = 75, qt_opt = 109, drq = 250 },
}

-- The tasks that a command line names, all of them where it names none.
function distracted.chosen(names)
  local known, listed, chosen = {}, {}, {}
  for _, task in ipairs(distracted.tasks) do
    known[task.name] = task
    table.insert(listed, task.name)
  end
  for _, name in ipairs(names) do
    table.insert(chosen, known[name] or error("table 1 has no task " .. name .. "; it has " .. table.concat(listed, ", "), 0))
  end
  return #chosen > 0 and chosen or distracted.tasks
end

-- `distraction` is "easy", "medium", "hard" (all static: one background, camera and set of colours per episode) or "none".
-- `videos`: a folder of folders of frames such as DAVIS 2017's "JPEGImages/480p", or "" for the painted backgrounds.
-- `split`: "train" or "validation", which never share a video.
function distracted.option(options, split)
  if options.distraction == "none" then return false end
  return { difficulty = options.distraction, videos = options.videos, split = split or "train" }
end

function distracted.make(task, options)
  local env = { pixels = options.pixels, action_repeat = paper.action_repeat }
  env.distraction = distracted.option(options) or nil
  return iap.env.make(task, env)
end

return distracted
