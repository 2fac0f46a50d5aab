"""Others at work on the run, or on its processes, while it goes on."""
import os
import pathlib
import signal
import threading
import time


class CompanyWays:
    """Each trains beside something that must change nothing."""

    def beside(self, words, what, **how):
        """Runs `words` while `what(process id)` is called again and again; the result."""
        found, results = [], []
        thread = threading.Thread(target=lambda: results.append(self.run(words, begun=found.append, **how)))
        thread.start()
        while thread.is_alive():
            if found:
                what(found[0])
            time.sleep(0.02)
        thread.join()
        return results[0]

    def way_watched(self):
        """Reports and evaluations of the run that goes on."""
        rng, commands = self.case.rng, [["report", "watched", "--no-pictures", "--out", "watched.html"],
                                        ["eval", "watched", "--episodes", 1, "--trust", "--isolate"], ["watch", "watched", "--every", 1]]
        kinds = [rng.randrange(3) for _ in range(4)]

        def look(_):
            if kinds:
                result = self.run([self.iap, *commands[kinds.pop()]])
                if result.rc != 0 and not result.err.strip():
                    self.fail("watched", f"exit {result.rc} without a word")

        result = self.beside(self.train("watched", "--threads", 2), look)
        self.compare_told("watched", result, result.err[-500:])

    def way_together(self):
        """Two that would go on with the same run: one of them is refused, or finds nothing left to do."""
        rng, results = self.case.rng, []
        delay = rng.random() * self.seconds

        def come(_):
            time.sleep(delay)
            if not results:
                results.append(self.run(self.train("together", "--threads", 1, "--resume")))

        first = self.beside(self.train("together", "--threads", 2, "--resume"), come)
        for result in (first, *results):
            if result.rc != 0 and not result.err.strip():
                self.fail("together", f"exit {result.rc} without a word")
        told = [(result.rc, result.err[-300:]) for result in (first, *results)]
        if all(rc != 0 for rc, _ in told):
            self.fail("together", f"both were refused: {told}")
        self.compare_told("together", self.run(self.train("together", "--resume")), f"{delay:.2f} s: {told}")

    def way_bereaved(self):
        """Processes of isolated episodes die now and then."""
        rng = self.case.rng
        gaps = [0.1 + rng.random() * 0.6 for _ in range(50)]
        due, killed = [time.monotonic() + gaps[0]], []

        def kill_one(parent):
            if time.monotonic() < due[0] or len(killed) == 8:
                return
            try:
                children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
                if children:
                    os.kill(int(children[len(killed) % len(children)]), signal.SIGKILL)
                    killed.append(len(children))
            except (OSError, ValueError):
                pass
            due[0] = time.monotonic() + gaps[len(killed) % len(gaps)]

        words = self.train("bereaved", "--threads", rng.randint(1, 3), "--set", "isolate=true", "--set", "retries=9")
        result = self.beside(words, kill_one)
        self.notes.append(f"bereaved of {len(killed)}")
        self.compare_told("bereaved", result, f"{len(killed)} died: {result.err[-500:]}")
