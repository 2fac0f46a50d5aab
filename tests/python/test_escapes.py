"""Strangers' Lua through the C interface: it ends with an error, and the host lives on."""

import pathlib
import unittest

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


if __name__ == "__main__":
    unittest.main()
