# shellcheck shell=bash
# What --set reaches and what it must not, and whose the options of things written in Lua are.

# null takes out what is there; a name that nobody knows is told at any depth.
case_set_null_names() {
  training_script ''
  sed 's#env = .*#env = { name = "cartpole-swingup", pixels = { 16, 16 }, time_limit = 1, state = true },#; s#iterations = 4#iterations = 0#' train.lua >pixels.lua
  local script name option known
  while read -r script name option known; do
    refuses "unknown option '$option'; $known" run "$script.lua" --set "$name=null"
  done <<'NAMES'
train env.lenght lenght did you mean 'length'?
train optimizer.sgima sgima did you mean 'sigma'?
train policy.blocks.1.bais bais did you mean 'bias'?
train policy.blocks.1.bais.x bais did you mean 'bias'?
train eval_env.lenght lenght did you mean 'length'?
pixels env.distractoin distractoin did you mean 'distraction'?
pixels env.distraction.camrea camrea did you mean 'camera'?
pixels env.render.shadow shadow did you mean 'shadows'?
NAMES
  refuses "unknown option 'pixls'; did you mean 'pixels'?" run pixels.lua --set 'curriculum=[{"through":1},{}]' --set curriculum.1.pixls=null
  # What has its default, or none, is as if it had never been given.
  run run pixels.lua --out plain
  exits 0
  for name in env.distraction env.distraction.camera env.render.shadows eval_env.distraction optimizer.plateau policy.blocks.1.bias; do
    run run pixels.lua --out plain --resume --set "$name=null"
    exits 0
  done
  run eval plain --episodes 1 --set render.shadow=null
  exits 1
  says err "there is no option 'render.shadow' to drop; did you mean 'shadows'?"
  run eval plain --episodes 1 --set render.shadows=null
  exits 0
}

# NAME=null of what iap.train cannot be without: a policy, unless it begins at one, and an environment.
case_set_null_required() {
  training_script 'init = first,'
  sed -i '1a local first = iap.options({ first = "" }).first; first = first ~= "" and first or nil' train.lua
  run run train.lua --out first
  exits 0
  local script
  for script in train undeclared; do
    run run $script.lua --set init=first --set policy=null --out $script
    exits 0
    grep -q '"policy"' <(sed -n '/"given": {/,/^  }/p' $script/config.json) && fail "a policy was given that was taken out"
    refuses "option 'policy' is missing or nil" run $script.lua --set policy=null
    refuses "option 'env' cannot be taken out: iap.train needs an environment" run $script.lua --set env=null --set init=first
    sed 's/^local first = .*/local first/' train.lua >undeclared.lua
  done
}

# Another file is read where another one is named, and nothing is left of the one before.
case_set_file() {
  training_script 'out = "run",'
  sed -i 's#policy.sequence {#& iap.policy.observation {}, iap.policy.script { file = "scale.lua", by = 2 },#' train.lua
  cat >scale.lua <<'LUA'
local factor = require "factor"
return function(options, shapes)
  return { parameters = 0, outputs = shapes.inputs, forward = function(_, _, inputs)
    local values = {}
    for i, x in ipairs(inputs) do values[i] = factor * options.by * x end
    return values
  end }
end
LUA
  echo 'return 1' >factor.lua
  sed 's/^local factor.*/local factor = 0/' scale.lua >zero.lua
  sed 's/9\.81/1.62/' pendulum.lua >moon.lua
  cmp -s pendulum.lua moon.lua && fail "the moon is as heavy as the earth"
  run run train.lua --set env.name=moon.lua --set policy.blocks.2.file=zero.lua
  exits 0
  cp run/final.iap by_set.iap
  rm -r run
  sed 's/pendulum\.lua/moon.lua/; s/scale\.lua/zero.lua/' train.lua >other.lua
  run run other.lua
  exits 0
  cmp run/final.iap by_set.iap || fail "a file that --set names is not read"
  run run train.lua --resume --set iterations=5 --set env.name=moon.lua --set policy.blocks.2.file=zero.lua
  exits 0
  run run train.lua --resume --set iterations=6
  exits 1
  says err "another text now"
  run run train.lua --out new --set policy.blocks.2.file=nothere.lua
  exits 1
  says err "cannot read 'nothere.lua'"
  run run train.lua --out new --set env.name=nothere.lua
  exits 1
  says err "cannot read 'nothere.lua'"
  run run train.lua --out cartpole --set env.name=cartpole-swingup
  exits 0
}

