# shellcheck shell=bash
# MuJoCo tasks in Lua: what travels, what a run keeps, what a mistake says.

# A small task of three files: a ball on a rail whose model includes another file and shows a mesh from a folder.
task_files() {
  mkdir -p task/shapes
  cat >task/rail.lua <<'LUA'
local iap = require "iap"
local wanted = require "wanted"
return function(options)
  return {
    model = "rail.xml", camera = "side", physics_steps = 2, max_steps = 25,
    reset = function(data, random) data.qpos.slide = random:uniform(-0.3, 0.3) + 0.01 * math.random() end,
    reward = function(data) return iap.tolerance(data.qpos.slide - (options.goal or wanted.goal), { margin = 0.5 }) end,
  }
end
LUA
  echo 'return { goal = 0.2 }' >task/wanted.lua
  cat >task/rail.xml <<'XML'
<mujoco>
  <compiler meshdir="shapes"/>
  <include file="parts.xml"/>
  <worldbody>
    <camera name="side" pos="0 -2 .3" xyaxes="1 0 0 0 0 1"/>
    <body name="cart"><joint name="slide" type="slide" axis="1 0 0" damping="1"/><geom type="mesh" mesh="wedge"/></body>
  </worldbody>
  <actuator><motor name="push" joint="slide" ctrllimited="true" ctrlrange="-10 10"/></actuator>
</mujoco>
XML
  echo '<mujocoinclude><asset><mesh name="wedge" file="wedge.obj"/></asset></mujocoinclude>' >task/parts.xml
  printf 'v 0 0 0\nv .3 0 0\nv 0 .3 0\nv 0 0 .3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >task/shapes/wedge.obj
  cat >train.lua <<'LUA'
local iap = require "iap"
local result = iap.train {
  env = iap.env.make("task/rail.lua", { time_limit = 20, pixels = { 16, 24 }, state = true }),
  policy = iap.policy.sequence { iap.policy.concat { iap.attention.rank { patch = 4, top = 2 } }, iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 8, sigma = 0.1, learning_rate = 0.1 },
  iterations = 4, eval_every = 2, eval_episodes = 4, seed = 3, quiet = true, out = "run",
}
print(result.iterations, string.format("%.17g", result.last_eval))
print(table.concat(result.parameters, " "))
LUA
}

# A policy file plays the same elsewhere, confined, without script, model, includes and mesh; runs resume.
case_task_travels() {
  task_files
  run run train.lua --threads 1
  exits 0
  cp out whole
  rm -r run
  run run train.lua --threads 2
  exits 0
  cmp -s out whole || fail "the number of threads changes a task in Lua"
  rm -r run
  run run train.lua --set iterations=2
  exits 0
  run run train.lua --resume
  exits 0
  cmp -s out whole || fail "a resumed run of a task in Lua differs"
  run report run
  exits 0
  says run/report.html "env.model_files.rail.xml"
  grep -q ctrlrange run/report.html && fail "the page about a run holds its model"
  run eval run --episodes 4 --csv here.csv
  exits 0
  run play run --out here.png --strip 4
  exits 0
  policy_alone task train.lua
  # What lies about by the same names is not read.
  mkdir -p task/shapes
  echo 'return 3' | tee task/rail.lua >wanted.lua
  echo nonsense | tee task/rail.xml task/parts.xml task/shapes/wedge.obj parts.xml rail.xml >wedge.obj
  run eval best.iap --episodes 4 --csv there.csv
  exits 0
  cmp -s there.csv ../here.csv || fail "a policy file reads a model from the disk"
  run eval best.iap --episodes 4 --csv other.csv --set goal=-0.2
  exits 0
  cmp -s other.csv there.csv && fail "--set does not reach a task in Lua"
  # The task that is named is the user's, with its own model.
  rm -r task
  mv ../gone/task .
  run eval best.iap --episodes 4 --csv there.csv --env task/rail.lua
  exits 0
  cmp -s there.csv ../here.csv || fail "the task named by --env differs"
  # A run whose model changed does not go on as if nothing had happened.
  mv ../gone/run ../gone/train.lua .
  sed -i 's/damping="1"/damping="2"/' task/rail.xml
  run run train.lua --resume --set iterations=6
  exits 1
  says err "env.model_files.rail.xml: another text now"
  lines err 1
}

