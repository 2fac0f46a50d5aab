# shellcheck shell=bash
# Strangers' Lua in the program: what it may not reach, use up or print. The cases are those of tests/lua/escapes.
case_escapes() {
  run run "$here/../lua/escapes/play.lua"
  exits 0
  says out "cases as expected"
  [ ! -e owned ] || fail "a case reached os.execute"

  # Each of these is a process that ends by itself, with one line that says who, where, what and the remedy.
  cat >build.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("cartpole-swingup", { time_limit = 1 })
local function save(name, text)
  local source = "return function() return { parameters = 0, outputs = 1, forward = function()\n" .. text .. "\nend } end"
  iap.policy.build(iap.policy.script { file = "block.lua", source = source }, env):save(name)
end
save("endless.iap", "while true do pcall(function() while true do end end) end")
save("fills.iap", "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) end")
save("steers.iap", "error('\27]0;owned\7\27[2Jfine', 0)")
LUA
  run run build.lua
  exits 0
  local trust="the most that Lua out of a file may; if you trust"
  run eval endless.iap --episodes 1 --threads 1
  exits 1
  lines err 1
  says err "endless.iap: block.lua:2: took more than 300 million steps in one call, $trust 'endless.iap', pass --trust"
  run eval fills.iap --episodes 1 --threads 1
  exits 1
  lines err 1
  says err "$trust 'fills.iap', pass --trust"
  run eval steers.iap --episodes 1 --threads 1
  exits 1
  lines err 1
  says err "steers.iap: block.lua: forward: ?]0;owned??[2Jfine"

  # Names in a file are as little to be trusted as its programs.
  cat >names.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("cartpole-swingup", { time_limit = 1 })
iap.policy.build(iap.policy.linear {}, env):save("names.iap", { env = "no\27[2Jthing" })
local built, flaw = pcall(iap.policy.build, iap.policy.linear { name = "a\27[31mb" }, env)
assert(not built)
error(flaw, 0)
LUA
  run run names.lua
  exits 1
  says err 'policy: has the name "a\u001b[31mb"'
  no_escape
  run eval names.iap --episodes 1
  exits 1
  says err "no?[2Jthing"
  no_escape
}

no_escape() {
  if grep -q "$(printf '\033')" out err; then fail "a name steers the terminal"; fi
}

