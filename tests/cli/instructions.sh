# shellcheck shell=bash
# Which instructions results are computed with, and that "portable" gives the same bits under any C library's choice of functions.

# A small training whose policy looks at pixels
seeing_script() {
  cat >see.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 32, 32 }, time_limit = 10, distraction = { difficulty = "medium" } }),
  policy = iap.policy.sequence {
    iap.attention.rank { patch = 4, d = 4, kernel = "hybrid", m = 4, r = 2, top = 3 },
    iap.policy.lstm { units = 4 },
    iap.policy.linear { activation = "tanh" },
  },
  optimizer = iap.optim.es { population = 4, sigma = 0.1, learning_rate = 0.1 },
  iterations = 2, eval_every = 2, eval_episodes = 2, seed = 3, quiet = true, out = iap.run_folder("run"),
}
LUA
}

made_with() { grep -qE "\"instructions\": \"$2\"" "$1/config.json" || fail "$1 was not made with $2"; }

case_instructions() {
  run doctor --portable
  exits 0
  grep -qE '^SIMD +portable' out || fail "doctor does not say what was chosen"
  run doctor --instructions ABACUS
  exits 1
  says err "instructions: this machine does not have 'ABACUS'; take one of portable, "
  run --instructions "" list
  exits 2
  says err "--instructions is empty; name a set"
  # Two that differ, in either order; portable is one of them.
  for words in "--portable --instructions SSE4" "--instructions SSE4 --portable"; do
    # shellcheck disable=SC2086
    run doctor $words
    exits 2
    says err "--portable and --instructions SSE4: they ask for different instructions; leave one out"
  done
  run doctor --portable --instructions portable
  exits 0
  # What it prints, it takes.
  run doctor
  run doctor --instructions "$(sed -n 's/^SIMD *//p' out)"
  exits 0
  IAP_INSTRUCTIONS=SSE4 run doctor
  exits 0
  grep -qE '^SIMD +SSE4' out || fail "the variable is not followed"

  seeing_script
  run run see.lua --portable --out portable
  exits 0
  made_with portable portable
  run run see.lua --portable --out one --threads 1
  same_metrics portable one
  IAP_INSTRUCTIONS=portable GLIBC_TUNABLES=glibc.malloc.arena_max=2 run run see.lua --out told
  exits 0
  same_metrics portable told
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX run --portable run see.lua --out elsewhere
  exits 0
  same_metrics portable elsewhere
  # Nor do evaluations, and episodes in processes of their own, change what follows them.
  run run see.lua --instructions SSE4 --out sse4
  run run see.lua --instructions SSE4 --out sse4-isolated --set isolate=true
  exits 0
  same_metrics sse4 sse4-isolated
  cat >again.lua <<'LUA'
local iap = require "iap"
local policy, env = iap.policy.load(arg[1]), iap.env.make("cartpole-swingup", { pixels = { 32, 32 }, time_limit = 10 })
local function play(more)
  local settings = { env = env, episodes = 2, threads = 1 }
  for key, value in pairs(more or {}) do settings[key] = value end
  return iap.eval(policy, settings).mean
end
local before = play()
assert(play { isolate = true } == before)
assert(play() == before)
LUA
  run run again.lua --portable portable/final.iap
  exits 0
  # Episodes in processes of their own, and runs of a sweep, follow.
  run run see.lua --portable --out isolated --set isolate=true
  exits 0
  same_metrics portable isolated
  run sweep see.lua --portable --out sweep --seed 3
  exits 0
  made_with sweep/seed3 portable
  same_metrics portable sweep/seed3
  says out "--out sweep/best --instructions portable"
  run sweep see.lua --out sweep --seed 3
  exits 0
  says out "--out sweep/best --instructions portable"
}

case_instructions_resumed() {
  seeing_script
  run run see.lua --instructions SSE4 --out whole
  exits 0
  sed 's/quiet = true/on_iteration = function(r) if r.iteration == 1 then print("ready") io.stdout:flush() while true do end end end/' \
    see.lua >stops.lua
  interrupted run stops.lua --instructions SSE4 --out parts
  exits 130
  cp -r parts kept
  says err "stops.lua --out parts --instructions SSE4 --resume"
  # Where the variable says so, too, which whoever copies the command may not have set.
  IAP_INSTRUCTIONS=SSE4 interrupted run stops.lua --out variable
  exits 130
  says err "stops.lua --out variable --instructions SSE4 --resume"
  run run see.lua --portable --out parts --resume
  exits 0
  says err "the run was made with SSE4 instructions so far, goes on with portable"
  # What the message prints keeps the bits.
  says err '`--instructions SSE4` keeps them'
  run run see.lua --out kept --resume --instructions SSE4
  exits 0
  silent err
  same_metrics whole kept
}

# The C library's own choice of functions, which GLIBC_TUNABLES decides beside the processor: on record and told, and the portable one
# whatever else stands in the variable.
case_libm() {
  local fusing plain without=glibc.cpu.hwcaps=-FMA,-FMA4 tunables
  run doctor
  fusing=$(grep -E '^libm +[0-9]+' out) || fail "doctor does not say what the C library's functions come to"
  GLIBC_TUNABLES=$without run doctor
  plain=$(grep -E '^libm ' out)
  for tunables in "" "x$without" "$without,-AVX512F" "$without:glibc.cpu.hwcaps=-AVX512F" "glibc.malloc.arena_max=2:$without"; do
    GLIBC_TUNABLES=$tunables run --portable doctor
    exits 0
    [ "$(grep -E '^libm ' out)" = "$plain" ] || fail "not portable with GLIBC_TUNABLES=$tunables"
  done
  [ "$fusing" != "$plain" ] || return 0 # this machine fuses nothing

  seeing_script
  run run see.lua --set iterations=1 --out run
  GLIBC_TUNABLES=$without run run see.lua --out run --resume
  exits 0
  says err "the run was made with functions of the C library that come to $(grep -oE "[0-9]+" <<<"$fusing") so far, goes on with"
  says err "the same GLIBC_TUNABLES on a processor of the same kind keeps them"
  run run see.lua --set iterations=1 --out alike
  run run see.lua --out alike --resume
  exits 0
  grep -F "so far, goes on" err && fail "told of what is alike"
  return 0
}

# Where a sweep's runs were not computed alike, its table is another one, which is told once: of parts, and of a run that goes on.
case_instructions_in_sweep() {
  seeing_script
  local note="note: not all runs are computed alike (instructions SSE4, portable"
  run sweep see.lua --seeds 2 --out sweep --job 1/2 --instructions SSE4
  exits 0
  grep -q "^note" err && fail "told of runs that are alike"
  run sweep see.lua --seeds 2 --out sweep --job 2/2 --portable
  exits 0
  [ "$(grep -cF "$note" err)" -eq 1 ] || fail "a part does not tell"
  run sweep see.lua --seeds 2 --out sweep --collect
  exits 0
  [ "$(grep -cF "$note" err)" -eq 1 ] || fail "the collector does not tell"
  run run see.lua --seed 1 --set iterations=1 --out on/seed1 --instructions SSE4
  run sweep see.lua --out on --portable
  exits 0
  [ "$(grep -cF "$note" err)" -eq 1 ] || fail "does not tell of a run that goes on"
  # A machine that only collects computes nothing.
  run sweep see.lua --out on --collect --instructions SSE4
  exits 0
  silent err
}
