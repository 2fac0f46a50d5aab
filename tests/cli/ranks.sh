# The program as several processes of an MPI: ranks_openmpi, ranks_mpich and what they try; how they end, and with whom they begin.

# Settings that let a launcher start more processes than there are cores, as root, in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none

# ranks N ARGS...: the program as N processes of $launcher
ranks() {
  local count=$1
  shift
  "$launcher" -n "$count" "$iap" "$@" >out 2>err </dev/null
  code=$?
}

# same_runs A B: the same run, times aside
same_runs() {
  local file
  for file in checkpoint.iap best.iap config.json result.json; do
    cmp -s "$1/$file" "$2/$file" || fail "$file of $1 and $2 differ"
  done
  same_metrics "$1" "$2"
}

# A machine whose launcher starts nothing at all says nothing about the program.
needs_launcher() {
  launcher=$1
  "$launcher" -n 2 true >out 2>err </dev/null || { echo "skipped: $launcher starts no processes here: $(head -n 3 err)"; exit 77; }
}

ranks_with() {
  needs_launcher "$1"
  training_script ""
  run run train.lua --out one --threads 1
  exits 0
  cp out alone

  # An environment in Lua, whose text travels; each number of ranks and threads.
  local count
  for count in 2 3 5; do
    ranks "$count" run train.lua --out "many$count" --threads $((1 + count % 2))
    exits 0
    diff <(sed "s/many$count/one/" out) alone >difference || fail "prints something else: $(cat difference)"
    same_runs one "many$count"
  done
  # Begun by several ranks, ended by one process and the other way round.
  ranks 2 run train.lua --out part --set iterations=2
  exits 0
  run run train.lua --out part --resume
  exits 0
  same_runs one part
  rm -r part
  run run train.lua --out part --set iterations=2
  ranks 3 run train.lua --out part --resume
  exits 0
  same_runs one part
  # Where nothing is left to do, they write nothing.
  cp -r one still
  ranks 2 run train.lua --out still --resume
  exits 0
  diff -r -x log.txt one still >difference || fail "ranks change a complete run: $(cat difference)"

  run eval one --episodes 5 --csv alone.csv
  ranks 3 eval one --episodes 5 --csv many.csv
  exits 0
  cmp -s alone.csv many.csv || fail "an evaluation by ranks gives other episodes"
  ranks 2 doctor
  exits 0
  says out "rank 1 on $(hostname): "
  echo 'print(iap.eval("one", {episodes = 2}).mean)' | "$launcher" -n 2 "$iap" >out 2>err
  lines out 1

  # What went between the ranks is in the table, and stays there when one process goes on.
  grep -q "^iteration,.*,messages,bytes$" many3/metrics.csv || fail "no columns of messages and bytes"
  grep -qE "^4,.*,[1-9][0-9]*,[1-9][0-9]*$" many3/metrics.csv || fail "no messages in iteration 4"
  ranks 2 run train.lua --out part2 --set iterations=2
  run run train.lua --out part2 --resume
  exits 0
  same_runs one part2
  grep -qE "^2,.*,[1-9][0-9]*,[1-9][0-9]*$" part2/metrics.csv || fail "the messages of iteration 2 are lost"
  grep -q "^4,.*,,$" part2/metrics.csv || fail "iteration 4 had no messages"

  # Both ways: a round's announcement and its end, the one episode that rank 1 gets and what it came to.
  ranks 2 run train.lua --out two --set optimizer.population=2 --threads 1
  exits 0
  grep -qE "^4,.*,4,[1-9][0-9]*$" two/metrics.csv || fail "other than 4 messages in iteration 4"

  # Of the rounds, those of evaluations in a world of their own count with their messages.
  ranks 2 run train.lua --out elsewhere --set eval_env.time_limit=10 --threads 1
  exits 0
  says elsewhere/log.txt "ranks: 2; since they began 8 rounds, in each of them"

  # Each rank isolates its own episodes.
  ranks 2 run train.lua --out isolated --set isolate=true --threads 1
  exits 0
  same_runs one isolated

  # The runs of a sweep are processes of their own, which the ranks share.
  run sweep train.lua --over optimizer.sigma=0.1,0.2 --seeds 2 --set iterations=1 --out swept_alone --threads 1
  ranks 2 sweep train.lua --over optimizer.sigma=0.1,0.2 --seeds 2 --set iterations=1 --out swept --threads 1
  exits 0
  says err "[4/4]"
  cmp -s swept/sweep.csv swept_alone/sweep.csv || fail "a sweep shared by ranks has another table"
  [ "$(cat swept/*/job.json | grep -c '"tries": 1')" = 4 ] || fail "runs were begun other than once"

  # A script may end itself: the others are sent home, and the exit code is its own.
  local ending
  for ending in 0 "true, true" 3; do
    { cat train.lua && echo "os.exit($ending)"; } >leaves.lua
    rm -rf left
    ranks 3 run leaves.lua --out left
    if [ "$ending" = 3 ]; then exits 3; else exits 0; fi
    same_runs one left
  done
  echo 'os.exit()' >leaves.lua
  ranks 2 run leaves.lua
  exits 0
  silent err

  # Errors are told once, by rank 0.
  ranks 3 run nowhere.lua
  exits 1
  [ "$(grep -c "nowhere.lua" err)" -ge 1 ] || fail "does not name the script"
  ranks 3 evla
  [ "$(grep -c "evla" err)" = 1 ] || fail "tells a wrong command other than once"
  sed 's/self.velocity = self.velocity + dt/self.velocity = self.broken.velocity + dt/' pendulum.lua >broken.lua
  sed 's/pendulum.lua/broken.lua/' train.lua >fails.lua
  ranks 2 run fails.lua --out broken
  [ "$code" -ne 0 ] || fail "a broken environment goes unnoticed"
  grep -qE "rank [01] on $(hostname): environment 'broken.lua', seed [0-9]+, step 1: .*field 'broken'" err || fail "does not say where what broke"
}