# Files that would fill the memory are refused before they do; the limit of addresses stands for a small machine.
# The folder of a run of somebody else: what its links lead to is neither read nor written, what is no file is not waited for.
case_strangers_run() {
  training_script 'out = "base",'
  run run train.lua
  exits 0
  echo "a secret" >secret
  local name
  # turned NAME TARGET: a copy of the run in which NAME is a link.
  turned() { rm -rf turned && cp -r base turned && mkdir -p turned/media && ln -sfn "$2" "turned/$1"; }
  for name in experiment.lua config.json metrics.csv; do
    turned $name ../secret
    refuses "'turned/$name' is a link to '../secret', which leads out of its folder" report turned --no-pictures
  done
  turned report.html ../secret
  refuses "'turned/report.html' is a link" report turned --no-pictures
  turned media/strip.png ../../secret
  refuses "'turned/media/strip.png' is a link" play turned --strip 2
  turned best.iap ../secret
  refuses "'turned/best.iap' is a link" eval turned
  for name in log.txt best.iap experiment.lua metrics.csv checkpoint.iap; do
    turned $name "../written"
    run run train.lua --set out=turned --resume --set iterations=6
    exits 1
    says err "'turned/$name' is a link to '../written'"
    [ ! -e written ] || fail "$name is written through a link"
    [ -s turned/result.json ] && [ -s turned/final.iap ] || fail "a run that is refused loses its end"
  done
  turned result.json ../written
  refuses "'turned/result.json' is a link to '../written'" report turned --no-pictures
  run run train.lua --set out=turned --resume --set iterations=6
  exits 0
  says err "warning: making result.json anew, because 'turned/result.json' is a link"
  [ ! -e written ] && [ ! -L turned/result.json ] || fail "a link that the run removes is written through"
  [ "$(cat secret)" = "a secret" ] || fail "a file outside is written to"
  # Links within the folder, and the folder itself, may be what they like.
  ln -s base linked
  mv base/final.iap base/kept.iap && ln -s kept.iap base/final.iap
  run eval linked --policy final --episodes 1
  exits 0
  for name in config.json metrics.csv experiment.lua best.iap result.json; do
    turned nothing here
    rm -f "turned/$name" && mkfifo "turned/$name"
    refuses "'turned/$name' is no regular file" report turned --no-pictures
  done
  for content in '[]' '5' 'null'; do
    turned nothing here
    echo "$content" >turned/config.json
    refuses "'turned/config.json' is no table of settings" report turned --no-pictures
  done
  # Continuing the run mends what it can write anew, and says so.
  echo '{"iterations": ' >turned/result.json
  run run train.lua --set out=turned --resume
  exits 0
  says err "warning: writing config.json anew, because 'turned/config.json' is no table of settings"
  says err "warning: making result.json anew, because turned/result.json"
  for name in config.json result.json; do
    cmp "turned/$name" "base/$name" || fail "$name is another one"
  done
  cp -r base other
  for content in '{"env": {"name": {}}, "seed": 1, "iterations": 4}' '{"env": {"name": [{"a": 1}]}, "given": 5}'; do
    turned nothing here
    echo "$content" >turned/config.json
    run report turned other --no-pictures --out page.html
    [ "$code" -le 1 ] || fail "a strange config.json ends the program with $code"
  done
  turned nothing here
  sed -i 's/"instructions": "[^"]*"/"instructions": "\\u001b]0;owned\\u0007\\u009b31m\\u202e"/' turned/config.json
  run run train.lua --set out=turned --resume
  exits 0
  says err "the run was made with ?]0;owned??31m? instructions so far"
  # Names that repeat each other's beginnings would spell out to gigabytes.
  lua_text='local deep = string.rep("k", 20000) local s = {} for i = 1, 2000 do s[i] = string.format("\"%d\": 1", i) end
    print("{\"" .. deep .. "\": {" .. table.concat(s, ",") .. "}}")'
  echo "$lua_text" >long.lua
  run run long.lua
  turned nothing here
  cp out turned/config.json
  refuses "the settings of a run have names and values of more than 8 MiB together" report turned --no-pictures
}

# Whoever works in a stranger's folder writes what nobody named a place for into it, too.
case_strangers_places() {
  training_script 'out = "base",'
  run run train.lua
  exits 0
  local ending
  echo "a secret" >secret
  save_policy
  mkdir folder && cp policy.iap folder/best.iap && mv base folder/one
  run run train.lua --out folder/two --seed 4
  exits 0
  cd folder || exit 1
  for ending in webp png; do
    local strip=()
    [ $ending = png ] && strip=(--strip 2)
    ln -s ../secret best.$ending
    refuses "'best.$ending' is a link; name the file to write with --out FILE" play best.iap "${strip[@]}"
    run play best.iap "${strip[@]}" --out named.$ending
    exits 0
    rm best.$ending && ln -s ../written best.$ending
    refuses "'best.$ending' is a link; name" play best.iap "${strip[@]}"
    rm best.$ending && mkfifo best.$ending
    refuses "'./best.$ending' is no regular file; remove it, or name another place" play best.iap "${strip[@]}"
    rm best.$ending && ln -s one/$ending best.$ending && touch one/$ending
    refuses "'best.$ending' is a link; name" play best.iap "${strip[@]}"
    [ ! -s one/$ending ] || fail "a link within the folder is followed"
  done
  ln -s ../secret report.html
  refuses "'report.html' is a link; name" report one two --no-pictures
  run report one two --no-pictures --out page.html
  exits 0
  ln -s ../../secret one/report.html
  run report one --no-pictures --out page.html
  exits 0
  echo 'require("iap").report.html { runs = { "one", "two" }, pictures = false, out = arg[1] }' >page.lua
  run run page.lua
  exits 1
  says err "'report.html' is a link; name"
  run run page.lua page.html
  exits 0
  cd .. || exit 1
  [ "$(cat secret)" = "a secret" ] && [ ! -e written ] || fail "a file outside is written to"
}

