"""Strangers' Lua through the C interface: it ends with an error, and the host lives on."""

import pathlib
import struct
import unittest
import zlib

import iap
import numpy as np
from common import Test, lua

LIMIT = "the most that Lua out of a file may; if you trust"
REFUSED = "is not available to Lua that comes out of a file"
CASES = [
    ("while true do end", "took more than 300 million steps in one call"),
    ("xpcall(function() while true do end end, function() while true do end end)", "million steps in one call"),
    ("local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end", "million steps in one call"),
    ("(''):rep(1e15)", "million steps in one call"),
    ("(('a'):rep(40)):find(('a?'):rep(40) .. ('a'):rep(40))", "million steps in one call"),
    ("table.move({}, 1, math.maxinteger - 1, 2)", "million steps in one call"),
    ("local s = 'x' while true do pcall(function() s = s .. s end) end", "made a string of more than 16 MiB"),
    ("local t = {} while true do pcall(function() for i = 1, 1e9 do t[i] = i end end) end", "used more than 256 MiB of memory"),
]


OWN = "pcall(function() local f = io.open('owned', 'w') f:write('a stranger') f:close() end) "
WORLD = """return function(options) return { spec = { action_size = 1, vector = 1, max_steps = 5 }, reset = function() end,
  step = function() return options.reward or 77 end, observe = function() return { 0 } end } end"""


def give(name, metadata):
    """Saves a policy with `metadata`, in Lua, where EVIL is the text of a world that would write the file "owned"."""
    lua(f'local EVIL, HONEST = [==[{OWN}{WORLD}]==], [==[{WORLD}]==]\n'
        f'iap.policy.build(iap.policy.linear {{ activation = "tanh" }}, "cartpole-swingup"):save("{name}", {metadata})')


def rewrite(name, old, new):
    """Changes the header of a policy file."""
    content = pathlib.Path(name).read_bytes()
    (size,) = struct.unpack("<Q", content[12:20])
    (length,) = struct.unpack("<Q", content[20:28])
    header = content[28:28 + length]
    assert old in header
    header = header.replace(old, new)
    payload = struct.pack("<Q", len(header)) + header + content[28 + length:20 + size]
    sealed = content[:12] + struct.pack("<Q", len(payload)) + payload
    pathlib.Path(name).write_bytes(sealed + struct.pack("<I", zlib.crc32(sealed)))


def write(name, body):
    pathlib.Path("block.lua").write_text(
        f"return function() return {{ parameters = 0, outputs = 1, forward = function() {body} return {{ 0.5 }} end }} end")
    lua(f'iap.policy.build(iap.policy.script {{ file = "block.lua" }}, iap.env.make("cartpole-swingup")):save("{name}")')
    pathlib.Path("block.lua").unlink()


