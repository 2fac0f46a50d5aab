// Models that show what the suite's do not.
#pragma once
#include <string_view>

inline constexpr std::string_view shapes_xml = R"(
<mujoco>
  <visual>
    <headlight ambient=".3 .3 .3" diffuse=".5 .5 .5" specular=".2 .2 .2"/>
    <map znear=".01" zfar="30"/>
    <quality shadowsize="4096" numslices="200" numstacks="100" numquads="20"/>
  </visual>
  <statistic extent="2" center="0 0 .5"/>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".8 .5 .2" rgb2=".1 .1 .4" width="128" height="768"/>
    <texture name="floor" type="2d" builtin="checker" rgb1=".3 .3 .2" rgb2=".5 .6 .5" width="64" height="64"/>
    <texture name="dice" type="cube" builtin="gradient" rgb1=".9 .9 .2" rgb2=".2 .3 .9" width="64" height="384"/>
    <material name="floor" texture="floor" texrepeat="2 3" texuniform="true" reflectance=".3" specular=".2"/>
    <material name="dice" texture="dice" rgba="1 1 1 1"/>
    <material name="board" texture="floor" texrepeat="3 2" shininess=".9"/>
  </asset>
  <worldbody>
    <light pos="1 -1 4" dir="-.2 .2 -1" diffuse=".6 .6 .6" specular=".4 .4 .4" cutoff="40" exponent="2" attenuation=".6 .1 .01"/>
    <light pos="0 0 3" dir=".4 .3 -1" directional="true" diffuse=".3 .25 .2" specular="0 0 0"/>
    <camera name="front" pos="0 -4 1.8" xyaxes="1 0 0 0 .34 .94"/>
    <camera name="high" pos="2.5 -2.5 3" xyaxes=".7 .7 0 -.45 .45 .77" fovy="60"/>
    <camera name="below" pos="0 -3 -.8" xyaxes="1 0 0 0 -.4 .9"/>
    <geom type="plane" size="0 0 .1" material="floor"/>
    <geom type="ellipsoid" size=".3 .2 .4" pos="-1 0 .5" euler="20 30 40" rgba=".9 .2 .2 1"/>
    <geom type="cylinder" size=".25 .3" pos="-.3 .5 .6" euler="30 20 0" rgba=".2 .8 .3 1"/>
    <geom type="box" size=".3 .2 .25" pos=".6 .2 .35" euler="0 0 30" material="dice"/>
    <geom type="sphere" size=".25" pos="1.2 -.3 .5" material="dice"/>
    <geom type="capsule" size=".1 .3" pos="0 -.6 .3" euler="0 70 20" rgba=".3 .4 .9 1"/>
    <geom type="box" size=".2 .2 .02" pos="-.9 -.7 .2" euler="15 0 10" material="board"/>
    <geom type="sphere" size=".35" pos=".2 -1 .6" rgba=".2 .9 .9 .4"/>
    <geom type="box" size=".5 .02 .3" pos="-.3 -1.3 .4" rgba=".9 .9 .1 .3"/>
  </worldbody>
</mujoco>)";
