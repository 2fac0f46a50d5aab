# shellcheck shell=bash
# Policies and runs looked at: eval, report, probe.

# A time limit that nobody gave is the environment's own, whichever is played.
case_eval_own_limit() {
  for steps in 5 20; do
    cat >w$steps.lua <<LUA
return function(options)
  local env = { spec = { action_size = 1, max_steps = $steps, vector = 1 } }
  function env:reset() end
  function env:step() return 1 end
  function env:observe() return { 0 } end
  return env
end
LUA
  done
  cat >build.lua <<'LUA'
local iap = require "iap"
local function build(name, options) return iap.policy.build(iap.policy.linear {}, iap.env.make(name, options)) end
build("w5.lua"):save("five.iap")
build("w20.lua"):save("twenty.iap")
build("w20.lua", { time_limit = 3 }):save("three.iap")
-- As files of before hold it.
local old = build("w5.lua")
local given = old:metadata().env_given
assert(given.time_limit == nil)
given.time_limit = 5
old:save("old.iap", { env_given = given })
local older = old:metadata()
older.env_given = 0
old:save("older.iap", older)
LUA
  run run build.lua
  exits 0
  for case in "five w5 5" "five w20 20" "twenty w5 5" "three w5 3" "old w20 20" "older w20 20"; do
    read -r policy env steps <<<"$case"
    run eval "$policy.iap" --env "$env.lua" --episodes 1 --csv e.csv
    exits 0
    [ "$(sed -n 2p e.csv | cut -d, -f4)" = "$steps" ] || fail "$policy.iap plays $(sed -n 2p e.csv | cut -d, -f4) steps of $env.lua"
  done
  run eval old.iap --episodes 1 --csv e.csv
  [ "$(sed -n 2p e.csv | cut -d, -f4)" = 5 ] || fail "an old file plays another limit"
}

# A host's own environment stands as null in older files: they name none, and play where they are told to.
case_eval_null_env() {
  command -v python3 >/dev/null || skip "there is no python3"
  cat >build.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.linear {}, iap.env.make("cartpole-balance", { time_limit = 7 })):save("policy.iap")
LUA
  run run build.lua
  exits 0
  python3 - <<'PY'
import json, pathlib, struct, zlib
file = pathlib.Path("policy.iap").read_bytes()
size, = struct.unpack_from("<Q", file, 20)
header, parameters = json.loads(file[28:28 + size]), file[28 + size:-4]
header["metadata"] = {"env": None}
text = json.dumps(header).encode()
payload = struct.pack("<Q", len(text)) + text + parameters
body = file[:12] + struct.pack("<Q", len(payload)) + payload
pathlib.Path("policy.iap").write_bytes(body + struct.pack("<I", zlib.crc32(body)))
PY
  run eval policy.iap --episodes 1
  exits 1
  says err "'policy.iap' does not say which environment it is for; name one with --env NAME"
  run eval policy.iap --episodes 1 --env cartpole-balance --set time_limit=9 --csv e.csv
  exits 0
  [ "$(sed -n 2p e.csv | cut -d, -f4)" = 9 ] || fail "--env does not reach a policy that names none"
}