# What iap keeps of files is nobody's to set: without it a stranger's Lua would be free.
case_set_records() {
  task_files
  sed -i 's#^return function(options)#&\n  local urdf = options.urdf#' task/rail.lua
  sed -i 's#time_limit = 20,#& urdf = "mine",#; s#iterations = 4#iterations = 0#' train.lua
  run run train.lua
  exits 0
  local record place
  for record in loaded_from source required_modules model_files; do
    run eval run --episodes 1 --set $record=null
    exits 1
    says err "--set $record=null: '$record' is no option but what iap itself writes beside the name of a file; leave it out"
    for place in env eval_env curriculum.1; do
      refuses "--set $place.$record: '$record' is no option" run train.lua --out other --set $place.$record=x
    done
  done
  echo 'return function(options, shapes) return { parameters = 0, outputs = 1, forward = function() return { 1 } end } end' >scaled.lua
  sed 's#policy.concat {#& iap.policy.script { file = "scaled.lua" },#' train.lua >block.lua
  refuses "'source' is no option but" run block.lua --out other --set policy.blocks.1.blocks.1.source=x
  # A task's own option may be called as one of a robot: the model stays.
  run eval run --episodes 1 --set urdf=yours
  exits 0
  says out "urdf=yours"
}

# Whole numbers are of the kind that the script's default has: integers wrap around, floats do not.
case_number_types() {
  cat >types.lua <<'LUA'
local o = require "iap".options({ x = 0.5, n = 3, list = { 0.5, 1.5 }, deep = { y = 2.5 } }, { training = false })
print(o.x * o.x * o.x * o.x, math.type(o.n), o.n, math.type(o.list[3] or o.list[1]), math.type(o.deep.y))
LUA
  run run types.lua --set x=100000 --set n=1e3 --set "list=[1,2,3]" --set deep.y=3
  exits 0
  [ "$(cat out)" = "$(printf '1e+20\tinteger\t1000\tfloat\tfloat')" ] || fail "other kinds of numbers: $(cat out)"
  run run types.lua --set n=9223372036854775807
  exits 0
  says out 9223372036854775807
  local number
  for number in 9223372036854775808 -1e300; do
    refuses "--set n=$number: expected an integer like the default 3, from -2^63 to 2^63 - 1, got" run types.lua --set n=$number
  done
}

