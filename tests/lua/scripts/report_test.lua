local check = require "check"
local iap = require "iap"

local folder = os.tmpname()
os.remove(folder)
local function run(name, table)
  -- A chart makes the folder that the table goes into.
  iap.report.line_chart { out = folder .. "/" .. name .. "/x.png", series = { { x = { 0, 1 }, y = { 1, 2 } } } }
  local file = assert(io.open(folder .. "/" .. name .. "/metrics.csv", "w"))
  file:write(table)
  file:close()
  return folder .. "/" .. name
end

local first = run("first", "iteration,eval_mean,return_mean\n0,1,5\n10,3,6\n")
local second = run("second", "iteration,eval_mean,return_mean\n0,2,5\n10,5,7\n")
local ends = iap.report.compare {
  out = folder .. "/compare.png",
  groups = { { label = "both", runs = { first, second } }, { label = "one", runs = { first } } },
}
check.equal(#ends, 2)
check.equal(ends[1].label, "both")
check.equal(ends[1].iteration, 10)
check.equal(ends[1].mean, 4)
assert(math.abs(ends[1].deviation - math.sqrt(2)) < 1e-12)
check.equal(ends[2].mean, 3)
check.equal(ends[2].deviation, nil) -- of a single run
check.same_list({ iap.image.read(folder .. "/compare.png"):shape() }, { 540, 900, 3, "uint8" })

iap.report.line_chart {
  out = folder .. "/band.png", width = 300, height = 200, from_zero = true,
  series = { { label = "a", x = { 1, 2 }, y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 }, dots = true } },
}
check.same_list({ iap.image.read(folder .. "/band.png"):shape() }, { 200, 300, 3, "uint8" })

for _, band in ipairs { "range", "error", "deviation" } do
  iap.report.compare { out = folder .. "/" .. band .. ".png", band = band, groups = { { label = "both", runs = { first, second } } } }
end
assert(iap.image.read(folder .. "/range.png"):bytes() ~= iap.image.read(folder .. "/deviation.png"):bytes())
check.fails({ "unknown band 'mean'" }, iap.report.compare, { out = folder .. "/x.png", band = "mean", groups = { { label = "a", runs = { first } } } })
iap.report.line_chart {
  out = folder .. "/log.png", log_x = true, y_from_zero = false, caption = "Whiskers: lowest to highest.",
  series = { { x = { 0.01, 1 }, y = { 5, 6 }, low = { 4, 5 }, high = { 6, 7 }, dots = true, line = false } },
}
check.fails({ "every x must be above 0" }, iap.report.line_chart, { out = folder .. "/x.png", log_x = true, series = { { x = { 0, 1 }, y = { 1, 2 } } } })
check.fails({ "iap.report.line_chart: series 1: x, y and, where there is a band, low and high must be equally long, got 2, 1, 0 and 0" },
  iap.report.line_chart, { out = "x.png", series = { { x = { 1, 2 }, y = { 1 } } } })
check.fails({ "option 'x' must be a list of numbers, got \"a\" in it" }, iap.report.line_chart, { out = "x.png", series = { { x = { "a" }, y = { 1 } } } })
check.fails({ "unknown option 'titel'; did you mean 'title'?" }, iap.report.line_chart, { out = folder .. "/x.png", titel = "", series = {} })
check.fails({ "no finite point" }, iap.report.line_chart, { out = folder .. "/x.png", series = {} })
check.fails({ "at least one group" }, iap.report.compare, { out = "x.png" })
check.fails({ "group 1: option 'runs' must be a list of folders, got 3 in it" }, iap.report.compare, { out = "x.png", groups = { { label = "a", runs = { 3 } } } })
check.fails({ "nowhere" }, iap.report.compare, { out = folder .. "/x.png", groups = { { label = "a", runs = { "nowhere" } } } })
check.fails({ "options", "a table" }, iap.report.line_chart)
os.execute("rm -r '" .. folder .. "'")
