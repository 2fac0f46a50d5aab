-- Which number of an environment's vector is called what: require "numbers"(env)["roll"].
return function(env)
  local number = {}
  for i, name in ipairs(env:spec().state_names) do number[name] = i end
  return number
end
