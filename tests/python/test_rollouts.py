import unittest

import numpy as np
from common import Raises, RaisingPath, Test, lua, lying_oddly, short_of_memory

import iap

BLOCKS = {"kind": "sequence", "blocks": [{"kind": "mlp", "hidden": [4]}]}
WORLD = {"name": "cartpole-swingup", "time_limit": 8, "action_repeat": 2}
LUA_WORLD = 'iap.env.make("cartpole-swingup", { time_limit = 8, action_repeat = 2 })'


class RolloutsOfAll(Test):
    def test_evaluates_as_the_program_does(self):
        rollouts = iap.Rollouts(WORLD, BLOCKS)
        parameters = rollouts.initial(3)
        got = rollouts.evaluate(parameters, seed=12, episodes=4)
        rollouts.save("saved.iap", parameters)
        expected = lua(f"""
local env = {LUA_WORLD}
local policy = iap.policy.build(iap.policy.sequence {{ iap.policy.mlp {{ hidden = {{ 4 }} }} }}, env)
policy:initialise(3)
for _, given in ipairs {{ policy, "saved.iap" }} do
  for _, episode in ipairs(iap.eval(given, {{ episodes = 4, seed = 12, env = env }}).episodes) do
    print(("%a"):format(episode.total))
  end
end""")
        self.assertEqual(got.tolist() * 2, expected)
        again = iap.Rollouts(None, "saved.iap")
        self.assertEqual(again.parameters().tolist(), parameters.tolist())
        self.assertEqual(again.evaluate(parameters, seed=12, episodes=4).tolist(), got.tolist())
        self.assertEqual(iap.Policy("saved.iap").parameter_count, rollouts.size)

    def test_plays_the_episodes_of_a_training(self):
        """iap.train's first iteration, whose members iap.optim's search gives away."""
        for seeds in ("common", "pairs", "own"):
            values = lua(f"""
local env = {LUA_WORLD}
local blocks = iap.policy.sequence {{ iap.policy.mlp {{ hidden = {{ 4 }} }} }}
iap.train {{ env = env, policy = blocks, optimizer = iap.optim.es {{ population = 4 }}, iterations = 1, episodes = 2, seed = 6,
  episode_seeds = "{seeds}", eval_episodes = 1, confirm_episodes = 0, quiet = true,
  on_iteration = function(report) print(("%a"):format(report.return_mean)) end }}
local policy = iap.policy.build(blocks, env)
policy:initialise(6)
local search = iap.optim.es {{ population = 4 }}:start(policy:parameters(), 6)
for _, member in ipairs(search:ask()) do for _, value in ipairs(member) do print(("%a"):format(value)) end end""")
            rollouts = iap.Rollouts(WORLD, BLOCKS, threads=2)
            population = np.array(values[1:], np.float32).reshape(4, rollouts.size)
            returns, steps = rollouts.run(population, seed=6, iteration=0, episodes=2, seeds=seeds)
            fitness = returns[:, 0] / 2 + returns[:, 1] / 2
            mean = 0.0
            for value in fitness:
                mean += value / 4
            self.assertEqual(mean, values[0])
            self.assertEqual(steps.tolist(), [[4, 4]] * 4)

    def test_a_policy_follows_the_time_step_of_the_environment_that_it_goes_on_in(self):
        clock = {"kind": "sequence", "blocks": [{"kind": "concat", "blocks": [{"kind": "observation"}, {"kind": "clock", "frequency": 2}]},
                                                {"kind": "linear"}]}
        slow = iap.Rollouts("cartpole-swingup", clock, time_limit=2, action_repeat=8)
        slow.save("slow.iap", slow.initial(1))
        fast = {"name": "cartpole-swingup", "time_limit": 2, "action_repeat": 2}
        carried, made = iap.Rollouts(fast, "slow.iap"), iap.Rollouts(fast, clock)
        parameters = carried.parameters()
        self.assertEqual(parameters.tolist(), slow.initial(1).tolist())
        self.assertEqual(carried.evaluate(parameters, episodes=2).tolist(), made.evaluate(parameters, episodes=2).tolist())
        carried.save("fast.iap", parameters)
        policy = iap.Policy("fast.iap")
        self.assertEqual(policy.control_dt, iap.Env(policy.env).control_dt)
        self.assertEqual(iap.Rollouts("cartpole-swingup", "slow.iap", time_limit=2, action_repeat=8).evaluate(parameters).tolist(),
                         slow.evaluate(parameters).tolist())

    def test_a_policy_that_goes_on_in_its_own_environment_keeps_what_that_was_given(self):
        rank = {"kind": "sequence", "blocks": [{"kind": "rank", "patch": 4, "top": 2}, {"kind": "linear"}]}
        first = iap.Rollouts("cartpole-swingup", rank, pixels=(8, 8), time_limit=1)
        first.save("first.iap", first.initial(1))
        again = iap.Rollouts(None, "first.iap")
        again.save("again.iap", again.parameters())
        kept = {"name": "cartpole-swingup", "pixels": [8, 8], "time_limit": 1}
        for file in ("first.iap", "again.iap"):
            self.assertEqual(iap.Policy(file).metadata["env_given"], kept)
            self.assertEqual(iap.Policy(file).env, iap.Env(kept).config)
        elsewhere = iap.Rollouts({"name": "cartpole-swingup", "pixels": (8, 8), "time_limit": 2}, "first.iap")
        elsewhere.save("elsewhere.iap", elsewhere.parameters())
        self.assertEqual(iap.Policy("elsewhere.iap").metadata["env_given"], {**kept, "time_limit": 2})

    def test_results_follow_from_seed_and_iteration_alone(self):
        one, many = iap.Rollouts(WORLD, BLOCKS, threads=1), iap.Rollouts(WORLD, BLOCKS, threads=3)
        population = np.random.default_rng(0).normal(size=(5, one.size))
        first = one.run(population, seed=1, iteration=2, episodes=2)[0]
        self.assertEqual(many.run(population, seed=1, iteration=2, episodes=2)[0].tolist(), first.tolist())
        self.assertNotEqual(many.run(population, seed=1, iteration=3, episodes=2)[0].tolist(), first.tolist())
        self.assertNotEqual(one.initial(1).tolist(), one.initial(2).tolist())

    def test_plays_a_policy_without_parameters(self):
        with open("still.lua", "w") as file:
            file.write("return function() return { parameters = 0, outputs = 1, forward = function() return { 0 } end } end")
        rollouts = iap.Rollouts(WORLD, {"kind": "script", "file": "still.lua"})
        self.assertEqual(rollouts.size, 0)
        returns, _ = rollouts.run(np.zeros((2, 0)), episodes=3)
        self.assertEqual(returns.shape, (2, 3))
        self.assertEqual(returns[0].tolist(), returns[1].tolist())

    def test_takes_parameters_wherever_they_lie(self):
        rollouts = iap.Rollouts(WORLD, BLOCKS)
        population = np.stack([rollouts.initial(seed=seed) for seed in (3, 4)])
        expected = rollouts.run(population)[0].tolist()
        for odd in lying_oddly(population):
            self.assertFalse(odd.flags.c_contiguous and odd.flags.aligned)
            self.assertEqual(rollouts.run(odd)[0].tolist(), expected)

    def test_begins_where_a_training_of_that_seed_does_whatever_its_size(self):
        rollouts = iap.Rollouts(WORLD, BLOCKS)
        for seed in (1, 2**16 + 1, 2**40 + 1):
            expected = lua(f"""
local policy = iap.policy.build(iap.policy.sequence {{ iap.policy.mlp {{ hidden = {{ 4 }} }} }}, {LUA_WORLD})
policy:initialise({seed})
for _, value in ipairs(policy:parameters()) do print(("%a"):format(value)) end""")
            self.assertEqual(rollouts.initial(seed).tolist(), expected)

    def test_refuses_episodes_that_memory_does_not_hold(self):
        rollouts = iap.Rollouts(WORLD, BLOCKS, threads=1)
        with short_of_memory(1 << 30), self.refused("run(): 'options.episodes' (16777215 for each of 1 member) needs", "of memory", "make it smaller"):
            rollouts.evaluate(rollouts.initial(), episodes=2**24 - 1)
        with short_of_memory(200 << 20), self.refused("episodes: Unable to allocate 732. MiB"):
            rollouts.run(np.zeros((6, rollouts.size)), episodes=16_000_000)
        wide = np.zeros((1_000_000, rollouts.size))
        with short_of_memory(50 << 20), self.refused("parameters: Unable to allocate"):
            rollouts.run(wide)

    def test_refuses_with_one_message(self):
        with self.refused("policy: unknown kind 'liner'; did you mean 'linear'?"):
            iap.Rollouts(WORLD, {"kind": "liner"})
        with self.refused("policy: expected a dict, a text or a path, got a int"):
            iap.Rollouts(WORLD, 5)
        for trusted in (False, True):
            with self.refused("env is None; give the environment"):
                iap.Rollouts(None, BLOCKS, trusted=trusted)
        for trusted in ("no", 1, None, np.ones((2, 2))):
            with self.refused("trusted: expected True or False, got "):
                iap.Rollouts(WORLD, BLOCKS, trusted=trusted)
        with self.refused("nowhere.iap"):
            iap.Rollouts(WORLD, "nowhere.iap")
        with self.refused("env: option 'name' is 'cheetah-run', but env says which"):
            iap.Rollouts(WORLD, BLOCKS, name="cheetah-run")
        with self.refused("env: options without a name; give it as env"):
            iap.Rollouts(None, BLOCKS, name="cheetah-run")
        with self.refused("policy: KeyError"):
            iap.Rollouts(WORLD, RaisingPath())
        rollouts = iap.Rollouts(WORLD, BLOCKS)
        size = rollouts.size
        with self.refused(f"parameters: has the shape (2, {size + 1}), expected (2, {size})"):
            rollouts.run(np.zeros((2, size + 1)))
        with self.refused(f"parameters: has the shape ({size},), expected (members, {size}); a single member is parameters[None, :]"):
            rollouts.run(np.zeros(size))
        with self.refused("parameters: is on another device"):
            rollouts.run(Raises())
        with self.refused("parameters: setting an array element"):
            rollouts.run([[1.0, 2.0], [3.0]])
        with self.refused("parameters: has the dtype object; give real numbers"):
            rollouts.run(row for row in np.zeros((2, size)))
        with self.refused("'members' is 0"):
            rollouts.run(np.zeros((0, size)))
        with self.refused("'parameters' holds nan as value 0 of member 1"):
            rollouts.run([[0.0] * size, [np.nan] * size])
        with self.refused("seeds: expected one of common, pairs, own, evaluation, got 'mine'"):
            rollouts.run(np.zeros((1, size)), seeds="mine")
        with self.refused("seeds: expected one of common, pairs, own, evaluation, got ['own']"):
            rollouts.run(np.zeros((1, size)), seeds=["own"])
        for episodes in (0, 2**24):
            with self.refused(f"episodes: expected an integer from 1 to 16777215, got {episodes}"):
                rollouts.run(np.zeros((1, size)), episodes=episodes)
        with self.refused("'parameters' holds inf as value 0 of member 1"):
            rollouts.run([[0.0] * size, [1e39] * size])
        with self.refused("path: expected str, bytes or os.PathLike object, not int"):
            rollouts.save(3, np.zeros(size))
        with self.refused("/nowhere/x.iap"):
            rollouts.save("/nowhere/x.iap", np.zeros(size))
        rollouts.close()
        with self.refused("this Rollouts is closed"):
            rollouts.initial()


if __name__ == "__main__":
    unittest.main()
