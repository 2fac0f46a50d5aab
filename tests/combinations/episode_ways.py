"""Single episodes of a run's best policy, by other doors."""
import csv
import pathlib
import re
import shutil

from lua_text import lua

HERE = pathlib.Path(__file__).resolve().parent
HAND = """
local iap = require "iap"
local policy = iap.policy.load("base", { trust = true })
local env = iap.env.make(policy:metadata().env)
local spec = env:spec()
local low, high = spec.action_low, spec.action_high
local plain = low == -1 and high == 1
local file = assert(io.open("hand2.txt", "w"))
local totals = {}
for number, seed in ipairs(SEEDS) do
  local seen, total, step, over = env:reset(seed), 0, 0, false
  policy:reset(seed)
  while not over do
    seen = env:observe()
    if step % 2 == 0 then seen = env:observe() end
    local action = policy:act(seen)
    policy:views()
    local cells = {}
    for i, a in ipairs(action) do
      a = math.max(-1, math.min(1, a))
      if not plain then a = low + (a + 1) * 0.5 * (high - low) end
      action[i], cells[i] = a, string.format("%a", a)
    end
    file:write(number, ",", step, ",", table.concat(cells, ","), "\\n")
    local reward, terminated, truncated = env:step(action)
    total, step, over = total + reward, step + 1, terminated or truncated
  end
  totals[number] = string.format("%.17g", total)
end
file:close()
print(plain and "plain" or "scaled", table.unpack(totals))
"""


