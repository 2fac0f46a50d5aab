import copy
import pathlib
import pickle
import unittest

import numpy as np
from common import Raises, RaisingPath, Test, lua

import iap
from iap._library import lib

BUILD = """
local blocks = iap.policy.sequence { iap.attention.rank { patch = 4, stride = 2, d = 4, top = 3, values = "content" },
  iap.policy.lstm { units = 3 }, iap.policy.linear { activation = "tanh" } }
local env = iap.env.make("cartpole-swingup", { pixels = { 12, 16 }, time_limit = 6 })
local policy = iap.policy.build(blocks, env)
policy:initialise(4)
policy:save("policy.iap", { note = "of a test" })
"""


class Policies(Test):
    @classmethod
    def setUpClass(cls):
        cls.actions = lua(BUILD + """
local seen = env:reset(9)
policy:reset(9)
for i = 1, 6 do
  local action = policy:act(seen)
  print(("%a"):format(action[1]))
  env:step(action)
  seen = env:observe()
end
local view = policy:views()[1]
for _, score in ipairs(view.scores) do print(("%a"):format(score)) end
for _, index in ipairs(view.selected) do print(("%a"):format(index - 1)) end""")

    def test_is_neither_copied_nor_pickled(self):
        for owner in (iap.Policy("policy.iap"), iap.Env("cartpole-balance")):
            for copying in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.refused(f"a {type(owner).__name__} cannot be copied or pickled; make another one"):
                    copying(owner)

    def test_acts_and_looks_as_the_program_does(self):
        content = pathlib.Path("policy.iap").read_bytes()
        for source in ("policy.iap", pathlib.Path("policy.iap"), content, bytearray(content)):
            policy = iap.Policy(source)
            env = iap.Env(policy.env)
            seen, _ = env.reset(seed=9)
            policy.reset(9)
            got = []
            for _ in range(6):
                action = policy.act(seen)
                got += action.tolist()
                seen = env.step(action)[0]
            scores, = policy.scores()
            patches = policy.patches()
            self.assertEqual(got, self.actions[:6])
            self.assertEqual(scores.values.ravel().tolist(), self.actions[6:-3])
            self.assertEqual((scores.image, scores.patch, scores.stride, scores.values.shape), ("pixels", 4, 2, (5, 7)))
            self.assertEqual([7 * (patch.top // 2) + patch.left // 2 for patch in patches], self.actions[-3:])
            self.assertEqual([patch.score for patch in patches], [scores.values[patch.top // 2, patch.left // 2] for patch in patches])
        self.assertEqual((policy.action_size, policy.vector_size, policy.metadata["note"]), (1, 0, "of a test"))
        self.assertEqual(policy.control_dt, env.control_dt)
        self.assertEqual(policy.images, env.images)

    def test_acts_as_the_package_s_own_help_tells(self):
        told = "".join(line[4:] + "\n" for line in iap.__doc__.splitlines() if line.startswith("    "))
        names = {}
        exec(told.replace("runs/quickstart/best.iap", "policy.iap"), names)
        self.assertEqual(names["action"].tolist(), iap.Policy("policy.iap").act(names["observation"]).tolist())

    def test_the_whole_seed_decides_what_an_episode_draws(self):
        lua(BUILD.replace('values = "content"', 'kernel = "exp", redraw = "episode"').replace("policy.iap", "redrawn.iap"))
        policy, picture = iap.Policy("redrawn.iap"), np.random.default_rng(1).integers(0, 256, (12, 16, 3), np.uint8)

        def scores(seed):
            policy.reset(seed)
            policy.act(picture)
            return policy.scores()[0].values.tolist()

        self.assertEqual(scores(3), scores(3))
        for other in (4, 3 + 2**32, 3 + 2**63):
            self.assertNotEqual(scores(3), scores(other))

    def test_pictures_lie_and_are_sized_as_they_like(self):
        policy = iap.Policy("policy.iap")
        picture = np.random.default_rng(1).integers(0, 256, (12, 16, 3), np.uint8)

        def act(*arguments, **options):
            policy.reset(0)
            return policy.act(*arguments, **options).tolist()

        expected = act(picture)
        around = np.zeros((20, 30, 3), np.uint8)
        around[3:15, 5:21] = picture
        self.assertEqual(act(around[3:15, 5:21]), expected)
        self.assertEqual(act(picture[::-1].copy()[::-1]), expected)
        self.assertEqual(act(picture[:, ::-1].copy()[:, ::-1]), expected)
        self.assertEqual(act(np.asfortranarray(picture)), expected)
        self.assertEqual(act(np.broadcast_to(picture[:1], picture.shape)), act(np.repeat(picture[:1], 12, 0)))
        self.assertEqual(act(picture[..., ::-1], bgr=True), expected)
        self.assertEqual(act({"pixels": picture}), expected)
        self.assertEqual(act(pixels=picture), expected)
        large = np.repeat(np.repeat(picture, 3, 0), 2, 1)
        self.assertEqual(act(large, resize=True), expected)
        # An axis of one element may have any stride, which means nothing.
        strided = np.lib.stride_tricks.as_strided
        for one in (np.full((1, 1, 3), 7, np.uint8), np.arange(150, dtype=np.uint8).reshape(1, 50, 3), picture[:, :1]):
            odd = [1 if side == 1 else stride for side, stride in zip(one.shape, one.strides)]
            self.assertEqual(act(strided(one, one.shape, odd), resize=True), act(one.copy(), resize=True))
        self.assertNotEqual(act(picture[::-1]), expected)

    def test_acts_at_once_as_after_a_reset(self):
        world = {"name": "cartpole-swingup", "pixels": (8, 8)}
        for redraw in ("episode", 2):
            rank = {"kind": "rank", "patch": 2, "top": 2, "kernel": "exp", "redraw": redraw, "values": "content"}
            rollouts = iap.Rollouts(world, {"kind": "sequence", "blocks": [rank, {"kind": "linear"}]})
            rollouts.save("redrawn.iap", rollouts.initial(1) * 9)
            policy, seen = iap.Policy("redrawn.iap"), iap.Env(world).reset(seed=1)[0]
            first = policy.act(seen)
            policy.reset()
            self.assertEqual(first.tolist(), policy.act(seen).tolist())

    def test_refuses_with_one_message(self):
        with self.refused("nowhere.iap"):
            iap.Policy("nowhere.iap")
        with self.refused("policy in memory"):
            iap.Policy(b"nothing")
        for word in ("no", 1, np.ones((2, 2))):
            with self.refused("trusted: expected True or False, got "):
                iap.Policy("policy.iap", trusted=word)
            for name in ("bgr", "resize"):
                with self.refused(f"{name}: expected True or False, got "):
                    iap.Policy("policy.iap").act(np.zeros((12, 16, 3), np.uint8), **{name: word})
        with self.refused("source: expected a path or bytes, got a NoneType"):
            iap.Policy(None)
        policy = iap.Policy("policy.iap")
        for picture, remedy in ((np.zeros((12, 16, 3)), "got float64 of the shape (12, 16, 3); floats from 0 to 1: (255 * numpy.asarray(picture))"),
                                (np.zeros((3, 12, 16), np.uint8), "channels come last: picture.transpose(1, 2, 0)"),
                                (np.zeros((4, 12, 16), np.uint8), "channels come last: picture.transpose(1, 2, 0)"),
                                (np.zeros((1, 12, 16), np.uint8), "grey as three channels, which come last: numpy.repeat(picture.transpose"),
                                (np.zeros((5, 12, 16), np.uint8), "got uint8 of the shape (5, 12, 16)"),
                                (np.zeros((12, 16, 4), np.uint8), "picture[..., :3]"),
                                (np.zeros((12, 16), np.uint8), "got uint8 of the shape (12, 16); grey as three channels"),
                                (np.zeros((12, 16, 3), np.int64), "numpy.asarray(picture, numpy.uint8)"),
                                (np.zeros((24, 32, 3), np.uint8), "; iap.Env(policy.env) shows it in that size; where it comes from elsewhere, resize=True has it averaged to that size"),
                                (np.zeros((0, 16, 3), np.uint8), "got uint8 of the shape (0, 16, 3)"),
                                (np.full((12, 16, 3), 256, np.uint16), "go from 256 to 256: scale them by the camera's range to 0 .. 255 of numpy.uint8, such as (picture // 257).astype"),
                                (np.full((12, 16, 3), -1), "its values go from -1 to -1: scale them by the camera's range"),
                                (np.zeros((12, 16, 3), bool), "got bool of the shape (12, 16, 3); 255 * picture.astype(numpy.uint8)"),
                                (np.zeros((24, 32, 3), bool), "got bool of the shape (24, 32, 3); 255 * picture.astype(numpy.uint8)")):
            with self.refused("pixels: expected uint8 of the shape (12, 16, 3), ", remedy):
                policy.act(picture)
        # Of other integers nobody knows the range; int16 of a camera is not all of 16 bits.
        for dtype in (np.int8, np.int16, np.int32, np.int64):
            with self.assertRaisesRegex(iap.Error, "its values go from -1 to -1: scale them by the camera's range to 0 .. 255 of numpy.uint8$"):
                policy.act(np.full((12, 16, 3), -1, dtype))
        holes = np.ma.MaskedArray(np.zeros((12, 16, 3), np.uint8), np.eye(12, 16)[..., None] * np.ones(3))
        with self.refused("pixels: has masked entries; say what they are with .filled(value)"):
            policy.act(holes)
        # Of these nothing is masked.
        self.assertEqual(*(iap.Policy("policy.iap").act(one).tolist() for one in (holes.filled(0), np.ma.MaskedArray(holes.data))))
        for dtype in (object, "M8[s]", complex):  # of what is no picture no remedy is known, and another size is none
            for resize in (False, True):
                with self.assertRaisesRegex(iap.Error, r"of the shape \(12, 16, 3\)$"):
                    policy.act(np.zeros((12, 16, 3), dtype), resize=resize)
        with self.refused("pixels: is on another device"):
            policy.act(Raises())
        with self.refused("source: KeyError"):
            iap.Policy(RaisingPath())
        with self.refused("pixels: setting an array element"):
            policy.act([[1, 2], [3]])
        with self.refused("observation: the policy sees pixels, got vector"):
            policy.act(vector=[1])
        with self.refused("observation: the policy sees pixels, got nothing"):
            policy.act()
        with self.refused("observation: the policy sees pixels, got 1, vector"):
            policy.act({1: 2, "vector": 3})
        with self.refused("source: ", "surrogates not allowed"):
            iap.Policy("\ud800.iap")
        with self.refused("seed: expected an integer from 0"):
            policy.reset(True)
        self.assertEqual((policy.scores(), policy.patches()), ([], []))
        with policy:
            pass
        with self.refused("this Policy is closed"):
            policy.reset()
        with self.refused("this Policy is closed"), policy:
            pass
        policy.close()

    def test_depth_is_told_in_its_unit_and_by_its_name(self):
        pathlib.Path("depth.lua").write_text("""return function()
  local self = { spec = { action_size = 1, vector = 1, images = { far = { height = 4, width = 4, channels = 1, type = "float32" } } } }
  function self:reset() end
  function self:step() return 0, false, false end
  function self:observe() local far = {} for i = 1, 16 do far[i] = i end return { 0 }, { far = far } end
  return self
end""")
        rank = {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 2, "top": 2, "values": "content"}, {"kind": "linear"}]}
        rollouts = iap.Rollouts("depth.lua", rank)
        rollouts.save("depth.iap", rollouts.initial(1))
        metres = np.linspace(0.5, 2, 16, dtype=np.float32).reshape(4, 4, 1)
        policy, expected = iap.Policy("depth.iap"), iap.Policy("depth.iap").act(far=metres, vector=[0]).tolist()
        for dtype in (np.uint16, np.int32):
            with self.refused("far: expected float32 of the shape (4, 4, 1), got ", "depth in metres: scale integers by the camera's unit") as caught:
                policy.act(far=(1000 * metres).astype(dtype), vector=[0])
            advised = str(caught.exception).rpartition(", as ")[2].removesuffix(" does millimetres")
            scaled = eval(advised, {"numpy": np, "picture": (1000 * metres).astype(dtype)})
            np.testing.assert_allclose(iap.Policy("depth.iap").act(far=scaled, vector=[0]), expected, atol=0.01)
        with self.refused("; numpy.asarray(picture, numpy.float32)"):
            policy.act(far=metres.astype(float), vector=[0])
        metres[2, 1] = np.nan
        with self.refused("act(): 'far' holds nan as value 9; give finite values"):
            policy.act(far=metres, vector=[0])

    def told(self, policy, picture, **options):
        """What is advised of a picture that is refused."""
        with self.assertRaises(iap.Error) as caught:
            policy.act(picture, **options)
        return str(caught.exception).partition("; ")[2]

    def test_what_is_advised_of_grey_pictures_is_right(self):
        policy = iap.Policy("policy.iap")
        grey = np.random.default_rng(2).integers(0, 256, (12, 16), np.uint8)
        expected = policy.act(np.stack([grey] * 3, 2)).tolist()
        for picture in (grey, grey[:, :, None], grey[None]):
            for options in ({}, {"resize": True}):
                advised = self.told(policy, picture, **options).rpartition(": ")[2]
                policy.reset()
                self.assertEqual(policy.act(eval(advised, {"numpy": np, "picture": picture}), **options).tolist(), expected)

    def test_what_is_read_stays_though_the_policy_is_closed_meanwhile(self):
        class Closing(iap.Policy):
            def _call(self, function, *arguments):
                held = super()._call(function, *arguments)
                if function is lib.iap_policy_scores:
                    self.close()
                return held

        scores = []
        for kind in (iap.Policy, Closing):
            policy = kind("policy.iap")
            policy.act(np.full((12, 16, 3), 9, np.uint8))
            scores.append([(score.block, score.image, score.values.tolist()) for score in policy.scores()])
        self.assertEqual(scores[0], scores[1])
        with self.refused("this Closing is closed"):
            policy.scores()

    def test_a_picture_stays_though_another_is_shown_meanwhile(self):
        pathlib.Path("both.lua").write_text("""return function()
  local self = { spec = { action_size = 1, vector = 2, max_steps = 2, images = { eye = { height = 8, width = 8, channels = 1 } } } }
  function self:reset() end
  function self:step() return 0, false, false end
  function self:observe() local eye = {} for i = 1, 64 do eye[i] = i end return { 0, 0 }, { eye = eye } end
  return self
end""")
        lua("""local eye = iap.attention.rank { patch = 2, d = 2, top = 4, values = "content" }
local blocks = iap.policy.sequence { iap.policy.concat { eye, iap.policy.observation {} }, iap.policy.linear {} }
local policy = iap.policy.build(blocks, iap.env.make("both.lua"))
policy:initialise(1)
policy:save("both.iap")""")
        policy, eye = iap.Policy("both.iap"), np.random.default_rng(3).integers(0, 256, (8, 8), np.uint8)
        expected = policy.act(eye=eye, vector=[1, 2]).tolist()

        class Acts:
            """As what handles a signal in the middle of a call may."""

            def __array__(self, *_, **__):
                policy.act(eye=np.zeros((8, 8), np.uint8), vector=[3, 4])
                return np.array([1, 2])

        self.assertEqual(policy.act(eye=eye, vector=Acts()).tolist(), expected)

    def test_lua_in_a_file_is_confined_unless_trusted(self):
        pathlib.Path("block.lua").write_text(
            "return function() return { parameters = 0, outputs = 1, forward = function() return { io and io.open('x') and 1 or 0.5 } end } end")
        lua('iap.policy.build(iap.policy.script { file = "block.lua" }, iap.env.make("cartpole-swingup")):save("written.iap")')
        with self.refused("io.open is not available to Lua that comes out of a file"):
            iap.Policy("written.iap").act(np.zeros(5))
        self.assertEqual(iap.Policy("written.iap", trusted=True).act(np.zeros(5)).tolist(), [0.5])

    def test_an_environment_in_a_file_is_confined_unless_trusted(self):
        pathlib.Path("reads.lua").write_text("""return function()
  local self = { spec = { action_size = 1, vector = 1, max_steps = 2 } }
  function self:reset() if io.open("policy.iap") then self.x = 1 end end
  function self:step() return 0, false, false end
  function self:observe() return { self.x } end
  return self
end""")
        lua('iap.policy.build(iap.policy.linear { activation = "tanh" }, iap.env.make("reads.lua")):save("travels.iap")')
        pathlib.Path("reads.lua").unlink()
        refusal = "io.open is not available to Lua that comes out of a file"
        with self.refused(refusal):
            iap.Env(iap.Policy("travels.iap").env).reset(seed=1)
        rollouts = iap.Rollouts(None, "travels.iap")
        with self.refused(refusal):
            rollouts.evaluate(rollouts.parameters(), episodes=1)
        self.assertEqual(iap.Env(iap.Policy("travels.iap", trusted=True).env).reset(seed=1)[0].tolist(), [1])
        rollouts = iap.Rollouts(None, "travels.iap", trusted=True)
        self.assertEqual(rollouts.evaluate(rollouts.parameters(), episodes=1).tolist(), [0])

    def test_a_text_in_place_of_an_environment_is_its_name(self):
        lua("""local policy = iap.policy.build(iap.policy.linear {}, iap.env.make("cartpole-swingup"))
policy:save("named.iap", { env = "cartpole-swingup" })
local source = 'os.execute("touch owned") return function() end'
policy:save("json.iap", { env = ('{"name": "x.lua", "source": %q}'):format(source) })
policy:save("table.iap", { env = ('{ name = "x.lua", source = %q }'):format(source) })""")
        self.assertEqual(iap.Env(iap.Policy("named.iap").env).action_space.shape, (1,))
        rollouts = iap.Rollouts(None, "named.iap")
        self.assertEqual(rollouts.evaluate(rollouts.parameters(), episodes=1).shape, (1,))
        for file in ("json.iap", "table.iap"):
            for use in (iap.Env, lambda env: iap.VectorEnv(env, 1), lambda env: iap.Rollouts(env, file)):
                with self.refused("there is no environment"):
                    use(iap.Policy(file).env)
        self.assertFalse(pathlib.Path("owned").exists())

    def test_no_part_of_what_a_file_holds_beside_its_policy_runs_free(self):
        lua("""local policy = iap.policy.build(iap.policy.linear {}, iap.env.make("cartpole-swingup"))
local source = 'os.execute("touch owned") return function() return {} end'
local written = ('{ name = "x.lua", source = %q }'):format(source)
policy:save("given.iap", { env_given = written })
policy:save("nested.iap", { other = { env = written } })
policy:save("whole.iap", { name = "x.lua", source = source })
policy:save("block.iap", { kind = "script", file = "x.lua", source = source })""")
        for file, part in (("given", lambda all: all["env_given"]), ("nested", lambda all: all["other"]["env"]),
                           ("whole", lambda all: all), ("block", lambda all: all)):
            held = part(iap.Policy(file + ".iap").metadata)
            for use in (iap.Env, lambda table: iap.VectorEnv(table, 1), lambda table: iap.Rollouts("cartpole-swingup", table)):
                with self.assertRaises(iap.Error):
                    use(held)
        self.assertFalse(pathlib.Path("owned").exists())

    def test_no_picture_takes_the_vector_s_name(self):
        world = """return function()
  return { spec = { action_size = 1, vector = VALUES, max_steps = 1, images = { vector = { height = 1, width = 2, channels = 1 } } },
    reset = function() end, step = function() return 0 end, observe = function() return SEEN, { vector = { 1, 2 } } end }
end"""
        pathlib.Path("both.lua").write_text(world.replace("VALUES", "1").replace("SEEN", "{ 7 }"))
        pathlib.Path("alone.lua").write_text(world.replace("VALUES", "0").replace("SEEN", "{}"))
        for name in ("both", "alone"):
            lua(f"""local blocks = iap.policy.sequence {{ iap.attention.rank {{ patch = 1, d = 1, top = 1 }}, iap.policy.linear {{}} }}
iap.policy.build(blocks, iap.env.make("{name}.lua")):save("{name}.iap")""")
        for use in (lambda: iap.Env("both.lua"), lambda: iap.VectorEnv("both.lua", 2), lambda: iap.Policy("both.iap")):
            with self.refused('images: one is called "vector", as the numbers beside it are in an observation; give it another name'):
                use()
        self.assertEqual(iap.Env("alone.lua").reset(seed=1)[0].ravel().tolist(), [1, 2])
        self.assertEqual(iap.Policy("alone.iap").act(np.zeros((1, 2, 1), np.uint8)).shape, (1,))

    def test_messages_steer_no_terminal(self):
        self.assertEqual(str(iap.Error("a\x1b[31m\u202e\nb \u00e9\tc\x85\ud800")), "a?[31m? b \u00e9 c??")
        # What is no ASCII but steers nothing stands as in the library's own messages.
        self.assertEqual(str(iap.Error("a\u00a0b\u3000\u200d")), "a\u00a0b\u3000\u200d")
        for place in ("a\tb", "a\u00a0b"):
            with self.refused(f"./{place}.iap".replace("\t", " ")):
                iap.Policy(f"./{place}.iap")


if __name__ == "__main__":
    unittest.main()