# A run that goes on a stranger's series names its first folder in an experiment.lua of one's own.
case_strangers_series() {
  training_script 'out = iap.run_folder("x"),'
  sed -i '1a for _ = 1, 2 do' train.lua
  echo "end" >>train.lua
  sed 's/, 2 do$/, 1 do/' train.lua >first.lua
  run run first.lua
  exits 0
  { printf -- '-- run 1 of the series of x\rio.open("owned", "w"):close() --\n' && cat x/experiment.lua; } >experiment.lua
  mv experiment.lua x
  run run train.lua --resume
  exits 0
  [ "$(head -1 x-2/experiment.lua)" = "-- run 2 of the series of x" ] || fail "another series: $(head -1 x-2/experiment.lua)"
  run run x-2/experiment.lua --out y --set iterations=1
  exits 0
  [ ! -e owned ] || fail "a name in a stranger's run is Lua in one's own"
}

# Commands that are printed for copying hold a stranger's names as one word of a shell.
case_strangers_names() {
  local name="x; touch owned #"
  training_script 'out = "base",'
  run run train.lua
  exits 0
  cp base/best.iap "$name.iap"
  refuses "look at it with iap eval '$name.iap' or iap play '$name.iap'" run "$name.iap"
  run "$name.iap"
  exits 2
  says err "to look at a run or a policy: iap eval '$name.iap', iap play '$name.iap'"
  run "$name.lua"
  exits 2
  says err "to run a script: iap run '$name.lua'"
  run run train.lua "--$name"
  exits 2
  says err "iap run FILE -- '--$name'"
  cat >named.lua <<LUA
local iap = require "iap"
iap.policy.build(iap.policy.linear {}, iap.env.make("cartpole-swingup", { time_limit = 1 })):save("named.iap", { env = { name = "$name.lua", source = "" } })
dofile("$scripts/check.lua").forge("named.iap", '"source":""', '"sourcE":""')
LUA
  run run named.lua
  exits 0
  refuses "name an environment yourself (--env '$name.lua')" eval named.iap --episodes 1
  sed -i "s/\"instructions\": \"[^\"]*\"/\"instructions\": \"$name\"/" base/config.json
  run run train.lua --resume
  exits 0
  says err "\`--instructions '$name'\` keeps them"
  mkdir -p "$name/seed1" && mv base/* "$name/seed1"
  run report "$name/seed1" --no-pictures
  exits 0
  says "$name/seed1/report.html" "iap report &#39;$name/seed1&#39; --no-pictures</code>"
  touch "$name/seed1/job.json"
  refuses "iap report '$name'/*seed*/ makes one of its runs" report "$name"
}

# The folder of somebody else's sweep is one of runs.
case_strangers_sweep() {
  training_script 'out = iap.run_folder("runs/own"),'
  echo "a secret" >secret
  mkdir linked && ln -s ../secret linked/sweep.csv
  refuses_to_sweep "'linked/sweep.csv' is a link to '../secret', which leads out of its folder" linked
  refuses_to_sweep "'linked/sweep.csv' is a link" linked --collect
  mkdir victim folders && ln -s ../victim folders/sigma=0.1-seed1
  refuses_to_sweep "'folders/sigma=0.1-seed1' is a link to '../victim', and a run's files would be written there" folders
  [ -z "$(ls victim)" ] || fail "a folder outside is written to"
  mkdir -p output/sigma=0.1-seed1 && ln -s ../../secret output/sigma=0.1-seed1/output.txt
  refuses_to_sweep "output.txt' is a link to '../../secret'" output
  mkdir -p pipe/sigma=0.1-seed1 && mkfifo pipe/sigma=0.1-seed1/output.txt
  refuses_to_sweep "output.txt' is no regular file" pipe
  [ "$(cat secret)" = "a secret" ] || fail "a file outside is written to"
}

