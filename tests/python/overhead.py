"""What Python costs beside C: batches of 64 environments stepped and looked at, in turns with a loop in C over the same library.

usage: PYTHONPATH=engine/python IAP_LIBRARY=build/lib/libiap.so python3 tests/python/overhead.py [THREADS]
(needs cc; no test, because times prove little on a busy machine)
"""
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import iap
from iap._handle import address
from iap._library import _places

LOOP = """#include <iap.h>
void loop(iap_batch* batch, const float* actions, size_t values, size_t images, double* rewards, uint8_t* flags, int n, int steps) {
  iap_image image = {.size = sizeof image};
  const float* vector;
  for (int i = 0; i < steps; ++i) {
    iap_batch_step(batch, actions, values, rewards, flags, flags + n, flags + 2 * n);
    iap_batch_observe(batch, images ? &image : 0, images, &vector);
  }
}
"""
COUNT, TURNS = 64, 41


def time_of(run, steps):
    begin = time.process_time()
    run(steps)
    return 1e6 * (time.process_time() - begin) / steps


def measure(loop, name, steps, threads, **options):
    make = [iap.VectorEnv(name, COUNT, threads=threads, copy=copy, **options) for copy in (True, False)]
    own = iap.VectorEnv(name, COUNT, threads=threads, **options)
    actions = np.full((COUNT, own._action_size), 0.1, np.float32)
    rewards, flags = np.empty(COUNT), np.empty((3, COUNT), np.uint8)
    for batch in (*make, own):
        batch.reset(seed=1)

    def in_c(steps):
        loop(own._held(), address(actions), actions.size, len(own.images), address(rewards), address(flags), COUNT, steps)

    def in_python(batch):
        def run(steps):
            for _ in range(steps):
                batch.step(actions)
        return run

    times = [[time_of(run, steps) for run in (in_c, *map(in_python, make))] for _ in range(TURNS)]
    c, copies, views = (statistics.median(column) for column in zip(*times))
    ratios = [100 * (statistics.median(turn[i] / turn[0] for turn in times) - 1) for i in (1, 2)]
    print(f"{name} {options}".ljust(44), f"{c:9.1f} {copies:9.1f} {views:9.1f} {ratios[0]:+9.1f}% {ratios[1]:+8.1f}%", flush=True)


threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    (path / "loop.c").write_text(LOOP)
    header = pathlib.Path(__file__).resolve().parents[2] / "engine/host"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", str(header), path / "loop.c", "-o", path / "loop.so",
                    str(pathlib.Path(_places("libiap.so.1")[0]).resolve())], check=True)
    loop = ctypes.CDLL(str(path / "loop.so")).loop
    loop.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                     ctypes.c_int]
    print(f"microseconds of processor time a step of {COUNT} environments, {threads} thread(s); medians of {TURNS} turns")
    print(" " * 44, f"{'C':>9} {'copies':>9} {'views':>9} {'copies / C':>10} {'views / C':>9}")
    measure(loop, "cartpole-swingup", 100, threads)
    measure(loop, "cheetah-run", 20, threads)
    measure(loop, "cartpole-swingup", 5, threads, pixels=(64, 64))
    measure(loop, "cheetah-run", 5, threads, pixels=(64, 64))
