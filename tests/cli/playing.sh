# shellcheck shell=bash
# Films and strips of policies, and episodes by their seeds.

case_play() {
  save_policy
  run play policy.iap --seed 3
  exits 0
  says out "video    policy.webp (544 x 408, 5 frames, 50 a second"
  says out "10 steps, seed 3"
  [ "$(head -c 4 policy.webp)$(head -c 12 policy.webp | tail -c 4)" = RIFFWEBP ] || fail "no WebP"
  run play policy.iap --out p.png --scale 2 --steps 4 --fps 5 --view side-by-side --set render.shadows=false
  exits 0
  says out "p.png (132 x 48, 4 frames, 5 a second"
  [ "$(head -c 4 p.png | tail -c 3)" = PNG ] || fail "no PNG"
  # A heat map of what the policy sees.
  run play policy.iap --out p.apng --view heatmap --as-seen
  exits 0
  # The episode is that of iap eval.
  run eval policy.iap --episodes 2 --csv e.csv
  seed=$(sed -n 3p e.csv | cut -d, -f2)
  run play policy.iap --seed "$seed" --scale 1 --out p.webp
  # A return that two digits behind the point would show as nothing.
  says out "return $(sed -n 3p e.csv | awk -F, '{printf(($3 > -.01 && $3 < .01) ? "%.3g" : "%.2f", $3)}'),"
  grep -qE 'return -?0\.00,' out && fail "the return is rounded away"
  # A policy may have the name that its own picture would get.
  cp policy.iap own.png
  cp policy.iap own.webp
  refuses "cannot write 'own.png': the command reads it; choose another place for --out" play own.png --strip 2
  refuses "cannot write 'own.webp': the command reads it; choose another place for --out" play ./own.webp --steps 3
  cmp policy.iap own.png && cmp policy.iap own.webp || fail "a policy was overwritten"
  run play own.png --strip 2 --out p.png
  exits 0
  # A run keeps its video.
  mkdir run
  cp policy.iap run/best.iap
  run play run --scale 1 --env cartpole-swingup
  exits 0
  says out "note     --env keeps options of the policy's own environment: pixels=[24,32], time_limit=10 "
  [ -s run/media/play.webp ] || fail "no video in the run"
}

# A strip honours what a video does.
case_play_strip() {
  save_policy
  # 24 x 32 pixels: 9 times as large gives 216 rows, and the captions stand below.
  run play policy.iap --strip 3 --out strip.png
  exits 0
  says out "strip    strip.png (872 x 2"
  says out "3 pictures"
  says out "10 steps, seed 0"
  strip() {
    local name=$1
    shift
    run play policy.iap --strip 3 --out "$name.png" "$@"
    exits 0
    cmp -s strip.png "$name.png" && fail "--strip ignores $*"
    true
  }
  for view in heatmap side-by-side raw; do strip $view --view $view; done
  cmp -s heatmap.png raw.png && fail "two views are one"
  strip seen --as-seen
  strip seen-raw --as-seen --view raw
  strip small --scale 2
  says out "small.png (200 x "
  strip short --steps 4
  says out "4 steps"
  strip shorter --steps 2
  says out "2 pictures"
  strip shortest --steps 1
  says out "1 picture instead of 3, for want of steps"
  strip seed --seed 3
  cat >same.lua <<'LUA'
local iap = require "iap"
iap.report.strip { policy = "policy.iap", frames = 3, view = "heatmap", scale = 2, steps = 4, redraw = false, out = "lua.png" }
LUA
  run run same.lua
  exits 0
  strip all --view heatmap --scale 2 --steps 4 --as-seen
  cmp all.png lua.png || fail "iap.report.strip draws another strip"
  cat >blind.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 }, state = true, time_limit = 20 }),
  policy = iap.policy.sequence { iap.policy.observation {}, iap.policy.linear { activation = "tanh" } },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_episodes = 1, threads = 1, quiet = true, out = "blind",
}
LUA
  run run blind.lua
  exits 0
  run play blind --strip 2 --view heatmap --out blind.png
  exits 0
  says err "note: the policy attends to no patches of this picture; --view heatmap shows the environment alone"
  run play blind --strip 2 --view raw --out blind.png
  ! grep -q "attends to no patches" err || fail "a note about what nobody asked to see"
  # Nothing can be made of pixels that the policy does not get.
  cat >state.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.linear {}, iap.env.make("cartpole-swingup", { time_limit = 20 })):save("state.iap")
