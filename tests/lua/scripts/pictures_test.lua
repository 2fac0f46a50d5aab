-- Pictures of attention show what was scored, and as white as its score; pages tell what they show.
local check = require "check"
local iap = require "iap"

local folder = os.tmpname()
os.remove(folder)
local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "wb"))
  file:write(text)
  file:close()
  return folder .. "/" .. name
end
-- A chart makes the folder.
iap.report.line_chart { out = folder .. "/x.png", series = { { x = { 0, 1 }, y = { 1, 2 } } } }

-- A red square on black in every fourth frame, or in all, and a picture that is always white.
local beacon = write("beacon.lua", [[
return function(options)
  local every, steps = options.every or 4, options.steps or 8
  local function row(first, last) return ("\0\0\0"):rep(first) .. ("\255\0\0"):rep(last - first) .. ("\0\0\0"):rep(20 - last) end
  local time = 0
  return {
    spec = { action_size = 1, max_steps = steps, control_dt = options.dt, images = { eye = { height = 15, width = 20 }, lamp = { height = 5, width = 5 } } },
    reset = function() time = 0 end,
    step = function() time = time + 1; return 1 end,
    observe = function()
      local seen = time % every == 0 and row(5, 10) or row(0, 0)
      return nil, { eye = row(0, 0):rep(5) .. seen:rep(5) .. row(0, 0):rep(5), lamp = ("\255"):rep(75) }
    end,
  }
end
]])
local function crossing(env)
  local policy = iap.policy.build(iap.policy.sequence {
    iap.attention.cross { image = "lamp", key_image = "eye", patch = 5, d = 1, pixel_offset = 0, every = 4, top = 1, kernel = "relu" },
    iap.policy.linear {},
  }, env)
  local ones = {}
  for i = 1, policy:size() do ones[i] = 1 end
  policy:set_parameters(ones)
  return policy
end
local env = iap.env.make(beacon)
local policy = crossing(env)

local seen = env:reset(1)
policy:reset(1)
for step = 0, 7 do
  policy:act(seen)
  local view = policy:views()[1]
  check.same_list(view.selected, { 6 })
  check.equal(view.frame == nil, step % 4 == 0)
  local scored = view.frame or seen.images.eye
  check.same_list({ scored:pixel(8, 8) }, { 255, 0, 0 })
  check.same_list({ scored:overlay(view):pixel(8, 8) }, { 255, 191, 191 })
  env:step { 0 }
  seen = env:observe()
end

-- Frames 0 and 3: the second one's patch was red when it was scored, and so is its map of scores.
local function strip(view)
  local path = folder .. "/s.png"
  iap.report.strip { policy = policy, env = env, out = path, frames = 2, steps = 4, scale = 8, view = view, redraw = false, captions = false }
  return iap.image.read(path)
end
local raw, overlay, heat = strip "raw", strip "overlay", strip "heatmap"
local middle, right = 8 * 7 + 4, 8 * (20 + 5) + 4 + 16
check.same_list({ raw:pixel(middle, middle) }, { 255, 0, 0 })
check.same_list({ raw:pixel(middle, right + middle) }, { 0, 0, 0 })
check.same_list({ overlay:pixel(middle, middle) }, { 255, 191, 191 })
check.same_list({ overlay:pixel(middle, right + middle) }, { 255, 191, 191 })
for at = 1, 120, 7 do check.same_list({ heat:pixel(at, at) }, { heat:pixel(at, right + at) }) end

-- All examples of the highest scores show the square, as where it never goes out.
local function red(env)
  local path = folder .. "/i.png"
  iap.report.importance { policy = crossing(env), env = env, out = path, episodes = 1 }
  local image, count = iap.image.read(path), 0
  local height, width = image:shape()
  local bytes = image:bytes()
  for at = 1, 3 * height * width, 3 do
    if bytes:sub(at, at + 2) == "\255\0\0" then count = count + 1 end
  end
  return count
end
local always = red(iap.env.make(beacon, { every = 1 }))
assert(always > 100)
check.equal(red(env), always)

-- Draws are not in the order of their scores, and may repeat.
local cartpole = iap.env.make("cartpole-swingup", { pixels = { 24, 32 } })
for _, replacement in ipairs { false, true } do
  local drawing = iap.policy.build(iap.policy.sequence {
    iap.attention.rank { patch = 8, d = 4, kernel = "exp", selection = "sample", replacement = replacement, top = 6 }, iap.policy.linear {},
  }, cartpole)
  drawing:initialise(3)
  local repeated = false
  for seed = 1, 12 do
    drawing:reset(seed)
    local eye = cartpole:reset(seed).images.pixels
    drawing:act { images = { pixels = eye } }
    local view = drawing:views()[1]
    local shown, low, high = eye:overlay(view), math.huge, -math.huge
    local times = {}
    for _, patch in ipairs(view.selected) do
      low, high = math.min(low, view.scores[patch]), math.max(high, view.scores[patch])
      times[patch] = (times[patch] or 0) + 1
      repeated = repeated or times[patch] > 1
    end
    for patch in pairs(times) do
      local row, column = (patch - 1) // view.columns * view.stride + 1, (patch - 1) % view.columns * view.stride + 1
      local opacity = high > low and 0.25 + 0.5 * (view.scores[patch] - low) / (high - low) or 0.75
      local before, after = eye:pixel(row, column), shown:pixel(row, column)
      assert(math.abs(after - (before + opacity * (255 - before))) <= 1, ("patch %d is %d, was %d"):format(patch, after, before))
    end
  end
  check.equal(repeated, replacement)
end
local bare = { rows = 3, columns = 4, patch = 5, stride = 5, selected = { 1, 2 } }
for column = 3, 8, 5 do check.same_list({ seen.images.eye:overlay(bare):pixel(3, column) }, { 191, 191, 191 }) end
bare.scores = { 1, 2 }
check.fails({ "view.scores holds 2 numbers for 12 patches; give one for each" }, seen.images.eye.overlay, seen.images.eye, bare)

-- How much of an episode a page's film shows is told in the episode's own time; a step without one counts as a second.
for told, dt in pairs { ["100 min"] = 20, ["5 min"] = false } do
  local out = folder .. "/run" .. (dt or "")
  iap.train {
    env = iap.env.make(beacon, { steps = 310, dt = dt or nil }), policy = iap.policy.sequence { iap.attention.rank { patch = 5, d = 1, top = 1 }, iap.policy.linear {} },
    optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_episodes = 1, seed = 1, threads = 1, quiet = true, out = out,
  }
  local file = assert(io.open(iap.report.html { runs = out, episodes = 1 }, "rb"))
  local page = file:read "a"
  file:close()
  -- Lines of a text stay lines, behind a word or two.
  assert(page:find("<td><details><summary>several lines</summary><pre>return function(options)\n  local every", 1, true), page:match "env.source.-</tr>")
  assert(page:find("The first " .. told .. " of an episode of return 310, 310 steps", 1, true), page:match "The first [^.]*")
end
os.execute("rm -r '" .. folder .. "'")