case_eval() {
  training_script 'out = "run",'
  run run train.lua
  exits 0
  run eval run --episodes 5 --seed 2 --csv episodes.csv
  exits 0
  says out "episodes            5"
  grep -q unstable out && fail "no episode became unstable"
  [ "$(head -1 episodes.csv)" = "episode,seed,return,steps,terminated,truncated,unstable" ] || fail "csv header"
  lines episodes.csv 6
  # The figures printed are those of the episodes.
  awk -F, 'NR > 1 {s += $3; q += $3 * $3; n++} END {m = s / n; printf "%.2f %.2f\n", m, sqrt((q - n * m * m) / (n - 1))}' episodes.csv >figures
  [ "$(awk '/mean return/ {m = $3} /standard deviation/ {d = $3} END {print m, d}' out)" = "$(cat figures)" ] || fail "mean and deviation"
  cp episodes.csv first.csv
  run eval run --episodes 5 --seed 2 --threads 1 --csv episodes.csv
  cmp -s episodes.csv first.csv || fail "one thread gives other episodes"
  cat >eval.lua <<'LUA'
local iap = require "iap"
local by_path = iap.eval("run", { episodes = 5, seed = 2 })
local by_policy = iap.eval(iap.policy.load("run"), { episodes = 5, seed = 2 })
assert(by_path.mean == by_policy.mean and #by_path.episodes == 5 and by_path.low <= by_path.mean and by_path.mean <= by_path.high)
print(string.format("%.2f", by_path.mean))
LUA
  run run eval.lua
  exits 0
  [ "$(cat out)" = "$(cut -d' ' -f1 figures)" ] || fail "iap.eval gives another mean"
  # The environment's options may be overridden, and the environment itself exchanged.
  run eval run --episodes 3 --set time_limit=7 --csv short.csv
  exits 0
  says out "pendulum.lua time_limit=7"
  [ "$(cut -d, -f4-6 short.csv | sort -u)" = "$(printf '7,0,1\nsteps,terminated,truncated')" ] || fail "--set time_limit"
  grep -q '^note' out && fail "a note without --env"
  cp pendulum.lua other.lua
  run eval run --episodes 3 --env other.lua --set time_limit=7
  exits 0
  grep -q '^note' out && fail "a note about an option that --set gave"
  run eval run --episodes 5 --seed 2 --env other.lua --csv episodes.csv
  exits 0
  says out "other.lua"
  says out "note                --env keeps options of the policy's own environment: time_limit=20 (drop one with --set OPTION=null)"
  cmp -s episodes.csv first.csv || fail "--env gives other episodes"
  sed -i 's/9.81/1.62/' other.lua
  run eval run --episodes 5 --seed 2 --env other.lua --csv episodes.csv
  exits 0
  cmp -s episodes.csv first.csv && fail "--env plays the old environment"
  sed 's/math.abs(self.velocity) > 50/true/' pendulum.lua >ends.lua
  run eval run --episodes 3 --env ends.lua --csv ends.csv
  exits 0
  [ "$(sed 1d ends.csv | cut -d, -f4-6 | sort -u)" = 1,1,0 ] || fail "an environment that ends its episodes"
  # Returns of any size are figures.
  sed 's/return -math.cos(self.angle), /return -2^-30, /' pendulum.lua >small.lua
  run eval run --episodes 3 --env small.lua
  exits 0
  says out "mean return         -1.86e-08"
  says out "standard deviation  0.00"
  grep -q -e "-0\.00" out && fail "a zero with a sign"
  run eval run --set time_limt=7
  exits 1
  says err "environment 'pendulum.lua': unknown option 'time_limt'; did you mean 'time_limit'?"
  lines err 1
  run eval run --set time_limit=fast
  exits 1
  says err "option 'time_limit' must be an integer, got \"fast\""
  refused "iap eval: --set time_limit: write it as path=value" eval run --set time_limit
  run eval run --set time_limit.x=3
  exits 1
  says err "--set time_limit.x=3: option path 'time_limit.x': cannot set 'x' inside an integer"
  run eval run --set name=other.lua
  exits 1
  says err "chosen with --env"
  run eval run --env pendulun.lua
  exits 1
  says err "pendulun.lua"
  run eval run --env cartpole-swingup --set time_limit=3
  exits 1
  says err "'cartpole-swingup' gives another observation than the policy was built for: a vector of 5 values instead of one of 3 values"
  lines err 1
  run eval run --env cartpole-swingup --set gravity=3
  exits 1
  says err "--set OPTION=null"
  run eval nothing
  exits 1
  says err "nothing"
  echo junk >junk.iap
  run eval junk.iap
  exits 1
  says err "junk.iap"
  run eval run/metrics.csv
  exits 1
  says err "run/metrics.csv: is no policy file; those of a run are its best.iap and final.iap"
  # A file that cannot be written is reported before any episode is played.
  run eval missing.iap --csv nowhere/e.csv
  exits 1
  says err "cannot write 'nowhere/e.csv': there is no folder 'nowhere'"
  run eval run --actions .
  exits 1
  says err "cannot write '.': it is a folder"
  run report run --out nowhere/report.html
  exits 1
  says err "cannot write 'nowhere/report.html': there is no folder 'nowhere'"
}

# One episode does not show how far returns spread: no deviation, no interval, wherever it is evaluated.
# Policies of earlier versions do not say how often they look; what they look at is what must fit.
case_eval_shipped() {
  run eval "$paper/policies/cartpole-swingup.iap" --episodes 1 --set time_limit=16
  exits 0
  run eval "$paper/policies/cartpole-swingup.iap" --episodes 1 --set time_limit=16 --set action_repeat=2
  exits 0
}

case_one_episode() {
  training_script 'out = "run",'
  run run train.lua --set eval_episodes=1 --set confirm_episodes=1
  exits 0
  grep -qE 'inf|nan' run/metrics.csv run/log.txt && fail "a run with one evaluation episode writes an interval"
  awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "eval_mean") m = i; else if ($i == "eval_std") s = i} \
    NR > 1 && $m != "" {n++; if ($s != "") exit 1} END {exit n < 3}' run/metrics.csv || fail "eval_std of one episode"
  run eval run --episodes 1
  exits 0
  says out "95% interval        none: one episode does not show how far returns spread"
  grep -qE 'inf|nan|deviation' out && fail "an interval of one episode"
  run report run --no-pictures
  exits 0
  grep -q "standard deviation between the evaluation" run/report.html && fail "the report speaks of a deviation"
  cat >eval.lua <<'LUA'
