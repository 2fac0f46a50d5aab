# shellcheck shell=bash
# Running scripts: errors, options, output; what the program says of itself.

case_missing_file() {
  run run nothing.lua
  exits 1
  says err "cannot read 'nothing.lua'"
  lines err 1
  mkdir folder.lua
  run run folder.lua
  exits 1
  says err "it is a folder"
  touch folder.lua/config.json policy.iap
  for file in folder.lua policy.iap; do
    run run $file
    exits 1
    says err "look at it with iap eval $file"
    lines err 1
  done
}

case_syntax_error() {
  printf 'local x = 1\nlocal y = = 2\n' >bad.lua
  run run bad.lua
  exits 1
  says err "bad.lua:2: unexpected symbol near '='"
  lines err 1
  printf '\033Lua' >binary.lua
  run run binary.lua
  exits 1
  says err "binary.lua"
}

case_runtime_error() {
  local mark
  for mark in '' '\xEF\xBB\xBF'; do
    printf "$mark"'#!/usr/bin/env iap\nlocal function f() return nil + 1 end\nf()\n' >bad.lua
    run run bad.lua
    exits 1
    says err "bad.lua:2: attempt to perform arithmetic on a nil value"
    lines err 1
  done
  printf 'error("a\\0b")' >bad.lua
  run run bad.lua
  exits 1
  says err 'bad.lua:1: a\0b'
  lines err 1
  printf 'print(iap.version)' >bad.lua
  run run bad.lua
  exits 1
  says err "(global 'iap'); a script begins with: local iap = require \"iap\""
  printf '\nerror({})' >bad.lua
  refuses 'bad.lua:2: raised no text but a value of type table; raise a text, such as error("what is wrong")' run bad.lua
  printf 'error(setmetatable({}, { __tostring = function() return "in words" end }))' >bad.lua
  refuses "in words" run bad.lua
  # Lines of one's own stay; what a terminal would obey does not.
  printf 'error("one\\ntwo\\27[2Jx", 0)' >bad.lua
  run run bad.lua
  exits 1
  lines err 2
  says err "two?[2Jx"
  printf 'iap = require "iap"\niap.env.make("cheetah-run", {pixel = {3, 3}})\n' >bad.lua
  run run bad.lua
  exits 1
  says err "bad.lua:2: environment 'cheetah-run': unknown option 'pixel'; did you mean 'pixels'?"
  lines err 1
  printf 'os.exit(7)' >exit.lua
  run run exit.lua
  exits 7
}

case_verbose() {
  printf 'local function inner() error("deep") end\nlocal function outer() inner() end\nouter()\n' >bad.lua
  run -v run bad.lua
  exits 1
  says err "bad.lua:1: deep"
  says err "stack traceback"
  says err "in upvalue 'inner'"
  run run bad.lua --verbose
  says err "stack traceback"
}

case_pipe() {
  run run <(printf '#!/usr/bin/env iap\nprint("from a pipe")\n')
  exits 0
  says out "from a pipe"
}

case_arguments() {
  mkdir lib
  echo 'return { name = "helper" }' >lib/helper.lua
  echo 'print(arg[0], #arg, arg[1], arg[2], require("helper").name)' >lib/show.lua
  run run lib/show.lua -- --seed "two words"
  exits 0
  [ "$(cat out)" = "$(printf 'lib/show.lua\t2\t--seed\ttwo words\thelper')" ] || fail "arguments"
  run run lib/show.lua plain -- -c
  exits 0
  [ "$(cat out)" = "$(printf 'lib/show.lua\t2\tplain\t-c\thelper')" ] || fail "arguments before --"
  # Those that look like options are arguments like all others to a script that looks at them, however it does.
  local look
  training_script ""
  mv train.lua plain.lua
  for look in 'assert(arg[1] == "seed=7" and arg[2] == "more" and not arg[3])' 'assert(#arg == 2)' 'for i, word in next, arg do assert(i == 0 or word == arg[i]) end assert(rawlen(arg) == 2)' \
    'for i, word in ipairs(arg) do assert(word == arg[i]) end' \
    'local n = 0 for _ in pairs(arg) do n = n + 1 end assert(n == 3)' 'assert(table.concat(arg, " ") == "seed=7 more")' \
    'assert(table.remove(arg, 1) == "seed=7" and arg[1] == "more" and #arg == 1)' 'arg[3] = "last" assert(select("#", table.unpack(arg)) == 3)'; do
    (echo "$look" && cat plain.lua) >train.lua
    run run train.lua seed=7 more
    exits 0
    silent err
  done
}

