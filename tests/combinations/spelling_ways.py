"""Other words for the same experiment."""
import copy
import json

from lua_text import Call, Raw, lua, plain


def places(value, path=()):
    """Paths of what --set can name inside a table, with their values."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else ()
    for key, inner in items:
        if key in ("name", "kind", "file", "through") or isinstance(inner, (Raw, Call)):
            continue
        found.append(((*path, key), inner))
        if isinstance(inner, (dict, list)):
            found += places(inner, (*path, key))
    return [(p, v) for p, v in found if isinstance(v, (bool, int, float, str)) or v and isinstance(v, list) and not isinstance(v[0], dict)]


def spelled_number(rng, value):
    """A value as JSON, or a number as Lua may write it."""
    text = json.dumps(value)
    if not isinstance(value, float) or "e" in text:
        return text
    forms = [text, text + "0", "+" + text if value >= 0 else text, text.replace("0.", ".", 1) if text.startswith("0.") else text,
             text[:-1] if text.endswith(".0") else text, f"{value:.17e}"]
    return rng.choice(forms)


def taken_out(table, path):
    """A copy without the entry at `path`; None where there is none any more, or lists would close up."""
    table = copy.deepcopy(table)
    inner = table
    for key in path[:-1]:
        if isinstance(inner, dict) and key not in inner:
            return None
        inner = inner[key - 1 if isinstance(inner, list) else key]
    if isinstance(inner, list) or path[-1] not in inner:
        return None
    del inner[path[-1]]
    return table


class SpellingWays:
    """Each writes down in another way what the experiment is."""

    def tables(self):
        """Its options with tables in place of calls, where that is said in tables."""
        options = {name: plain(value) for name, value in self.case.options.items()}
        options["env"] = self.case.env("table")
        return options

    def spelled(self, out):
        """A script that has tables in place of calls, in another order."""
        rng = self.case.rng
        options = self.tables()
        if rng.random() < 0.5:
            options["env"] = self.case.env(rng.choice(["make", "name"]))
        names = list(options)
        rng.shuffle(names)
        lines = ['local iap = require "iap"', self.case.head + "local options = {}"]
        lines += [f"options.{name} = {lua(options[name])}" for name in names]
        return "\n".join([*lines, out, "iap.train(options)"]) + "\n"

    def recorded(self, out, given):
        """A script of what config.json says that the run was, or what was given to it."""
        options = json.loads((self.folder / "base/config.json").read_text())
        options = options["given"] if given else options
        for name in ("init", "on_iteration"):
            options.pop(name, None)
            if name in self.case.options:
                options[name] = self.case.options[name]
        options.setdefault("seed", self.case.options["seed"])
        return f'local iap = require "iap"\nlocal options = {lua(options)}\n{out}\niap.train(options)\n'

    def way_spelled(self):
        """Tables in place of calls, in another order."""
        (self.folder / "spelled.lua").write_text(self.spelled('options.out = "spelled"'))
        if self.complete("spelled", self.run([self.iap, "run", "spelled.lua", "--threads", self.case.rng.randint(1, 3)])):
            self.compare("spelled", "spelled")

    def way_recorded(self):
        """Every default written out, as config.json has them; or what was given."""
        given = self.case.rng.random() < 0.3
        (self.folder / "recorded.lua").write_text(self.recorded('options.out = "recorded"', given))
        if self.complete("recorded", self.run([self.iap, "run", "recorded.lua", "--threads", 2])):
            # Policy files hold what was given.
            self.compare("recorded", "recorded", files=("best.iap", "final.iap") if given else ())

    def way_reworded(self):
        """Begun in the script's words, resumed in others."""
        rng, n = self.case.rng, self.case.options["iterations"]
        cut = rng.randint(0, n - 1)
        if not self.complete("reworded", self.run(self.train("reworded", "--set", f"iterations={cut}"))):
            return
        out = 'options.out, options.resume = "reworded", true'
        how = rng.choice(["spelled", "recorded", "given"])
        (self.folder / "reworded.lua").write_text(self.spelled(out) if how == "spelled" else self.recorded(out, how == "given"))
        result = self.run([self.iap, "run", "reworded.lua", "--threads", 2])
        self.compare_told("reworded", result, f"{how} after {cut}: {result.err[-500:]}",
                          files=("best.iap", "final.iap") if how == "spelled" else ())

    def way_fitted(self):
        """Beginning at the same policy of a file by other words."""
        stages = self.case.options.get("curriculum")
        # What was resized to the environment and then to its first stage is another policy.
        if not self.case.before or (isinstance(stages, list) and "pixels" in stages[0]):
            return
        env = self.case.env("table")
        load = 'iap.policy.load("given.iap", { trust = true })'
        init = self.case.rng.choice(["given.iap", Raw(load), Raw(f"{load}:resized({lua(env)})")])
        (self.folder / "fitted.lua").write_text(self.case.script('"fitted"', changed={"init": init}))
        if self.complete("fitted", self.run([self.iap, "run", "fitted.lua", "--threads", 2])):
            if self.table("base") != self.table("fitted"):
                self.fail("fitted", f"metrics.csv differs: {init}")

    def way_within(self):
        """Options of environment, blocks, optimizer and stages by --set, where the script has none or others."""
        rng, options = self.case.rng, self.tables()
        names = [n for n in ("env", "policy", "optimizer", "curriculum", "eval_env") if n in options and not isinstance(options[n], Raw)]
        if "init" in options:
            names = [n for n in names if n != "policy"]
        if self.case.options.get("policy") and self.case.options["policy"].name == "iap.policy.attention_agent":
            names = [n for n in names if n != "policy"]
        # What a file in Lua reads it may want to find.
        able = [place for n in names for place in places(options[n], (n,)) if place[0][-1] not in ("fragile", "patch", "units")]
        words = []
        for name, kept in (("env", "name"), ("optimizer", "kind")):
            if rng.random() < 0.15 and isinstance(options[name], dict) and len(options[name]) > 1:
                words += ["--set", f"{name}={json.dumps(options[name])}"]
                able = [(path, value) for path, value in able if path[0] != name]
                options[name] = {kept: options[name][kept]}
        for path, value in rng.sample(able, min(len(able), rng.randint(1, 4))):
            less = taken_out(options[path[0]], path[1:])
            if less is None:
                continue
            options[path[0]] = less
            words += ["--set", f"{'.'.join(map(str, path))}={spelled_number(rng, value)}"]
        lines = ['local iap = require "iap"', self.case.head + "iap.train {"]
        lines += [f"  {name} = {lua(value)}," for name, value in options.items()]
        (self.folder / "within.lua").write_text("\n".join([*lines, '  out = iap.run_folder("within"),', "}"]) + "\n")
        result = self.run(self.train("within", "--threads", 2, *words, script="within.lua"))
        self.compare_told("within", result, f"{words}: {result.err[-600:]}")

    def way_staged(self):
        """In two stages that are alike, and evaluated where it trains."""
        options = self.case.options
        if "curriculum" in options or "fit" in options:
            return
        changed = {"curriculum": [{"through": 1}, Raw("{}")]}
        if "eval_env" not in options and self.case.rng.random() < 0.5:
            changed["eval_env"] = self.case.env("make")
        (self.folder / "staged.lua").write_text(self.case.script('"staged"', changed=changed))
        if not self.complete("staged", self.run([self.iap, "run", "staged.lua", "--threads", 2])):
            return
        tables = [[{k: v for k, v in row.items() if k != "stage"} for row in self.table(out)] for out in ("base", "staged")]
        if tables[0] != tables[1]:
            self.fail("staged", "metrics.csv differs: " + str([(a, b) for a, b in zip(*tables) if a != b][:1] or list(map(len, tables))))
        results = [json.loads((self.folder / out / "result.json").read_text()) for out in ("base", "staged")]
        if results[0] != results[1]:
            self.fail("staged", f"result.json differs: {results}")
