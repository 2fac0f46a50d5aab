local check = require "check"
local iap = require "iap"
local folder = arg[0]:match("^(.*)/") or "."

local image = iap.env.make(folder .. "/tracker.lua"):reset(1).images.pixels
check.equal(tostring(image), "image 12 x 16 x 3 uint8")
local name = os.tmpname()
local path = name .. ".png"
image:save_png(path)
check.equal(iap.image.read(path):bytes(), image:bytes())
os.remove(path)
os.remove(name)
check.fails({ "cannot write 'train.lua': an image is a picture; its name must end in .png" }, image.save_png, image, "train.lua")

local large = image:enlarge(2)
for row = 1, 24 do
  for column = 1, 32 do check.same_list({ large:pixel(row, column) }, { image:pixel((row + 1) // 2, (column + 1) // 2) }) end
end
check.same_list({ iap.image.side_by_side({ image, image }, 3):shape() }, { 12, 35, 3, "uint8" })
check.fails({ "image:pixel: argument 1 'row': expected an integer in [1, 12], got a number (13)" }, image.pixel, image, 13, 1)
check.fails({ "image:enlarge: argument 1 'factor'" }, image.enlarge, image, 0)
check.fails({ "images[2] must be an image, got the string 'x'" }, iap.image.side_by_side, { image, "x" })
check.fails({ "at least one image" }, iap.image.side_by_side, {})
check.fails({ "missing-folder" }, image.save_png, image, "missing-folder/x.png")
check.fails({ "nothing.png" }, iap.image.read, "nothing.png")
-- The system would take such names to end at the NUL, behind which ours looks for the ending.
check.fails({ "cannot write 'a\\0b.png': names of files hold no NUL" }, image.save_png, image, "a\0b.png")
check.fails({ "cannot read 'a\\0b.png': names of files hold no NUL" }, iap.image.read, "a\0b.png")
check.fails({ "cannot read 'a\\0b.iap': names of files hold no NUL" }, iap.policy.load, "a\0b.iap")
check.fails({ "cannot create folder 'a\\0b': names of files hold no NUL" }, iap.train, { env = "cartpole-swingup", policy = iap.policy.linear {},
  optimizer = iap.optim.es {}, iterations = 0, quiet = true, out = "a\0b" })
check.fails({ "a\\0b.lua': names of files hold no NUL" }, iap.env.make, "a\0b.lua")
