-- A policy that looks at pictures of 32 x 32 pixels, in picture.iap: for what draws. arg[1]: the environment.
local iap = require "iap"
local blocks = iap.policy.sequence {
  iap.attention.rank { patch = 8, stride = 8, d = 2, kernel = "relu", top = 3 }, iap.policy.linear { activation = "tanh" },
}
iap.policy.build(blocks, iap.env.make(arg[1], { time_limit = 4 })):save("picture.iap")
