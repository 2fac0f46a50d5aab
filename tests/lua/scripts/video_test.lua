local check = require "check"
local iap = require "iap"

local folder = os.tmpname()
os.remove(folder)
local env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, action_repeat = 2, time_limit = 20 })
local blocks = iap.policy.sequence {
  iap.attention.rank { patch = 4, stride = 4, d = 4, kernel = "relu", top = 3 },
  iap.policy.linear { activation = "tanh" },
}
iap.train {
  env = env, policy = blocks, optimizer = iap.optim.es { population = 4 },
  iterations = 2, eval_episodes = 2, seed = 3, threads = 1, quiet = true, out = folder,
}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  return content
end

local video = iap.report.video { policy = folder, out = folder .. "/media/v.webp", seed = 4, view = "heatmap", scale = 2 }
check.equal(video.steps, 10)
check.equal(video.frames, 10)
check.equal(video.height, 48)
check.equal(video.width, 64)
check.equal(video.fps, 50.0)
check.equal(read(folder .. "/media/v.webp"):sub(9, 12), "WEBP")

-- A policy as an object, in another environment; the strip shows the same episode.
local policy = iap.policy.load(folder)
local still = iap.report.video {
  policy = policy, env = env, out = folder .. "/v.png", seed = 4, scale = 2, steps = 1, view = "raw", redraw = false,
}
check.equal(still.frames, 1)
check.equal(iap.image.read(folder .. "/v.png"):bytes(), env:reset(4).images.pixels:enlarge(2):bytes())
check.equal(iap.report.strip { policy = policy, out = folder .. "/s.png", seed = 4, frames = 3, min_height = 24, captions = false }, video.total)
check.same_list({ iap.image.read(folder .. "/s.png"):shape() }, { 24, 3 * 32 + 2 * 4, 3, "uint8" })

iap.report.strip { policy = policy, out = folder .. "/s.png", seed = 4, frames = 2, steps = 4, scale = 2, view = "raw", redraw = false }
local strip = iap.image.read(folder .. "/s.png")
local rows, columns = strip:shape()
check.equal(columns, 2 * 64 + 4)
assert(rows > 48)
local first = env:reset(4).images.pixels:enlarge(2)
for row = 1, 48 do check.same_list({ strip:pixel(row, 3 * row % 64 + 1) }, { first:pixel(row, 3 * row % 64 + 1) }) end

-- An episode under way goes on with what the policy remembers and has seen.
local eyes = iap.policy.build(iap.policy.sequence {
  iap.attention.rank { patch = 4, stride = 4, d = 4, top = 3 },
  iap.policy.lstm { units = 4 }, iap.policy.linear { activation = "tanh" },
}, env)
local frame = env:reset(5)
local function second_action(between)
  eyes:reset(5)
  eyes:act(frame)
  local views, out = eyes:views(), eyes:outputs "1.rank"
  between()
  check.same_list(eyes:views()[1].selected, views[1].selected)
  check.same_list(eyes:outputs "1.rank", out)
  return eyes:act(frame)
end
local untouched = second_action(function() end)
for name, options in pairs {
  strip = { out = folder .. "/x.png", steps = 2 },
  video = { out = folder .. "/x.webp", steps = 2 },
  importance = { out = folder .. "/x.png", episodes = 1 },
  probe = { episodes = 3, steps = 3 },
} do
  options.policy = eyes
  check.same_list(second_action(function() iap.report[name](options) end), untouched)
end

-- What its patches' scores mean.
local importance = iap.report.importance { policy = folder, out = folder .. "/i.png", episodes = 2 }
check.equal(importance.frames, 2 * 10)
check.equal(importance.patches, 6 * 8)
check.equal(importance.chosen, 3)
assert(iap.image.read(folder .. "/i.png"):shape() > 300)
local blind = iap.policy.build(iap.policy.linear {}, iap.env.make "cartpole-swingup")
check.fails({ "scores no patches of its first image; blocks that do are rank, trans, cross, look" }, iap.report.importance, { policy = blind, env = "cartpole-swingup", out = folder .. "/b.png", episodes = 1 })

check.equal(iap.report.html { runs = folder, episodes = 1 }, folder .. "/report.html")
assert(read(folder .. "/report.html"):find("<h1>cartpole-swingup</h1>", 1, true))
check.equal(iap.report.html { runs = { folder }, out = folder .. "/plain.html", pictures = false }, folder .. "/plain.html")
assert(not read(folder .. "/plain.html"):find('src="data', 1, true))
check.fails({ "it would count as two seeds, so name it once" }, iap.report.html, { runs = { folder, folder .. "/" }, out = folder .. "/x.html" })

-- Of blocks that look at the same image, pictures of scores show the first and say which.
local function pictures_of(...)
  local ranks = {}
  for i, name in ipairs { ... } do ranks[i] = iap.attention.rank { patch = 4, d = 4, top = 3, kernel = "softmax", name = name } end
  local one = iap.policy.build(iap.policy.sequence { iap.policy.concat(ranks), iap.policy.linear {} }, env)
  local parameters = {}
  for i = 1, one:size() do parameters[i] = math.sin(i) end
  one:set_parameters(parameters)
  iap.report.strip { policy = one, env = env, out = folder .. "/s.png", view = "heatmap", frames = 2, steps = 4 }
  iap.report.importance { policy = one, env = env, out = folder .. "/i.png", episodes = 1 }
  return read(folder .. "/s.png"), read(folder .. "/i.png")
