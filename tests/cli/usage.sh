# shellcheck shell=bash
# The command line itself: help, and what is said to words, options and values that make no sense.

case_usage() {
  for arguments in "run" "fly" "--fly" "run --seed x f.lua" "run --threads 0 f.lua" "run --set" "eval" "eval x --episodes 0" "list nothing"; do
    # shellcheck disable=SC2086
    run $arguments
    exits 2
    [ -s err ] || fail "'$arguments' says nothing"
    silent out
  done
  run --help
  exits 0
  says out "doctor"
  run --version
  exits 0
  grep -qE '^iap [0-9]+\.[0-9]+\.[0-9]+$' out || fail "version"
}

# refused TEXT ARGS...: a usage error that says TEXT and where to read more
refused() {
  local expected=$1
  shift
  run "$@"
  exits 2
  says err "$expected"
  grep -qE '^See: iap.* --help$' err || fail "no word about help"
  lines err 2
  silent out
}

case_suggestions() {
  refused "iap: unknown command 'evl'; did you mean 'eval'?" evl runs/x
  refused "iap: unknown command 'bogus'; known: run, sweep, repl, eval," bogus
  refused "to run a script: iap run train.lua" train.lua --seed 3
  refused "iap eval policy.iap" policy.iap
  mkdir some_run
  refused "iap play some_run" some_run
  refused "iap run: unknown option '--treads'; did you mean '--threads'? (to hand it to the script: iap run FILE -- --treads=2)" \
    run x.lua --treads=2
  refused "iap eval: unknown option '--episods'; did you mean '--episodes'?" eval --episods 3 x
  refused "iap: has no option --strip; these commands have it: iap play" --strip 3
  refused "--episodes stands before the command; write it after iap eval" --episodes 3 eval x
  refused "iap eval: unexpected argument 'b'" eval a b
  refused "iap eval: POLICY is missing" eval
  refused "iap eval: --csv needs a value: --csv FILE" eval x --csv
  refused "iap eval: --seed was given 2 times" eval x --seed 1 --seed 2
  refused "iap list: there is no 'kernel'; did you mean 'kernels'?" list kernel
  refused "iap play: --view: there is no 'overley'; did you mean 'overlay'?" play x --view overley
  # Half a word is no slip of another one.
  refused "iap eval: --policy: there is no 'last'; known: best, final" eval x --policy last
  run eval --qqqqqqqqqqqqqqqqqqqqqqqqqqqq x
  exits 2
  [ "$(grep -o -- '--help' err | wc -l)" = 2 ] || fail "an option is listed twice"
  refused "iap bench: there is no 'atention'; did you mean 'attention'?" bench atention
  for part in 3/2 0/2 2 1/x; do refused "--job" sweep x.lua --job $part; done
  refused "iap import: say what; known: attention-agent" import
  refused "iap import: unknown command 'atention-agent'; did you mean 'attention-agent'?" import atention-agent x.npz
}

