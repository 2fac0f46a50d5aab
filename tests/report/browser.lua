-- Looks at screenshots of a report: arg = light, dark and phone-sized picture.
local iap = require "iap"

-- How many pixels have the colour 0xRRGGBB.
local function count(bytes, colour)
  local pixel = string.char(colour >> 16, colour >> 8 & 255, colour & 255)
  local found, at = 0, bytes:find(pixel, 1, true)
  while at do
    if at % 3 == 1 then found = found + 1 end
    at = bytes:find(pixel, at + 1, true)
  end
  return found
end

local function check(condition, ...)
  if not condition then error(table.concat({ ... }, " "), 2) end
end

-- The style sheet's colours of page, card, and of the first two groups' curves.
local light = { page = 0xf6f7f9, card = 0xffffff, curves = { 0x0b66b5, 0xcf5a0d } }
local dark = { page = 0x0f141a, card = 0x171e26, curves = { 0x58aef0, 0xff9a57 } }

local function look(path, style, other, least_curve)
  local image = iap.image.read(path)
  local height, width = image:shape()
  local bytes = image:bytes()
  for name, colour in pairs { page = style.page, card = style.card } do
    local share = count(bytes, colour) / (height * width)
    check(share > 0.05, path, "shows too little of the", name, "colour:", share)
  end
  check(count(bytes, other.page) == 0, path, "shows the other scheme's page")
  for i, colour in ipairs(style.curves) do
    local pixels = count(bytes, colour)
    check(pixels > least_curve, path, "has", pixels, "pixels of curve", i)
  end
  local colours, seen = 0, {}
  for at = 1, #bytes - 2, 3 * 7 do
    local pixel = bytes:sub(at, at + 2)
    if not seen[pixel] then seen[pixel], colours = true, colours + 1 end
  end
  check(colours > 100, path, "has only", colours, "colours")
end

look(arg[1], light, dark, 1000)
look(arg[2], dark, light, 1000)
look(arg[3], light, dark, 200)