class EpisodeWays:
    """Each plays what `iap eval` played."""

    def episodes(self, name, *words):
        """Rows of an evaluation of two episodes; None where it failed, which is told."""
        seed = self.case.options["seed"]
        result = self.run([self.iap, "eval", "base", "--episodes", 2, "--seed", seed, "--csv", f"{name}.csv", *self.guards(), *words])
        if result.rc != 0:
            return self.fail(name, f"iap eval: exit {result.rc}: {result.err[-600:]}")
        with open(self.folder / f"{name}.csv", newline="") as file:
            return [row for row in csv.DictReader(file)]

    def by_hand(self):
        """Whether episodes may be played in a process that a world that exits, or throws, would end."""
        return "fragile" not in self.case.world.options

    def after_hand(self):
        """A loop in Lua, which looks at more than a rollout does."""
        if not self.by_hand():
            return
        rows = self.episodes("hand", "--actions", "hand.txt", "--trust")
        if not rows:
            return
        signed = [int(row["seed"]) - (1 << 64 if int(row["seed"]) >= 1 << 63 else 0) for row in rows]
        (self.folder / "hand.lua").write_text(HAND.replace("SEEDS", lua(signed)))
        result = self.run([self.iap, "run", "hand.lua"])
        if not self.complete("hand", result):
            return
        plain, *totals = result.out.split()
        # Actions that are scaled here are rounded once more than in the engine.
        near = 0 if plain == "plain" else 1e-3
        for row, total in zip(rows, totals):
            if abs(float(total) - float(row["return"])) > near * max(1, abs(float(total))):
                self.fail("hand", f"return {total} by hand, {row['return']} by iap eval, seed {row['seed']}")
        if plain == "plain":
            told = [[float.fromhex(cell) if i > 1 else int(cell) for i, cell in enumerate(line.split(","))]
                    for name in ("hand.txt", "hand2.txt") for line in (self.folder / name).read_text().splitlines()]
            if told[:len(told) // 2] != told[len(told) // 2:]:
                self.fail("hand", "other actions than --actions has")

    def after_play(self):
        """What `iap play` says of an episode, and its pictures, of the run and of its policy file."""
        if not self.by_hand():
            return
        rows = self.episodes("play")
        if not rows:
            return
        (self.folder / "alone").mkdir(exist_ok=True)
        shutil.copy(self.folder / "base/best.iap", self.folder / "alone/base.iap")
        said = []
        view = self.case.rng.choice([[], ["--view", "heatmap"], ["--view", "raw"], ["--as-seen"], ["--view", "side-by-side"],
                                     ["--view", "outside"]])
        more = self.case.rng.choice([[], ["--strip", 2], ["--strip", 3, "--scale", 2]])
        ending = "png" if more else self.case.rng.choice(["png", "webp", "apng"])
        for i, policy in enumerate(("base", "alone/base.iap", "base")):
            result = self.run([self.iap, "play", policy, "--seed", rows[0]["seed"], *more, *view, "--trust", "--out", f"play{i}.{ending}"])
            if result.rc != 0:
                lines = result.err.strip().splitlines()
                self.notes.append("play: " + (lines[-1] if lines else "nothing said"))
                if not lines:
                    self.fail("play", f"exit {result.rc} without a word")
                return
            said.append([line for line in result.out.splitlines() if not line.startswith(("policy", "video", "strip", "picture"))])
            told = re.search(r"return (\S+?),? .*?(\d+) steps?", result.out)
            if not told:
                return self.fail("play", f"no return in {result.out!r}")
            if f"{float(told[1]):.2g}" != f"{float(rows[0]['return']):.2g}" and abs(float(told[1]) - float(rows[0]["return"])) > 0.006:
                self.fail("play", f"return {told[1]}, by iap eval {rows[0]['return']}")
            if told[2] != rows[0]["steps"] and not more:
                self.fail("play", f"{told[2]} steps, by iap eval {rows[0]['steps']}")
        if said[0] != said[1] or said[1] != said[2]:
            self.fail("play", f"other words: {said}")
        pictures = [(self.folder / f"play{i}.{ending}").read_bytes() for i in range(3)]
        if pictures[0] != pictures[2]:
            self.fail("play", f"{view} {more} {ending}: another picture the second time")
        if pictures[0] != pictures[1]:
            self.fail("play", f"{view} {more} {ending}: another picture of the policy's file")

    def after_probe(self):
        """Threads, and the policy's file, change nothing."""
        if not self.by_hand():
            return
        rng = self.case.rng
        options = ["--episodes", rng.choice([3, 5]), *rng.choice([[], ["--actions", "random"], ["--per-episode"], ["--steps", 3]])]
        tables = []
        for i, (policy, threads) in enumerate((("base", 1), ("base", 3), ("base/best.iap", 2))):
            result = self.run([self.iap, "probe", policy, *options, "--threads", threads, "--trust", "--csv", f"probe{i}.csv"])
            tables.append((result.rc, (self.folder / f"probe{i}.csv").read_text() if result.rc == 0 else result.err.splitlines()[-1:]))
        if tables[0] != tables[1] or (tables[1] != tables[2] and tables[0][0] == 0):
            self.fail("probe", f"{options}: {tables}")
        elif tables[0][0] != 0:
            self.notes.append(f"probe: {tables[0]}")

    def after_check(self):
        """The world keeps its contract."""
        if not self.by_hand():
            return
        result = self.run([self.iap, "check", "base", "--episodes", 2, "--steps", 25, "--seed", self.case.rng.randint(0, 99), "--trust"])
        if result.rc != 0:
            self.fail("check", f"exit {result.rc}: {result.out[-1500:]} {result.err[-600:]}")

    def after_kept(self):
        """The policy, saved again by Lua, is the same; so is what it is resized to by Lua and by the command line."""
        if self.case.isolated:
            return
        rows, rng = self.episodes("kept", "--trust"), self.case.rng
        if not rows:
            return
        metadata = "base/best.iap"
        pixels = self.case.other_pixels(rng) or []
        fit = rng.choice(["resample", "pool"])
        script = f"""
local iap = require "iap"
local policy = iap.policy.load("{metadata}", {{ trust = true }})
policy:save("kept1.iap")
local again = iap.policy.load("kept1.iap", {{ trust = true }})
local env = iap.env.make(again:metadata().env)
env:reset(5)
for i = 1, 3 do again:act(env:observe()) end
again:save("kept2.iap")
local same = policy:resized(policy:metadata().env):parameters()
for i, value in ipairs(policy:parameters()) do
  if value ~= same[i] then error("resized to where it plays, parameter " .. i .. " is another one") end
end
local said, other = pcall(function()
  local env = policy:metadata().env_given or policy:metadata().env
  env.pixels = {lua(pixels)}
  local fitted = policy:resized(env, {{ fit = "{fit}" }})
  local result = iap.eval(fitted, {{ episodes = 2, seed = {self.case.options["seed"]}, env = env }})
  return {{ result.episodes[1].total, result.episodes[2].total }}
end)
if {"true" if pixels else "false"} then
  print(said and "fitted" or "refused", said and string.format("%.17g %.17g", other[1], other[2]) or other)
end
"""
        (self.folder / "kept.lua").write_text(script)
        result = self.run([self.iap, "run", "kept.lua"])
        if not self.complete("kept", result):
            return
        if (self.folder / "kept1.iap").read_bytes() != (self.folder / "kept2.iap").read_bytes():
            self.fail("kept", "saved after some decisions, the file is another one")
        again = self.run([self.iap, "eval", "kept1.iap", "--episodes", 2, "--seed", self.case.options["seed"], "--csv", "kept2.csv",
                          "--trust", *self.guards()])
        if self.complete("kept", again) and (self.folder / "kept.csv").read_text() != (self.folder / "kept2.csv").read_text():
            self.fail("kept", "the saved policy plays otherwise")
        if not pixels or "failed_return" in self.case.options:
            return
        shown = f"pixels=[{pixels[0]},{pixels[1]}]"
        words = [self.iap, "eval", "base", "--episodes", 2, "--seed", self.case.options["seed"], "--set", shown, "--fit", fit, "--trust",
                 "--csv", "fitted.csv"]
        fitted = self.run(words)
        told = result.out.strip().split(None, 1)
        if (fitted.rc == 0) != (told[0] == "fitted"):
            return self.fail("kept", f"{fit} {pixels}: Lua says {told}, iap eval {fitted.rc} {fitted.err[-500:]}")
        if fitted.rc == 0:
            with open(self.folder / "fitted.csv", newline="") as file:
                got = [float(row["return"]) for row in csv.DictReader(file)]
            if got != [float(cell) for cell in told[1].split()]:
                self.fail("kept", f"{fit} {pixels}: {told[1]} in Lua, {got} by iap eval")

    def after_batch(self):
        """Python's Env and VectorEnv: copies and views, threads, episodes that follow each other."""
        if self.python and self.by_hand():
            python = self.run([self.python, HERE / "batch.py", self.case.rng.randint(2, 4), self.case.rng.randint(0, 2**40)])
            if python.rc != 0:
                self.fail("batch", python.err[-900:])

    def after_page(self):
        """The same page twice, of a copy of the run, too."""
        if not self.by_hand():
            return
        copied = self.folder / "copied/base"
        shutil.copytree(self.folder / "base", copied, dirs_exist_ok=True)
        pages = []
        for i, folder in enumerate(("base", "base", "copied/base")):
            words = ["--no-pictures"] if self.case.world.slow else ["--episodes", 2]
            result = self.run([self.iap, "report", folder, "--out", f"page{i}.html", *words, "--trust"])
            if result.rc != 0:
                return self.fail("page", f"{folder}: exit {result.rc}: {result.err[-500:]}")
            pages.append((self.folder / f"page{i}.html").read_text().replace("copied/base", "base"))
        if pages[0] != pages[1]:
            self.fail("page", "another page the second time")
        if pages[1] != pages[2]:
            self.fail("page", "another page of a copy of the run")
