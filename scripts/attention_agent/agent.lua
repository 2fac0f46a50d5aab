-- The agent that a script is given: a run folder, a policy file or published weights (.npz).
local iap = require "iap"
local agent = {}

-- Returns the policy and the environment it is for, without the early stop of training.
function agent.open(path)
  if not path then error("name a policy after --: a run folder, a policy file or published weights (.npz)", 0) end
  local policy = path:match "%.npz$" and iap.policy.import_attention_agent(path) or iap.policy.load(path)
  local env = policy:metadata().env or error("'" .. path .. "' does not say which environment it is for", 0)
  env.early_stop = nil
  return policy, env
end

return agent