# Programs that environments start hear signals as they do on rank 0.
signals_with() {
  needs_launcher "$1"
  training_script ""
  sed 's|^  function Pendulum:reset(seed)|&\n    for _, signal in ipairs { "INT", "TERM", "USR1" } do\n      assert(select(2, os.execute("kill -" .. signal .. " $$")) == "signal", signal .. " is ignored")\n    end|' \
    pendulum.lua >signals.lua
  cmp -s pendulum.lua signals.lua && fail "the pendulum is written in another way"
  sed 's/pendulum.lua/signals.lua/' train.lua >signals_train.lua
  rank_script ""
  begin_job 2 run signals_train.lua --out signals --threads 1
  job_ends 60
  exits 0
}

case_ranks_signals_openmpi() { signals_with mpirun.openmpi; }
case_ranks_signals_mpich() { signals_with mpirun.mpich; }

# A host that lacks a file: its episodes count as failed, and log and terminal say on which rank they did.
failing_with() {
  needs_launcher "$1"
  training_script ""
  mkdir there
  echo "here" >there/data.txt
  sed 's|^  function Pendulum:reset(seed)|&\n    if os.remove("once_" .. os.getenv("DATA")) then error("just once") end\n    assert(io.open(os.getenv("DATA"))):close()|' pendulum.lua >reads.lua
  cmp -s pendulum.lua reads.lua && fail "the pendulum is written in another way"
  sed 's/pendulum.lua/reads.lua/' train.lua >reads_train.lua
  export DATA=there/data.txt
  rank_script "export DATA=nowhere"
  begin_job 2 run reads_train.lua --out counts --threads 1 --set failed_return=-5
  job_ends 60
  exits 0
  says err "an episode failed and counts as -5: rank 1 on $(hostname): environment 'reads.lua'"
  says counts/log.txt "an episode failed and counts as -5: rank 1 on $(hostname): environment 'reads.lua'"
  # What the run would refuse, a dry run does, too.
  begin_job 2 run reads_train.lua --dry-run --threads 1
  job_ends 60
  exits 1
  says err "rank 1 on $(hostname): environment 'reads.lua'"
  # One that is played again.
  rank_script "export DATA=too"
  echo "here" >too
  touch once_too
  begin_job 2 run reads_train.lua --out again --threads 1 --set retries=1
  job_ends 60
  exits 0
  says again/log.txt "an episode failed at first and was played again: rank 1 on $(hostname): environment 'reads.lua'"
  grep -q "rank 0 on" */log.txt && fail "rank 0 has the file"
  return 0
}

case_ranks_failing_openmpi() { failing_with mpirun.openmpi; }
case_ranks_failing_mpich() { failing_with mpirun.mpich; }

case_ranks_openmpi() { ranks_with mpirun.openmpi; }
case_ranks_mpich() { ranks_with mpirun.mpich; }

