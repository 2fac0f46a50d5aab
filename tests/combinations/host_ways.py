"""Ways through scripts and hosts."""
import pathlib
import shutil

from lua_text import lua

HERE = pathlib.Path(__file__).resolve().parent


class HostWays:
    """Each trains, or plays what a training plays, by another door than `iap run experiment.lua`."""

    def way_host(self):
        """A stock lua5.4 that loads the module."""
        if not shutil.which("lua5.4"):
            return
        (self.folder / "host.lua").write_text(self.case.script('"host"'))
        if self.complete("host", self.run(["lua5.4", "host.lua"])):
            self.compare("host", "host")

    def way_rebuilt(self):
        """Blocks and environment out of best.iap in place of those of the script."""
        options = self.case.options
        if "curriculum" in options or "eval_env" in options or "init" in options:
            return
        kept = {n: v for n, v in options.items() if n not in ("env", "policy")}
        lines = ['local iap = require "iap"', self.case.head + 'local p = iap.policy.load("base", { trust = true })',
                 "local run = iap.train {", "  env = p:metadata().env_given or p:metadata().env, policy = p:blueprint(),"]
        lines += [f"  {n} = {lua(v)}," for n, v in kept.items()] + ['  out = iap.run_folder("rebuilt"),', "}"]
        (self.folder / "rebuilt.lua").write_text("\n".join(lines) + "\n")
        if self.complete("rebuilt", self.run(self.train("rebuilt", "--threads", 2, script="rebuilt.lua"))):
            if self.table("base") != self.table("rebuilt"):
                self.fail("rebuilt", "metrics.csv differs")

    def way_inside(self):
        """What a script finds in the result of iap.train, against the run's files and against iap.eval."""
        options = self.case.options
        safe = {n: options[n] for n in ("isolate", "retries", "failed_return") if n in options}
        asked = lua({"episodes": options["eval_episodes"], "seed": options["seed"], **safe})
        stop = options.get("on_iteration")
        ends = f"({stop})(row)" if stop else "true"
        script = self.case.script('"inside"', ["on_iteration"]).replace(
            '  out = "inside",',
            f'  out = "inside", quiet = true, on_iteration = function(row) rows[#rows + 1] = row; return {ends} end,')
        script = script.replace("local run", "local rows = {}\nlocal run", 1) + f"""
local function same(what, a, b) if a ~= b then print("DIFFERENT", what, a, b) end end
local best, last = iap.eval(run.best_policy, {asked}), iap.eval(run.policy, {asked})
same("best_eval", best.mean, run.best_eval)
same("last_eval", last.mean, run.last_eval)
for name, pair in pairs {{ best = {{ run.best_policy, run.best_parameters }}, final = {{ run.policy, run.parameters }} }} do
  local file = iap.policy.load("inside/" .. name .. ".iap", {{ trust = true }})
  local a, b, c = file:parameters(), pair[1]:parameters(), pair[2]
  same(name .. " size", #a, #c)
  for i = 1, #c do if a[i] ~= b[i] or b[i] ~= c[i] then same(name .. " parameter " .. i, a[i], c[i]) break end end
  same(name .. " return", file:metadata()["return"], name == "best" and run.best_eval or run.last_eval)
  same(name .. " iteration", file:metadata().iteration, name == "best" and run.best_iteration or run.iterations)
end
local names
local number = 0
for line in io.lines("inside/metrics.csv") do
  local cells = {{}}
  for cell in (line .. ","):gmatch("([^,]*),") do cells[#cells + 1] = cell end
  if not names then names = cells
  elseif number == 0 then number = 1
  else
    local row = rows[number]
    local last = number == #rows
    for i, name in ipairs(names) do
      local value = tonumber(cells[i])
      if row and not (last and name:match("^eval")) then same("row " .. number .. " " .. name, value, row[name]) end
    end
    number = number + 1
  end
end
same("rows", number - 1, #rows)
"""
        (self.folder / "inside.lua").write_text(script)
        result = self.run([self.iap, "run", "inside.lua", "--threads", 2])
        if self.complete("inside", result):
            if "DIFFERENT" in result.out:
                self.fail("inside", result.out[-900:])
            self.compare("inside", "inside")

    def way_outside(self):
        """The training by hand: members by ask and tell, episodes by Python's Rollouts."""
        options = self.case.options
        text = lua(options.get("policy"))
        elsewhere = {"curriculum", "eval_env", "init", "action_noise", "failed_return"}  # what Rollouts leaves to the training
        if not self.python or elsewhere & options.keys():
            return
        (self.folder / "search.lua").write_text(f"""
local iap = require "iap"
local p = iap.policy.build({text}, {lua(options["env"])})
p:initialise({options["seed"]})
local function write(name, lists)
  local file = io.open(name, "w")
  for _, list in ipairs(lists) do
    local cells = {{}}
    for i, v in ipairs(list) do cells[i] = string.format("%a", v) end
    file:write(table.concat(cells, ","), "\\n")
  end
  file:close()
end
write("initial.txt", {{ p:parameters() }})
local search = {lua(options["optimizer"])}:start(p:parameters(), {options["seed"]})
for line in io.lines("fitness.txt") do
  search:ask()
  local fitness = {{}}
  for cell in line:gmatch("[^,]+") do fitness[#fitness + 1] = tonumber(cell) end
  search:tell(fitness)
end
write("mean.txt", {{ search:mean() }})
if search:stop_reason() == "" then write("members.txt", search:ask()) end
""")
        (self.folder / "saved.lua").write_text("""
local iap = require "iap"
local a, b = iap.policy.load("saved.iap", { trust = true }), iap.policy.load("base/final.iap", { trust = true })
for _, name in ipairs { "parameters", "moments" } do
  local x, y = a[name](a), b[name](b)
  assert(#x == #y, name)
  for i, value in ipairs(x) do
    if name == "moments" then for k = 1, 3 do assert(value[k] == y[i][k], "moment " .. i) end
    else assert(value == y[i], "final parameter " .. i) end
  end
end
""")
        result = self.run([self.python, HERE / "training.py", options["seed"], options.get("episodes", 1),
                           options.get("episode_seeds", "common"), options["eval_episodes"]])
        if result.rc != 0:
            self.fail("outside", result.err[-900:])
