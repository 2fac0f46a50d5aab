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
function distracted.chosen(names) return paper.chosen("task", names, distracted.tasks) end

-- `distraction` is "easy", "medium", "hard" (all static: one background, camera and set of colours per episode) or "none".
-- `videos`: a folder of folders of frames such as DAVIS 2017's "JPEGImages/480p", or "" for the painted backgrounds.
-- `split`: "train" or "validation", which never share a video.
function distracted.option(options, split)
  if options.distraction == "none" then return false end
  return { difficulty = options.distraction, videos = options.videos, split = split or "train" }
end

-- A size of about 60 rows, each of its pixels the average of a square of a picture of size `pixels`: what our eyes learn from, and play
-- large pictures by (docs/eyes.md has what that costs: hardly anything).
function distracted.small(pixels)
  local height, width = table.unpack(pixels)
  for times = math.max(1, (height + 30) // 60), 1, -1 do
    if height % times == 0 and width % times == 0 then return { height // times, width // times } end
  end
end

-- The task of this name with the settings of `options`; `pixels` in place of theirs, where given.
function distracted.make(task, options, pixels)
  local env = { pixels = pixels or options.pixels, action_repeat = paper.action_repeat }
  env.distraction = distracted.option(options) or nil
  return iap.env.make(task, env)
end

return distracted
