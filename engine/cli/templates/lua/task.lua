-- A ball rolls to and fro; the paddle below should stay under it. The policy sees a picture of 32 x 32 pixels and nothing else.
local size, ball, paddle = 32, 4, 6
local dark, red, blue = ("\20\20\30"):rep(size), ("\255\80\60"):rep(ball), ("\80\160\255"):rep(paddle)

-- A row of the picture with `thing`, `width` pixels wide, from column `x` on.
local function row(thing, width, x)
  x = math.floor(x + 0.5)
  return dark:sub(1, 3 * x) .. thing .. dark:sub(3 * (x + width) + 1)
end

return function(options) -- what iap.env.make was given; called once for each environment
  local speed = options.speed or 1.0 -- of the ball, in pixels a step
  local env = {
    spec = {
      action_size = 1, -- in [-1, 1] unless action_low and action_high say otherwise
      max_steps = 100,
      control_dt = 0.05, -- seconds a step
      images = { pixels = { height = size, width = size } },
    },
  }

  -- An episode is a function of its seed: math.random is seeded with it, and whatever changes begins here.
  function env:reset(seed)
    self.ball = math.random() * (size - ball)
    self.paddle = math.random() * (size - paddle)
    self.velocity = math.random() < 0.5 and speed or -speed
  end

  function env:step(action) -- reward, terminated, truncated
    self.ball = self.ball + self.velocity
    if self.ball < 0 or self.ball > size - ball then
      self.velocity = -self.velocity
      self.ball = math.max(0, math.min(size - ball, self.ball))
    end
    self.paddle = math.max(0, math.min(size - paddle, self.paddle + 2 * action[1]))
    local distance = math.abs(self.ball + ball / 2 - self.paddle - paddle / 2)
    return math.max(0, 1 - distance / 8), false, false -- 1 right below, 0 from 8 pixels on
  end

  function env:observe() -- the vector (none here), then the images: strings of bytes, row by row, red green blue
    local sky, field = dark:rep(8), dark:rep(size - 8 - ball - 8)
    local picture = sky .. row(red, ball, self.ball):rep(ball) .. field .. row(blue, paddle, self.paddle):rep(4) .. dark:rep(4)
    return nil, { pixels = picture }
  end

  return env
end
