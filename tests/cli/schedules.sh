# shellcheck shell=bash
# Training that begins at a policy, goes through stages, is evaluated elsewhere or gathers statistics; policies at other image sizes.

# A small run from pixels; the blocks before the last stand in $1, what else the script adds in $2
pixel_script() {
  cat >train.lua <<LUA
local iap = require "iap"
local stop = os.getenv("STOP")
local result = iap.train {
  env = iap.env.make("cartpole-balance", { pixels = { 16, 24 }, action_repeat = 8, time_limit = 48 }),
  policy = iap.policy.sequence { $1 iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 4, sigma = 0.1, learning_rate = 0.1 },
  iterations = 4, eval_every = 1, eval_episodes = 2, confirm_episodes = 2, seed = 3, quiet = true,
  on_iteration = function(r) return r.iteration ~= tonumber(stop or 0) end,
  $2
}
print(result.iterations, result.stop_reason, #result.parameters, string.format("%.17g", result.last_eval))
LUA
}
tokens='iap.attention.trans { patch = 4, d = 2, tokens = 3, dv = 2 },'

# The run of train.lua is the same on one thread, and stopped after any iteration and resumed.
goes_on_alike() {
  run run train.lua --out whole --threads 2
  exits 0
  cp out whole.txt
  for stop in 1 2 3; do
    STOP=$stop run run train.lua --out "parts$stop" --threads 1
    exits 0
    says out on_iteration
    run run train.lua --out "parts$stop" --resume --threads 1
    exits 0
    cmp -s out whole.txt || fail "resumed after iteration $stop, it ends elsewhere"
    for file in checkpoint.iap best.iap final.iap result.json; do
      cmp -s "whole/$file" "parts$stop/$file" || fail "resumed after iteration $stop, $file differs"
    done
  done
}

case_curriculum() {
  pixel_script "$tokens" 'curriculum = { { through = 2, pixels = { 8, 12 }, time_limit = 24 }, { through = 3, population = 6 }, { episodes = 2 } },'
  goes_on_alike
  run run train.lua --dry-run
  exits 0
  says out "stage 1      2 iterations of 4 members, 1 episode each, 8 x 12 pixels, time_limit 24: "
  says out "stage 2      1 iteration of 6 members, 1 episode each, 16 x 24 pixels, time_limit 48: "
  says whole/log.txt "stage 2 of 3 begins with iteration 3"
  says whole/log.txt "the mean is resampled, the optimizer's moments begin anew"
  says whole/log.txt "stage 3 of 3 begins with iteration 4"
  head -1 whole/metrics.csv | grep -q ',stage,steps,' || fail "metrics.csv has no stage"
  run eval whole --episodes 2 --seed 3
  exits 0
  # What best.iap was chosen by is what eval prints: both play the last stage.
  best=$(grep -oE 'best evaluation -?[0-9.]+' out | cut -d' ' -f3)
  grep -q "mean return         $best" out || fail "eval does not play where the run evaluated"
  run run train.lua --out other --set 'curriculum.2.through=2'
  exits 1
  says err "train: option 'curriculum', stage 2: 'through' is 2, but the stage before lasts through iteration 2; it must rise"
  run run train.lua --out other --set 'curriculum.1.pixls=[4,4]'
  exits 1
  says err "did you mean 'pixels'?"
  run run train.lua --out other --set 'curriculum.1.until=1'
  exits 1
  says err "stage 1: unknown option 'until'; the last iteration of a stage is called 'through'"
  run run train.lua --out other --set optimizer.kind=simple_ga --set optimizer.learning_rate=null
  exits 1
  says err "simple_ga: keeps its population and its parameters to the end; those that can change them on the way are es, pgpe, ars"
  run run train.lua --out pooled --set fit=pool
  exits 0
  grep -q "the mean is resampled" pooled/log.txt && fail "a policy that pools has other parameters at another size"
  run run train.lua --out other --set fit=poool
  exits 1
  says err "train: unknown fit 'poool'; did you mean 'pool'?"
  training_script 'curriculum = { { through = 1, pixels = { 8, 8 } }, {} },'
  run run train.lua
  exits 1
  says err "stage 1"
  says err "unknown option 'pixels'"
  lines err 1
  training_script 'curriculum = { first, second },'
  refuses "option 'curriculum' must be a list of stages, got an empty table, as names that stand for nothing make it; leave it out (nil) for none" run train.lua
}

# Directions of every kind in runs that stop and go on, through a stage with another population and one that goes on with it.
case_directions() {
  for directions in orthogonal hadamard; do
    pixel_script "$tokens" 'curriculum = { { through = 1 }, { through = 2, population = 6 }, { population = 6, episodes = 2 } },'
    sed -i "s/iap.optim.es {/iap.optim.es { directions = \"$directions\",/" train.lua
    rm -rf whole parts1 parts2 parts3
    goes_on_alike
    mv whole $directions
  done
  run run train.lua --out gaussian --set optimizer.directions=gaussian
  exits 0
  cmp -s gaussian/final.iap orthogonal/final.iap && fail "orthogonal directions are Gaussian ones"
  cmp -s gaussian/final.iap hadamard/final.iap && fail "rows of Hadamard products are Gaussian directions"
  run run train.lua --out orthogonal --resume
  exits 1
  says err '(optimizer.directions: "orthogonal" before, "hadamard" now)'
  run run train.lua --out other --set optimizer.directions=ortogonal
  exits 1
  says err "unknown directions 'ortogonal'; did you mean 'orthogonal'?"
}

case_warm_start() {
  pixel_script "$tokens" ""
  run run train.lua --out first
  exits 0
  last=$(cut -f4 out)
  # It begins where the other ended, and goes on without its file.
  pixel_script "$tokens" 'init = "first/final.iap",'
  goes_on_alike
  [ "$(sed -n 2p whole/metrics.csv | cut -d, -f5)" = "$(tail -1 first/metrics.csv | cut -d, -f5)" ] || fail "begins elsewhere than at $last"
  says whole/log.txt "begins at the parameters of first/final.iap"
  grep -q "brought from" whole/log.txt && fail "a policy of the same size was brought from another"
  run run train.lua --out large --set 'env.pixels=[32,48]'
  exits 0
  grep -q "begins at the parameters of first/final.iap (content [0-9a-f]*), brought from 16x24 to 32x48" large/log.txt || fail "the sizes are not told"
  run run train.lua --out pooled --set 'env.pixels=[32,48]' --set fit=pool
  exits 1
  says err "train: option 'fit' says how the policy follows to image sizes of 'curriculum' and 'eval_env', and neither is there"
  lines err 1
  says whole/config.json '"path": "first/final.iap"'
  STOP=2 run run train.lua --out gone
  mv first moved
  run run train.lua --out gone --resume
  exits 0
  cmp -s gone/checkpoint.iap whole/checkpoint.iap || fail "without the file it ends elsewhere"
  run run train.lua --out anew
  exits 1
  says err "train: option 'init'"
  says err "first/final.iap"
  lines err 1
  run run train.lua --out stranger --seed 9 --set init=null
  exits 0
  run run train.lua --out whole --resume --set init=stranger
  exits 1
  says err "cannot resume 'whole' with other settings (init.content: "
  # A run or a policy in Lua, at another size, with the blocks of the policy.
  cat >further.lua <<'LUA'
local iap = require "iap"
local policy = iap.policy.load("moved")
local env = iap.env.make("cartpole-balance", { pixels = { 32, 48 }, action_repeat = 8, time_limit = 48 })
local settings = { env = env, iterations = 1, optimizer = iap.optim.es { population = 2 }, eval_episodes = 2, seed = 3, quiet = true }
local function begun(init, more)
  local all = { init = init }
  for key, value in pairs(settings) do all[key] = value end
  for key, value in pairs(more or {}) do all[key] = value end
  return iap.train(all)
end
local by_path, by_policy = begun("moved"), begun(policy)
assert(by_path.first_eval == by_policy.first_eval and by_path.last_eval == by_policy.last_eval)
local resized = policy:resized(env)
assert(iap.eval(resized, { episodes = 2, seed = 3 }).mean == by_path.first_eval)
assert(resized:metadata().env.pixels[1] == 32 and resized:size() > policy:size())
assert(table.concat(policy:resized(policy:metadata().env):parameters(), " ") == table.concat(policy:parameters(), " "))
local pooled = policy:resized(env, { fit = "pool" })
assert(table.concat(pooled:parameters(), " ") == table.concat(policy:parameters(), " "))
local function refused(part, ...)
  local ok, message = pcall(...)
  assert(not ok and tostring(message):find(part, 1, true), message)
end
refused("must be a policy, or the path", begun, 3)
refused("block '1.rank' does not fit", begun, policy,
  { policy = iap.policy.sequence { iap.attention.rank { patch = 4 }, iap.policy.linear { activation = "tanh" } } })
refused("take its blocks with policy:blueprint(), and its parameters with init = policy", begun, nil, { policy = policy })
refused("unknown option 'fitt'; did you mean 'fit'?", policy.resized, policy, env, { fitt = "pool" })
refused("gives 1 action values, 'cheetah-run' takes 6", policy.resized, policy, "cheetah-run")
LUA
  run run further.lua
  exits 0
  # A clock keeps the time of the environment that it is in.
  cat >clocks.lua <<'LUA'
local iap = require "iap"
local clock = iap.policy.sequence { iap.policy.clock {}, iap.policy.linear { activation = "tanh" } }
local function trained(options)
  local all = { optimizer = iap.optim.es { population = 2 }, iterations = 2, eval_episodes = 1, confirm_episodes = 0, quiet = true }
  for key, value in pairs(options) do all[key] = value end
  return iap.train(all)
end
local function world(repeated) return iap.env.make("cartpole-balance", { time_limit = 40, action_repeat = repeated }) end
local function time_of(run) return run.policy:summary():match "dt ([%d.]+) s" end
local before = trained { env = world(2), policy = clock }
assert(time_of(before) == "0.02", time_of(before))
assert(time_of(trained { env = world(4), init = before.policy }) == "0.04", "init")
for _, fit in ipairs { "resample", "pool" } do
  local staged = trained { env = world(2), policy = clock, curriculum = { { through = 1 }, { action_repeat = 4 } }, fit = fit }
  assert(time_of(staged) == "0.04", fit)
  for _, policy in ipairs { clock, false } do
    local settings = { env = world(2), policy = policy or nil, init = before.policy, fit = fit }
    settings.eval_env = { action_repeat = 4 }
    assert(time_of(trained(settings)) == "0.04", fit .. ": init and eval_env")
    settings.eval_env, settings.curriculum = nil, { { through = 1 }, { action_repeat = 4 } }
    assert(time_of(trained(settings)) == "0.04", fit .. ": init and stages")
  end
end
local moved = trained { env = world(4), policy = before.policy:blueprint(), init = before.policy }
assert(time_of(moved) == "0.04", "blueprint and init")
LUA
  run run clocks.lua
  exits 0
  # Played alone it keeps its own, whatever the size of its pictures, and a note says so; one that is
  # written down holds in all stages, unless it is what the first one gives.
  cat >rhythm.lua <<'LUA'
local iap = require "iap"
local function world(size, repeated) return { name = "cartpole-balance", pixels = { size, size }, time_limit = 40, action_repeat = repeated } end
local function blocks(dt)
  local eye = iap.policy.concat { iap.attention.rank { patch = 4, top = 1 }, iap.policy.clock { frequency = 1, dt = dt } }
  return iap.policy.sequence { eye, iap.policy.linear { activation = "tanh" } }
end
local policy = iap.policy.build(blocks(), world(16, 2))
policy:initialise(3)
policy:save "rhythm.iap"
for written, kept in pairs { [0.03] = "0.03", [0.02] = "0.04" } do
  local staged = iap.train {
    env = world(16, 2), policy = blocks(written), fit = "pool", curriculum = { { through = 1 }, { action_repeat = 4 } }, iterations = 2,
    optimizer = iap.optim.es { population = 2 }, eval_episodes = 1, confirm_episodes = 0, quiet = true,
  }
  assert(staged.policy:summary():match "dt ([%d.]+) s" == kept)
end
LUA
  run run rhythm.lua
  exits 0
  for pixels in 16 32; do
    run eval rhythm.iap --episodes 2 --set action_repeat=4 --set "pixels=[$pixels,$pixels]" --fit pool
    exits 0
    says out "the policy's clocks count 0.02 s a decision, as it was trained, while 0.04 s pass"
  done
  run probe rhythm.iap --episodes 4 --set action_repeat=4
  exits 0
  says out "the policy's clocks count 0.02 s a decision"
  run eval rhythm.iap --episodes 2
  exits 0
  grep -q note out && fail "a note about the policy's own time"
  # --set takes a policy in Lua out as well.
  cat >object.lua <<'LUA'
local iap = require "iap"
local begun = iap.policy.build(iap.policy.linear {}, "cartpole-balance")
begun:set_parameters { 1, 2, 3, 4, 5, 6 }
local result = iap.train {
  env = "cartpole-balance", policy = iap.policy.linear {}, init = begun, iterations = 0, eval_episodes = 1, quiet = true, seed = 3,
}
print(table.concat(result.parameters, " "))
LUA
  run run object.lua
  [ "$(cat out)" = "1.0 2.0 3.0 4.0 5.0 6.0" ] || fail "a policy to begin at"
  run run object.lua --set init=null
  exits 0
  ! grep -q "^1.0 2.0" out || fail "init=null leaves a policy in Lua in place"
}

# What no stage could go on with is told before the first one.
case_stages_refused() {
  pixel_script 'iap.attention.rank { patch = 8, d = 2, top = 1, query_weights = "learned" },' \
    'curriculum = { { through = 2 }, { pixels = { 24, 16 } } },'
  run run train.lua --set optimizer.kind=cma_es --set optimizer.learning_rate=null --out run
  exits 1
  says err "train: option 'curriculum', stage 2: cma_es: keeps its population and its parameters"
  [ ! -e run/metrics.csv ] || fail "the first stage was trained"
  run run train.lua --out run
  exits 0
  says run/log.txt "stage 2 of 2 begins with iteration 3"
  says run/log.txt "the mean is resampled, the optimizer's moments begin anew"
  pixel_script 'iap.attention.rank { patch = 8, d = 2, top = 1, values = "content", masked = true }, iap.policy.normalise { over = "training" },
    iap.attention.rank { patch = 8, d = 2, top = 1 },' 'curriculum = { { through = 2 }, { pixels = { 32, 48 } } },'
  run run train.lua --out moments
  exits 1
  says err "stage 2: its 'normalise' blocks gather moments of"
  pixel_script "" 'curriculum = { { thruogh = 2 }, {} },'
  run run train.lua
  exits 1
  says err "stage 1: option 'through' is missing (did 'thruogh' mean it?)"
  pixel_script "" 'curriculum = { { through = 2, population = 3 }, {} },'
  run run train.lua
  exits 1
  says err "stage 1: "
}

# A policy plays at another image size: what belongs to its patches is resampled, or the pixels are pooled.
case_fit() {
  pixel_script "$tokens" ""
  run run train.lua --out run
  exits 0
  run eval run --episodes 2 --set 'pixels=[32,48]'
  exits 0
  says out "note                the policy was resampled from 16x24 to 32x48"
  run eval run --episodes 2 --set 'pixels=[32,48]' --fit pool
  exits 0
  says out "note                the policy was pooled from 16x24 to 32x48"
  run eval run --episodes 2 --set 'pixels=[16,24]'
  exits 0
  grep -q note out && fail "a note about the policy's own size"
  run play run --steps 2 --set 'pixels=[20,28]' --strip 1 --out strip.png
  exits 0
  says out "note     the policy was resampled from 16x24 to 20x28"
  run play run --steps 2 --set 'pixels=[20,28]' --strip 1 --out strip.png --fit pool
  exits 1
  says err "'run' cannot be brought from 16x24 to 20x28"
  says err "no whole multiple of the 16 x 24"
  run eval run --fit poool
  exits 2
  says err "--fit: there is no 'poool'; did you mean 'pool'?"
  pixel_script 'iap.attention.rank { patch = 4, top = 2, masked = true },' ""
  run run train.lua --out masked
  exits 0
  run eval masked --set 'pixels=[32,48]'
  exits 1
  says err "'masked' cannot be brought from 16x24 to 32x48: block '2.linear' does not fit"
  lines err 1
}

# Episodes per member grow on the way: a schedule from the command line.
case_growing_episodes() {
  pixel_script "$tokens" 'curriculum = { { through = 1 }, { through = 3, episodes = 2 }, { episodes = 4 } },'
  goes_on_alike
  # 4 members, episodes of 6 decisions
  [ "$(head -1 whole/metrics.csv | tr , '\n' | grep -n '^steps$')" = 12:steps ] || fail "the columns moved"
  [ "$(cut -d, -f12 whole/metrics.csv | tr '\n' ' ')" = "steps 0 24 72 120 216 " ] || fail "episodes do not grow as asked for"
  pixel_script "$tokens" ""
  run run train.lua --out set --set 'curriculum=[{"through":1},{"through":3,"episodes":2},{"episodes":4}]'
  exits 0
  cmp -s whole/final.iap set/final.iap || fail "--set gives another run"
}

# Trained on a dense reward, judged by the task's own.
case_eval_env() {
  pixel_script "" 'eval_env = { reward = "task" },'
  sed -i 's/iap.env.make(.*$/iap.env.make("reacher-easy", { reward = "dense", action_repeat = 4, time_limit = 60 }),/' train.lua
  goes_on_alike
  run eval whole --episodes 2 --seed 3
  exits 0
  best=$(grep -oE 'best evaluation -?[0-9.]+' out | cut -d' ' -f3)
  grep -q "mean return         $best" out || fail "eval does not play the task's own reward"
  run eval whole --episodes 2 --seed 3 --set reward=dense
  exits 0
  grep -q "mean return         $best" out && fail "the dense reward is the task's"
  run run train.lua --out other --set eval_env.rewrad=task
  exits 1
  says err "train: option 'eval_env'"
  says err "did you mean 'reward'?"
  lines err 1
  run run train.lua --out other --set eval_env=3
  exits 1
  says err "option 'eval_env' must be an environment or a table of the options that change, got 3"
}

# Evaluations follow one another: threads that one of them leaves idle are none the next one's.
case_dry_run_threads() {
  training_script ""
  run run train.lua --dry-run --threads 64
  exits 0
  sed -n 's/^evaluations .*all: \([^ ]*\) s .* steps, \([^ ]*\) s on one thread)$/\1 \2/p' out |
    awk '{ found = 1; off = $1 / $2 - 4 } END { exit !(found && off * off < 0.01) }' || fail "other than 3 evaluations and a confirmation"
  # What trains nothing is evaluated once.
  run run train.lua --dry-run --set iterations=0 --set eval_every=0
  exits 0
  says out "evaluations  20 episodes in all"
}

# A learning rate that follows from the returns in metrics.csv, through interruptions too.
case_plateau() {
  pixel_script "$tokens" ""
  sed -i "s/iap.optim.es {/iap.optim.es { plateau = { patience = 1, factor = 0.25, window = 1 },/" train.lua
  goes_on_alike
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == "return_mean") mean = i; if ($i == "learning_rate") rate = i } }
    NR == 2 { best = -1e9; expected = 0.1 }
    NR > 2 { if ($mean > best) best = $mean; else { expected /= 4; ++cuts } if (expected < 0.001) expected = 0.001 }
    NR > 1 && ($rate - expected) ^ 2 > 1e-12 { wrong = 1 }
    END { exit wrong || cuts == 0 || cuts == 4 }' whole/metrics.csv || fail "the learning rate does not follow from the returns"
  run run train.lua --out whole --resume --set optimizer.plateau.patience=2
  exits 1
  says err "(optimizer.plateau.patience: 1 before, 2 now)"
  # Episodes of half the length earn half: that is no plateau.
  run run train.lua --out stages --set optimizer.plateau.patience=2 --set 'curriculum=[{"through":2,"time_limit":96},{}]'
  exits 0
  [ "$(tail -1 stages/metrics.csv | cut -d, -f8)" = 0.1 ] || fail "returns of another environment count as a plateau"
  run run train.lua --out other --set optimizer.plateau.patiense=2
  exits 1
  says err "optimizer.plateau: unknown option 'patiense'; did you mean 'patience'?"
  for kind in cma_es simple_ga; do
    run run train.lua --out other --set optimizer.kind=$kind --set optimizer.learning_rate=null
    exits 1
    says err "option 'plateau' lowers a learning rate, which $kind does not have; take it out, or use one of es, pgpe, ars"
  done
}

