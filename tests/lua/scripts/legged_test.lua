local check = require "check"
local iap = require "iap"
local legged = iap.legged

check.same_list(legged.robots(), { "a1", "laikago" })
local a1 = legged.robot("a1")
check.equal(a1.mass, 12.458)
check.close(a1.body.mass, 12.458, 1e-12)
check.same_list(a1.standing, { 0, 0.9, -1.8 })

-- A1 stands with its toes .4 cos(.9) below the abduction joints and under its hips.
local toe = legged.toe("a1", "FR", a1.standing)
for i, expected in ipairs { 0.183, -0.047 - 0.08505, -0.4 * math.cos(0.9) } do check.close(toe[i], expected, 1e-12) end
local joints, reached = legged.joints("a1", "FR", toe)
assert(reached)
for i = 1, 3 do check.close(joints[i], a1.standing[i], 1e-9) end
local other = legged.joints("a1", "FR", toe, "forwards")
check.close(other[3], 1.8, 1e-9)
check.equal(select(2, legged.joints("a1", "FR", { 5, 0, 0 })), false)
local jacobian, h = legged.jacobian("a1", "FR", joints), 1e-6
local moved = legged.toe("a1", "FR", { joints[1], joints[2] + h, joints[3] })
for row = 1, 3 do check.close(jacobian[row][2], (moved[row] - toe[row]) / h, 1e-5) end
-- A push straight up on the toe under the hip bends the knee: only the knee and the abduction take it.
local torques = legged.stance_torques("a1", "FR", joints, { 0, 0, 30 })
check.close(torques[2], 0, 1e-9)
check.close(torques[3], -30 * jacobian[3][3], 1e-9)
check.close(legged.stance_torques("a1", "FR", joints, { 0, 0, 30 }, { 0, 1, 0 })[2], -2, 1e-9)

local place = legged.foot_placement { hip = { 0.2, -0.1, 0 }, height = 0.45, velocity = { 0.4, 0.1 }, wanted_velocity = { 0.5, 0 } }
for i, expected in ipairs { 0.257, -0.082, -0.45 } do check.close(place[i], expected, 1e-12) end
local position, velocity = legged.swing(0.45, { 0, 0, 0 }, { 0.1, 0, 0 }, 0.06)
check.close(position[1], 0.07, 1e-12)
check.close(position[3], 0.06, 1e-12)
check.close(velocity[3], 0, 1e-12)