local one, two = require "iap".eval("run", { episodes = 1 }), require "iap".eval("run", { episodes = 2 })
assert(one.mean and not (one.standard_deviation or one.low or one.high) and #one.episodes == 1)
assert(two.standard_deviation > 0 and two.low < two.mean and two.mean < two.high)
LUA
  run run eval.lua
  exits 0
  cp "$paper"/paper.lua .
  cat >table.lua <<'LUA'
local paper = require "paper"
local earned = paper.joined { paper.earned("run", 1) }
paper.write_table("table.csv", { "return", "deviation", "low", "runs" }, { { earned.mean, earned.deviation, earned.low, earned.runs } })
LUA
  run run table.lua
  exits 0
  grep -qE '^-?[0-9.]+,,,1$' table.csv || fail "table.csv: $(cat table.csv)"
  grep -qE '^-?[0-9.]+ +- +- +1$' out || fail "the table printed"
}

# What a policy's environment took from an option follows the option that --set gives it.
case_eval_distraction() {
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cheetah-run", { pixels = { 16, 16 }, time_limit = 4, distraction = "medium" }),
  policy = iap.policy.sequence { iap.attention.rank { patch = 4, top = 2 }, iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_every = 0, eval_episodes = 1, out = "run", quiet = true,
}
LUA
  run run train.lua --set env.distraction.difficulty=easy
  exits 0
  grep -q '"zoom_in": 0.05' run/config.json || fail "the run is not easy"
  for set in distraction=hard distraction.difficulty=hard distraction.difficulty=easy; do
    run eval run --episodes 4 --set $set --csv $set.csv
    exits 0
  done
  cmp -s distraction=hard.csv distraction.difficulty=hard.csv || fail "two ways to say hard differ"
  cmp -s distraction=hard.csv distraction.difficulty=easy.csv && fail "hard is as easy"
  # Of a file, too, whose environment was made of its completed options.
  cat >again.lua <<'LUA'
local iap = require "iap"
local policy = iap.policy.load "run/best.iap"
policy:resized(iap.env.make(policy:metadata().env)):save "again.iap"
LUA
  run run again.lua
  exits 0
  run eval again.iap --episodes 4 --set distraction.difficulty=hard --csv again.csv
  exits 0
  cmp distraction=hard.csv again.csv || fail "a file that was saved again ignores its difficulty"
}