# Kills a rank at a random moment, time after time, until the run comes to its end: nothing is lost but the iteration that it was in.
killed_with() {
  needs_launcher "$1"
  training_script ""
  sed -i 's|iterations = 4|iterations = 30|; s|time_limit = 20|time_limit = 100|; s|population = 8|population = 128|' train.lua
  run run train.lua --out one --threads 1
  exits 0
  local victim begin pid kills=0
  RANDOM=7
  until [ $kills -ge "${IAP_KILLS:-4}" ]; do
    "$launcher" -n 3 "$iap" run train.lua --out many --resume --threads 1 >out 2>err </dev/null &
    pid=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
    victim=$(pgrep -f -- "$iap run train.lua --out many" | grep -vx "$pid" | shuf -n 1 --random-source=<(yes $RANDOM))
    begin=$(date +%s)
    [ -n "$victim" ] && kill -KILL "$victim" 2>kill.err
    wait $pid
    code=$?
    if [ -e many/result.json ]; then # it had ended before; MPICH's launcher may exit with 0 where it had not
      same_runs one many
      rm -r many
      continue
    fi
    cat out err | grep -qiE "rank [012]|PID [0-9]+ RUNNING|proxy:" || fail "the launcher does not say that a process died"
    [ $(($(date +%s) - begin)) -le 10 ] || fail "the job goes on for longer than 10 s after a rank has died"
    kills=$((kills + 1))
    [ -z "${IAP_KILLS:-}" ] || echo "kill $kills: code $code, $(cat many/metrics.csv 2>/dev/null | wc -l) rows"
  done
  ranks 2 run train.lua --out many --resume
  exits 0
  same_runs one many
}

case_ranks_killed_openmpi() { killed_with mpirun.openmpi; }
case_ranks_killed_mpich() { killed_with mpirun.mpich; }

# rank_script COMMAND: rank.sh, the program as a rank whose process's number is in pid.RANK and whose exit code is in code.RANK in the
# end; ranks other than 0 begin with COMMAND, and their launcher hears of no failure, for which it would end rank 0.
rank_script() {
  cat >rank.sh <<SH
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
(
  echo \$BASHPID >pid.\$rank
  [ \$rank = 0 ] || ${1:-true}
  exec "$iap" "\$@"
)
code=\$?
echo \$code >code.\$rank
[ \$rank != 0 ] || exit \$code
exit 0
SH
}

# begin_job N ARGS...: the program as N ranks, whose launcher is $job
begin_job() {
  local count=$1
  shift
  rm -f pid.* code.*
  timeout -k 5 120 "$launcher" -n "$count" bash rank.sh "$@" >out 2>err </dev/null &
  job=$!
}

# job_comes_to FOLDER ROWS: waits until the run has so many rows
job_comes_to() {
  until [ "$(cat "$1/metrics.csv" 2>/dev/null | wc -l)" -ge "$2" ]; do
    kill -0 "$job" 2>/dev/null || fail "ended before it was ready"
    sleep 0.05
  done
}

# job_ends SECONDS: waits for the job, so long at most; the exit code of rank 0 in $code
job_ends() {
  local tries=0
  while kill -0 "$job" 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -gt $(($1 * 10)) ]; then
      kill "$job"
      wait "$job"
      fail "the job has not ended after $1 s"
    fi
    sleep 0.1
  done
  wait "$job"
  code=$(cat code.0)
}

# Whatever is under way when a round breaks off, however large it is, the ranks part: results of 72 kB, leases of 60 kB.
parted_with() {
  needs_launcher "$1"
  endless_script ""
  sed -i 's/sequence {/sequence { iap.policy.linear { units = 3000 }, iap.policy.normalise { over = "training" },/
    s/iap.optim.es {[^}]*}/iap.optim.sep_cma_es { population = 32, sigma = 0.1 }/' train.lua
  rank_script ""
  local trial rows=0
  for trial in 1 2 3 4 5; do
    begin_job 4 run train.lua --out many --resume --threads 1
    job_comes_to many $((rows + 3))
    sleep "0.$trial"
    kill -TERM "$(cat pid.0)"
    job_ends 20
    exits 130
    says err "train.lua --threads 1 --out many --resume"
    says many/log.txt "interrupted"
    rows=$(wc -l <many/metrics.csv)
  done
  goes_on many

  sed 's|^  function Pendulum:reset(seed)|&\n    if seed % 20 == 7 then error("a broken world") end|' pendulum.lua >broken.lua
  cmp -s pendulum.lua broken.lua && fail "the pendulum is written in another way"
  sed 's/pendulum.lua/broken.lua/' train.lua >fails.lua
  for trial in 1 2 3; do
    begin_job 4 run fails.lua --out "broken$trial" --threads 1 --seed "$trial"
    job_ends 60
    exits 1
    says err "a broken world"
  done
}