# A table that is given for the script's changes what it names, as its parts would one by one.
case_tables_given() {
  cat >tables.lua <<'LUA'
local o = require "iap".options({ t = { a = 1, b = { c = 2, d = 3 } }, free = {}, list = { 1, 2 } }, { training = false })
print(o.t.a, o.t.b.c, o.t.b.d, math.type(o.t.a), o.free.x, #o.list)
LUA
  run run tables.lua --set 't={"a":5.0,"b":{"c":7}}' --set 'free={"x":8}' --set 'list=[1,2,3]'
  exits 0
  [ "$(cat out)" = "$(printf '5\t7\t3\tinteger\t8\t3')" ] || fail "a table for a table: $(cat out)"
  run run tables.lua --set 't={}' --set 't.b.c=9'
  exits 0
  [ "$(cat out)" = "$(printf '1\t9\t3\tinteger\tnil\t2')" ] || fail "an empty table: $(cat out)"
  refuses "--set t={\"zz\":5}: the script's option 't' has no 'zz'" run tables.lua --set 't={"zz":5}'
  refuses "the script's option 't.b' has no 'e'" run tables.lua --set 't={"b":{"e":5}}'
  refuses "the script's option 't' has no 'zz'" run tables.lua --set t.zz=5
  refuses "'t.a' must be a number like the default 1, got \"word\"" run tables.lua --set 't={"a":"word"}'
  refuses "'t.b' must be a table like the default" run tables.lua --set 't={"b":5}'
}

# The own options of what is written in Lua may be called as iap's: a run goes on with the same ones alone, and a policy acts in its
# file as in training.
case_own_options() {
  cat >own.lua <<'LUA'
return function(options)
  local size = 0
  for _ in pairs(options.level) do size = size + 1 end
  assert(size == 2 and options.level.env == "x.lua", "the level is another one")
  return {
    spec = { action_size = 1, vector = 1 }, reset = function() end, observe = function() return { 1 } end,
    step = function() return #options.kind + #options.file, false, true end,
  }
end
LUA
  cat >block.lua <<'LUA'
return function(options)
  local size = 0
  for _ in pairs(options.level) do size = size + 1 end
  assert(size == 2, "the block's level is another one")
  return { parameters = 0, outputs = 1, forward = function() return { size } end }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = { name = "own.lua", level = { name = "forest.lua", env = "x.lua" }, file = "a", kind = "big" },
  policy = iap.policy.sequence {
    iap.policy.script { file = "block.lua", level = { kind = "script", name = "forest.lua" } }, iap.policy.linear {},
  },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_every = 1, eval_episodes = 1, quiet = true, out = "run",
}
LUA
  run run train.lua
  exits 0
  silent err
  run eval run --episodes 1
  exits 0
  says out "mean return         4.00"
  local set
  for set in env.file=b env.kind=tall env.level.name=meadow.lua policy.blocks.1.level.name=meadow.lua; do
    run run train.lua --resume --set iterations=2 --set $set
    exits 1
    says err "with other settings (${set%%=*}: "
  done
  mkdir elsewhere
  cp own.lua block.lua elsewhere
  run run train.lua --resume --set iterations=2 --set env.name=elsewhere/own.lua --set policy.blocks.1.file=elsewhere/block.lua
  exits 0
  # A file that is loaded and saved again is the same.
  echo 'require "iap".policy.load("run/best.iap"):save "again.iap"' >again.lua
  run run again.lua
  exits 0
  cmp run/best.iap again.iap || fail "saving a policy again changes it"
}

# A block or an environment in a stranger's file is confined whatever it and those around it are called.
case_trust_hidden() {
  echo 'return function() os.execute("touch owned") return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end' >touch.lua
  cat >world.lua <<'LUA'
return function(options)
  local own = options.kind, options.block
  os.execute("touch owned")
  return { spec = { action_size = 1, vector = 1 }, reset = function() end, observe = function() return { 1 } end,
    step = function() return 0, false, true end }
end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
local plain = iap.env.make("cartpole-swingup", { time_limit = 1 })
local touch = { file = "touch.lua", name = "cheetah-run" }
iap.policy.build(iap.policy.sequence { name = "x", iap.policy.concat { iap.policy.script(touch) }, iap.policy.linear {} }, plain):save "1.iap"
iap.policy.build(iap.policy.script(touch), plain):save "2.iap"
local world = iap.env.make { name = "world.lua", kind = "mirror", block = { kind = "script", file = "touch.lua" } }
iap.policy.build(iap.policy.linear {}, world):save "3.iap"
local text = assert(io.open("world.lua")):read("a")
iap.policy.build(iap.policy.linear {}, plain):save("4.iap", { env = { name = "a.lua", source = "", inner = { name = "b.lua", source = text } } })
LUA
  run run build.lua
  exits 0
  rm owned touch.lua world.lua
  local policy
  for policy in 1 2 3; do
    run eval $policy.iap --episodes 1
    exits 1
    says err "os.execute is not available to Lua that comes out of a file"
    [ ! -e owned ] || fail "$policy.iap ran os.execute"
    run eval $policy.iap --episodes 1 --trust
    exits 0
    rm owned
  done
  # What a script takes out of a file is as confined as the file.
  echo 'local iap = require "iap" iap.env.make(iap.policy.load("4.iap"):metadata().env.inner)' >inner.lua
  run run inner.lua
  exits 1
  says err "os.execute is not available to Lua that comes out of a file"
  [ ! -e owned ] || fail "an environment inside another one ran os.execute"
}