# null takes an option out, wherever --set goes.
case_set_null() {
  cat >save.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.sequence {
  iap.attention.rank { patch = 4, stride = 4, d = 4, kernel = "relu", top = 3 }, iap.policy.linear { activation = "tanh" },
}
iap.policy.build(blocks, iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 10, camera = 1 })):save("policy.iap")
LUA
  run run save.lua
  exits 0
  # What another environment does not know can be dropped, as the message says.
  run eval policy.iap --episodes 1 --env take-cover
  exits 1
  says err "unknown option 'camera'"
  says err "drop one with --set OPTION=null"
  run eval policy.iap --episodes 1 --env take-cover --set camera=null
  exits 0
  says out "take-cover camera=null"
  says out "own environment: pixels=[24,32], time_limit=10 (drop"
  run play policy.iap --strip 2 --out strip.png --env take-cover --set camera=null
  exits 0
  # An option that is dropped has its default again.
  run eval policy.iap --episodes 1 --set time_limit=null --csv e.csv
  exits 0
  [ "$(sed -n 2p e.csv | cut -d, -f4)" = 1000 ] || fail "time_limit=null keeps a limit"
  run eval policy.iap --episodes 1 --set render.shadows=null
  exits 0
  run eval policy.iap --set camrea=null
  exits 1
  says err "--set camrea=null: there is no option 'camrea' to drop; did you mean 'camera'?"
  run eval policy.iap --set pixels=24,32
  exits 1
  says err 'write it as [24,32]'
  # The same in training, and for a script's own options.
  training_script 'out = "run",'
  run run train.lua --set optimizer.learning_rate=null
  exits 0
  grep -q '"learning_rate": 0.05,' run/config.json || fail "learning_rate has not its default"
  echo 'print(require("iap").options({ n = 3 }).n)' >options.lua
  run run options.lua --set n=null
  exits 1
  says err "--set n=null: expected a number like the default 3, got null"
  echo 'print(require("iap").options({ pixels = { 3, 4 } }).pixels[2])' >options.lua
  run run options.lua --set pixels=5,6
  exits 1
  says err 'write it as [5,6]'
}

# A policy for small pictures, policy.iap, with its initial parameters.
save_policy() {
  cat >save.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.sequence {
  iap.attention.rank { patch = 4, stride = 4, d = 4, kernel = "relu", top = 3 }, iap.policy.linear { activation = "tanh" },
}
iap.policy.build(blocks, iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 10 })):save("policy.iap")
LUA
  run run save.lua
  exits 0
}

case_report() {
  training_script 'out = iap.run_folder("a"),'
  run run train.lua
  exits 0
  run report a
  exits 0
  says out "report   a/report.html"
  says a/report.html "<h1>pendulum.lua</h1>"
  # This environment draws nothing: the report says so and has everything else.
  says a/report.html "There are none: there is nothing to show"
  says a/report.html "experiment.lua of a"
  run run train.lua --seed 4 --out b
  run report a b
  exits 0
  says out "report   report.html"
  says report.html "mean of 2 seeds"
  # The same run a second time is no second seed.
  run run train.lua
  exits 0
  refuses "'a' and 'a-2' have the same settings and the same seed, " report a b a-2
  says err "leave one of them out"
  # A run of no iterations has ended all the same.
  run run train.lua --out zero --set iterations=0
  exits 0
  [ -s zero/result.json ] || fail "it has not ended"
  refuses "the run in 'zero' trained no iteration; there is nothing to report" report zero
  grep -q "nothing to report yet" err && fail "there is nothing to wait for"
  run watch zero
  exits 1
  says err "the run in 'zero' trained no iteration; there is nothing to report"
  says zero/report.html "It trained no iteration; there is nothing to report."
  grep -q "nothing to report yet" zero/report.html && fail "the page has somebody wait"
  run report a --out reports/x.html
  exits 1
  says err "reports/x.html"
  lines err 1
  run report a missing
  exits 1
  says err "there is no run 'missing'"
  lines err 1
  mkdir empty
  run report empty
  exits 1
  says err "'empty' is not the folder of a run: it has no config.json"
  run report
  exits 2
}

