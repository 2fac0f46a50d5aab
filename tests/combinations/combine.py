"""Random experiments, each run in several ways that must come to the same bytes: threads, stopped and resumed, isolated, over ranks ...

    combine.py --build BUILD --minutes 5

Experiment n of seed s is the same on every machine, and `--seed s --first n --experiments 1` plays it again. Each is a folder of Lua
files in WORK, which stays there where something was wrong: then the experiment, the way it was run and what differs are printed and
kept in WORK/found.jsonl, and the exit code is 1.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

from company_ways import CompanyWays
from door_ways import DoorWays
from episode_ways import EpisodeWays
from experiment import Case
from files import write_files
from host_ways import HostWays
from policy_ways import PolicyWays
from program import Program
from run_ways import RunWays
from script_ways import ScriptWays
from spelling_ways import SpellingWays

# How often each way is drawn: those most that have found most.
WAYS = {"dry": 1, "threads": 2, "isolate": 2, "ranks": 2, "killed": 6, "cut": 4, "own": 1, "host": 2, "set": 3, "rebuilt": 2, "sweep": 2,
        "again": 2, "inside": 3, "moved": 2, "stir": 6, "outside": 3, "spelled": 2, "recorded": 2, "reworded": 3, "within": 3, "twice": 2,
        "parts": 2, "meanwhile": 2, "staged": 2, "begun": 1, "series": 2, "stumbled": 2, "torn": 2, "fitted": 2, "watched": 1,
        "together": 2, "bereaved": 2, "prompt": 1}
# And how likely what is done afterwards.
AFTER = {"eval": 0.5, "hand": 0.12, "play": 0.12, "probe": 0.08, "check": 0.08, "kept": 0.12, "batch": 0.1, "page": 0.05,
         "drawn": 0.07, "elsewhere": 0.12}


class Player(RunWays, HostWays, SpellingWays, ScriptWays, PolicyWays, EpisodeWays, DoorWays, CompanyWays, Program):
    """Plays an experiment in the ways named, or in some that are drawn."""

    def play(self, ways):
        if not self.base():
            return
        rng = self.case.rng
        wanted = ways or rng.choices(list(WAYS), list(WAYS.values()), k=3)
        for way in WAYS:
            if way in wanted and not (way == "host" and not self.case.hosted()):
                self.ran.append(way)
                getattr(self, f"way_{way}")()
        for after, chance in AFTER.items():
            if after in ways or not ways and rng.random() < chance:
                self.ran.append(after)
                getattr(self, f"after_{after}")()


def arguments_of(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the folder of the build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the number of the first experiment")
    parser.add_argument("--experiments", type=int, help="how many; by default as many as there is time for")
    parser.add_argument("--none-refused", action="store_true", help="an experiment that is refused is wrong, too")
    parser.add_argument("--notes", action="store_true", help="print what was refused or warned of, too")
    parser.add_argument("--minutes", type=float, help="no experiment begins later")
    parser.add_argument("--work", type=pathlib.Path, help="default: BUILD/combined")
    parser.add_argument("--ways", default="", help="of " + ", ".join([*WAYS, *AFTER]) + "; by default some are drawn for each experiment")
    arguments = parser.parse_args(words)
    if arguments.experiments is None and arguments.minutes is None:
        parser.error("say --experiments or --minutes")
    arguments.ways = [way for way in arguments.ways.split(",") if way]
    for way in arguments.ways:
        if way not in WAYS and way not in AFTER:
            parser.error(f"there is no way '{way}'; there are: {', '.join([*WAYS, *AFTER])}")
    arguments.build = arguments.build.resolve()
    arguments.work = (arguments.work or arguments.build / "combined").resolve()
    return arguments


def play_one(arguments, number, python):
    """The player of one experiment, when it is over."""
    case = Case(arguments.seed, number)
    folder = arguments.work / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_files(case, folder)
    (folder / "experiment.lua").write_text(case.script('iap.run_folder("run")'))
    player = Player(case, folder, arguments.build, python)
    player.play(arguments.ways)
    if arguments.none_refused and not player.ran:
        player.fail("base", f"refused: {player.first.err[-1200:]}")
    if not player.wrong:
        shutil.rmtree(folder)
    return player


def main(words):
    arguments = arguments_of(words)
    # Comparisons with the Python package are left out where it cannot work.
    numpy = subprocess.run([sys.executable, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0
    begin, number, refused, ways, found = time.monotonic(), arguments.first, 0, 0, 0
    arguments.work.mkdir(parents=True, exist_ok=True)

    def goes_on():
        if arguments.experiments is not None and number >= arguments.first + arguments.experiments:
            return False
        return arguments.minutes is None or time.monotonic() - begin < 60 * arguments.minutes

    while goes_on():
        since = time.monotonic()
        player = play_one(arguments, number, sys.executable if numpy else None)
        case, ran = player.case, ", ".join(player.ran) or player.notes[0]
        print(f"{case.name} ({case.world.name}, {case.options['optimizer'].name}): {ran}; "
              f"{'WRONG' if player.wrong else 'right'}; {time.monotonic() - since:.1f} s", flush=True)
        refused, ways = refused + (not player.ran), ways + len(player.ran)
        if player.wrong:
            found += 1
            print(f"in {player.folder}:")
            print((player.folder / "experiment.lua").read_text())
            for wrong in player.wrong:
                print(f"  {wrong['way']}: {wrong['text']}", flush=True)
            with open(arguments.work / "found.jsonl", "a") as file:
                told = {"experiment": case.name, "ran": player.ran, "wrong": player.wrong, "notes": player.notes}
                file.write(json.dumps(told) + "\n")
        if player.wrong or arguments.notes:
            for note in player.notes:
                print(f"  note: {note}", flush=True)
        number += 1
    print(f"{number - arguments.first} experiments ({refused} refused), run in {ways} ways besides; "
          f"{found or 'none'} of the experiments came out wrong; {time.monotonic() - begin:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
