"""The program, as others start it, and whether two runs came to the same."""
import csv
import json
import os
import shutil
import signal
import subprocess
import time

# No experiment takes a minute of an idle core: what has not ended by then hangs, however busy the machine is.
PATIENCE = 300
# Ways that give the experiment in other words, or something besides that changes nothing.
GIVEN_OTHERWISE = ("cut", "set", "sweep", "host", "moved", "inside", "stir", "spelled", "recorded", "twice", "parts", "meanwhile", "within",
                   "series", "stumbled", "torn", "reworded", "bereaved", "prompt")


class Result:
    """How a process ended and what it said."""

    def __init__(self, rc, out, err, seconds):
        self.rc, self.out, self.err, self.seconds = rc, out, err, seconds


def ranks_command(build, number):
    """What starts two ranks, or three, by an MPI that `build` has the plugin for; empty where there is none."""
    found = [[f"mpirun.{mpi}", "-n", "3" if number % 4 == 0 else "2", *words]
             for mpi, words in (("openmpi", ["--oversubscribe", "--allow-run-as-root"]), ("mpich", []))
             if shutil.which(f"mpirun.{mpi}") and (build / f"lib/iap/libiap-{mpi}.so").exists()]
    return found[number % len(found)] if found else []


class Program:
    """Runs one experiment in its folder. `wrong` is what differs, `notes` what was refused or warned of, `ran` the ways that were tried."""

    def __init__(self, case, folder, build, python):
        self.case, self.folder, self.python = case, folder, python if case.hosted() else None
        self.iap = str(build / "bin/iap")
        self.ranks = ranks_command(build, case.number)
        self.wrong, self.notes, self.ran = [], [], []
        self.env = dict(os.environ, LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", OMPI_MCA_hwloc_base_binding_policy="none")
        self.env["LUA_CPATH"] = str(build / "lua/?.so") + ";;"
        self.env["PYTHONPATH"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../engine/python")
        self.env["IAP_LIBRARY"] = str(build / "lib/libiap.so")
        self.env["IAP_PROGRAM"] = self.iap
        if case.portable:
            self.env["IAP_INSTRUCTIONS"] = "portable"

    def run(self, words, kill_after=None, kill_by=None, cwd=None, begun=None):
        """A process, whose id `begun` is told; with kill_after it gets the signal kill_by after so many seconds, if it still runs."""
        words = [str(word) for word in words]
        begin = time.monotonic()
        process = subprocess.Popen(words, cwd=cwd or self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        if begun:
            begun(process.pid)
        try:
            try:
                out, err = process.communicate(timeout=kill_after if kill_by else PATIENCE)
            except subprocess.TimeoutExpired:
                if not kill_by:
                    raise
                process.send_signal(kill_by)
                out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.fail("hang", f"{' '.join(words)}: no end after {PATIENCE} s")
            return Result(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - begin)
        result = Result(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - begin)
        crashed = result.rc < 0 and not kill_by or result.rc in (134, 136, 139)
        if crashed or "terminate called" in result.err or "Sanitizer" in result.err:
            self.fail("crash", f"{' '.join(words)}: {result.rc}\n{result.err[-1500:]}")
        return result

    def fail(self, way, text):
        self.wrong.append({"way": way, "text": text})

    TIMES = {"seconds", "steps_per_second", "messages", "bytes"}

    def table(self, out):
        """The rows of metrics.csv without what the machine did to them."""
        with open(self.folder / out / "metrics.csv", newline="") as file:
            return [{k: v for k, v in row.items() if k not in self.TIMES} for row in csv.DictReader(file)]

    def compare(self, way, out, files=("best.iap", "final.iap")):
        """Whether the run in `out` came to what that in `base` came to."""
        folder, other = self.folder / "base", self.folder / out
        # What a run goes on with is the same, too, where it was given in the same words.
        for name in (*files, *(() if way in GIVEN_OTHERWISE else ("checkpoint.iap",))):
            a, b = folder / name, other / name
            if a.exists() != b.exists():
                self.fail(way, f"{name}: {a.exists()} in base, {b.exists()} in {out}")
            elif a.exists() and a.read_bytes() != b.read_bytes():
                self.fail(way, f"{name} differs from that of base")
        try:
            first, second = self.table("base"), self.table(out)
            if first != second:
                self.fail(way, "metrics.csv differs: " +
                          str([(x, y) for x, y in zip(first, second) if x != y][:1] or (len(first), len(second))))
        except OSError as error:
            self.fail(way, f"metrics.csv: {error}")
        try:
            results = [json.loads((f / "result.json").read_text()) for f in (folder, other)]
            if results[0] != results[1]:
                self.fail(way, f"result.json differs: {results}")
        except OSError as error:
            self.fail(way, f"result.json: {error}")
        try:
            configs = [json.loads((f / "config.json").read_text()) for f in (folder, other)]
            for config in configs:
                if way in GIVEN_OTHERWISE:
                    config.pop("given", None)
                if way in ("host", "recorded", "reworded"):
                    config.pop("script_options", None)
            keys = sorted(k for k in configs[0].keys() | configs[1].keys() if configs[0].get(k) != configs[1].get(k))
            if keys:
                self.fail(way, "config.json differs: " + str([(k, configs[0].get(k), configs[1].get(k)) for k in keys])[:700])
        except OSError as error:
            self.fail(way, f"config.json: {error}")
        self.compare_lines(way, folder, other)

    @staticmethod
    def events(path):
        """How many records a file for TensorBoard has; None where there is no file, or no whole one."""
        data, at, count = path.read_bytes() if path.exists() else b"", 0, 0
        while at + 16 <= len(data):
            at, count = at + 16 + int.from_bytes(data[at:at + 8], "little"), count + 1
        return count if data and at == len(data) else None

    def compare_lines(self, way, folder, other):
        """metrics.jsonl of both runs, where the first has one."""
        if not (folder / "metrics.jsonl").exists():
            return
        if not (other / "metrics.jsonl").exists():
            return self.fail(way, "metrics.jsonl is missing")
        rows = [[{k: v for k, v in json.loads(line).items() if k not in self.TIMES}
                 for line in (f / "metrics.jsonl").read_text().splitlines()] for f in (folder, other)]
        if rows[0] != rows[1]:
            self.fail(way, "metrics.jsonl differs")
        events = [self.events(f / "events.out.tfevents.iap") for f in (folder, other)]
        if (folder / "events.out.tfevents.iap").exists() and events[0] != events[1]:
            self.fail(way, f"TensorBoard's events: {events}")
        if len(rows[0]) != len(self.table(folder)):
            self.fail(way, "metrics.jsonl has other rows than metrics.csv")

    def complete(self, way, result):
        """Whether the process ended as it should."""
        if result.rc != 0:
            self.fail(way, f"exit {result.rc}: {result.err[-1200:]}")
            return False
        return True

    def train(self, out, *words, script="experiment.lua", before=()):
        """The command that runs the experiment into the folder `out`."""
        return [*before, self.iap, "run", script, "--out", out, *words]