# refuses_to_sweep EXPECTED FOLDER [OPTION...]
refuses_to_sweep() {
  run sweep train.lua --over optimizer.sigma=0.1 --seed 1 --out "$2" "${@:3}"
  [ "$code" = 1 ] || fail "exit code $code"
  says err "$1"
}

# in_groups LIMIT LINE...: a process that /proc/self/cgroup places by these lines may use so much memory; the folder tree stands for the
# machine's control groups
in_groups() {
  local limit=$1
  shift
  printf '%s\n' "$@" >groups
  # shellcheck disable=SC2016
  unshare -r --mount --propagation private sh -c 'mount --bind tree /sys/fs/cgroup && mount --bind groups "/proc/$$/cgroup" && exec "$@"' \
    sh "$iap" eval large.iap >out 2>err </dev/null
  says err "needs 80 GiB of memory, more than half of the $limit that this process may use"
}

# The least limit of memory of a process's control groups and those above them counts, of version 1 and 2.
case_control_groups() {
  mkdir -p tree/memory/outer/inner tree/memory/other tree/outer/inner
  # shellcheck disable=SC2016
  unshare -r --mount --propagation private sh -c 'mount --bind tree /sys/fs/cgroup && mount --bind err "/proc/$$/cgroup"' 2>err ||
    skip "nothing may be mounted here: $(cat err)"
  truncate -s 40G large.iap
  echo 400000000 >tree/memory.max
  echo 300000000 >tree/outer/memory.max
  echo 200000000 >tree/outer/inner/memory.max
  in_groups "191 MiB" 0::/outer/inner
  in_groups "286 MiB" 0::/outer
  in_groups "381 MiB" 0::/
  echo max >tree/outer/inner/memory.max
  in_groups "286 MiB" 0::/outer/inner
  rm tree/outer/memory.max
  in_groups "381 MiB" 0::/outer/inner
  echo 9223372036854771712 >tree/memory/memory.limit_in_bytes
  echo 350000000 >tree/memory/outer/memory.limit_in_bytes
  echo 250000000 >tree/memory/outer/inner/memory.limit_in_bytes
  echo 150000000 >tree/memory/other/memory.limit_in_bytes
  in_groups "238 MiB" 4:cpu,memory:/outer/inner 3:pids:/other
  in_groups "334 MiB" 4:memory:/outer 0::/
  in_groups "381 MiB" 4:memory:/ 3:cpu,pids:/other 0::/outer
}