LUA
  run run state.lua
  exits 0
  run play state.iap --strip 2
  exits 0
  says out "strip    state.png"
  refuses "--scale 2: the policy sees no image whose pixels could be enlarged; leave it out" play state.iap --strip 2 --scale 2 --out no.png
  refuses "--scale 40: the policy sees no image" play state.iap --scale 40 --as-seen --out no.webp
  refuses "--as-seen: the policy sees no image, so that the environment has to be drawn; leave it out" play state.iap --as-seen --out no.webp
  run play --help
  tr -s ' \n' ' ' <out | grep -qF "of a policy file NAME.webp or NAME.png in the working folder)" || fail "no word of where a policy file's go"
  run play policy.iap --strip 100 --view side-by-side --out no.png
  exits 1
  says err "32767 are the most; show fewer (--strip"
  run play policy.iap --strip 2 --scale 64 --set 'pixels=[240,1024]' --out no.png
  exits 1
  says err "choose a smaller --scale"
  for option in "--fps 10" "--quality 50"; do
    # shellcheck disable=SC2086
    run play policy.iap --strip 3 --out no.png $option
    exits 2
    says err "${option% *}: only videos have it; leave it out, or leave out --strip"
  done
  run play policy.iap --quality 50 --out no.png
  exits 2
  says err "--quality: only a .webp has it; leave it out, or write a .webp"
  run play policy.iap --strip 3 --out no.webp
  exits 1
  says err "cannot write 'no.webp': a strip is a picture; its name must end in .png"
  lines err 1
  [ ! -e no.png ] && [ ! -e no.webp ] || fail "a refused strip was written"
}

# An environment that draws random numbers for its pixels pays other rewards when it is drawn larger: its own pixels are left.
case_play_redrawn() {
  cat >noisy.lua <<'LUA'
return function(options)
  local bytes = (options.pixels and options.pixels[1] * options.pixels[2] or 16 * 16) * 3
  local images = not options.blind or options.pixels
  local env = { spec = { action_size = 1, max_steps = 8, vector = 1,
    images = images and { pixels = { height = (options.pixels or { 16 })[1], width = (options.pixels or { 0, 16 })[2] } } or nil } }
  function env:reset(seed) math.randomseed(seed) end
  function env:step() return math.random() end
  function env:observe()
    local seen = {}
    for i = 1, images and bytes or 0 do seen[i] = string.char(math.random(0, 255)) end
    return { 0 }, images and { pixels = table.concat(seen) } or nil
  end
  return env
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("noisy.lua"), policy = iap.policy.sequence { iap.attention.rank { patch = 4, d = 2, top = 2 }, iap.policy.linear {} },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_episodes = 1, threads = 1, quiet = true, out = "run",
}
iap.policy.build(iap.policy.linear {}, iap.env.make("noisy.lua", { blind = true })):save("blind.iap")
LUA
  run run train.lua
  exits 0
  refuses "drawn larger, the environment pays another reward; show the policy's own pixels instead (--as-seen; in Lua: redraw = false)" play run
  refuses "drawn larger, the environment pays another reward; let what happens in it not depend on its pictures" play blind.iap
  run report run --episodes 1
  exits 0
  says run/report.html "in the policy's own pixels: drawn larger, the environment pays another reward. Its own seed"
  grep -o '<code>iap play [^<]*' run/report.html >command
  says command " --as-seen"
  # shellcheck disable=SC2046
  run $(sed 's/<code>iap //' command)
  exits 0
  says out "return $(grep -o 'Video of an episode of return [0-9.]*' run/report.html | sed 's/.*return //' | cut -c1-3)"
}