end
local strip_a, importance_a = pictures_of("a")
local strip_b, importance_b = pictures_of("b")
assert(strip_a == strip_b and importance_a == importance_b)
local strip_ac, importance_ac = pictures_of("a", "c")
local strip_bc, importance_bc = pictures_of("b", "c")
local strip_bd, importance_bd = pictures_of("b", "d")
assert(strip_ac ~= strip_bc and importance_ac ~= importance_bc)
assert(strip_bc == strip_bd and importance_bc == importance_bd)

-- What the run keeps is its own; beside it there is room.
for _, name in ipairs { "checkpoint.iap", "checkpoint.previous.iap", "best.iap", "final.iap", "metrics.csv", "config.json", "result.json", "log.txt", "experiment.lua",
                        "metrics.jsonl", "events.out.tfevents.iap" } do
  local place = folder .. "/" .. name
  check.fails({ "cannot write '" .. place .. "': the run in '" .. folder .. "' keeps it; choose another place" }, policy.save, policy, place)
end
check.fails({ "the run in '" .. folder .. "' keeps it" }, iap.report.probe,
  { policy = policy, csv = folder .. "/metrics.csv", episodes = 3, steps = 2 })
assert(os.execute("ln -s final.iap '" .. folder .. "/link.iap'"))
check.fails({ "the run in '" .. folder .. "' keeps it" }, policy.save, policy, folder .. "/link.iap")
policy:save(folder .. "/chosen.iap")

-- An environment whose own option has the name of ours is enlarged.
local own = folder .. "/own.lua"
local text = assert(io.open(own, "w"))
text:write [[
return function(options)
  local side = (options.pixels or 8) * 1
  return {
    spec = { action_size = 1, max_steps = 3, images = { view = { height = side, width = side, channels = 1 } } },
    reset = function() end,
    step = function() return 0 end,
    observe = function() return nil, { view = ("a"):rep(side * side) } end,
  }
end
]]
text:close()
local small = iap.env.make(own)
local enlarged = iap.report.video {
  policy = iap.policy.build(iap.policy.sequence { iap.attention.rank { patch = 4, d = 2, top = 1 }, iap.policy.linear {} }, small),
  env = small, out = folder .. "/own.png", scale = 3,
}
check.equal(enlarged.height, 24)

local function video_of(options)
  options.policy = options.policy or policy
  options.out = options.out or folder .. "/x.webp"
  return iap.report.video(options)
end
check.fails({ "iap.report.video: unknown view 'heatmop'", "did you mean 'heatmap'" }, video_of, { view = "heatmop" })
check.fails({ "--scale 2: the policy sees no image", "(in Lua: scale)" }, iap.report.strip,
  { policy = blind, env = env, out = folder .. "/x.png", scale = 2 })
check.fails({ "the policy sees no image", "(in Lua: redraw)" }, video_of, { policy = blind, env = env, redraw = false })
check.fails({ "x.lua': a report is a web page; its name must end in .html or .htm" }, iap.report.html, { runs = folder, out = folder .. "/x.lua" })
check.fails({ "iap.report.strip: unknown view 'heatmop'" }, iap.report.strip, { policy = policy, out = folder .. "/x.png", view = "heatmop" })
check.fails({ "its name must end in .png" }, iap.report.strip, { policy = policy, out = folder .. "/x.webp" })
check.fails({ "unknown option 'colour'" }, video_of, { colour = "red" })
check.fails({ "option 'scale'", "[0, 64]" }, video_of, { scale = 65 })
check.fails({ "option 'policy' must be a policy, or the path" }, video_of, { policy = 3 })
check.fails({ "must end in one of .webp" }, video_of, { out = folder .. "/x.avi" })
check.fails({ "option 'runs' must be the folder of a run or a list of them, got 3" }, iap.report.html, { runs = 3 })
check.fails({ "there is no run 'nothing'" }, iap.report.html, { runs = { folder, "nothing" }, out = folder .. "/x.html" })
-- Nor is there one afterwards.
check.fails({ "there is no run '" .. folder .. "/nope/deep'" }, iap.report.html, { runs = folder .. "/nope/deep" })
check.fails({ "there is no run 'nothing'" }, iap.report.html, { runs = "nothing", out = folder .. "/nope/x.html" })
check.equal(os.rename(folder .. "/nope", folder .. "/nope"), nil)
check.equal(iap.report.html { runs = folder, out = folder .. "/made/x.html", pictures = false }, folder .. "/made/x.html")
os.remove(folder .. "/made/x.html")
check.fails({ "unknown option 'epsiodes'; did you mean 'episodes'?" }, iap.report.html, { runs = folder, epsiodes = 3 })

for _, name in ipairs { "/media/v.webp", "/made", "/v.png", "/s.png", "/i.png", "/report.html", "/plain.html", "/best.iap", "/final.iap", "/config.json",
                        "/metrics.csv", "/checkpoint.iap", "/checkpoint.previous.iap", "/experiment.lua", "/log.txt", "/own.lua", "/own.png", "/chosen.iap", "/link.iap", "/x.png", "/x.webp", "/media", "" } do
  os.remove(folder .. name)
end