case_large_files() {
  training_script 'out = "base",'
  run run train.lua
  exits 0
  truncate -s 40G large.iap large.wad
  (
    ulimit -v 8000000
    for command in "eval large.iap" "play large.iap"; do
      # shellcheck disable=SC2086
      run $command
      exits 1
      lines err 1
      says err "needs 80 GiB of memory, more than half of the 7.6 GiB that this process may use"
    done
    # Reading a policy takes its size twice, a checkpoint's three times.
    truncate -s 2100M twice.iap
    refuses "reading 'twice.iap' needs 4.1 GiB of memory, more than half of the 7.6 GiB" eval twice.iap
    rm -rf turned && cp -r base turned && rm -f turned/checkpoint.previous.iap && truncate -s 1500M turned/checkpoint.iap
    run run train.lua --set out=turned --resume --set iterations=6
    exits 1
    says err "reading 'turned/checkpoint.iap' needs 4.4 GiB of memory, more than half of the 7.6 GiB"
    for name in config.json metrics.csv experiment.lua result.json; do
      rm -rf turned && cp -r base turned && truncate -s 40G "turned/$name"
      refuses "40 GiB" report turned --no-pictures
    done
    rm -rf turned && cp -r base turned && truncate -s 40G turned/metrics.csv
    run run train.lua --set out=turned --resume --set iterations=6
    exits 1
    says err "reading 'turned/metrics.csv' needs 40 GiB of memory"
    cat >wad.lua <<'LUA'
local iap = require "iap"
iap.env.make("take-cover", { wad = arg[1] }):reset(1)
LUA
    run run wad.lua large.wad
    exits 1
    says err "cannot read 'large.wad': it has 40 GiB, at most 1 GiB are taken"
    run run wad.lua /dev/zero
    exits 1
    says err "cannot read '/dev/zero': it is no regular file"
    cat >images.lua <<'LUA'
local iap = require "iap"
local image = "{ height = 16384, width = 16384, channels = 4, type = 'float32' }"
iap.env.make { name = "env.lua", source = "return function() return { spec = { action_size = 1, images = { a = " .. image .. " } } } end", loaded_from = "x.iap" }
LUA
    run run images.lua
    exits 1
    says err "image 'a' needs 16 GiB of memory"
    lines err 1
    cat >layers.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.sequence { iap.policy.linear { units = 60000 }, iap.policy.linear { units = 60000 }, iap.policy.linear {} }, iap.env.make("cartpole-swingup"))
LUA
    run run layers.lua
    exits 1
    says err "make its layers smaller"
    # A layer with a megabyte of outputs for every ten letters.
    cat >wide.lua <<'LUA'
local iap = require "iap"
local hidden = {}
for i = 1, 20000 do hidden[i] = 1 << 20 end
iap.policy.build(iap.policy.mlp { hidden = hidden }, iap.env.make("cartpole-swingup"))
LUA
    run run wide.lua
    exits 1
    says err "make its layers smaller"
    cat >heads.lua <<'LUA'
local iap = require "iap"
local heads = iap.attention.rank { patch = 1, heads = 64, d = 4096, kernel = "softmax", top = 1 }
iap.policy.build(iap.policy.sequence { heads, iap.policy.linear {} }, iap.env.make("cheetah-run", { pixels = { 256, 256 } }))
LUA
    run run heads.lua
    exits 1
    says err "what its heads keep needs 129 GiB of memory"
    # What a probe fits: numbers of a state, which cost a file a word, to numbers of a block.
    cat >wide_state.lua <<'LUA'
local iap = require "iap"
local numbers, outputs, out = table.unpack(arg)
local env = ([[local t, steps = {}, 0
local function observe() for i = 1, N do t[i] = math.random() end return t end
return { spec = { action_size = 1, vector = N }, reset = function() steps = 0 end, observe = observe,
  step = function() steps = steps + 1 return 0, steps == 3 end }]]):gsub("N", numbers)
local block = [[return function() local o = {} return { parameters = 0, outputs = N, forward = function() BODY return o end } end]]
local function script(name, count, body)
  return iap.policy.script { file = name, source = (block:gsub("N", count):gsub("BODY", body)) }
end
local made = iap.env.make { name = "env.lua", source = "return function() " .. env .. " end" }
iap.policy.build(iap.policy.sequence {
  script("a.lua", outputs, "for i = 1, " .. outputs .. " do o[i] = math.random() end"), script("b.lua", "1", "o[1] = 0"),
}, made):save(out)
LUA
    run run wide_state.lua 70000 2 wide.iap
    exits 0
    refuses "probe: environment 'env.lua' has a state of 70000 numbers, at most 65536 can be fitted; let it show fewer" probe wide.iap
    run run wide_state.lua 60000 2000 wide.iap
    exits 0
    run probe wide.iap --episodes 8
    exits 1
    says err "ridge regression: fitting "
    says err " targets to 2000 features on "
    lines err 1
  ) || exit 1
  # As numbers, rows of two bytes take some thirty times as much.
  { head -n 1 base/metrics.csv | cut -d, -f1 && yes 1 | head -c 30M; } >turned/metrics.csv
  (
    ulimit -v 700000
    refuses "turned/metrics.csv needs " report turned --no-pictures
  ) || exit 1
  # Frames of a file of a few kilobytes, of which a figure and a page keep up to 32 an episode.
  cat >seen.lua <<'LUA'
local iap = require "iap"
local env = [[local image = string.rep("a", 4000000)
return { spec = { action_size = 1, max_steps = 40, images = { a = { height = 2000, width = 2000, channels = 1 } } }, reset = function() end,
  observe = function() return {}, { a = image } end, step = function() return 1, false end }]]