# What blocks know of the state: the same episodes as in an evaluation, a table, a file, a chart.
case_probe() {
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, time_limit = 20 }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, stride = 4, d = 4, top = 3, motion = true }, iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 4 }, iterations = 2, eval_every = 1, eval_episodes = 2, out = "run", quiet = true,
}
LUA
  run run train.lua
  exits 0
  run eval run --episodes 4 --seed 2
  exits 0
  grep "mean return" out >evaluated
  run probe run --episodes 4 --seed 2 --csv probe.csv
  exits 0
  silent err
  [ "$(grep "mean return" out)" = "$(cat evaluated)" ] || fail "the probed policy acts otherwise than the evaluated one"
  says out "3 fitted, 1 tested (seed 2)"
  says out "60 fitted, 20 tested"
  says out "1.rank (12)"
  grep -qE "^position of slider +[01]\.[0-9][0-9]$" out || fail "no row for the slider"
  [ "$(head -1 probe.csv)" = "block,outputs,state,r2,ridge" ] || fail "csv header"
  lines probe.csv 6
  cp probe.csv first.csv
  run probe run/best.iap --episodes 4 --seed 2 --threads 1 --csv probe.csv
  cmp -s probe.csv first.csv || fail "one thread gives other figures"
  run probe run --episodes 3 --png probe.png
  exits 0
  [ "$(head -c 4 probe.png | tail -c 3)" = PNG ] || fail "no chart"
  run probe run --blocks 2.linear,1.rank --episodes 3 --steps 5 --actions random --per-episode --ridge 3 --csv two.csv
  exits 0
  says out "random, each held for 3 decisions"
  says out "10 fitted, 5 tested"
  says out "each episode less its mean"
  lines two.csv 11
  [ "$(tail -1 two.csv | cut -d, -f1-3,5)" = "1.rank,12,velocity of hinge_1,3" ] || fail "rows of two blocks"
  run probe run --episodes 3 --set time_limit=7
  exits 0
  says out "cartpole-swingup time_limit=7"
  says out "14 fitted, 7 tested"
  # At another size the policy follows, as for iap eval.
  for fit in resample pool; do
    run eval run --episodes 3 --set pixels=[48,64] --fit $fit
    exits 0
    grep -E "^(note|mean return)" out >evaluated
    run probe run --episodes 3 --set pixels=[48,64] --fit $fit
    exits 0
    [ "$(grep -E "^(note|mean return)" out)" = "$(cat evaluated)" ] || fail "probe --fit $fit is not that of eval"
  done
  says out "pooled from 24x32 to 48x64"
  run probe run --blocks 1.rnk
  exits 1
  says err "there is no block '1.rnk'; did you mean '1.rank'?"
  lines err 1
  run probe run --blocks 1.rank,
  exits 2
  says err "--blocks: write paths with a comma between two of them, got '1.rank,'"
  run probe run --episodes 2
  exits 1
  says err "2 episodes are too few to fit on two thirds and test on the rest; play at least 3"
  run probe run --actions ranom
  exits 2
  says err "--actions: there is no 'ranom'; did you mean 'random'?"
  run probe run --ridge nan
  exits 2
  says err "--ridge: expected a number from"
  run probe run --png nowhere/p.png
  exits 1
  says err "cannot write 'nowhere/p.png': there is no folder 'nowhere'"
  head -c 200 run/best.iap >half.iap
  run probe half.iap
  exits 1
  says err "half.iap"
  lines err 1
  cp "$scripts/tracker.lua" .
  cat >save.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.sequence { iap.attention.rank { image = "pixels", patch = 4, top = 1 }, iap.policy.linear {} }
iap.policy.build(blocks, "tracker.lua"):save("tracker.iap", {})
iap.train {
  env = "tracker.lua", policy = blocks, optimizer = iap.optim.es { population = 2 }, iterations = 1, eval_episodes = 1,
  out = "blind", quiet = true,
}
LUA
  run run save.lua
  exits 0
  run report blind --episodes 3
  exits 0
  says blind/report.html "Not measured: probe: environment &#39;tracker.lua&#39; has no state vector"
  run probe tracker.iap
  exits 1
  says err "'tracker.lua' has no state vector beside its pixels; probe one that takes the option state = true"
  lines err 1
}
