# shellcheck shell=bash
# Ranks that are not of one mind: another command, an error of one alone, a sweep that one joins late or without its launcher.

# begins_with COMMAND: apart.sh, the program as a rank that, if it is another than 0, does COMMAND first
begins_with() {
  cat >apart.sh <<SH
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
[ \$rank = 0 ] || $1
echo \$\$ >pid.\$rank
exec "$iap" "\$@"
SH
}

# apart COUNT ARGS...: so many of them
apart() {
  local count=$1
  shift
  timeout -k 5 240 "$launcher" -n "$count" bash apart.sh "$@" >out 2>err </dev/null
  code=$?
}

# Every rank hears of it; one tells, and the job ends.
commands_with() {
  needs_launcher "$1"
  training_script ""
  begins_with 'set -- "$@" --seed 5'
  apart 3 run train.lua --out one
  [ "$code" -ne 0 ] || fail "ranks with other commands begin"
  says err "rank 1 on $(hostname) was given another command than rank 0 on $(hostname): '--seed' where that has nothing"
  says err "iap sweep"
  [ "$(grep -c "another command" err)" = 1 ] || fail "told other than once"
  [ ! -e one ] || fail "it began all the same"
  begins_with 'set -- run train.lua --out one --threads 2'
  apart 2 run train.lua --out one --threads=1
  exits 0
  begins_with 'set -- "${@/--threads=1/--threads=2}"'
  apart 2 run train.lua --out two -- --threads=1
  [ "$code" -ne 0 ] || fail "what the script is given may differ"
  says err "'--threads=2' where"

  # A mistake that is one rank's own, and one of all.
  begins_with 'set -- "$@" --bogus'
  apart 2 eval one --episodes 2
  [ "$code" -ne 0 ] || fail "a rank's mistake goes unnoticed"
  says err "rank 1 on $(hostname): iap eval: unknown option '--bogus'"
  silent out
  begins_with true
  apart 3 eval one --bogus
  [ "$code" -ne 0 ] || fail "a mistake goes unnoticed"
  [ "$(grep -c -- "option '--bogus'" err)" = 1 ] || fail "tells a mistake other than once"

  # A host that lacks something before MPI begins.
  begins_with 'export IAP_PLUGIN_PATH=/nonexistent'
  apart 2 run train.lua --out unplugged
  [ "$code" -ne 124 ] || fail "the job goes on without a rank that has no MPI"
  says err "rank 1 on $(hostname): "
  begins_with 'export IAP_INSTRUCTIONS=ABACUS'
  apart 2 eval one --episodes 2
  [ "$code" -ne 124 ] || fail "the job goes on without a rank that lacks an instruction set"
  says err "rank 1 on $(hostname): instructions: this machine does not have 'ABACUS'"
  begins_with true
  apart 3 --instructions ABACUS run train.lua
  [ "$(grep -c "does not have 'ABACUS'" err)" = 1 ] || fail "tells a missing instruction set other than once"

  # An srun that starts processes, but no MPI.
  mkdir only
  ln -s "$(dirname "$iap")/../lib/iap/libiap-${1#mpirun.}.so" only
  SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 IAP_PLUGIN_PATH=$PWD/only run run train.lua --out stepped
  [ "$code" -ne 0 ] || fail "a process of two works alone"
  says err "Slurm started 2 processes, but MPI finds 1; start them with the launcher of that MPI (${1#mpirun.}), or with srun --mpi=$2"

  # The same in a sweep, whose ranks seldom meet.
  mkdir other
  begins_with 'cd other'
  apart 2 sweep train.lua --seeds 2 --out swept --threads 1
  says err "rank 1 on $(hostname): there is no script 'train.lua'"
  begins_with 'set -- "$@" --seed 5'
  apart 2 sweep train.lua --seeds 2 --out swept_apart --threads 1
  says err "rank 1 on $(hostname): was given another command than rank 0"
  says err "--seed 5"
  cp pendulum.lua other
  sed 's/sigma = 0.1/sigma = 0.2/' train.lua >other/train.lua
  begins_with 'cd other'
  apart 2 sweep train.lua --seeds 20 --out "$PWD/swept_texts" --threads 1
  says err "rank 1 on $(hostname): has another text of 'train.lua' than rank 0"
  grep -qs '"sigma": 0.2' swept_texts/*/config.json && fail "it works all the same"
  begins_with 'export IAP_INSTRUCTIONS=portable'
  apart 2 sweep train.lua --seeds 20 --out swept_bits --threads 1
  says err "rank 1 on $(hostname): computes with portable instructions where rank 0 has "
  grep -qs '"portable"' swept_bits/*/config.json && fail "it works all the same"
  begins_with true
  apart 3 sweep nowhere.lua --seeds 2
  [ "$(grep -c "there is no script 'nowhere.lua'" err)" = 1 ] || fail "tells a missing script other than once"
}