class EscapesTest(Test):
    def test_limits_end_a_call_and_the_policy_for_good(self):
        for number, (body, message) in enumerate(CASES):
            with self.subTest(body):
                write(f"bomb{number}.iap", body)
                policy = iap.Policy(f"bomb{number}.iap")
                for _ in range(2):
                    with self.refused(message, LIMIT, f"bomb{number}.iap"):
                        policy.act(np.zeros(5))
        write("fine.iap", "")
        self.assertEqual(iap.Policy("fine.iap").act(np.zeros(5)).tolist(), [0.5])

    def test_nothing_outside_is_reached(self):
        for body in ("os.execute('touch owned')", "load('return 1')", "debug.getregistry()", "collectgarbage('stop')"):
            write("reaches.iap", body)
            with self.refused(REFUSED):
                iap.Policy("reaches.iap").act(np.zeros(5))
        self.assertFalse(pathlib.Path("owned").exists())

    def test_messages_hold_nothing_that_terminals_obey(self):
        write("steers.iap", r"error('\27]0;owned\7\r\u{202e}', 0)")
        with self.refused("?]0;owned???"):
            iap.Policy("steers.iap").act(np.zeros(5))
        with self.refused("no?[2Jthing"):
            iap.Env("no\x1b[2Jthing")

    def test_environments_out_of_files_have_limits_too(self):
        pathlib.Path("endless.lua").write_text("""return function()
  local self, steps = { spec = { action_size = 1, vector = 1, max_steps = 9 } }, 0
  function self:reset() steps = 0 end
  function self:step() steps = steps + 1 while steps > 2 do end return 0, false, false end
  function self:observe() return { steps } end
  return self
end""")
        lua('iap.policy.build(iap.policy.linear { activation = "tanh" }, iap.env.make("endless.lua")):save("endless.iap")')
        pathlib.Path("endless.lua").unlink()
        rollouts = iap.Rollouts(None, "endless.iap", threads=1)
        with self.refused("endless.lua:4: took more than 300 million steps in one call", LIMIT):
            rollouts.evaluate(rollouts.parameters(), episodes=1)

    def plays(self, env, reward=None, **options):
        """Whoever makes this environment has got nothing of the stranger's done, and gets `reward` or an error."""
        try:
            made = iap.Env(env, **options)
            made.reset(seed=1)
            got = made.step(np.zeros(1))[1]
        except iap.Error:
            got = None
        self.assertFalse(pathlib.Path("owned").exists(), env)
        self.assertEqual(got, reward, env)

    def test_what_is_kept_of_a_file_is_not_laid_over_another(self):
        pathlib.Path("mine.lua").write_text(WORLD.replace("77", "1"))
        give("gift.iap", '{ env = { name = "cartpole-balance", source = EVIL }, env_given = { source = EVIL }, more = { source = EVIL } }')
        policy = iap.Policy("gift.iap")
        for own in (policy.env, policy.metadata["env_given"]):
            rest = {name: value for name, value in own.items() if name != "name"}
            self.plays({**own, "name": "mine.lua"}, 1)
            self.plays("mine.lua", 1, **rest)
        self.plays({**policy.metadata["more"], "name": "mine.lua"}, 77)

        give("gift.iap", '{ env = { name = "x.lua", source = EVIL }, env_given = { time_limit = 3, loaded_fron = false } }')
        rewrite("gift.iap", b'"loaded_fron":false', b'"loaded_from":null')
        policy = iap.Policy("gift.iap")
        self.plays({**policy.env, **policy.metadata["env_given"]}, 77)

        trusted = iap.Policy("gift.iap", trusted=True)
        self.assertNotIn("loaded_from", trusted.env)
        iap.Env(trusted.env)
        pathlib.Path("owned").unlink()

    def test_the_name_of_an_environment_is_no_table(self):
        table = '"{name=\\"y.lua\\",source=[=[" .. EVIL .. "]=]}"'
        for name in (table, table + ' .. "--.lua"', f'" \\n--\\n" .. {table}'):
            give("gift.iap", f"{{ env = {{ name = {name}, source = HONEST }}, env_given = {{ name = {name} }}, more = {{ env = {{ name = {name} }} }} }}")
            metadata = iap.Policy("gift.iap").metadata
            for env in (metadata["env"], metadata["env_given"], metadata["more"]["env"]):
                self.plays(env["name"])
                for make in (lambda: iap.VectorEnv(env["name"], 2), lambda: iap.Rollouts(env["name"], {"kind": "linear"})):
                    with self.assertRaises(iap.Error):
                        make()
                self.assertFalse(pathlib.Path("owned").exists())
            if name.endswith('.lua"'):
                self.plays(metadata["env"], 77)
                self.plays(iap.Env(metadata["env"]).name)

    def test_environments_in_the_options_of_another_are_confined(self):
        give("gift.iap", '{ env = { name = "x.lua", source = HONEST .. "-- options.inner", inner = { name = "y.lua", source = EVIL } } }')
        policy = iap.Policy("gift.iap")
        self.plays(policy.env["inner"], 77)
        self.plays(iap.Env(policy.env).config["inner"], 77)
        self.plays(iap.VectorEnv(policy.env, 2).config["inner"], 77)
        own = iap.Policy("gift.iap", trusted=True)
        self.assertNotIn("loaded_from", iap.Env(own.env).config["inner"])


if __name__ == "__main__":
    unittest.main()
