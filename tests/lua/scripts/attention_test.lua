local check = require "check"
local iap = require "iap"

-- The cross-attention block: option checks where it is written.
local block = iap.attention.cross { image = "pixels", key_image = "slow", patch = 4, ranking = "hash", bits = 64, kernel = "trig", input = "normalised" }
local printed = tostring(block)
check.equal(tostring(load("local iap = ... return " .. printed)(iap)), printed)
assert(printed:find("iap.attention.cross {", 1, true), printed)
check.fails({ "attention_test.lua:", "cross: unknown option 'evry'; did you mean 'every'?" }, function()
  return iap.attention.cross { patch = 4, evry = 2 }
end)
check.fails({ "unknown ranking 'hashed'; did you mean 'hash'?" }, iap.attention.cross, { patch = 4, ranking = "hashed" })
-- Who does what the message says is not refused again.
for _, kernel in ipairs { "relu", "trig", "hybrid", "softmax" } do
  for _, block in ipairs { { iap.attention.cross, ranking = "sample" }, { iap.attention.rank, selection = "sample" } } do
    local make, options = table.remove(block, 1), block
    options.patch, options.kernel = 4, kernel
    local _, message = pcall(make, options)
    local able = message:match("kernel '" .. kernel .. "' cannot draw patches, .*; kernels that can: (.*)$")
    check.equal(able, "exp, favor++")
    for name in able:gmatch "[^, ]+" do
      options.kernel = name
      make(options)
    end
  end
end
check.fails({ "option 'every' must be" }, iap.attention.cross, { patch = 4, every = 0 })
check.fails({ "option 'threads' goes with selection = \"top\"" }, iap.attention.rank, { patch = 4, kernel = "exp", selection = "sample", threads = 2 })
check.fails({ "option 'order' goes with the kernels relu, exp, favor++, trig, hybrid" }, iap.attention.trans, { patch = 4, kernel = "softmax", order = "auto" })
check.fails({ "option 'bits' goes with ranking = \"hash\"" }, iap.attention.cross, { patch = 4, ranking = "exact", bits = 64 })
check.fails({ "kernel 'relu' cannot draw patches" }, iap.attention.rank, { patch = 4, selection = "sample" })
iap.attention.rank { patch = 4, selection = "sample", kernel = "exp", pooling = "features", replacement = true }

-- On an environment: its views show the keys' image.
local env = iap.env.make("cartpole-swingup", { pixels = { 24, 32 } })
for _, ranking in ipairs { "exact", "hash", "sample" } do
  local policy = iap.policy.build(iap.policy.sequence {
    iap.attention.cross { patch = 4, key_patch = 8, top = 3, every = 2, kernel = "exp", ranking = ranking },
    iap.policy.linear { activation = "tanh" },
  }, env)
  policy:reset(1)
  policy:act(env:reset(1))
  local view = policy:views()[1]
  check.equal(view.image, "pixels")
  check.equal(view.patch, 8)
  check.equal(#view.scores, 12)
  check.equal(#view.selected, 3)
  check.equal(policy:size(), 48 * 8 + 192 * 8 + 6 + 1)
  assert(policy:summary():find("every 2 steps", 1, true), policy:summary())
end

-- A policy starts no more threads than the machine has, whatever the file says that it came from.
local function threads_running() return tonumber(io.open("/proc/self/status"):read("a"):match("Threads:%s*(%d+)")) end
local large = iap.env.make("cartpole-swingup", { pixels = { 128, 128 } })
local threaded = iap.policy.build(iap.policy.sequence {
  iap.attention.rank { patch = 4, d = 1, top = 3, stride = 1, kernel = "softmax", threads = 1024 }, iap.policy.linear {},
}, large)
local threads_before = threads_running()
threaded:reset(1)
threaded:act(large:reset(1))
assert(threads_running() < threads_before + iap.threads(), threads_running())
assert(tostring(threaded:blueprint()):find("threads = 1024", 1, true), tostring(threaded:blueprint()))

-- A key database by itself.
local keys = iap.attention.key_database { features = 2, capacity = 4, bits = 512, tree = true }
check.equal(tostring(keys), "key_database of 0 keys (room for 4) of 2 features, codes of 512 bits, tree")
for i, key in ipairs { { 1, 0 }, { 0, 1 }, { 1, 1 } } do check.equal(keys:insert(key), i) end
check.equal(keys:size(), 3)
check.same_list(keys:scores({ 2, 1 }), { 2, 1, 3 })
check.same_list(keys:top({ 2, 1 }, 3), { 3, 1, 2 })
check.same_list(keys:top({ 1, 0 }, 3, "hash"), { 1, 3, 2 })
check.close(keys:scores({ 1, 0 }, "hash")[3], math.sqrt(0.5), 0.2)
keys:replace(2, { 4, 4 })
check.same_list(keys:top({ 2, 1 }, 3), { 2, 3, 1 })
local counts = { 0, 0, 0 }
for seed = 1, 2000 do
  local drawn = keys:sample({ 1, 0 }, 2, seed)
  assert(drawn[1] ~= drawn[2])
  counts[drawn[1]] = counts[drawn[1]] + 1
end
-- Weights 1, 4, 1: expected 333.3, 1333.3, 333.3, deviations 16.7, 21.1, 16.7.
check.close(counts[1], 2000 / 6, 4 * 16.7)
check.close(counts[2], 8000 / 6, 4 * 21.1)
check.same_list(keys:sample({ 1, 1 }, 2, 5), keys:sample({ 1, 1 }, 2, 5))
check.equal(#keys:sample({ 1, 1 }, 10, 5, { replacement = true }), 10)
keys:clear()
check.equal(keys:size(), 0)

check.fails({ "key_database:insert: argument 1 'key'" }, keys.insert, keys)
check.fails({ "a key of 3 features, it holds keys of 2" }, keys.insert, keys, { 1, 2, 3 })
check.fails({ "is -1; draws need sums that are never negative" }, keys.insert, keys, { 1, -1 })
check.fails({ "has no key 1; it holds 0" }, keys.replace, keys, 1, { 1, 1 })
check.fails({ "argument 3 'how': expected \"exact\" or \"hash\"" }, keys.top, keys, { 1, 1 }, 0, "hsah")
check.fails({ "argument 2 'count'" }, keys.top, keys, { 1, 1 }, 1)
check.fails({ "unknown option 'replacment'" }, keys.sample, keys, { 1, 1 }, 1, 5, { replacment = true })
check.fails({ "option 'features' is missing" }, iap.attention.key_database, { capacity = 3 })
check.fails({ "is too large" }, iap.attention.key_database, { capacity = 1 << 24, features = 1 << 24 })
check.fails({ "is too large" }, iap.attention.key_database, { capacity = 1 << 24, features = 1, bits = 65536 })
check.fails({ "holds no sign codes" }, function() return iap.attention.key_database({ capacity = 1, features = 1 }):scores({ 1 }, "hash") end)
