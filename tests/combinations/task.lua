-- A MuJoCo task in Lua, whose model stands here or in a file.
local iap = require "iap"
local model = [[<mujoco model="slider">
  <compiler autolimits="true"/>
  <option timestep="0.01"/>
  <asset><texture name="sky" type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="32" height="32"/>
    <texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".2 .3 .4" width="32" height="32"/>
    <material name="grid" texture="grid" texrepeat="2 2" reflectance=".2"/></asset>
  <worldbody>
    <light pos="0 -2 4" dir="0 .5 -1"/>
    <camera name="side" pos="0 -4 1" xyaxes="1 0 0 0 0 1"/><camera name="top" pos="0 0 5"/>
    <geom name="floor" type="plane" size="4 4 .1" material="grid"/>
    <body name="cart" pos="0 0 .5"><joint name="slider" type="slide" axis="1 0 0" range="-2 2"/>
      <geom name="box" type="box" size=".25 .1 .08" mass="1" rgba=".6 .6 .65 1"/>
      <body name="pole"><joint name="hinge" type="hinge" axis="0 1 0" damping=".002"/>
        <geom name="rod" type="capsule" fromto="0 0 0 0 0 1" size=".03" mass=".2" rgba=".9 .5 .2 1"/></body></body>
  </worldbody>
  <actuator><motor name="push" joint="slider" gear="10" ctrlrange="-1 1"/></actuator>
  <sensor><framepos name="place" objtype="body" objname="pole"/><jointvel name="turn" joint="hinge"/></sensor>
</mujoco>]]
return function(options)
  local gear, fragile, left = options.gear or 10, options.fragile or 0, 0
  local lean, file = options.lean or 0.3, options.parts == "slider.xml"
  local observe = nil
  if options.seen == "sensors" then
    observe = function(data)
      local place = data.sensor.place
      return { place[1], place[3], data.sensor.turn, #data.contacts, data.body.cart.velocity.x }
    end
  end
  return { model = file and "slider.xml" or model:gsub('gear="10"', string.format('gear="%g"', gear)),
    camera = "side", control_dt = 0.02, max_steps = 60, observe = observe,
    reset = function(data, random)
      data.qpos.hinge = random:uniform(-lean, lean); data.qpos.slider = random:normal(0, 0.2)
      left = fragile > 0 and random:integer(1, fragile) == 1 and 4 or -1
      if file then data.qpos.ball[1] = random:uniform(0.4, 0.8) end
    end,
    reward = function(data)
      left = left - 1
      if left == 0 then error("this episode breaks") end
      local hit = file and data:touching("ball", "cart") and 0.5 or 0
      return hit + iap.tolerance(data.body.pole.centre.z, { lower = 0.95, margin = 0.5 })
    end,
    terminated = function(data) return math.abs(data.qpos.hinge) > 1.2 end }
end
