-- What world.lua and block.lua require.
return { distance = function(x, y) return math.sqrt(x ^ 2 + y ^ 2) end, clip = function(x) return math.max(-1, math.min(1, x)) end }
