local check = require "check"
local iap = require "iap"
local place = os.tmpname()
os.remove(place)
local path = place .. ".png"

-- Every chart draws a picture of the wanted size that is not blank.
local function drawn(width, height)
  local image = iap.image.read(path)
  check.same_list({ image:shape() }, { height, width, 3, "uint8" })
  local seen = {}
  for row = 1, height, 7 do
    for column = 1, width, 7 do seen[table.concat({ image:pixel(row, column) }, " ")] = true end
  end
  local colours = 0
  for _ in pairs(seen) do colours = colours + 1 end
  return image, colours
end

iap.report.line_chart { out = path, title = "t", series = { { label = "a", x = { 0, 1 }, y = { 0, 1 } }, { x = { 0, 1 }, y = { 1, 0 }, line = false, dots = true, colour = 1 } } }
local _, colours = drawn(900, 540)
assert(colours >= 3)

-- Bars: the taller one reaches higher in the first colour of the palette.
iap.report.bar_chart { out = path, y_label = "ms", width = 400, height = 300, bars = { { label = "a", value = 1 }, { label = "b", value = 2 } } }
local image = drawn(400, 300)
local function height_at(column)
  local count = 0
  for row = 1, 300 do
    local red, green, blue = image:pixel(row, column)
    if red == 0 and green == 114 and blue == 178 then count = count + 1 end
  end
  return count
end
check.close(height_at(328) / height_at(152), 2, 0.05)

-- Heat maps: a gradient from left to right is dark on its left, light on its right, and white where there is nothing.
local row = {}
for i = 1, 11 do row[i] = i - 1 end
row[11] = 0 / 0
iap.report.heat_maps {
  out = path, x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 9 }, width = 500, height = 300,
  panels = { { title = "one", rows = { row, row } }, { rows = { row, row } } }, panels_per_row = 2,
}
image, colours = drawn(500, 300)
assert(colours >= 10)
local panel = (500 - 64 - 92 - 26) / 2
local function brightness(column) -- in the middle of a cell of the first panel
  local red, green, blue = image:pixel(160, math.floor(64 + panel * (column - 0.5) / 11))
  return red + green + blue
end
for column = 2, 10 do assert(brightness(column) > brightness(column - 1)) end
check.equal(brightness(11), 3 * 255)

os.remove(path)
check.fails({ "iap.report.line_chart: series 1: x, y and, where there is a band, low and high must be equally long, got 2, 1, 0 and 0" }, iap.report.line_chart, { out = path, series = { { x = { 0, 1 }, y = { 1 } } } })
check.fails({ "a logarithmic x axis has no 0 to begin at; leave out log_x or from_zero" }, iap.report.line_chart,
  { out = path, log_x = true, from_zero = true, series = { { x = { 1, 10 }, y = { 1, 2 } } } })
check.fails({ "no finite point" }, iap.report.line_chart, { out = path, series = {} })
check.fails({ "iap.report.bar_chart: bar 1: option 'value'" }, iap.report.bar_chart, { out = path, bars = { { label = "x", value = -1 } } })
check.fails({ "there is no bar" }, iap.report.bar_chart, { out = path })
check.fails({ "option 'x_range' must be {lowest, highest}" }, iap.report.heat_maps, { out = path })
check.fails({ "panel 1: row 2 has 1 values, the first has 2" }, iap.report.heat_maps,
  { out = path, x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 1 }, panels = { { rows = { { 1, 2 }, { 1 } } } } })
check.fails({ "panel 1: option 'rows'" }, iap.report.heat_maps,
  { out = path, x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 1 }, panels = { { rows = { {} } } } })
check.fails({ "has no rows" }, iap.report.heat_maps,
  { out = path, x_range = { 0, 1 }, y_range = { 0, 1 }, value_range = { 0, 1 }, panels = { { rows = {} } } })
for _, draw in ipairs { iap.report.line_chart, iap.report.bar_chart, iap.report.heat_maps } do
  check.fails({ "cannot write 'nowhere/l.jpg': a chart is a picture; its name must end in .png" }, draw, { out = "nowhere/l.jpg" })
end
check.fails({ "its name must end in .png" }, iap.report.learning_curve, "a run", "nowhere/l.jpg")
-- A picture's name ends in what it is, and a refused one leaves no folder.
local nowhere = place .. "-nowhere"
check.fails({ "/lc': a chart is a picture; its name must end in .png" }, iap.report.learning_curve, "a run", nowhere .. "/lc")
for name, thing in pairs { strip = "a strip", importance = "a figure of importance", probe = "a chart" } do
  check.fails({ "/no': " .. thing .. " is a picture; its name must end in .png" }, iap.report[name], { policy = "a run", out = nowhere .. "/no" })
end
check.equal(os.rename(nowhere, nowhere), nil)
check.fails({ "unknown option 'colour'" }, iap.report.bar_chart, { out = path, colour = 1 })
