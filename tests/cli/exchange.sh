# shellcheck shell=bash
# Weights that others published, and policies as such weights: import and export.

# Published weights in, out and in again; the array is the same to the byte. Only the date in the archive is ours.
case_exchange() {
  local weights
  weights=$(readlink -f "$(dirname "$scripts")/../data/attention_agent")
  cp "$weights"/*.npz .
  for game in car_racing take_cover; do
    run import attention-agent $game.npz
    exits 0
    says out "for ${game/_/-}"
    run export $game.iap out.npz
    exits 0
    cmp -s <(tail -c +41 out.npz | head -c 14000) <(tail -c +41 $game.npz | head -c 14000) || fail "$game: other weights"
    run import attention-agent out.npz -o again.iap
    exits 0
    run export again.iap again.npz
    cmp -s out.npz again.npz || fail "$game: the second round trip differs"
  done
  run import attention-agent take_cover.npz --env car-racing
  exits 1
  says err "take_cover.npz, for environment 'car-racing': AttentionAgent: got 3633 parameters; with 3 actions it has 3667"
  lines err 1
  run import attention-agent none.npz
  exits 1
  says err "none.npz"
  echo "no archive" >junk.npz
  run import attention-agent junk.npz
  exits 1
  says err "junk.npz: is no readable .npz file"
  lines err 1
  [ ! -e junk.iap ] || fail "a policy file was written"
  # A changed weight: only the archive's checksum can tell.
  cp take_cover.npz bad.npz
  printf x | dd of=bad.npz bs=1 seek=9000 conv=notrunc 2>/dev/null
  run import attention-agent bad.npz
  exits 1
  says err "bad.npz: params.npy: cannot be unpacked"
  run import
  exits 2
  run import something weights.npz
  exits 2
  training_script 'out = "run",'
  run run train.lua
  run export run no.npz
  exits 1
  says err "only policies of kind attention_agent can be exported"
  [ ! -e no.npz ] || fail "weights of another policy were written"
  cat >hybrid.lua <<'LUA'
local iap = require "iap"
local blocks = iap.policy.attention_agent { rank = { kernel = "hybrid", input = "normalised" } }
iap.policy.build(blocks, iap.env.make("car-racing")):save("hybrid.iap")
LUA
  run run hybrid.lua
  exits 0
  run export hybrid.iap no.npz
  exits 1
  says err 'block '"'1.rank'"' has kernel = "hybrid" where the published agent has "softmax"'
  lines err 1
  [ ! -e no.npz ] || fail "weights were written that act otherwise"
}

# The place beside the weights, which nobody named, takes no other file's place; that of --out does.
case_import_replaces() {
  local weights
  weights=$(readlink -f "$(dirname "$scripts")/../data/attention_agent")
  cp "$weights/car_racing.npz" work.npz
  echo "trained for a week" >work.iap
  cp work.iap kept
  run import attention-agent work.npz
  exits 1
  says err "'work.iap' exists and holds something else; name the file to write with --out FILE"
  lines err 1
  silent out
  cmp -s work.iap kept || fail "a file that nobody named was replaced"
  run import attention-agent work.npz --out work.iap
  exits 0
  cp work.iap imported
  run import attention-agent work.npz
  exits 0
  cmp -s work.iap imported || fail "an equal file became another"
  # As many bytes, but others.
  printf x | dd of=work.iap bs=1 seek=2000 conv=notrunc 2>/dev/null
  run import attention-agent work.npz
  exits 1
  rm work.iap
  mkfifo work.iap
  run import attention-agent work.npz
  exits 1
  says err "'work.iap' exists and holds something else"
  rm work.iap
  ln -s elsewhere.iap work.iap
  refuses "'work.iap' is a link that leads to nothing; name the file to write with --out FILE" import attention-agent work.npz
  [ ! -e elsewhere.iap ] || fail "a file that nobody named was made through a link"
  run import attention-agent work.npz --out work.iap
  exits 0
  cmp -s elsewhere.iap imported || fail "not written where the link leads"
}