# An option whose --set was forgotten would train for hours without it.
case_forgotten_set() {
  training_script 'on_iteration = function() print("trains") end,'
  local word
  for word in optimizer.sigma=.2 seed=7 'env={"name": "cheetah-run"}' iteratoins=2 sigma=.2; do
    refuses "train.lua:2: argument '$word': the script does not read its arguments; to set an option, write --set " \
      run train.lua notes.txt "$word"
  done
  says err "write --set sigma=.2"
  refuses "argument 'seed=7'" run train.lua seed=7 --dry-run
  echo 'print(arg[0])' | cat - train.lua >named.lua
  run run named.lua seed=7
  exits 1
  says err "argument 'seed=7'"
  # A script that reads them later, or whose modules do, is left alone.
  echo 'return arg[1]' >words.lua
  for word in 'print(arg[1])' 'print(require "words")'; do
    (cat train.lua && echo "$word") >later.lua
    run run later.lua seed=7
    exits 0
  done
  # Other words are not ours to judge.
  run run train.lua label=first =1 notes.txt --set iterations=1
  exits 0
  # A script of its own options, which trains nothing.
  echo 'print(require("iap").options({ size = 3 }, { training = false }).size)' >options.lua
  run run options.lua size=4
  exits 1
  says err "argument 'size=4': the script does not read its arguments; to set an option, write --set size=4"
  lines err 1
  run run options.lua other=4
  exits 0
  echo 'print(require("iap").options({ size = 3 }, { training = false }).size, arg[1])' >options.lua
  run run options.lua size=4
  exits 0
}

