import ctypes
import os
import pathlib
import unittest
import weakref

import numpy as np
from common import FRAGILE, WORLD, Raises, RaisingPath, Test, lua, lying_oddly, short_of_memory

import iap
from iap._library import lib


class Environments(Test):
    def setUp(self):
        pathlib.Path("world.lua").write_text(WORLD)

    def test_goes_as_the_program_does(self):
        expected = lua("""
local env = iap.env.make("cartpole-swingup", { time_limit = 5 })
for _, seed in ipairs { 3, 8 } do
  local seen = env:reset(seed)
  for i = 1, 5 do
    for _, value in ipairs(seen.vector) do print(("%a"):format(value)) end
    print(("%a"):format((env:step({ 0.25 * i - 0.7 }))))
    seen = env:observe()
  end
end""")
        env, got = iap.Env("cartpole-swingup", time_limit=5), []
        for seed in (3, 8):
            seen, info = env.reset(seed=seed)
            self.assertEqual(info, {"seed": seed})
            for i in range(1, 6):
                got += seen.tolist()
                seen, reward, terminated, truncated, info = env.step(np.array([0.25 * i - 0.7]))
                got.append(reward)
                self.assertIs(terminated, False)
                self.assertIs(truncated, i == 5)
                self.assertEqual(info, {"unstable": False})
        self.assertEqual(got, expected)

    def test_is_described_in_every_form(self):
        forms = [iap.Env("cartpole-swingup", pixels=(24, 32)), iap.Env({"name": "cartpole-swingup", "pixels": np.array([24, 32])}),
                 iap.Env("{ name = 'cartpole-swingup', pixels = { 24, 32 } }"), iap.Env('{"name": "cartpole-swingup", "pixels": [24, 32]}')]
        for env in forms:
            self.assertEqual(env.config, forms[0].config)
            self.assertEqual(env.images, [("pixels", 24, 32, 3, np.uint8)])
        again = iap.Env(forms[0].config)
        self.assertEqual(again.config, forms[0].config)
        self.assertEqual((again.name, again.max_steps, again.vector_size), ("cartpole-swingup", 1000, 0))
        self.assertEqual(again.metadata["render_fps"], 1 / again.control_dt)
        # Options beside a dict go before its own.
        self.assertEqual(iap.Env(forms[0].config, time_limit=7).max_steps, 7)

    def test_takes_options_of_numpy_s_types(self):
        for dtype in (np.int8, np.uint64, np.float16, np.float32, np.float64, np.longdouble):
            for value in (dtype(1), np.array(1, dtype), np.ma.MaskedArray(1, dtype=dtype)):
                self.assertEqual(iap.Env("cheetah-run", time_limit=value).max_steps, 1)
            self.assertEqual(iap.Env("cheetah-run", pixels=np.array([4, 5], dtype)).images[0].shape, (4, 5, 3))
        self.assertEqual(iap.Env(np.str_("cheetah-run"), state=np.True_, camera=np.str_("side")).config["camera"], 0)

    def test_options_called_like_arguments_go_into_the_dict(self):
        pathlib.Path("own.lua").write_text(WORLD.replace("max_steps = 4", "max_steps = options.copy + options.threads * options.render_size"))
        own = {"name": "own.lua", "copy": 3, "threads": 2, "render_size": 4}
        with self.refused("'self'"):
            iap.Env("cartpole-swingup", self=1)
        self.assertEqual(iap.Env(own, copy=np.True_).max_steps, 11)
        self.assertEqual(iap.VectorEnv(own, 2, copy=False, threads=1).max_steps, 11)

    def test_spaces_hold_what_is_seen(self):
        shapes = {"cartpole-swingup": ((5,), np.float32), "world.lua": None}
        for name, shape in shapes.items():
            env = iap.Env(name)
            seen, _ = env.reset(seed=1)
            self.assertTrue(env.observation_space.contains(seen))
            if shape:
                self.assertEqual((seen.shape, seen.dtype), shape)
            env.action_space.seed(5)
            action = env.action_space.sample()
            self.assertTrue(env.action_space.contains(action))
            self.assertTrue(env.observation_space.contains(env.step(0.5 * action)[0]))
            self.assertFalse(env.action_space.contains(action + 7))
            self.assertFalse(env.action_space.contains(action.astype(np.float64)))
        self.assertEqual(env.observation_space, iap.Env("world.lua").observation_space)
        self.assertNotEqual(env.action_space, iap.Env("cheetah-run").action_space)
        drawn = []
        for seed in (5, 5, 6):
            env.observation_space.seed(seed)
            drawn.append(env.observation_space.sample()["vector"].tolist())
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        pixels = iap.Env("cartpole-swingup", pixels=(40, 40)).observation_space.sample()
        self.assertEqual((pixels.dtype, pixels.min(), pixels.max()), (np.uint8, 0, 255))
        self.assertTrue(env.observation_space["far"].contains(np.full((1, 2, 1), -7, np.float32)))  # metres, say
        self.assertEqual(sorted(seen), ["far", "grey", "vector"])
        self.assertEqual(seen["grey"][..., 0].tolist(), [[1, 2, 3], [4, 5, 0]])
        self.assertEqual(env.state_names, ["place", "age"])

    def test_the_space_of_actions_is_the_environment_s(self):
        pathlib.Path("wide.lua").write_text(WORLD.replace("action_size = 1", "action_size = 2, action_low = 0, action_high = 5"))
        for space, shape in ((iap.Env("wide.lua").action_space, (2,)), (iap.VectorEnv("wide.lua", 3).action_space, (3, 2)),
                             (iap.VectorEnv("wide.lua", 3).single_action_space, (2,))):
            self.assertEqual((space.low.tolist(), space.high.tolist()), (np.zeros(shape).tolist(), np.full(shape, 5).tolist()))

    def test_takes_actions_wherever_they_lie(self):
        env, action = iap.Env("cheetah-run"), np.linspace(-1, 1, 6, dtype=np.float32)
        env.reset(seed=1)
        expected = env.step(action)[0].tolist()
        for odd in lying_oddly(action):
            env.reset(seed=1)
            self.assertEqual(env.step(odd)[0].tolist(), expected)

    def test_says_where_a_simulation_broke_down(self):
        pathlib.Path("fragile.lua").write_text(FRAGILE)
        env, broken = iap.Env("fragile.lua"), []
        for seed in range(8):
            env.reset(seed=seed)
            _, reward, terminated, truncated, info = env.step([0])
            self.assertEqual((reward, truncated, info), (0.0 if terminated else 1.0, False, {"unstable": terminated}))
            broken.append(terminated)
            if terminated:
                with self.refused("the episode is over; call reset()"):
                    env.step([0])
        self.assertEqual(set(broken), {False, True})

    def test_copies_stay_and_views_follow(self):
        kept, shown = iap.Env("world.lua"), iap.Env("world.lua", copy=False)
        copy, view = kept.reset(seed=1)[0], shown.reset(seed=1)[0]
        self.assertEqual(copy["vector"].tolist(), view["vector"].tolist())
        self.assertFalse(view["vector"].flags.writeable)
        for array in view.values():
            with self.assertRaises(ValueError):
                array.flags.writeable = True
        kept.step([0.5])
        shown.step([0.5])
        self.assertEqual((copy["vector"][1], view["vector"][1]), (0, 1))
        # The memory stays as long as somebody looks at it.
        shown.close()
        self.assertEqual(view["grey"][1, 2, 0], 1)

    def test_closing_lets_go_of_the_library_s_object(self):
        for world in (iap.Env("world.lua"), iap.VectorEnv("world.lua", 2)):
            world.reset(seed=1)
            owner = weakref.ref(world._owner)
            world.close()
            self.assertIsNone(owner())

    def test_views_go_where_the_memory_goes(self):
        class Moving(iap.Env):
            """As an environment does that shows other memory in each step."""

            kept = []

            def _call(self, function, *arguments):
                held = super()._call(function, *arguments)
                if function is lib.iap_env_observe:
                    struct, size = self._structs[0], self.images[0].height * self.images[0].width * self.images[0].channels
                    self.kept.append(ctypes.create_string_buffer(ctypes.string_at(struct.data, size), size))
                    struct.data = ctypes.addressof(self.kept[-1])
                return held

        world = {"name": "cartpole-swingup", "pixels": (30, 40), "action_repeat": 8}
        env, plain = Moving(world, copy=False), iap.Env(world)
        first = plain.reset(seed=1)[0]
        np.testing.assert_array_equal(env.reset(seed=1)[0], first)
        for _ in range(3):
            seen = plain.step([1])[0]
            np.testing.assert_array_equal(env.step([1])[0], seen)
        self.assertFalse(np.array_equal(seen, first))

    def test_what_is_read_stays_though_the_environment_is_closed_meanwhile(self):
        class Closing(iap.Env):
            def _call(self, function, *arguments):
                held = super()._call(function, *arguments)
                if function is lib.iap_env_observe:
                    self.close()
                return held

        expected = iap.Env("world.lua").reset(seed=1)[0]
        for copy in (True, False):
            seen = Closing("world.lua", copy=copy).reset(seed=1)[0]
            for name, values in expected.items():
                self.assertEqual(seen[name].tolist(), values.tolist())

    def test_seeds_follow_from_the_first(self):
        first, second = iap.Env("world.lua"), iap.Env("world.lua")
        first.reset(seed=4), second.reset(seed=4)
        seeds = [first.reset()[1]["seed"] for _ in range(3)]
        self.assertEqual(seeds, [second.reset()[1]["seed"] for _ in range(3)])
        self.assertEqual(len(set(seeds)), 3)
        again = second.reset(seed=seeds[2])[0]["vector"]
        self.assertEqual(again.tolist(), first.reset(seed=seeds[2])[0]["vector"].tolist())

    def test_renders_what_the_environment_draws_at_that_size(self):
        env = iap.Env("cartpole-swingup", render_mode="rgb_array", render_size=(30, 40))
        large = iap.Env("cartpole-swingup", pixels=(30, 40))
        env.reset(seed=2)
        seen = large.reset(seed=2)[0]
        np.testing.assert_array_equal(env.render(), seen)
        env.step([0.5])
        np.testing.assert_array_equal(env.render(), large.step([0.5])[0])
        wide = iap.Env("cartpole-swingup", pixels=(16, 16), render_mode="rgb_array", render_size=(4, 5000))
        wide.reset(seed=2)
        np.testing.assert_array_equal(wide.render(), iap.Env("cartpole-swingup", pixels=(4, 5000)).reset(seed=2)[0])
        self.assertIsNone(large.render())
        plain = iap.Env("cartpole-swingup", pixels=(10, 20), render_mode="rgb_array")
        plain.reset(seed=1)
        self.assertEqual(plain.render().shape, (400, 800, 3))
        for pixels, columns in (((1, 64), 16384), ((1000, 1), 1)):
            long = iap.Env("cartpole-swingup", pixels=pixels, render_mode="rgb_array")
            with self.refused("render(): no episode has begun; call reset() first"):
                long.render()
            long.reset(seed=1)
            self.assertEqual(long.render().shape, (400, columns, 3))

    def test_rendering_takes_nothing_from_an_episode(self):
        pathlib.Path("snowing.lua").write_text("""
return function(options)
  local size = (options.pixels or { 8 })[1]
  local env = { spec = { action_size = 1, max_steps = 40, images = { eye = { height = size, width = size, channels = 1 } } } }
  local function draw()
    local snow = {}
    for i = 1, size * size do snow[i] = string.char(math.random(0, 60)) end
    env.picture = table.concat(snow)
  end
  function env:reset() draw() end
  function env:step() draw() return 1, math.random() < 0.1 end
  function env:observe() return nil, { eye = self.picture } end
  return env
end""")

        def steps(rendered):
            env, counts, refused = iap.Env("snowing.lua", render_mode="rgb_array", render_size=(16, 16)), [], 0
            for seed in range(6):
                env.reset(seed=seed)
                counts.append(0)
                over = False
                while not over:
                    if rendered:
                        try:
                            env.render()
                        except iap.Error as error:
                            self.assertIn("the environment ends at another step, so that it is not the same episode", str(error))
                            refused += 1
                    _, reward, terminated, truncated, _ = env.step([0.0])
                    self.assertEqual(reward, 1)
                    counts[-1] += 1
                    over = terminated or truncated
            return counts, refused

        plain, rendered = steps(False), steps(True)
        self.assertEqual(plain[0], rendered[0])
        self.assertGreater(rendered[1], 0)

    def test_a_picture_that_memory_does_not_hold_is_one_message(self):
        env = iap.Env("cartpole-swingup", render_mode="rgb_array", render_size=(1 << 14, 1 << 14))
        env.reset(seed=1)
        with short_of_memory(200 << 20), self.refused("render(): Unable to allocate 768. MiB"):
            env.render()

    def test_an_episode_that_cannot_be_looked_at_has_failed(self):
        foggy = WORLD.replace("return { x, age }", "if age == 2 then age = 3 error('fog') end return { x, age }")
        pathlib.Path("blind.lua").write_text(foggy)
        env = iap.Env("blind.lua")
        env.reset(seed=1)
        env.step([0.1])
        with self.refused("fog"):
            env.step([0.1])
        with self.refused("step(): the episode has failed; call reset()"):
            env.step([0.1])
        env.reset(seed=1)

    def test_names_may_be_any_bytes_but_those_of_files(self):
        odd = WORLD.replace('"place"', r'"pl\xFFce"').replace("grey =", r'["gr\xFFy"] =')
        pathlib.Path("odd.lua").write_text(odd)
        env = iap.Env("odd.lua")
        self.assertEqual(env.state_names, ["pl\udcffce", "age"])
        self.assertIn("gr\udcffy", [image.name for image in env.images])
        self.assertIn("gr\udcffy", env.reset(seed=1)[0])
        file = pathlib.Path(os.fsdecode(b"dir\xff"), "world.lua")
        file.parent.mkdir()
        file.write_text(WORLD)
        # Whether it is a name, beside options, or in a dict.
        for make in (lambda: iap.Env(file), lambda: iap.Env(file, strength=2), lambda: iap.Env({"name": file}),
                     lambda: iap.Env({"name": str(file), "strength": 2}), lambda: iap.VectorEnv(str(file), 2, strength=2)):
            with self.refused("env: ", "option 'name' is ", "bytes that are no UTF-8, which no policy file can hold; give what is named another name"):
                make()
        with self.refused("env: option 'texts.2' is 'x?', bytes that are no UTF-8"):
            iap.Env("world.lua", texts=["a", "x\udcff"])
        with self.refused("env: the name of option 'texts.x?' has bytes that are no UTF-8; give it another one"):
            iap.Env("world.lua", texts={"x\udcff": 1})

    def test_no_name_of_a_file_is_a_table(self):
        for name in ('{name="cheetah-run"}', ' {name="cheetah-run"}', '--[[]]{name="cheetah-run"}'):
            iap.Env(name)
            with self.refused("there is no environment"):
                iap.Env(pathlib.Path(name))
            pathlib.Path(name).write_text("")
            with self.refused("there is no environment"):
                iap.Env(name)
            with self.refused("too short for an iap file"):
                iap.Rollouts("cartpole-balance", pathlib.Path(name))
            with self.refused("too short for an iap file"):
                iap.Rollouts("cartpole-balance", name)
        for name in ("{a.lua", "[x].lua", "-- x.lua"):
            pathlib.Path(name).write_text(WORLD.replace("max_steps = 4", "max_steps = options.length"))
            self.assertEqual(iap.Env(name, length=3).max_steps, 3)
            self.assertEqual(iap.VectorEnv(name, 2, length=3).max_steps, 3)

    def test_refuses_with_one_message(self):
        with self.refused("env: there is no environment 'cheeta-run'; did you mean 'cheetah-run'?"):
            iap.Env("cheeta-run")
        with self.refused("did you mean 'pixels'"):
            iap.Env("cheetah-run", pixel=(64, 64))
        with self.refused("env is empty; give the environment as a table or its name"):
            iap.Env(" ")
        with self.refused("env:2:"):
            iap.Env("{ name = 'cheetah-run',\n pixels = { 64 ")
        with self.refused("options beside a text"):
            iap.Env("{ name = 'cheetah-run' }", pixels=(64, 64))
        with self.refused("env: expected a name, a text or a dict, got a int"):
            iap.Env(5)
        # The test of rollouts says so of theirs.
        for make in (iap.Env, lambda env, **options: iap.VectorEnv(env, 2, **options)):
            for env in ("cartpole-swingup", {"name": "cartpole-swingup"}, "{ name = 'cartpole-swingup' }"):
                with self.refused("env: option 'name' is 'cheetah-run', but env says which environment it is; give the name there"):
                    make(env, name="cheetah-run")
        with self.refused("env: KeyError"):
            iap.Env(RaisingPath())
        with self.refused("env: option 'pixels' is nan; give finite numbers"):
            iap.Env("cheetah-run", pixels=float("nan"))
        for key, shown in ((1, "the key 1, a int"), (None, "the key None, a NoneType"), (True, "the key True, a bool")):
            with self.refused(f"env: {shown}; options are named by texts"):
                iap.Env({"name": "cheetah-run", key: 2})
            with self.refused(f"env: option 'distraction' has {shown}; options are named by texts"):
                iap.Env("cheetah-run", distraction={key: 2, "1": 3})
        with self.refused("env: option 'pixels' is nan; give finite numbers"):
            iap.Env("cheetah-run", pixels=np.array(np.nan))
        for value in (2**63, -2**63 - 1, np.uint64(2**63), np.array(2**63, np.uint64)):
            with self.refused(f"env: option 'action_repeat' is {value}; integers go from -9223372036854775808 to 9223372036854775807"):
                iap.Env("cheetah-run", action_repeat=value)
        for items, place in (([1, None, 3], "2"), ([1, [2, None]], "2.2")):
            with self.refused(f"env: option 'pixels.{place}' is null; a list has a value at each place"):
                iap.Env("cheetah-run", pixels=items)
        with self.refused("env: option 'distraction.camera.zoom_in' is inf"):
            iap.Env("cheetah-run", distraction={"camera": {"zoom_in": np.float32("inf")}})
        for masked in (np.ma.masked, np.ma.masked_equal([1, 2], 2)):
            with self.refused("env: option 'render.samples' has masked entries; say what they are with .filled(value)"):
                iap.Env("cheetah-run", render={"samples": masked})
        endless, deep = [], []
        endless.append(endless)
        for _ in range(5000):
            deep = [deep]
        for value in (endless, deep):
            with self.refused("env: tables and lists inside one another, too many or in themselves"):
                iap.Env("cheetah-run", pixels=value)
        for value in (np.clongdouble(1), 1j, np.datetime64("now")):
            with self.refused(f"env: a {type(value).__name__} is no option"):
                iap.Env("cheetah-run", time_limit=value)
        with self.refused("NUL"):
            iap.Env("cheetah\0run")
        with self.refused("env: ", "surrogates not allowed"):
            iap.Env("wa.lua\ud800x")
        with self.refused("env: option 'name' is 'wa.lua?x', bytes that are no UTF-8"):
            iap.Env("wa.lua\ud800x", strength=2)
        for make in (iap.Env, lambda env, **options: iap.VectorEnv(env, 2, **options)):
            for copy in (3, None, "yes", np.ones(2)):
                with self.refused("copy: expected True or False, got ", "; an option 'copy' of the environment goes into a dict: {"):
                    make("world.lua", copy=copy)
        for mode in ("human", np.ones(2)):
            with self.refused("render_mode"):
                iap.Env("cartpole-swingup", render_mode=mode)
        for size in ((0, 4), Raises()):
            with self.refused("render_size"):
                iap.Env("cartpole-swingup", render_size=size)
        env = iap.Env("world.lua")
        with self.refused("step(): no episode has begun; call reset() first"):
            env.step([0])
        with self.refused("seed: expected an integer from 0 to 18446744073709551615, got -1"):
            env.reset(seed=-1)
        with self.refused("options: reset takes none, got start"):
            env.reset(options={"start": 1})
        with self.refused("options: reset takes none, got 5"):
            env.reset(options=5)
        with self.refused("options: reset takes none, got array([1, 2])"):
            env.reset(options=np.array([1, 2]))
        env.reset(seed=1)
        for action, message in (([0, 0], "action: has the shape (2,), expected (1,)"), (0, "action: has the shape (), expected (1,)"),
                                ([True], "action: has the dtype bool"), (["1"], "action: has the dtype <U1"),
                                ([1j], "action: has the dtype complex128"), ([[0], [0, 1]], "action: "),
                                (Raises(), "action: is on another device"),
                                (np.ma.masked_equal([0.0], 0), "action: has masked entries; say what they are with .filled(value)"),
                                ([np.nan], "step(): 'action' holds nan as value 0; give finite values")):
            with self.refused(message):
                env.step(action)
        with self.refused("world.lua:", "too far"):
            env.step([1])
        with self.refused("the episode has failed; call reset()"):
            env.step([0])
        env.reset(seed=1)
        env.close()
        for use in (lambda: env.step([0]), env.reset, env.render, env.__enter__):
            with self.refused("this Env is closed"):
                use()
        env.close()


if __name__ == "__main__":
    unittest.main()