# One that pays nothing until its goal may stray all the same: it ends at another step, observes another vector, fails, or shows its
# things elsewhere. Snow alone, of which nothing that happens depends, is drawn.
case_play_astray() {
  cat >snow.lua <<'LUA'
return function(options)
  local pixels, kind = options.pixels or { 16, 16 }, options.kind
  local height, width = pixels[1], pixels[2]
  local own = { height = height, width = width }
  local env = { spec = { action_size = 1, max_steps = 12, vector = kind == "vector" and 1 or nil, images = { eye = own } } }
  local place, chance, picture
  local function draw()
    if kind == "failing" and height > 16 and env.steps > 3 then error("no room") end
    local rows, size = {}, height // 4
    for y = 0, height - 1 do
      local row = {}
      for x = 0, width - 1 do
        local snow = math.random(0, 60)
        local inside = kind == "places" and x * 4 // width == place and y // size == 1
        row[#row + 1] = inside and "\255\255\255" or string.char(snow, snow, snow)
      end
      rows[#rows + 1] = table.concat(row)
    end
    picture = table.concat(rows)
  end
  function env:reset() self.steps, place = 0, 0 chance = math.random() draw() end
  function env:step()
    self.steps, chance = self.steps + 1, math.random()
    place = (place + math.random(1, 3)) % 4
    draw()
    return 0, kind == "ends" and chance < 0.2
  end
  function env:observe() return kind == "vector" and { chance } or nil, { eye = picture } end
  return env
end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
for _, kind in ipairs { "alike", "places", "ends", "vector", "failing" } do
  local look = iap.policy.sequence { iap.attention.rank { patch = 4, d = 1, top = 1 }, iap.policy.linear {} }
  iap.policy.build(look, iap.env.make("snow.lua", { kind = kind })):save(kind .. ".iap")
end
LUA
  run run build.lua
  exits 0
  run play alike.iap --strip 4 --out strip.png
  exits 0
  local remedy="; show the policy's own pixels instead (--as-seen; in Lua: redraw = false)" way kind
  for kind in places ends vector failing; do
    case $kind in
      places) way="shows something else" ;;
      ends) way="ends at another step" ;;
      vector) way="observes another vector" ;;
      failing) way="fails: failing.iap: snow.lua:8: no room" ;;
    esac
    refuses "drawn larger, the environment $way$remedy" play $kind.iap --seed 2 --out no.webp
    run play $kind.iap --seed 2 --strip 4 --as-seen --out seen.png
    exits 0
    mkdir $kind
    cat >train.lua <<LUA
local iap = require "iap"
iap.train {
  env = iap.env.make("snow.lua", { kind = "$kind" }), policy = iap.policy.sequence { iap.attention.rank { patch = 4, d = 1, top = 1 }, iap.policy.linear {} },
  optimizer = iap.optim.es { population = 4 }, iterations = 1, eval_episodes = 1, threads = 1, quiet = true, out = "$kind",
}
LUA
    run run train.lua
    exits 0
    run report $kind --episodes 1
    exits 0
    says $kind/report.html "in the policy's own pixels: drawn larger, the environment ${way/failing.iap/failing/best.iap}. Its own seed"
  done
}

case_play_errors() {
  save_policy
  for arguments in "" "policy.iap --view sideways" "policy.iap --scale 0" "policy.iap --fps 0" "policy.iap --steps 0"; do
    # shellcheck disable=SC2086
    run play $arguments
    exits 2
    [ -s err ] || fail "'$arguments' says nothing"
  done
  refuses "nothing.iap" play nothing.iap
  refuses "must end in one of .webp, .png, .apng, .mp4" play policy.iap --out video.gif
  # Before anything is opened or drawn.
  refuses "cannot write 'nowhere/v.webp': there is no folder 'nowhere'" play missing.iap --out nowhere/v.webp
  refuses "unknown option 'camrea'; did you mean 'camera'?" play policy.iap --set camrea=1
  refused "iap play: --set camera: write it as path=value, such as render.shadows=false" play policy.iap --set camera
  refuses "there is no environment 'cartpole-swinup'; did you mean" play policy.iap --env cartpole-swinup
  refuses "the policy gives 1 action values, 'cheetah-run' takes 6" play policy.iap --env cheetah-run
  PATH=$work "$iap" play policy.iap --out v.mp4 >out 2>err
  code=$?
  exits 1
  says err "needs the program 'ffmpeg', which is not on the PATH"
  [ -z "$(ls ./.iap-* v.* 2>/dev/null)" ] || fail "something was left behind"
  training_script 'out = "run",'
  run run train.lua
  refuses "there is nothing to show: the policy sees no image" play run
}