case_statistics() {
  pixel_script "$tokens"' iap.policy.normalise { over = "training" },' ""
  goes_on_alike
  cat >elsewhere.lua <<'LUA'
local iap = require "iap"
local policy = iap.policy.load("whole")
assert(iap.eval(policy, { episodes = 2, seed = 3 }).mean == iap.eval("whole", { episodes = 2, seed = 3, threads = 1 }).mean)
policy:save("copy.iap")
LUA
  run run elsewhere.lua
  exits 0
  run eval whole --episodes 2 --actions actions.csv
  mkdir elsewhere
  mv copy.iap elsewhere
  run eval elsewhere/copy.iap --episodes 2 --actions elsewhere/actions.csv
  exits 0
  cmp -s actions.csv elsewhere/actions.csv || fail "the policy plays differently elsewhere"
}

case_action_noise() {
  pixel_script "$tokens" 'action_noise = 0.2,'
  goes_on_alike
  run run train.lua --out quiet --set action_noise=0
  exits 0
  [ "$(cut -d, -f2 whole/metrics.csv)" != "$(cut -d, -f2 quiet/metrics.csv)" ] || fail "noise changes no return"
  [ "$(sed -n 2p whole/metrics.csv | cut -d, -f5)" = "$(sed -n 2p quiet/metrics.csv | cut -d, -f5)" ] || fail "evaluations have noise"
  run run train.lua --out whole --resume --set action_noise=0.3
  exits 1
  says err "(action_noise: 0.2 before, 0.3 now)"
  run run train.lua --out other --set action_noise=-1
  exits 1
  says err "train: option 'action_noise' must be in [0, 10], got -1"
  run run train.lua --out other --set action_nose=0.1
  exits 1
  says err "did you mean 'action_noise'?"
}
