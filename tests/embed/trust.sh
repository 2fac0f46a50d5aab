#!/usr/bin/env bash
# A C host loads policies with Lua inside: harmless Lua acts, Lua that reaches outside is refused unless the host trusts the file.
# usage: trust.sh IAP TRUST_HOST
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
save() { # FILE CONSTRUCTION ACTION
  cat >block.lua <<LUA
return function(options, shapes)
  $2
  return { parameters = 0, outputs = 1, forward = function() $3 end }
end
LUA
  cat >build.lua <<'LUA'
local iap = require "iap"
iap.policy.build(iap.policy.script { file = "block.lua" }, iap.env.make("cartpole-swingup")):save(arg[1])
LUA
  "$iap" run build.lua "$1"
}
expect() { # FILE
  "$host" "$1" >out
  diff - out || { echo "trust_host $1 prints something else"; exit 1; }
}
iap=$1 host=$2
advice="is not available to Lua that comes out of a file; if you trust"
remedy="pass --trust (trust = true in Lua, iap_policy_load_trusted in C, trusted=True in Python)"

save harmless.iap "" "return { 0.5 }"
expect harmless.iap <<EOT
load: acts 0.5
load_memory: acts 0.5
load_trusted: acts 0.5
load_memory_trusted: acts 0.5
EOT

save early.iap 'os.execute("touch owned")' "return { 0.25 }"
rm owned
expect early.iap <<EOT
load: not loaded: early.iap: block.lua:2: os.execute $advice 'early.iap', $remedy
load_memory: not loaded: policy in memory: block.lua:2: os.execute $advice 'policy in memory', $remedy
load_trusted: acts 0.25
load_memory_trusted: acts 0.25
EOT
[ -e owned ] || { echo "trust did not reach the block"; exit 1; }

save late.iap "" 'return { io.open("block.lua") and 1 }'
expect late.iap <<EOT
load: loaded, then: late.iap: block.lua:3: io.open $advice 'late.iap', $remedy
load_memory: loaded, then: policy in memory: block.lua:3: io.open $advice 'policy in memory', $remedy
load_trusted: acts 1
load_memory_trusted: acts 1
EOT
echo ok