-- At ratio 1 and 1 Hz, .25 s is the middle of stance of front left, of the swing of front right.
local generator = legged.trajectory_generator { gait = "trot" }
for _ = 1, 10 do generator:step(0, { intensity = 1 }) end
local targets = generator:step(0.25, { frequency = 1, intensity = 1, ratio = 1, residuals = { 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } })
check.equal(#targets, 12)
check.close(targets[1], 0.1, 1e-12)
check.close(targets[3], -math.pi / 2 - 0.9, 1e-12)
check.close(targets[6], -math.pi / 2 - 0.02, 1e-12)
check.close(generator:state()[2], 1, 1e-12)
check.close(generator:phases()[1], 3 * math.pi / 2, 1e-12)
generator:reset()
check.close(generator:phases()[2], 0, 0)

-- What a call adds at most, and how fast the intensity comes, are the generator's options; hip = pi / 4 - intensity / 2 at phase 0.
local function all(x)
  local list = {}
  for i = 1, 12 do list[i] = x end
  return list
end
local usual, free = legged.trajectory_generator {}, legged.trajectory_generator { residual = 0.6, intensity_rise = 1.5 }
check.close(usual:step(0, { residuals = all(0.5) })[2], math.pi / 4 + 0.15, 1e-12)
check.close(free:step(0, { residuals = all(-0.5) })[2], math.pi / 4 - 0.5, 1e-12)
check.close(free:step(0, { residuals = all(0.7) })[2], math.pi / 4 + 0.6, 1e-12)
local function hip(generator, intensity) return generator:step(0, { intensity = intensity })[5] end
check.close(hip(usual, 0.5), math.pi / 4 - 0.05, 1e-12)
for _ = 1, 4 do hip(usual, 0.5) end
check.close(hip(usual, 0.5), math.pi / 4 - 0.25, 1e-12)
check.close(hip(usual, 0.1), math.pi / 4 - 0.05, 1e-12)
check.close(hip(free, 0.5), math.pi / 4 - 0.25, 1e-12)
check.fails({ "'residual'" }, legged.trajectory_generator, { residual = -0.1 })
check.fails({ "'intensity_rise'" }, legged.trajectory_generator, { intensity_rise = 2 })

local gait = legged.gait { stance = 0.3, duty = 0.6 }
check.same_list(gait:update(0.39, { true, true, true, false }), { "early_contact", "stance", "stance", "swing" })
check.same_list(gait:feet(), { 0.5, 1, 1, 0 })
check.close(gait:phases()[1], 0.45, 1e-9)

-- Forces of a robot at rest carry it.
local laikago = legged.robot("laikago")
local stance = legged.stance { robot = "laikago", force_weight = 1e-10 }
local feet = {}
for i, leg in ipairs { "FR", "FL", "RR", "RL" } do
  feet[i] = legged.toe("laikago", leg, laikago.standing)
  for axis = 1, 3 do feet[i][axis] = feet[i][axis] - laikago.body.centre[axis] end
end
local height = -feet[1][3]
local forces = stance:solve { position = { 0, 0, height }, feet = feet, goal = { height = height } }
check.fails({ "option 'standing' must be a list of true or false" }, stance.solve, stance, { position = { 0, 0, height }, feet = feet, standing = {}, goal = { height = height } })
local sum = 0
for _, force in ipairs(forces) do sum = sum + force[3] end
check.close(sum, 9.81 * laikago.mass, 0.1)
forces = stance:solve { position = { 0, 0, height }, feet = feet, standing = { true, false, false, true }, goal = { height = height } }
check.same_list(forces[2], { 0, 0, 0 })
assert(forces[1][3] > 100)

check.fails({ "there is no robot 'a2'; did you mean 'a1'?" }, legged.robot, "a2")
check.fails({ "iap.legged.toe: argument 2 'leg'", '"FR", "FL", "RR" or "RL"' }, legged.toe, "a1", "front", { 0, 0, 0 })
check.fails({ "argument 3 'joints': expected three finite numbers" }, legged.toe, "a1", "FR", { 0, 0 })
check.fails({ "option 'hip' is missing; it is a list of 3 numbers" }, legged.foot_placement, { height = 1 })
check.fails({ "option 'hip' must be a list of 3 finite numbers, got [1,2]" }, legged.foot_placement, { height = 1, hip = { 1, 2 } })
check.fails({ "unknown option 'dury'; did you mean 'duty'?" }, legged.gait, { dury = 0.5 })
check.fails({ "leg FR has a duty of 1" }, legged.gait, { duty = 1 })
check.fails({ "gait:update: contacts must be a list of true or false for each of the four legs" }, gait.update, gait, 0, { true })
-- What is not finite goes in nowhere, so that it comes out nowhere.
for _, bad in ipairs { 0 / 0, math.huge, -math.huge } do
  check.fails({ "iap.legged.swing: argument 1 'phase': expected a finite number, got a number (" }, legged.swing, bad, { 0, 0, 0 }, { 0.1, 0, 0 }, 0.06)
  check.fails({ "iap.legged.swing: argument 4 'clearance': expected a finite number" }, legged.swing, 0.5, { 0, 0, 0 }, { 0.1, 0, 0 }, bad)
  check.fails({ "gait:update: argument 1 'time': expected seconds within 1e12, got a number (" }, gait.update, gait, bad, { true, true, true, true })
end
check.fails({ "argument 1 'time': expected seconds within 1e12" }, gait.update, gait, 1e308, { true, true, true, true })
check.close(gait:phases()[1], 0.45, 1e-9)
check.fails({ "unknown gait 'gallop'" }, legged.trajectory_generator, { gait = "gallop" })
check.fails({ "option 'feet' must list four points" }, stance.solve, stance, { position = { 0, 0, 1 }, feet = {} })
check.fails({ "option 'friction' is 0" }, legged.stance, { robot = "a1", friction = 0 })
