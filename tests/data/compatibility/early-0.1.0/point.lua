-- A point on a line that is pushed towards a mark which moves with the seed. Sums and products alone, so that every machine computes
-- the same bits.
return function(options)
  local env = { spec = { action_size = 2, vector = 3, control_dt = 0.1, max_steps = options.steps or 12 } }
  local position, speed, mark
  function env.reset(_, seed)
    position, speed, mark = 0, 0, (seed % 1024) / 512 - 1
  end
  function env.step(_, action)
    speed = 0.875 * speed + 0.25 * action[1] - 0.125 * action[2]
    position = position + speed
    local away = position - mark
    return 1 - away * away
  end
  function env.observe(_)
    return { position, speed, mark }
  end
  return env
end