case_ranks_parted_openmpi() { parted_with mpirun.openmpi; }
case_ranks_parted_mpich() { parted_with mpirun.mpich; }

# What ends a rank other than 0, or what plays its isolated episodes, ends the run in good order.
limited_with() {
  needs_launcher "$1"
  endless_script ""
  sed -i 's/time_limit = 20/time_limit = 100/' train.lua
  local signal
  rank_script ""
  for signal in HUP XCPU PIPE; do
    begin_job 2 run train.lua --out "sent-$signal" --threads 1
    job_comes_to "sent-$signal" 4
    kill -"$signal" "$(cat pid.1)"
    job_ends 20
    exits 130
    says err "train.lua --threads 1 --out sent-$signal --resume"
    goes_on "sent-$signal"
  done
  rank_script "ulimit -t 4"
  begin_job 2 run train.lua --out limited --threads 1
  job_ends 100
  exits 130
  says err "train.lua --threads 1 --out limited --resume"
  goes_on limited
  begin_job 2 run train.lua --out isolated --threads 1 --set isolate=true --set failed_return=-5 --set retries=0
  job_ends 100
  exits 130
  grep -q "failed and count" err isolated/log.txt && fail "the limit was taken for the episodes' fault"
  says isolated/log.txt "interrupted"
}

case_ranks_limited_openmpi() { limited_with mpirun.openmpi; }
case_ranks_limited_mpich() { limited_with mpirun.mpich; }

# A machine that fuses multiplications with additions beside one that does not.
unlike_with() {
  needs_launcher "$1"
  local flag
  for flag in fma avx2; do
    grep -qw $flag /proc/cpuinfo || { echo "skipped: the C library fuses nothing on this machine"; exit 77; }
  done
  training_script ""
  rank_script "export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4"
  begin_job 2 run train.lua --out unlike --threads 1
  job_ends 60
  exits 1
  says err "rank 1 on $(hostname) computes exp, sin or cos with other last bits than rank 0 on $(hostname): "
  says err "start all ranks with --portable"
  [ ! -e unlike ] || fail "it began all the same"
  # The same of one machine, told otherwise.
  rank_script "export IAP_INSTRUCTIONS=portable"
  begin_job 2 run train.lua --out unlike --threads 1
  job_ends 60
  exits 1
  says err "one of them was given other instructions (IAP_INSTRUCTIONS, GLIBC_TUNABLES), or its processor fuses no multiplications"
  rank_script "export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4"
  begin_job 2 --portable run train.lua --out alike --threads 1
  job_ends 60
  exits 0
  run --portable run train.lua --out one --threads 1
  exits 0
  same_runs one alike
}

# Ranks with other instruction sets compute with those that all of them have, to the bits of a machine that has no more.
agreeing_with() {
  needs_launcher "$1"
  run doctor
  grep -qE '^SIMD +AVX' out || { echo "skipped: this machine has nothing better than SSE4"; exit 77; }
  seeing_script
  # Exact attention, whose bits each set has of its own.
  sed -i 's/iap.attention.rank {.*/iap.attention.trans { patch = 4, d = 4, kernel = "exp" },/' see.lua
  run --instructions SSE4 run see.lua --out one --threads 1
  exits 0
  begins_with 'export IAP_INSTRUCTIONS=SSE4'
  apart 2 run see.lua --out lesser1 --threads 1
  exits 0
  begins_with 'unset IAP_INSTRUCTIONS'
  IAP_INSTRUCTIONS=SSE4 apart 2 run see.lua --out lesser0 --threads 1
  exits 0
  local lesser
  for lesser in lesser0 lesser1; do
    made_with $lesser SSE4
    same_metrics one $lesser
  done
}

case_ranks_agreeing_openmpi() { agreeing_with mpirun.openmpi; }
case_ranks_agreeing_mpich() { agreeing_with mpirun.mpich; }

case_ranks_unlike_openmpi() { unlike_with mpirun.openmpi; }
case_ranks_unlike_mpich() { unlike_with mpirun.mpich; }