# Options of an environment as iap run has them, where a command takes those alone.
case_set_env() {
  training_script 'out = "run",'
  run run train.lua --set iterations=0
  exits 0
  refuses "--set env.time_limit=7: the environment's options are written without 'env.' here: --set time_limit=7" eval run --set env.time_limit=7
  refuses "here: --set time_limit=null" eval run --set env.time_limit=null
  refuses "here: --set pixels=[3,3]" check cartpole-swingup --set env.pixels=[3,3]
  refuses "--set env.name=other.lua: another environment is chosen with --env" eval run --set env.name=other.lua
  refuses "environment 'pendulum.lua': unknown option 'env'; known: " eval run --set env=7
  # A world may have a table of that name.
  sed -i 's/options.length or/options.env and options.env.length or/' pendulum.lua
  run run train.lua --set iterations=0 --out own
  exits 0
  run eval own --episodes 1 --set env.length=2
  exits 0
}

# What is given for a script's own table or list is one, of what it holds.
case_given_in_kind() {
  cat >kinds.lua <<'LUA'
local o = require "iap".options({
  es = { sigma = 0.3, rate = 0.2 }, tasks = { { strength = 4, kind = "a" }, { offset = 6, free = {} } }, flags = { true, false }, sizes = { 16, 32 },
  names = { "a" }, none = {}, stages = { { through = 3 }, {} }, deep = { { a = {} }, { a = { b = 1 } } }, rows = { {}, { 1, 2 } },
}, { training = false })
print(o.es.sigma, #o.tasks, o.tasks[1].strength, o.tasks[1].offset, #o.sizes, #o.none, o.stages[1].pixels)
if o.rows[2][1] ~= 1 then print(o.deep[2].a.b, o.rows[2][1]) end
LUA
  local given message
  while IFS='|' read -r given message; do
    refuses "--set $given: $message" run kinds.lua --set "$given"
  done <<'GIVEN'
es=[0.1,0.05]|expected a table like the default {"rate":0.2,"sigma":0.3}, got [0.1,0.05]
sizes={"a":1}|expected a list like the default [16,32], got {"a":1}
flags=[1,0]|'flags.1' must be a boolean like the default true, got 1
sizes=["16","x"]|'sizes.1' must be a number like the default 16, got "16"
sizes=[3,null]|'sizes.2' must be a number like the default 16, got null
names=[5]|'names.1' must be a string like the default "a", got 5
tasks=[{"strenght":9}]|the script's option 'tasks.1' has no 'strenght'; did you mean 'strength'?
tasks=[{"strength":"9"}]|'tasks.1.strength' must be a number like the default 4, got "9"
tasks=[{"free":{"x":1}},{"kind":3}]|'tasks.2.kind' must be a string like the default "a", got 3
names=b|expected a list like the default ["a"], got "b"
tasks.1.offset=x|expected a number like the default 6, got "x"
sizes.1=x|expected a number like the default 16, got "x"
GIVEN
  refuses "--set tasks.1.strenght: the script's option 'tasks.1' has no 'strenght'; did you mean 'strength'?" run kinds.lua --set tasks.1.strenght=9
  refuses "option path 'sizes.3': '3' is no position in a list of 2; positions count from 1" run kinds.lua --set sizes.3=4
  refuses '--set sizes=16,32: option '"'sizes'"' must be a list of integers, got "16,32"; write it as [16,32]' run kinds.lua --set sizes=16,32
  run run kinds.lua --set 'tasks=[{"strength":9,"offset":1},{},{"free":{"x":1}}]' --set 'es=[]' --set 'sizes=[]' --set 'none=[1,"x"]' \
    --set 'stages=[{"pixels":[3,3]}]'
  exits 0
  says out "$(printf '0.3\t3\t9\t1\t0\t2\ttable')"
  # An element may hold what any element of the list holds.
  run run kinds.lua --set tasks.1.offset=7 --set 'tasks.2={"strength":1}'
  exits 0
  says out "$(printf '0.3\t2\t4\t7\t2')"
  run run kinds.lua --set deep.2.a.b=5 --set rows.2.1=7
  exits 0
  says out "$(printf '5\t7')"
  cat >mixed.lua <<'LUA'
local o = require "iap".options({ mixed = { 1, "auto" }, cap = math.huge, caps = { 1.5, 2.5 }, count = 3, name = "x" }, { training = false })
print(o.mixed[1], o.cap, o.caps[1], o.caps[2], o.name)
LUA
  run run mixed.lua --set mixed.1=auto --set cap=-inf --set 'caps=[3,"inf"]' --set name=inf
  exits 0
  says out "$(printf 'auto\t-inf\t3.0\tinf\tinf')"
  refuses '--set cap=infinite: expected a number like the default inf, got "infinite"' run mixed.lua --set cap=infinite
  refuses '--set count=inf: expected an integer like the default 3' run mixed.lua --set count=inf
}

# A path below what has no parts is told with its name, and so is a name of which nothing was given.
case_set_no_parts() {
  training_script ''
  local path
  for path in iterations seed; do
    refuses "option path '$path.x': cannot set 'x' inside an integer (" run train.lua --set $path.x=3
  done
  refuses "option path 'env.time_limit.x': cannot set 'x' inside an integer (20)" run train.lua --set env.time_limit.x=3
  sed -i 's/, { time_limit = 20 }//; s/iterations = 4/iterations = 0/' train.lua
  refuses "--set env.time_limit.x=null: environment 'pendulum.lua': option 'time_limit' must be an integer, got {\"x\":null}" run train.lua --set env.time_limit.x=null
  refuses "unknown option 'lenght'; did you mean 'length'?" run train.lua --set curriculum.1.lenght=null
  refuses "'first' is no position in a list of stages" run train.lua --set curriculum.first.length=null
  refuses "--set init.x=null: option 'init' is not given, so that it has no 'x' to take out" run train.lua --set init.x=null
  refuses "--set log.3=null: option 'log' is not given" run train.lua --set log.3=null
  refuses "unknown option 'sgima'; did you mean 'sigma'?" run train.lua --set 'optimizer.sgima= null'
  run run train.lua --set 'optimizer.sigma= null ' --set curriculum.1.length=null
  exits 0
}

# What is for Lua, which tells 3 from 3.0, resumes with the same kinds of numbers alone.
case_resume_number_kinds() {
  training_script 'out = iap.run_folder("run"),'
  sed -i 's#time_limit = 20#&, length = 2, curve = { 3, 1.5 }#; s#policy.sequence {#& iap.policy.observation {}, iap.policy.script { file = "scale.lua", by = 2 },#' train.lua
  sed -i 's#^return function(options)#&\n  local curve = options.curve#' pendulum.lua
  echo 'return function(o, shapes) local by = o.by return { parameters = 0, outputs = shapes.inputs, forward = function(_, _, x) return x end } end' >scale.lua
  run run train.lua --set iterations=1
  exits 0
  refuses "(env.length: 2 before, 2.0 now)" run train.lua --resume --set env.length=2.0
  refuses "(env.curve.1: 3 before, 3.0 now)" run train.lua --resume --set 'env.curve=[3.0,1.5]'
  refuses "(policy.blocks.2.by: 2 before, 2.0 now)" run train.lua --resume --set policy.blocks.2.by=2.0
  run run train.lua --resume --set iterations=2.0 --set optimizer.population=8.0 --set env.time_limit=20.0
  exits 0
}