case_options() {
  cat >options.lua <<'LUA'
local o = require "iap".options { size = 3, name = "relu", seed = 1, grid = { 8, 8 }, env = { repeats = 1 } }
print(o.size, o.name, o.seed, o.grid[1], o.grid[2], o.env.repeats)
LUA
  run run options.lua
  [ "$(cat out)" = "$(printf '3\trelu\t1\t8\t8\t1')" ] || fail "defaults"
  run run options.lua --set size=4.5 --set name=exp --set 'grid=[16, 32]' --set env.repeats=2 --seed 9
  exits 0
  [ "$(cat out)" = "$(printf '4.5\texp\t9\t16\t32\t2')" ] || fail "overrides"
  run run options.lua --set grid.2=5
  [ "$(cat out)" = "$(printf '3\trelu\t1\t8\t5\t1')" ] || fail "override in a list"
  # Numbers as Lua reads them, whole ones of the default's kind.
  local number
  for number in .5 -.5 1. +0.5 +1 -1.e2 +.5e-3; do
    run run options.lua --set size="$number"
    exits 0
    [ "$(cut -f 1 out)" = "$(printf 'local n = %s print(math.tointeger(n) or n)' "${number#+}" >number.lua && "$iap" run number.lua)" ] || fail "$number is another number"
  done
  run run options.lua --set name=1.2.3
  [ "$(cut -f 2 out)" = 1.2.3 ] || fail "a version is no number"
}

case_set_errors() {
  echo 'require "iap".options { population = 3 }' >options.lua
  run run options.lua --set populatoin=4
  exits 1
  says err "--set populatoin: the script has no option 'populatoin'; did you mean 'population'?"
  run run options.lua --set population=many
  exits 1
  says err "--set population=many: expected a number like the default 3, got \"many\""
  refused "iap run: --set population: write it as path=value, such as env.action_repeat=2" run options.lua --set population
  refused "iap run: --set =1: write it as path=value" run options.lua --set =1
  echo 'print(1)' >plain.lua
  for arguments in "--set a=1" "--seed 1" "--out x" "--resume"; do
    # shellcheck disable=SC2086
    run run plain.lua $arguments
    exits 1
    says err "${arguments%% *}"
    says err "nothing in the script use"
  done
  training_script ""
  run run train.lua --set env.action_repaet=2
  exits 1
  says err "unknown option 'action_repaet'; did you mean 'action_repeat'?"
  run run train.lua --set optimizer.sigam=2
  says err "unknown option 'sigam'; did you mean 'sigma'?"
  run run train.lua --set iteratoins=2
  exits 1
  says err "did you mean 'iterations'?"
  # What belongs into a table inside is told with its place, whether or not the script has options of its own.
  local pair script
  echo 'require "iap".options { size = 3 }' >own.lua
  for pair in sigma=0.2:optimizer population=4:optimizer learning_rate=0.1:optimizer action_repeat=2:env time_limit=3:env; do
    for script in train own; do
      run run $script.lua --set "${pair%:*}"
      exits 1
      says err "train: unknown option '${pair%%=*}'; did you mean '${pair#*:}.${pair%%=*}'?"
      lines err 1
    done
  done
  run run own.lua --set pixels=[32,32]
  says err "train: unknown option 'pixels'; did you mean 'env.pixels'?"
  # A short name is no typo of another one, and what iap alone writes is not offered.
  for script in train own; do
    run run $script.lua --set top=3
    exits 1
    says err "train: unknown option 'top'; known: env, policy, optimizer,"
  done
  ! grep -qE 'given|instructions|libraries|script_options' err || fail "records are offered as options"
  for pair in given instructions libraries script_options; do
    for script in train own; do
      run run $script.lua --set $pair=x
      exits 1
      says err "train: '$pair' is no option but what iap itself writes into config.json"
    done
  done
  # What takes out an option has to name one, too.
  run run train.lua --set iteratoins=null
  exits 1
  says err "unknown option 'iteratoins'; did you mean 'iterations'?"
  run run train.lua --set optmizer.sigma=null
  exits 1
  says err "unknown option 'optmizer'; did you mean 'optimizer'?"
  run run train.lua --set policy.blocks.7.units=2
  exits 1
  says err "'7' is no position in a list of 1"
}

# An override that nothing knows is reported before anything is computed or written, by every script that ships.
case_unknown_options() {
  local script weights
  weights=$(readlink -f "$here/../data/attention_agent/take_cover.npz")
  for script in $(cd "$paper/.." && find . -name '*.lua' | grep -vE '/(paper|distracted|jobs|table1_rows|shipped|training|agent|pendulum)\.lua'); do
    run run "$paper/../$script" --set bogus=1 -- "$weights"
    exits 1
    says err bogus
    lines err 1
    ! grep -q 'iap.options' "$paper/../$script" || silent out
  done
  # What only iap.train knows is of no use to a script that does not train.
  for arguments in "--set iterations=2" "--resume" "--out x"; do
    # shellcheck disable=SC2086
    run run "$paper/evaluate.lua" $arguments
    exits 1
    says err "${arguments%%[ =]*}"
    silent out
  done
  run run "$paper/fig1_cheetah.lua" --set seedz=2
  exits 1
  says err "the script has no option 'seedz'; did you mean 'seed'?"
  run run "$paper/fig1_cheetah.lua" --set iterations=many
  exits 1
  says err "option 'iterations' must be an integer, got \"many\""
  silent out
  [ -z "$(ls -A | grep -v '^out$\|^err$')" ] || fail "something was written: $(ls -A)"
}

# --seed and --out are options of the script if it declares them.
case_declared_flags() {
  echo 'local o = require "iap".options({ seed = 1, out = "a.png" }, { training = false }) print(o.seed, o.out)' >own.lua
  run run own.lua --seed 4 --out b.png
  exits 0
  [ "$(cat out)" = "$(printf '4\tb.png')" ] || fail "--seed and --out"
  run run own.lua --set out=c.png
  [ "$(cat out)" = "$(printf '1\tc.png')" ] || fail "--set out"
  # One option has one value.
  training_script ""
  refuses "--out and --set out set the same option; leave one out" run own.lua --out b.png --set out=c.png
  refuses "--seed and --set seed set the same option; leave one out" run train.lua --seed 3 --set seed=2
  refuses "--out and --set out set the same option; leave one out" run train.lua --set out=c --out b
  refuses "--threads and --set threads set the same option; leave one out" run train.lua --threads 1 --set threads=2
  refuses "--resume and --set resume set the same option; leave one out" run train.lua --out b --resume --set resume=false
  # Where the script has threads of its own, they are two.
  echo 'local o = require "iap".options({ threads = 1 }, { training = false }) print(o.threads, require "iap".threads())' >threads.lua
  run run threads.lua --threads 2 --set threads=3
  exits 0
  [ "$(cat out)" = "$(printf '3\t2')" ] || fail "threads of the script"
  echo 'require "iap".options({ size = 1 }, { training = false }) print("ran")' >none.lua
  for arguments in "--seed 4" "--out x" "--resume"; do
    # shellcheck disable=SC2086
    run run none.lua $arguments
    exits 1
    says err "${arguments%% *}: nothing in the script uses it"
    silent out
  done
}

# Options within the script's own tables are those that it has, and keep their types.
case_nested_options() {
  echo 'local o = require "iap".options({ deep = { a = { b = 1 }, free = {} }, name = "x" }, { training = false })
    print(o.deep.a.b, o.deep.free.c, o.name)' >deep.lua
  run run deep.lua --set deep.a.b=2.5 --set deep.free.c=3 --set name=5
  exits 0
  [ "$(cat out)" = "$(printf '2.5\t3\t5')" ] || fail "nested options: $(cat out)"
  refuses "--set deep.a.c: the script's option 'deep.a' has no 'c'" run deep.lua --set deep.a.c=2
  refuses "--set deep.x.y: the script's option 'deep' has no 'x'" run deep.lua --set deep.x.y=3
  refuses "--set deep.a.b.c: the script's option 'deep.a.b' is no table but 1" run deep.lua --set deep.a.b.c=3
  refuses "--set deep.a=3: expected a table like the default" run deep.lua --set deep.a=3
  refuses "--set deep.a.b=yes: expected" run deep.lua --set deep.a.b=yes
  # A wrong value of what iap.train knows is told as such, whatever the script has that sounds like it.
  training_script ""
  sed -i '1a iap.options { threadz = 1, optimise = 1 }' train.lua
  refuses "option 'threads' must be" run train.lua --set threads=-1
  refuses "option 'iterations' must be an integer, got 3.5" run train.lua --set iterations=3.5
  refuses "--out: is empty; name the folder of the run" run train.lua --out ""
  # An environment that is named is a table to further options; what would undo an option before it is told.
  run run train.lua --set env=cartpole-balance --set env.time_limit=7 --set out=named --set iterations=1
  exits 0
  grep -q '"name": "cartpole-balance"' named/config.json || fail "another environment"
  grep -q '"time_limit": 7' named/config.json || fail "an option beside a name is dropped"
  refuses "--set env=cartpole-balance would undo --set env.time_limit=7 before it; change their order" \
    run train.lua --set env.time_limit=7 --set env=cartpole-balance
  sed 's/policy = .*/init = "named",/' train.lua >begun.lua
  refuses "--set policy.units: the script has no policy of its own" run begun.lua --set policy.units=2
}

case_list() {
  run list
  exits 0
  for title in environments kernels blocks optimizers; do says out "$title"; done
  run list envs
  says out "cheetah-run"
  grep -q kernels out && fail "list envs lists kernels"
  run list optimizers
  grep -qE '^  es  +[a-zA-Z]' out || fail "no row for es"
  run list kernels
  says out "for rank, trans, cross, drawn patches, exact rows"
}

case_doctor() {
  run doctor
  exits 0
  for row in iap threads SIMD OpenGL; do grep -qE "^$row +[^ ]" out || fail "no row $row"; done
  # The versions of all that the program stands on.
  for row in Box2D Bullet cairo CLI11 Eigen Embree fmt Highway isa-l libedit libjpeg-turbo libpng libwebp libzip Lua MuJoCo \
    nlohmann-json protozero TBB urdfdom zlib; do
    grep -qE "^$row +[^ ]*[0-9]+[.][0-9]+" out || fail "no version of $row"
  done
  grep -qE '^compiler +.*[Cc]lang' out || fail "no compiler"
  grep -qE '^libstdc[+][+] +.*[0-9]' out || fail "no version of libstdc++"
}

case_doctor_plugins() {
  unset IAP_PLUGIN_PATH
  run doctor
  grep -q '^plugins ' out && fail "folders that nobody named"
  grep -E '^windows ' out | grep -F 'cannot be used' && fail "a plugin of this build cannot be used"
  # What is there is tried: no library, a library that is no plugin, a folder.
  mkdir plug
  export IAP_PLUGIN_PATH=$work/plug
  echo junk >plug/libiap-live.so
  cp "$(ldd "$iap" | awk '$1 ~ /^libz\.so/ { print $3 }')" plug/libiap-mpich.so
  mkdir plug/libiap-openmpi.so
  run doctor
  exits 0
  silent err
  grep -qE "^plugins +looked for in $work/plug alone, which IAP_PLUGIN_PATH names" out || fail "no word about the folder"
  grep -qE "^windows +$work/plug/libiap-live.so \(cannot be used: plugin 'live' cannot be loaded: .*; install it anew" out ||
    fail "junk is no plugin"
  grep -qE "^MPI +mpich \(cannot be used: '$work/plug/libiap-mpich.so' is not the plugin 'mpich'; .*\)$" out ||
    fail "another library is no plugin"
  # One that ends whoever loads it.
  if command -v cc >/dev/null; then
    echo '#include <stdlib.h>
__attribute__((constructor)) static void end(void) { abort(); }' >end.c
    cc -shared -fPIC -o plug/libiap-live.so end.c || fail "it is not compiled"
    run doctor
    exits 0
    grep -qE "^windows .*\(cannot be used: a process that loads '$work/plug/libiap-live.so' was killed by signal 6 .*\)$" out ||
      fail "a library that aborts"
    # One that leaves something running.
    echo '#include <unistd.h>
struct { const char* name; unsigned version; const void* table; } iap_plugin = { "another", 1, &iap_plugin };
__attribute__((constructor)) static void stay(void) { if (fork() == 0) { sleep(30); _exit(0); } }' >stay.c
    cc -shared -fPIC -o plug/libiap-live.so stay.c || fail "it is not compiled"
    SECONDS=0
    run doctor
    exits 0
    ((SECONDS < 25)) || fail "it waited for what a plugin left running"
    grep -qE "^windows .*\(cannot be used: '$work/plug/libiap-live.so' is not the plugin 'live'; .*\)$" out || fail "another plugin"
  fi
  rm -r plug
  mkdir -p plug/libiap-live.so
  run doctor
  exits 0
  grep -qE '^windows +none \(' out || fail "a folder is no plugin"
  grep -qE '^MPI +no plugin' out || fail "there is none"
}

# One episode has no interval, also beside kinds that have two seeds.
case_experiments_of_one_episode() {
  local tiny=(--set iterations=1 --set optimizer.population=2 --set eval_episodes=1 --set episodes=1 --set env.time_limit=8)
  cp "$paper"/*.lua .
  sed -i 's/= { 4, 16, 64 }, { 10, 50, 100 }, { 2, 4, 8 }/= { 4 }, { 10 }, { 4, 8 }/' fig7_sweep.lua
  run run fig7_sweep.lua "${tiny[@]}" --set seeds=2 --set "pixels=[40,40]" --set distraction=none --out patches
  exits 0
  lines patches/cheetah-run.csv 3
  [ -s patches/cheetah-run-d4.png ] || fail "fig7 has no chart"
  sed -i 's/^    caption = \(.*\),$/    caption = print(\1) or "",/' fig1_cheetah.lua
  run run fig1_cheetah.lua "${tiny[@]}" --set seeds=1 --out kinds
  exits 0
  says out "Dot: mean return."
  ! grep -q "Whiskers" out || fail "a caption tells of whiskers that are not there"
}

# What trainings free is given back: a script of many takes no more than one of a few.
case_many_trainings() {
  cat >many.lua <<'LUA'
local iap = require "iap"
local function mib() return tonumber(io.open("/proc/self/status"):read("a"):match("VmRSS:%s+(%d+)")) / 1024 end
local early
for i = 1, 80 do
  iap.train {
    env = iap.env.make("cartpole-balance", { time_limit = 2 }), policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 2 },
    iterations = 1, eval_every = 0, eval_episodes = 1, confirm_episodes = 0, seed = i, quiet = true, out = iap.run_folder("runs/many"),
  }
  if i == 20 then early = mib() end
end
local late = mib()
assert(late < early + 15, ("%.0f MiB after 20 trainings, %.0f after 80"):format(early, late))
LUA
  run run many.lua --threads 1
  exits 0
}

# Where Lua's patterns would lead elsewhere, no module is looked for, and the message says why.
case_module_places() {
  local folder
  echo 'return 1' >helper.lua
  echo 'return 2' >x
  for folder in plain 'c%d' 'x;y' 'what?'; do
    mkdir "$folder" && echo 'return 3' >"$folder/helper.lua" && echo 'print(require "helper")' >"$folder/script.lua"
  done
  mkdir elsewhere && cd elsewhere || fail "no folder"
  for folder in plain 'c%d'; do
    run run "../$folder/script.lua"
    exits 0
    [ "$(cut -f1 out)" = 3 ] || fail "$folder: another module"
  done
  for folder in 'x;y' 'what?'; do
    run run "../$folder/script.lua"
    exits 1
    says err "no module is looked for in '../$folder', as Lua reads ';' and '?' otherwise; rename it"
  done
}

# What a run keeps of its script can be read again.
case_large_script() {
  training_script 'out = iap.run_folder("runs/large"), on_iteration = function(r) return r.iteration ~= 2 or io.open("go") ~= nil end,'
  cp train.lua small.lua
  { printf 'local data = [==[' && head -c 6000000 /dev/zero | tr '\0' x && echo ']==]' && cat small.lua; } >train.lua
  run run train.lua
  exits 0
  touch go
  run run train.lua --resume
  exits 0
  says out "runs/large"
  [ -e runs/large-2 ] && fail "it begins another run"
  run report runs/large --no-pictures
  exits 0
  { printf 'local data = [==[' && head -c 70000000 /dev/zero | tr '\0' x && echo ']==]' && cat small.lua; } >train.lua
  refuses "the script has 67 MiB, of which a run's folder keeps a copy, at most 64 MiB" run train.lua --out new
  [ ! -e new ] || fail "a run that is refused makes its folder"
}

# However long a name is, the reason stands behind it; what does not fit is refused before anything is trained.
case_long_places() {
  training_script ""
  local part long
  printf -v part '%0200d' 0
  long=$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part
  run run train.lua --out "$long"
  exits 0
  refuses "or choose another folder with --out (out = FOLDER)" run train.lua --out "$long"
  grep -q "^train.lua:2: '0*" err || fail "the beginning is lost"
  long=$long/$part/$part/$part/$part/$part/$part/$part/${part:0:177}
  while [ ${#long} -lt 4072 ]; do long+=/0; done
  refuses "File name too long; choose another folder with --out (out = FOLDER)" run train.lua --out "$long"
}