# A robot out of a URDF goes with policies and runs as a model does, meshes included.
case_robot_travels() {
  mkdir meshes
  printf 'v 0 0 .1\nv .1 0 .1\nv 0 .1 .1\nv 0 0 .2\n' >meshes/hat.obj
  sed 's#<link name="trunk">#&<collision><geometry><mesh filename="meshes/hat.obj"/></geometry></collision>#' \
    "$here/../../envs/legged/models/a1.urdf" >dog.urdf
  grep -q hat.obj dog.urdf || fail "no mesh in the test's robot"
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = { name = "legged", urdf = "dog.urdf", time_limit = 20 }, policy = iap.policy.linear { activation = "tanh" },
  optimizer = iap.optim.es { population = 4, sigma = 0.1, learning_rate = 0.1 },
  iterations = 2, eval_every = 2, eval_episodes = 2, seed = 3, quiet = true, out = "run",
}
LUA
  run run train.lua
  exits 0
  run run train.lua --resume --set iterations=3
  exits 0
  run eval run --episodes 2 --csv here.csv
  exits 0
  # Elsewhere nothing is read, whatever lies there by the same name.
  mkdir elsewhere
  cp run/best.iap elsewhere/policy.iap
  cd elsewhere || exit 1
  run eval policy.iap --episodes 2 --csv there.csv
  exits 0
  cmp -s there.csv ../here.csv || fail "a robot does not travel with its policy"
  cp "$here/../../envs/legged/models/laikago.urdf" dog.urdf
  run eval policy.iap --episodes 2 --csv there.csv
  cmp -s there.csv ../here.csv || fail "a policy file reads its robot from the disk"
  # The robot that is named is the user's.
  run eval policy.iap --episodes 2 --csv other.csv --set urdf=dog.urdf
  exits 0
  cmp -s other.csv ../here.csv && fail "--set urdf does not reach the robot"
  run eval policy.iap --episodes 1 --set robot=laikago
  exits 1
  says err "'robot' and 'urdf' both say which robot it is; give one (--set robot=null drops a policy's own, or urdf=null)"
  run eval policy.iap --episodes 1 --set urdf=null --set robot=laikago
  exits 0
  echo 'local iap = require "iap"
    iap.policy.load("policy.iap"):save("named.iap", { env = { name = "legged", robot = "laikago", time_limit = 20 } })' >named.lua
  run run named.lua
  exits 0
  run eval named.iap --episodes 2 --csv named.csv --set urdf=dog.urdf
  exits 1
  says err "give one (--set robot=null drops"
  run eval named.iap --episodes 2 --csv named.csv --set urdf=dog.urdf --set robot=null
  exits 0
  cmp -s other.csv named.csv || fail "--set robot=null does not make room for a URDF"
  # A file of before holds the path alone.
  cat >old.lua <<'LUA'
local iap = require "iap"
local policy = iap.policy.load("policy.iap")
local env = policy:metadata().env
env.model_files = nil
policy:save("old.iap", { env = env })
LUA
  run run old.lua
  exits 0
  rm dog.urdf
  run eval old.iap --episodes 1
  exits 1
  says err "'old.iap': environment 'legged': option 'urdf': cannot read 'dog.urdf'"
  lines err 1
  cd ..
  cp elsewhere/old.iap .
  run eval old.iap --episodes 2 --csv there.csv
  exits 0
  cmp -s there.csv here.csv || fail "a file of before plays another robot"
  # A run does not go on with another robot.
  for file in dog.urdf meshes/hat.obj; do
    cp "$file" kept
    if [ "$file" = dog.urdf ]; then sed -i 's/<robot /<!-- another --><robot /' $file; else echo 'v 0 0 .3' >>$file; fi
    run run train.lua --resume --set iterations=4
    exits 1
    says err "env.model_files.$file: "
    lines err 1
    mv kept "$file"
  done
}

# Confined tasks have iap.tolerance and nothing that reaches outside; a broken task is one line with file, line and step.
case_task_errors() {
  task_files
  cat >build.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("task/rail.lua", { state = true })
iap.policy.build(iap.policy.linear {}, env):save("policy.iap")
LUA
  sed -i 's#reward = function(data)#reward = function(data) if data.time > 0.01 and io.open then io.open("owned", "w") end#' task/rail.lua
  run run build.lua
  exits 0
  run eval policy.iap --episodes 1
  exits 1
  says err "policy.iap: task/rail.lua:7: io.open is not available to Lua that comes out of a file"
  lines err 1
  [ ! -e owned ] || fail "a task out of a file wrote a file"
  run eval policy.iap --episodes 1 --trust
  exits 0
  [ -e owned ] || fail "--trust does not lift the confinement of a task"

  cat >make.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("task/rail.lua")
env:reset(4)
for _ = 1, 3 do env:step { 0 } end
LUA
  cp task/rail.lua good.lua
  says_once() { # MISTAKE (a sed expression for the file), MESSAGE
    sed "$1" "${3:-good.lua}" >"${4:-task/rail.lua}"
    run run make.lua
    exits 1
    says err "$2"
    lines err 1
    cp good.lua task/rail.lua
  }
  says_once 's/data.qpos.slide - /data.qpos.slid - /' "task/rail.lua:7: this model has no joint 'slid'; did you mean 'slide'? at step 1 of the episode with seed 4"
  says_once 's/return iap.tolerance/local _ = iap.tolerance/' "task/rail.lua: reward must return a finite number, got nil at step 1 of the episode with seed 4"
  says_once 's/reward = /rewards = /' "task/rail.lua: a MuJoCo task has no entry 'rewards'; did you mean 'reward'?"
  says_once 's/rail.xml/rial.xml/' "task/rail.lua: entry 'model': cannot read 'task/rial.xml'"
  cp task/rail.xml good.xml
  says_once 's/type="slide"/type="slides"/' "rail.xml: MuJoCo cannot compile it: " good.xml task/rail.xml
  says err "line 6"
  cp good.xml task/rail.xml
  rm task/shapes/wedge.obj
  says_once 's/x/x/' "parts.xml:1: cannot read 'task/shapes/wedge.obj'"
}