case_ranks_commands_openmpi() { commands_with mpirun.openmpi pmix; }
case_ranks_commands_mpich() { commands_with mpirun.mpich pmi2; }

# What is read by name on each host: it must be the same everywhere, played here or there, apart from this process or not.
files_with() {
  needs_launcher "$1"
  videos_script 2
  mkdir other
  cp -r train.lua videos other
  begins_with 'cd other'
  apart 2 run train.lua --threads 1
  exits 0
  cp -r videos/1 other/videos/3
  local isolate
  for isolate in false true; do
    apart 2 run train.lua --out apart --threads 1 --set isolate=$isolate
    [ "$code" -ne 0 ] || fail "ranks with other videos train"
    says err "rank 1 on $(hostname): 'videos' holds something else here (3 files, 207 bytes, "
    says err "than on rank 0 (2 files, 138 bytes, "
    rm -r apart
  done
  apart 2 eval "$PWD/run" --episodes 4 --threads 1
  [ "$code" -ne 0 ] || fail "ranks with other videos evaluate"
  says err "rank 1 on $(hostname): 'videos' holds something else here"
}

case_ranks_files_openmpi() { files_with mpirun.openmpi; }
case_ranks_files_mpich() { files_with mpirun.mpich; }

# tries_of RUN...: how often each was begun
tries_of() { sed -n 's/.*"tries": \([0-9]*\).*/\1/p' "${@/%//job.json}" | tr '\n' ' '; }

# What has failed in a sweep stays so, whenever a rank begins: it is not tried again before the sweep is.
late_with() {
  needs_launcher "$1"
  training_script 'out = iap.run_folder("run"), on_iteration = function(row)
    if row.iteration > 1 then return end
    if tag == "good" then os.execute("sleep 3") else error("no good") end
  end'
  sed -i '1a local tag = iap.options({ tag = "good" }).tag' train.lua
  local sweep=(sweep train.lua --over tag=bad,good,worse --halving 3 --set iterations=9 --set eval_every=3 --threads 1)
  run "${sweep[@]}" --out alone
  exits 1
  begins_with 'while ! grep -qs failed late/tag=bad-seed1/job.json; do sleep 0.05; done'
  apart 2 "${sweep[@]}" --out late
  [ "$code" -ne 0 ] || fail "failed runs go unnoticed"
  says err "failed   late/tag=bad-seed1: "
  says err "failed   late/tag=worse-seed1: "
  cmp -s alone/sweep.csv late/sweep.csv || fail "a rank that begins late makes another table: $(cat late/sweep.csv)"
  [ "$(tries_of late/tag={bad,good,worse}-seed1)" = "1 2 1 " ] || fail "runs were tried $(tries_of late/tag={bad,good,worse}-seed1)times"
  # Started again, it tries them again, once, whoever comes first.
  begins_with true
  apart 2 "${sweep[@]}" --out late
  [ "$(tries_of late/tag={bad,good,worse}-seed1)" = "2 2 2 " ] || fail "runs were tried $(tries_of late/tag={bad,good,worse}-seed1)times"
}