local eye = iap.attention.rank { patch = 50, stride = 500, d = 1, top = 1 }
local made = iap.env.make { name = "env.lua", source = "return function() " .. env .. " end" }
iap.policy.build(iap.policy.sequence { eye, iap.policy.linear {} }, made):save("seen.iap")
LUA
  run run seen.lua
  exits 0
  echo 'require("iap").report.importance { policy = "seen.iap", out = "seen.png", episodes = 2 }' >frames.lua
  (
    ulimit -v 700000
    run run frames.lua
    exits 1
    says err "importance: what 1 episode leaves ("
    says err " frames of 2000 x 2000 x 1 uint8) needs "
    says err "MiB of memory, more than half of the 684 MiB that this process may use"
    lines err 1
  ) || exit 1
  # Each alone has room, both together have not.
  cat >blocks.lua <<'LUA'
local iap = require "iap"
local blocks = {}
for i = 1, 2 do blocks[i] = iap.attention.trans { patch = 1, tokens = 300, compression = "average", values = "position" } end
iap.policy.build(iap.policy.sequence { iap.policy.concat(blocks), iap.policy.linear {} }, iap.env.make("cheetah-run", { pixels = { 256, 256 } }))
LUA
  (
    ulimit -v 400000
    run run blocks.lua
    exits 1
    says err "1.concat.2.trans: "
    says err "MiB of memory, but of the 391 MiB that this process may use"
    lines err 1
  ) || exit 1
}

# Files of a few hundred kilobytes that stand for gigabytes, on a smaller machine yet.
case_large_when_unpacked() {
  command -v python3 >/dev/null || skip "there is no python3"
  python3 - <<'PY'
import struct, zipfile, zlib

def png(*chunks):
  header = (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
  return b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in (header, *chunks, (b"IEND", b"")))

def packed(mib):
  packer = zlib.compressobj(9)
  return b"".join(packer.compress(b"\1" * (1 << 20)) for _ in range(mib)) + packer.flush()

text = (b"zTXt", b"k\0\0" + packed(7))
pixel = (b"IDAT", zlib.compress(b"\0abc"))
open("texts.png", "wb").write(png(*[text] * 150, pixel))
open("pixels.png", "wb").write(png((b"IDAT", packed(400))))
with zipfile.ZipFile("others.npz", "w", zipfile.ZIP_DEFLATED) as archive:
  for name, numbers in ("a", 100 << 18), ("b", 100 << 18), ("params", 5):
    header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % numbers).ljust(117) + "\n"
    archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * numbers))
for name, descr, shape in ("shape", "<f4", b"0," * 30000000), ("descr", "x" * 30000000, b"0,"):
  header = ("{'descr': '%s', 'fortran_order': False, 'shape': (" % descr).encode() + shape + b"), }"
  with zipfile.ZipFile(name + ".npz", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("params.npy", b"\x93NUMPY\2\0" + struct.pack("<I", len(header)) + header)
PY
  cat >pictures.lua <<'LUA'
local iap = require "iap"
print(iap.image.read "texts.png")
local peak = tonumber(io.open("/proc/self/status"):read("a"):match("VmHWM:%s+(%d+)")) / 1024
assert(peak < 300, "took " .. peak .. " MiB")
LUA
  cat >textured.xml <<'XML'
<mujoco><asset><texture name="t" type="2d" file="pixels.png"/></asset><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>
XML
  echo 'return { model = "textured.xml", reward = function() return 0 end }' >textured.lua
  echo 'require("iap").env.make("textured.lua")' >models.lua
  (
    ulimit -v 700000
    run run pictures.lua
    exits 0
    run run models.lua
    exits 1
    says err "pixels.png: holds more pixels than its header says"
    lines err 1
    refuses "others.npz: holds 5 parameters" import attention-agent others.npz --out others.iap
    refuses "shape.npz: params.npy: its header has 57.2 MiB, at most 64 KiB are read" import attention-agent shape.npz --out o.iap
    refuses "descr.npz: params.npy: its header has 28.6 MiB, at most 64 KiB are read" import attention-agent descr.npz --out o.iap
  ) || exit 1
}
