-- A policy without a parameter for laikago-stepstones, laikago-grid and laikago-stairs: it chooses footholds from what a trained
-- policy sees, the two depth images and the vector. Each toe goes to the nearest place from where it would land that is level as far
-- as `margin` around it. Use:
--
--   local choose = chooser.new(env, { margin = 0.05 })   -- for each episode
--   env:step(choose(env:observe()))
local numbers = require "numbers"
local chooser = {}

-- What suits each course.
chooser.settings = {
  ["laikago-stepstones"] = { margin = 0.06 },
  ["laikago-grid"] = { margin = 0.04, clearance = 0 },
  ["laikago-stairs"] = { margin = 0.04, ahead = 0.06, clearance = 0, height = 0.6, lean = true },
}

local legs = { "FR", "FL", "RR", "RL" }
local cell = 0.02                    -- m, of the map of heights
local toe_radius = 0.03
local smooth = 0.3
local known = 0.75 -- the part of a place's cells that must have been seen
local wheelbase = 0.437
local cameras = { front = { x = 0.197, z = -0.115 }, belly = { x = -0.092, z = -0.105 } } -- in the base's frame, looking down it
local half_view = math.tan(math.rad(75 / 2))

local function clip(value) return math.max(-1, math.min(1, value)) end

-- Rays of a camera's pixels by a metre of depth: towards the front, and to the left.
local function rays(height, width)
  local list = {}
  for row = 1, height do
    for column = 1, width do
      list[#list + 1] = {
        half_view * (1 - (2 * row - 1) / height),
        half_view * width / height * (1 - (2 * column - 1) / width),
      }
    end
  end
  return list
end

-- From the base's axes to level ones with the same heading.
local function leveller(roll, pitch)
  local cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
  return function(x, y, z)
    local turned = sr * y + cr * z
    return cp * x + sp * turned, cr * y - sr * z, -sp * x + cp * turned
  end
end

-- A map of the ground as the cameras have seen it: the highest point over each cell, as of the last frame that showed it. (The lowest
-- would be of the floor below the stones, which is seen aslant through the gaps.)
local function new_map()
  local top = {}
  local map = {}

  -- `at`: where the robot is on the map; `level` turns its axes.
  function map.look(images, directions, farthest, level, at)
    local now = {}
    for name, camera in pairs(cameras) do
      local bytes, place = images[name]:bytes(), 1
      for _, ray in ipairs(directions) do
        local depth
        depth, place = string.unpack("f", bytes, place)
        if depth < farthest then
          local x, y, z = level(camera.x + depth * ray[1], depth * ray[2], camera.z - depth)
          local key = (at[1] + x) // cell * 4096 + (at[2] + y) // cell
          z = z + at[3]
          if not now[key] or now[key] < z then now[key] = z end
        end
      end
    end
    for key, z in pairs(now) do top[key] = z end
  end

  -- The height of the ground from x - behind to x + ahead and y - behind to y + behind; nothing where it is not level or not seen.
  function map.ground(x, y, behind, ahead)
    local low, high, seen, cells = math.huge, -math.huge, 0, 0
    for i = (x - behind) // cell, (x + ahead) // cell do
      for j = (y - behind) // cell, (y + behind) // cell do
        local key = i * 4096 + j
        cells = cells + 1
        local z = top[key]
        if z then
          seen = seen + 1
          if z < low then low = z end
          if z > high then high = z end
        end
      end
    end
    if seen > known * cells and high - low < 0.05 then return (low + high) / 2 end
  end

  return map
end

-- Places within reach of where a toe would land, the nearest first.
local function places(reach_x, reach_y)
  local list = {}
  for i = -math.floor(reach_x / cell), math.floor(reach_x / cell) do
    for j = -math.floor(reach_y / cell), math.floor(reach_y / cell) do
      list[#list + 1] = { i * cell, j * cell }
    end
  end
  table.sort(list, function(a, b)
    local near, far = a[1] ^ 2 + a[2] ^ 2, b[1] ^ 2 + b[2] ^ 2
    return near < far or near == far and (a[1] > b[1] or a[1] == b[1] and a[2] > b[2])
  end)
  return list
end

-- settings: margin (m), ahead (m, the margin in front, before the next step of stairs), clearance, forward and height (values of
-- the action, in [-1, 1]), drop (m: what is so much deeper than where a toe would land is no ground).
function chooser.new(env, settings)
  local spec = env:spec()
  local reach = { spec.config.toe_x, spec.config.toe_y, spec.config.toe_z }
  local margin, ahead = settings.margin or 0.06, settings.ahead or settings.margin or 0.06
  local clearance, drop = settings.clearance or -1, settings.drop or 0.3
  local number = numbers(env)
  local directions = rays(spec.observation.images[1].height, spec.observation.images[1].width)
  local candidates = places(reach[1], reach[2])
  local map = new_map()
  local at = { 0, 0, 0 }               -- where the robot is by its own velocity, in axes level with its heading
  local roll, pitch = 0, 0             -- smoothed: the sensors are noisy
  local lean, chosen = 0, { {}, {}, {}, {} }

  return function(observation)
    local state = observation.vector
    local function of(name) return state[number[name]] end
    roll, pitch = roll + smooth * (of "roll" - roll), pitch + smooth * (of "pitch" - pitch)
    local level = leveller(roll, pitch)
    local vx, vy, vz = level(of "forward speed", of "sideways speed", of "vertical speed")
    at[1], at[2], at[3] = at[1] + spec.control_dt * vx, at[2] + spec.control_dt * vy, at[3] + spec.control_dt * vz
    map.look(observation.images, directions, spec.config.depth_far, level, at)

    local action = {}
    for i = 1, spec.action_size do action[i] = 0 end
    for k, leg in ipairs(legs) do
      -- Where Raibert's rule sends the toe: its target less what was added to it.
      local function part(what, axis) return of(what .. " of " .. leg .. " " .. axis) end
      local x, y, z = level(part("toe target", "x"), part("toe target", "y"), part("toe target", "z"))
      x = x + at[1] - reach[1] * part("last offset", "x")
      y = y + at[2] - reach[2] * part("last offset", "y")
      z = z + at[3] - reach[3] * part("last offset", "z")
      -- Once a leg swings, it keeps to its place. Where no other place is seen, the last one stays.
      local place = chosen[k]
      local swings = of("foot state of " .. leg) == 0
      if not (place.swings and swings) then
        for _, candidate in ipairs(candidates) do
          local height = map.ground(x + candidate[1], y + candidate[2], margin, ahead)
          if height and height > z - drop then
            place.x, place.y, place.z = x + candidate[1], y + candidate[2], height + toe_radius
            break
          end
        end
      end
      place.swings = swings
      if not place.x then place.x, place.y, place.z = x, y, z end
      action[3 * k - 2] = clip((place.x - x) / reach[1])
      action[3 * k - 1] = clip((place.y - y) / reach[2])
      action[3 * k] = math.abs(place.z - z) > 0.03 and clip((place.z - z) / reach[3]) or 0
      action[12 + k] = clearance
    end
    -- The body leans as the ground does.
    if settings.lean then
      local slope = (chosen[1].z + chosen[2].z - chosen[3].z - chosen[4].z) / 2 / wheelbase
      lean = lean + 0.15 * (-math.atan(slope) - lean)
      action[22] = clip(lean / spec.config.pitch)
    end
    action[17], action[20] = settings.forward or 0, settings.height or 0
    return action
  end
end

return chooser
