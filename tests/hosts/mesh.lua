-- A body of triangles on a hinge, in view of a camera.
return {
  model = [[
<mujoco>
  <asset><mesh name="wedge" vertex="0 0 0  .4 0 0  0 .4 0  0 0 .4"/></asset>
  <worldbody>
    <camera pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
    <body><joint name="hinge" type="hinge"/><geom type="mesh" mesh="wedge"/></body>
  </worldbody>
  <actuator><motor joint="hinge" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>]],
  control_dt = 0.02,
  max_steps = 5,
  observe = function(data) return { data.qpos.hinge } end,
  reward = function() return 0 end,
}