case_ranks_late_openmpi() { late_with mpirun.openmpi; }
case_ranks_late_mpich() { late_with mpirun.mpich; }

# Where locks do not hold between ranks they do not begin the same run: none are given at all, or each host has its own.
lockless_with() {
  needs_launcher "$1"
  command -v cc >/dev/null || { echo "skipped: there is no cc"; exit 77; }
  cat >locks.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int flock(int file, int how) {
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, path, sizeof path - 1) < 0 || !strstr(path, ".txt")) return (int)syscall(SYS_flock, file, how);
  errno = ENOSYS;
  return RESULT;
}
C
  cc -shared -fPIC -DRESULT=-1 -o none.so locks.c && cc -shared -fPIC -DRESULT=0 -o own.so locks.c || fail "it is not compiled"
  sweep_script ""
  local sweep=(sweep train.lua --threads 1 --set iterations=200)
  begins_with true
  sed -i "1i export LD_PRELOAD=$PWD/none.so" apart.sh
  apart 3 "${sweep[@]}" --out swept
  [ "$code" -ne 0 ] || fail "ranks without locks begin"
  says err ".txt' cannot be locked (Function not implemented), and without locks ranks would begin the same runs"
  says err "--job I/N"
  [ ! -e swept/seed1 ] || fail "it began all the same"
  sed -i "1s/none.so/own.so/" apart.sh
  touch slow
  apart 2 "${sweep[@]}" --out swept
  [ "$code" -ne 0 ] || fail "ranks with locks of their own go on"
  says err "rank 1 on $(hostname): sees no lock of rank 0 on '$PWD/swept/ranks."
  # The locks of what rank 0 had begun are none: it has to be gone.
  while pgrep -f -- "run train.lua .*swept/seed1" >/dev/null; do sleep 0.1; done
  # What rank 0 did until then is whole.
  rm slow
  run "${sweep[@]}" --out swept
  exits 0
  run "${sweep[@]}" --out alone
  same_metrics swept/seed1 alone/seed1
}

case_ranks_lockless_openmpi() { lockless_with mpirun.openmpi; }
case_ranks_lockless_mpich() { lockless_with mpirun.mpich; }

# A sweep's ranks end with their launcher.
orphans_with() {
  needs_launcher "$1"
  sweep_script ""
  touch slow
  begins_with true
  "$launcher" -n 2 bash apart.sh sweep train.lua --seeds 20 --out swept --threads 1 >out 2>err </dev/null &
  local job=$! rank tries
  until [ "$(cat swept/*/output.txt 2>/dev/null | grep -c "iteration 1")" -ge 2 ]; do
    kill -0 $job || fail "ended before it was ready"
    sleep 0.05
  done
  kill -KILL $job
  wait $job 2>/dev/null
  for rank in 0 1; do
    for ((tries = 0; tries < 200; tries++)); do
      runs "/proc/$(cat pid.$rank)" || break
      sleep 0.1
    done
    runs "/proc/$(cat pid.$rank)" && fail "rank $rank goes on without its launcher"
  done
}

case_ranks_orphans_openmpi() { orphans_with mpirun.openmpi; }
case_ranks_orphans_mpich() { orphans_with mpirun.mpich; }

# Nor does each work for itself in a folder of its own.
foldless_with() {
  needs_launcher "$1"
  sweep_script ""
  mkdir other
  cp ./*.lua other
  begins_with 'cd other'
  apart 2 sweep train.lua --seeds 2 --out apart --threads 1
  says err "rank 1 on $(hostname): finds nothing of rank 0 in '$PWD/other/apart': the sweep's folder must be one that all ranks see"
}

case_ranks_foldless_openmpi() { foldless_with mpirun.openmpi; }
case_ranks_foldless_mpich() { foldless_with mpirun.mpich; }