# Whoever takes a number says which ones; no value wraps, is cut short or is read as something else.
case_numbers() {
  local command value
  for command in run eval report; do
    for value in -1 1e3 0x10 1.5 9223372036854775808 18446744073709551615 ten " 3"; do
      refused "iap $command: --seed: expected an integer from 0 to 9223372036854775807, got '$value'" $command x --seed "$value"
    done
  done
  # The seed of an episode itself has 64 bits.
  for command in play check; do
    for value in -1 1e3 0x10 1.5 18446744073709551616 ten " 3"; do
      refused "iap $command: --seed: expected an integer from 0 to 18446744073709551615, got '$value'" $command x --seed "$value"
    done
  done
  refused "--threads: expected an integer from 1 to 4096, got '0'" run x --threads 0
  refused "--threads: expected an integer from 1 to 4096, got '4097'" eval x --threads 4097
  refused "--episodes: expected an integer from 1 to 1000000, got '-5'" eval x --episodes -5
  refused "--episodes: expected an integer from 1 to 10000, got '0'" report x --episodes 0
  refused "--steps: expected an integer from 1 to 1000000, got '0'" play x --steps 0
  refused "--scale: expected an integer from 1 to 64, got '65'" play x --scale 65
  refused "--quality: expected an integer from 0 to 100, got '101'" play x --quality 101
  refused "--strip: expected an integer from 1 to 100, got '4294967297'" play x --strip 4294967297
  for value in 0.05 1001 nan inf 2x; do
    refused "--fps: expected a number from 0.1 to 1000, got '$value'" play x --fps $value
  done
  # The largest seed is one.
  echo 'print(require "iap".options { seed = 1 }.seed)' >seed.lua
  run run seed.lua --seed 9223372036854775807
  exits 0
  says out 9223372036854775807
  # Of a sweep it is the last one.
  sweep_script ""
  run sweep train.lua --seed 9223372036854775806 --seeds 2 --dry-run
  exits 0
  says out "seed9223372036854775807: to do"
  refuses "--seed 9223372036854775807: with --seeds 2 the last seed is too large" sweep train.lua --seed 9223372036854775807 --seeds 2
  cat >lua_seeds.lua <<'LUA'
local iap = require "iap"
local env = iap.env.make("cartpole-balance", { time_limit = 4 })
local blocks = iap.policy.sequence { iap.policy.linear {} }
local policy = iap.policy.build(blocks, env)
local calls = {
  function(seed) iap.env.check(env, 3, seed) end,
  function(seed) policy:initialise(seed) end,
  function(seed) iap.eval(policy, { env = env, episodes = 1, seed = seed }) end,
  function(seed) iap.train { env = env, policy = blocks, iterations = 0, eval_episodes = 1, seed = seed, quiet = true } end,
}
-- Those of episodes themselves may be negative: all 64 bits count.
for _, object in ipairs { env, policy } do
  object:reset(math.mininteger)
  for _, seed in ipairs { 1.5, "x", 2.0 ^ 63 } do
    local ok, message = pcall(object.reset, object, seed)
    assert(not ok and message:find("'seed': expected an integer", 1, true), message)
  end
end
for i, call in ipairs(calls) do
  call(3)
  for _, seed in ipairs { -1, 1.5, "x", 2.0 ^ 63 } do
    local ok, message = pcall(call, seed)
    assert(not ok, "call " .. i .. " takes the seed " .. seed)
    assert(message:find("seed", 1, true) and message:find("integer", 1, true) or message:find("[0, 9223372036854775807]", 1, true), message)
  end
end
LUA
  run run lua_seeds.lua
  exits 0
}

# The help of every command: nothing of the parser's own notation, an example where there is something to choose.
case_help() {
  local command
  run --help
  exits 0
  says out "iap help COMMAND"
  for command in run sweep eval play report check new import export; do
    run $command --help
    exits 0
    grep -qE '^Examples?:$' out || fail "$command has no example"
    says out "Usage: iap $command "
    grep -nE '\{|TEXT|UINT|INT|FLOAT|REQUIRED|Positionals' out && fail "$command prints the parser's notation"
    cp out help
    run help $command
    exits 0
    cmp -s out help || fail "iap help $command is not iap $command --help"
  done
  # A flag does what its name says.
  grep -q -- '--as-seen  ' <("$iap" play --help) || fail "--as-seen"
}

# The Lua reference by names: functions, methods, environments, options, areas; the nearest ones where there is none.
case_help_names() {
  run help
  exits 0
  says out "Commands:"
  says out "  iap.attention"
  run help rank
  exits 0
  says out "iap.attention.rank { ... } -> blueprint"
  says out "  patch "
  says out "integer 1..4096 (required)"
  cp out short
  run help iap.attention.rank
  cmp -s out short || fail "iap help rank is not iap help iap.attention.rank"
  run help env:step
  says out "env:step(action) -> reward, terminated, truncated"
  run help cheetah-run
  says out "action_repeat"
  run help sigma
  says out "iap.optim.es"
  for name in rank train cross iap.env.make data task.table; do
    run help $name
    [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' out)" -le 115 ] || fail "long lines about $name"
  done
  run help rnak
  exits 2
  silent out
  says err "the reference has no 'rnak'; did you mean 'rank'"
  run help evl
  exits 2
  says err "or the command 'eval'?"
  lines err 1
  # What else stands there has no meaning: one command, with those inside it, or one name.
  refused "iap help play: unexpected argument 'x'; name one command, or one name of the Lua reference" help play x
  says err "See: iap play --help"
  refused "iap help play: unexpected argument '--seed'" help play --seed 3
  refused "iap help import attention-agent: unexpected argument 'x'" help import attention-agent x
  refused "iap help rank: unexpected argument 'y'" help rank y
  run import attention-agent --help
  cp out short
  for name in "import attention-agent" "import attention-agent --help"; do
    # shellcheck disable=SC2086
    run help $name
    exits 0
    cmp -s out short || fail "iap help $name"
  done
  # However long what is none is, which once took minutes.
  timeout 20 "$iap" help "$(printf 'a%.0s' {1..100000})" >out 2>err
  code=$?
  exits 2
  says err "aaa ...'; without a name there is a list"
  [ "$(wc -c <err)" -lt 300 ] || fail "a name is repeated in full"
}
