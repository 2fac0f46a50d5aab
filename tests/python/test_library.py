import ctypes
import os
import pathlib
import subprocess
import sys
import unittest
import weakref

from common import WORLD, Test

import iap
from iap import _library


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment})


class Library(Test):
    def test_structs_are_those_of_the_header(self):
        """A C program says how large each struct is and where its members lie."""
        names = {"iap_image": _library.Image, "iap_image_spec": _library.ImageSpecStruct, "iap_patch": _library.PatchStruct,
                 "iap_scores": _library.ScoresStruct, "iap_env_spec": _library.EnvSpecStruct, "iap_step": _library.StepStruct,
                 "iap_rollout_options": _library.RolloutOptions}
        prints, expected = [], []
        for name, struct in names.items():
            prints.append(f'printf("%zu\\n", sizeof({name}));')
            expected.append(ctypes.sizeof(struct))
            for member, _ in struct._fields_:
                prints.append(f'printf("%zu %zu\\n", offsetof({name}, {member}), sizeof((({name}*)0)->{member}));')
                expected += [getattr(struct, member).offset, getattr(struct, member).size]
        pathlib.Path("sizes.c").write_text("#include <iap.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(prints) + "\n}\n")
        host = pathlib.Path(__file__).resolve().parents[2] / "engine/host"
        subprocess.run([os.environ.get("CC", "cc"), "-I", str(host), "sizes.c", "-o", "sizes"], check=True)
        self.assertEqual([int(word) for word in subprocess.run("./sizes", capture_output=True, text=True, check=True).stdout.split()], expected)

    def test_every_function_of_the_header_is_known(self):
        header = (pathlib.Path(__file__).resolve().parents[2] / "engine/host/iap.h").read_text()
        declared = {part.split("(")[0].split()[-1].lstrip("*") for part in header.split("IAP_API ")[1:] if "(" in part.split(";")[0]}
        unused = {"iap_batch_count"}
        self.assertEqual(declared - {"__attribute__"}, set(_library._FUNCTIONS) | unused)

    def test_a_library_that_is_missing_or_another_is_one_message(self):
        for library, message in (("/nowhere/libiap.so", "cannot load libiap.so.1 (/nowhere/libiap.so"), ("libc.so.6", "libc.so.6 is not the library")):
            done = python("import iap", IAP_LIBRARY=library)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"iap._library.Error: {message}", done.stderr.splitlines()[-1])
        self.assertEqual(iap.__version__, iap.version())

    def test_a_library_of_another_version_is_one_message(self):
        functions = "".join(f"int {name}(void) {{ return ABI; }}\n" for name in _library._FUNCTIONS)
        pathlib.Path("other.c").write_text(functions)
        for abi in (_library.ABI - 1, _library.ABI + 1):
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-DABI={abi}", "other.c", "-o", f"other{abi}.so"], check=True)
            done = python("import iap", IAP_LIBRARY=os.path.abspath(f"other{abi}.so"))
            self.assertIn(f"has the ABI version {abi}, this package needs {_library.ABI}; set IAP_LIBRARY to its own", done.stderr)

    def test_names_are_utf_8_whatever_the_encoding_of_files(self):
        """Paths are bytes of the system all the same, beside options too."""
        world = WORLD.replace('"place"', '"h\u00f6he"').replace("grey =", '["k\u00e4m"] =')
        pathlib.Path(os.fsdecode("t\u00e4sk.lua".encode())).write_bytes(world.encode())
        done = python("""
import os, pathlib, sys, iap
assert sys.getfilesystemencoding() != "utf-8"
name, file = "t\\u00e4sk.lua", pathlib.Path(os.fsdecode("t\\u00e4sk.lua".encode()))
rank = {"kind": "sequence", "blocks": [{"kind": "rank", "top": 1, "patch": 1, "image": "k\\u00e4m"}, {"kind": "linear"}]}
for env in (iap.Env(name), iap.Env({"name": name}), iap.Env("{ name = '%s' }" % name), iap.Env(name, time_limit=3)):
    assert env.name == env.config["name"] == name, ascii(env.name)
    assert env.images[1].name == "k\\u00e4m" and "k\\u00e4m" in env.reset(seed=1)[0], ascii(env.images)
    assert env.state_names[0] == "h\\u00f6he", ascii(env.state_names)
for env in (iap.Env(file), iap.Env(file, time_limit=3), iap.Env({"name": file})):
    assert env.images == iap.Env(name).images, ascii(env.images)
lua = "-- k\\u00e4m\\n{ kind='sequence', blocks={ { kind='rank', top=1, patch=1, image='k\\u00e4m' }, { kind='linear' } } }"
for blocks in (rank, lua):
    rollouts = iap.Rollouts(name, blocks)
saved = os.fsdecode("\\u00fc.iap".encode())
rollouts.save(saved, rollouts.initial())
assert os.listdir(b".").count("\\u00fc.iap".encode()) == 1
for path in (saved, pathlib.Path(saved)):
    assert iap.Policy(path).images[1].name == "k\\u00e4m"
    assert iap.Rollouts(None, path).size == rollouts.size
""", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_forked_child_is_told_and_ends_well(self):
        pathlib.Path("world.lua").write_text(WORLD)
        done = python("""
import os, iap
env = iap.Env("world.lua")
env.reset(seed=1)
child = os.fork()
if child == 0:
    try:
        env.step([0])
    except iap.Error as error:
        print(error, flush=True)
    own = iap.Env("world.lua")
    own.reset(seed=1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
env.step([0])
""")
        self.assertEqual((done.returncode, done.stdout), (0, "this Env was made in another process; make it after the fork\n"), done.stderr)

    def test_a_forked_child_frees_nothing_of_its_parent_s(self):
        done = python("""
import gc, os, signal, iap
batch = iap.VectorEnv("cartpole-swingup", 4, threads=2)
batch.reset(seed=1)
rollouts = iap.Rollouts("cartpole-swingup", {"kind": "linear"}, threads=2, time_limit=5)
rollouts.evaluate(rollouts.initial(), episodes=4)
child = os.fork()
if child == 0:
    signal.alarm(5)
    for held in (batch, rollouts):
        held._owner._free = lambda _: os._exit(1)
    del batch, rollouts, held
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
batch.step([[0]] * 4)
""")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_objects_of_several_threads_work_side_by_side(self):
        done = python("""
import threading, iap
expected = []
def play(out):
    batch = iap.VectorEnv("cartpole-swingup", 3, threads=2)
    batch.reset(seed=1)
    out.append(sum(batch.step([[0.1 * i]] * 3)[1].sum() for i in range(20)))
results = [[] for _ in range(4)]
threads = [threading.Thread(target=play, args=(result,)) for result in results]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len({result[0] for result in results}) == 1, results
""")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_closed_during_a_call_goes_when_the_call_ends(self):
        pathlib.Path("world.lua").write_text(WORLD)
        by_signal = """
import random, signal, iap
env = None
signal.signal(signal.SIGALRM, lambda *_: env.close())
for _ in range(500):
    env = iap.Env("world.lua")
    signal.setitimer(signal.ITIMER_REAL, random.uniform(.0002, .002))
    try:
        while True: env.reset(seed=1)
    except iap.Error as error:
        assert str(error) == "this Env is closed", error
"""
        by_thread = """
import threading, time, numpy, iap
batch = iap.VectorEnv("cartpole-swingup", 32, action_repeat=8, threads=2)
batch.reset(seed=1)
said = []
def step():
    try:
        while True: batch.step(numpy.zeros((32, 1)))
    except iap.Error as error:
        said.append(str(error))
thread = threading.Thread(target=step)
thread.start()
time.sleep(.3)
batch.close()
thread.join()
assert said == ["this VectorEnv is closed"], said
"""
        for code in (by_signal, by_thread):
            done = python(code)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_an_error_that_is_kept_keeps_no_closed_object(self):
        env = iap.Env("cartpole-swingup")
        owner = weakref.ref(env._owner)
        try:
            env.step([0])
        except iap.Error as error:
            kept = error
        env.close()
        self.assertIsNone(owner())
        self.assertIn("call reset() first", str(kept))


if __name__ == "__main__":
    unittest.main()
