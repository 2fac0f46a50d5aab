-- The reward of scripts/tasks/hopper_hop.lua against DM Control's published one, from joint angles and speeds alone: the leg's
-- kinematics by hand, the speed of its centre of mass as a difference quotient.
local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

-- Each part hangs on the one before at `at`; its capsules are {x1, z1, x2, z2, radius}.
local parts = {
  { at = { 0, 1 }, capsules = { { 0, -.05, 0, .2, .0653 }, { .08, .13, .15, .14, .03 } } },
  { at = { 0, -.05 }, capsules = { { 0, 0, 0, -.15, .065 } } },
  { at = { 0, -.2 }, capsules = { { 0, 0, 0, -.33, .04 } } },
  { at = { 0, -.33 }, capsules = { { 0, 0, 0, -.32, .03 } } },
  { at = { 0, -.32 }, capsules = { { -.08, 0, .17, 0, .04 } } },
}

local function centre_of(capsules)
  local mass, x, z = 0, 0, 0
  for _, c in ipairs(capsules) do
    local length, r = math.sqrt((c[3] - c[1]) ^ 2 + (c[4] - c[2]) ^ 2), c[5]
    local m = math.pi * r ^ 2 * length + 4 / 3 * math.pi * r ^ 3
    mass, x, z = mass + m, x + m * (c[1] + c[3]) / 2, z + m * (c[2] + c[4]) / 2
  end
  return mass, x / mass, z / mass
end

-- q: rootx, rootz, and the angles about y of torso, pelvis, thigh, calf and foot. Returns the heights of torso and foot and where
-- the whole is along x.
local function place(q)
  local x, z, angle = q[1], q[2], 0
  local heights, mass, sum = {}, 0, 0
  for i, part in ipairs(parts) do
    local c, s = math.cos(angle), math.sin(angle)
    x, z = x + c * part.at[1] + s * part.at[2], z - s * part.at[1] + c * part.at[2]
    angle = angle + q[i + 2]
    c, s = math.cos(angle), math.sin(angle)
    local m, cx, cz = centre_of(part.capsules)
    heights[i] = z - s * cx + c * cz
    mass, sum = mass + m, sum + m * (x + c * cx + s * cz)
  end
  return heights[1], heights[#parts], sum / mass
end

local function reward_of(vector)
  local q, ahead, behind, h = { 0 }, {}, {}, 1e-5
  for i = 1, 6 do q[i + 1] = vector[i] end
  for i = 1, 7 do ahead[i], behind[i] = q[i] + h * vector[6 + i], q[i] - h * vector[6 + i] end
  local torso, foot = place(q)
  local speed = (select(3, place(ahead)) - select(3, place(behind))) / (2 * h)
  local height = torso - foot
  if height < 0.6 or height > 2 then return 0, height - 0.6 end
  return speed >= 2 and 1 or math.max(0, 1 - 0.5 * (2 - speed)), height - 0.6
end

local env = iap.env.make(folder .. "/../../../scripts/tasks/hopper_hop.lua")
check.equal(env:spec().control_dt, 0.02)
check.equal(env:spec().max_steps, 1000)
check.equal(env:spec().observation.vector, 15)
local paid = 0
for seed = 1, 60 do
  env:reset(seed)
  math.randomseed(seed)
  for _ = 1, 25 do
    local action = {}
    for i = 1, 4 do action[i] = 2 * math.random() - 1 end
    local reward = env:step(action)
    local expected, above = reward_of(env:observe().vector)
    if math.abs(above) > 1e-5 then check.close(reward, expected, 1e-4) end
    if reward > 0 then paid = paid + 1 end
  end
end
assert(paid > 50, "too few states are paid for a comparison: " .. paid)
