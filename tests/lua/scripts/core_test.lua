local check = require "check"
local iap = require "iap"

check.equal(iap.version:match("^%d+%.%d+%.%d+$") ~= nil, true)
check.equal(math.type(iap.threads()), "integer")
check.equal(require "iap", iap)

-- A misspelt name is an error at its line, never a silent nil.
check.fails({ "core_test.lua:", "iap has no 'polcy'; did you mean 'policy'?" }, function() return iap.polcy end)
check.fails({ "iap.env has no 'mak'; did you mean 'make'?" }, function() return iap.env.mak end)
check.fails({ "iap.optim has no" }, function() return iap.optim.cma end)

local options = iap.options { size = 3, kernel = "relu", list = { 1, 2 } }
check.equal(options.size, 3)
check.equal(options.kernel, "relu")
check.same_list(options.list, { 1, 2 })
check.fails({ "iap.options: argument 1 'defaults'", "nothing" }, iap.options)
check.equal(iap.run_folder("runs/x"), "runs/x")