# Steps of hours and of nanoseconds are shown at a pace that films hold, and never more slowly.
case_play_pace() {
  local dt pace frames name
  for dt in 1e-9 0.05 1e5 1e9; do
    cat >build.lua <<LUA
local iap = require "iap"
local source = [[return function()
  local steps, env = 0, { spec = { action_size = 1, control_dt = $dt, images = { pixels = { height = 16, width = 16 } } } }
  function env:reset() steps = 0 end
  function env:step() steps = steps + 1 return 0, steps == 5 end
  function env:observe() return nil, { pixels = string.char(steps * 40):rep(16 * 16 * 3) } end
  return env
end]]
iap.policy.build(iap.policy.sequence { iap.attention.rank { patch = 4, d = 2, top = 2 }, iap.policy.linear {} },
  iap.env.make { name = "env.lua", source = source }):save("pace.iap")
LUA
    run run build.lua
    exits 0
    case $dt in 1e-9) pace=50 frames=1 ;; 0.05) pace=20 frames=5 ;; *) pace=0.1 frames=5 ;; esac
    for name in p.webp p.png; do
      run play pace.iap --scale 2 --out $name
      exits 0
      says out "$name (32 x 32, $frames frame"
      says out ", $pace a second"
    done
  done
  cat >slow.lua <<'LUA'
require("iap").report.video { policy = "pace.iap", out = "slow.webp", fps = 1e-6 }
LUA
  run run slow.lua
  exits 1
  says err "a video's fps must be at least 0.1, a picture for ten seconds, got 1e-06; 0 is real time"
  lines err 1
}

# The seed of any episode, of 64 bits, can be played again.
case_seeds() {
  cat >seeded.lua <<'LUA'
return function()
  local env = { spec = { action_size = 1, max_steps = 3, vector = 1, images = { pixels = { height = 2, width = 2 } } } }
  function env:reset(seed) self.seed = seed end
  function env:step() return self.seed / 2^60 end
  function env:observe() return { 0 }, { pixels = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } } end
  return env
end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.linear {}, iap.env.make("seeded.lua")):save("policy.iap")
LUA
  run run build.lua
  exits 0
  run eval policy.iap --episodes 20 --csv e.csv
  exits 0
  awk -F, '$2 > 2^63 && $3 < 0' e.csv >high
  [ -s high ] || fail "no seed of 2^63 or more among 20"
  run play policy.iap --seed "$(head -1 high | cut -d, -f2)" --out p.webp
  exits 0
  says out "return $(head -1 high | awk -F, '{printf "%.2f", $3}'),"
  run play policy.iap --seed 18446744073709551615 --out p.webp
  exits 0
  says out "3 steps, seed 18446744073709551615"
  run play policy.iap --seed 18446744073709551616
  exits 2
  says err "--seed: expected an integer from 0 to 18446744073709551615, got '18446744073709551616'"
  run check policy.iap --seed 18446744073709551615
  exits 0
  says out "from seed 18446744073709551615 on"
  # Half of all seeds are negative in Lua; whoever refuses them does not pass.
  sed -i 's/function env:reset(seed)/& assert(seed >= 0, "a negative seed")/' seeded.lua
  run check seeded.lua
  exits 1
  says out "a negative seed"
  says out "broken: 1 of 17 rules (runs)"
}
