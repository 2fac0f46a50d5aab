import pathlib
import unittest

import numpy as np
from common import FRAGILE, WORLD, Raises, Test, lying_oddly

import iap


class Batches(Test):
    def setUp(self):
        pathlib.Path("world.lua").write_text(WORLD)

    def test_goes_as_single_environments_do(self):
        options = {"pixels": (40, 60), "time_limit": 3}
        for threads in (1, 3):
            batch = iap.VectorEnv("cartpole-swingup", 4, threads=threads, **options)
            single = [iap.Env("cartpole-swingup", **options) for _ in range(4)]
            seen, _ = batch.reset(seed=20)
            expected = [env.reset(seed=20 + i)[0] for i, env in enumerate(single)]
            self.assertTrue(batch.observation_space.contains(seen))
            self.assertTrue(batch.single_observation_space.contains(seen[0]))
            rng = np.random.default_rng(0)
            for _ in range(3):
                np.testing.assert_array_equal(seen, np.stack(expected))
                actions = rng.uniform(-1, 1, (4, 1))
                seen, rewards, terminated, truncated, infos = batch.step(actions)
                results = [env.step(action) for env, action in zip(single, actions)]
                expected = [result[0] for result in results]
                self.assertEqual(rewards.tolist(), [result[1] for result in results])
                self.assertEqual(terminated.tolist(), [result[2] for result in results])
                self.assertEqual(truncated.tolist(), [result[3] for result in results])
                self.assertEqual(infos, {})
            self.assertTrue(truncated.all())
            # The next step begins the next episode, whatever the actions.
            seen, rewards, terminated, truncated, infos = batch.step(actions)
            self.assertEqual(rewards.tolist(), [0] * 4)
            self.assertFalse(terminated.any() or truncated.any())
            self.assertFalse(np.array_equal(seen, np.stack(expected)))
            if threads == 1:
                kept = seen
        np.testing.assert_array_equal(seen, kept)

    def test_several_things_are_seen_by_name(self):
        batch = iap.VectorEnv("world.lua", 3)
        seen, infos = batch.reset(seed=[5, 5, 6])
        self.assertEqual(infos["seed"].tolist(), [5, 5, 6])
        self.assertEqual({name: array.shape for name, array in seen.items()},
                         {"grey": (3, 2, 3, 1), "far": (3, 1, 2, 1), "vector": (3, 2)})
        self.assertEqual(seen["vector"][0, 0], seen["vector"][1, 0])
        self.assertNotEqual(seen["vector"][0, 0], seen["vector"][2, 0])
        self.assertTrue(batch.observation_space.contains(seen))
        self.assertTrue(batch.action_space.contains(batch.action_space.sample()))
        self.assertEqual(batch.reset(seed=2)[1]["seed"].tolist(), [2, 3, 4])
        drawn = batch.reset()[1]["seed"]
        self.assertEqual(len(set(drawn.tolist())), 3)
        batch.reset(seed=2)
        self.assertEqual(batch.reset()[1]["seed"].tolist(), drawn.tolist())

    def test_takes_actions_wherever_they_lie(self):
        batch, actions = iap.VectorEnv("cheetah-run", 3), np.linspace(-1, 1, 18, dtype=np.float32).reshape(3, 6)
        batch.reset(seed=1)
        expected = batch.step(actions)[0].tolist()
        for odd in lying_oddly(actions):
            batch.reset(seed=1)
            self.assertEqual(batch.step(odd)[0].tolist(), expected)

    def test_says_which_simulations_broke_down(self):
        pathlib.Path("fragile.lua").write_text(FRAGILE)
        env, expected = iap.Env("fragile.lua"), []
        for seed in range(8):
            env.reset(seed=seed)
            expected.append(env.step([0])[4]["unstable"])
        self.assertEqual(set(expected), {False, True})
        batch, still = iap.VectorEnv("fragile.lua", 8, threads=2), np.zeros((8, 1))
        batch.reset(seed=0)
        _, rewards, terminated, _, infos = batch.step(still)
        self.assertEqual({name: array.tolist() for name, array in infos.items()}, {"unstable": expected, "_unstable": expected})
        self.assertEqual(terminated.tolist(), expected)
        self.assertEqual(rewards.tolist(), [0.0 if broken else 1.0 for broken in expected])
        # Where one broke down the next step begins the next episode, and what the last one said stays.
        kept = terminated, infos["unstable"]
        _, rewards, terminated, _, infos = batch.step(still)
        for array in kept:
            self.assertEqual(array.tolist(), expected)
        self.assertEqual((rewards == 0).tolist(), expected)
        self.assertEqual((terminated.any(), infos), (False, {}))

    def test_copies_stay_and_views_follow(self):
        kept, shown = iap.VectorEnv("world.lua", 2), iap.VectorEnv("world.lua", 2, copy=False)
        copy, view = kept.reset(seed=1)[0], shown.reset(seed=1)[0]
        rewards = kept.step(np.zeros((2, 1)))[1]
        shown.step(np.zeros((2, 1)))
        self.assertEqual((copy["vector"][0, 1], view["vector"][0, 1]), (0, 1))
        before = rewards.tolist()
        kept.step(np.full((2, 1), 0.5))
        self.assertEqual(rewards.tolist(), before)
        self.assertFalse(view["vector"].flags.writeable)
        for array in view.values():
            with self.assertRaises(ValueError):
                array.flags.writeable = True
        shown.close()
        self.assertEqual(view["vector"][1, 1], 1)

    def test_what_is_put_beside_views_does_not_stay(self):
        env = iap.VectorEnv("world.lua", 2, copy=False)
        seen = env.reset(seed=1)[0]
        seen["vector"] = None
        del seen["grey"]
        again = env.step(np.zeros((2, 1)))[0]
        self.assertEqual(again.keys(), {"grey", "far", "vector"})
        self.assertEqual(again["vector"][0, 1], 1)
        env.close()

    def test_refuses_with_one_message(self):
        with self.refused("num_envs: expected an integer from 1 to 65536, got 0"):
            iap.VectorEnv("world.lua", 0)
        with self.refused("threads: expected an integer from 0 to 4096, got 1.5"):
            iap.VectorEnv("world.lua", 1, threads=1.5)
        with self.refused("env: there is no environment 'nothing'"):
            iap.VectorEnv("nothing", 2)
        batch = iap.VectorEnv("world.lua", 2)
        with self.refused("step(): the batch has not been reset"):
            batch.step(np.zeros((2, 1)))
        with self.refused("seed: expected an integer or 2 of them, got 3"):
            batch.reset(seed=[1, 2, 3])
        for seed, shown in ((1.5, "1.5"), (Raises(), "<common.Raises")):
            with self.refused(f"seed: expected an integer or 2 of them, got {shown}"):
                batch.reset(seed=seed)
        batch.reset(seed=1)
        with self.refused("actions: has the shape (2,), expected (2, 1)"):
            batch.step(np.zeros(2))
        with self.refused("step(): 'actions' holds inf as value 0 of environment 1; give finite values"):
            batch.step([[0], [np.inf]])
        with self.refused("environment 1 of the batch", "too far"):
            batch.step([[0], [1]])
        with self.refused("one of its environments has failed"):
            batch.step([[0], [0]])
        # Each of the two steps pays what a double holds, their sum is more.
        pathlib.Path("rich.lua").write_text(WORLD.replace("return x, false", "return 1.5e308, false"))
        with iap.VectorEnv("rich.lua", 2, action_repeat=2) as rich:
            rich.reset(seed=1)
            with self.refused("environment 0 of the batch", "after step 1: the reward is inf; rewards must be finite"):
                rich.step([[0], [0]])
        self.assertFalse(batch.closed)
        batch.close()
        self.assertTrue(batch.closed)
        with self.refused("this VectorEnv is closed"):
            batch.reset(seed=1)


if __name__ == "__main__":
    unittest.main()
