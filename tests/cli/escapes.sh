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
iap.policy.build(iap.policy.linear { name = "a\27[31mb" }, env):save("names.iap", { env = "no\27[2Jthing" })
LUA
  run run names.lua
  exits 0
  run eval names.iap --episodes 1
  exits 1
  says err "no?[2Jthing"
  grep -q "$(printf '\033')" out err && fail "a name steers the terminal"
  :
}

# Files that would fill the memory are refused before they do; the limit of addresses stands for a small machine.
case_large_files() {
  truncate -s 40G large.iap large.wad
  (
    ulimit -v 8000000
    for command in "eval large.iap" "play large.iap"; do
      # shellcheck disable=SC2086
      run $command
      exits 1
      lines err 1
      says err "needs 40 GiB of memory, more than half of the 7.6 GiB that this process may use"
    done
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
  ) || exit 1
}
