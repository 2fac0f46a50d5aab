# shellcheck shell=bash
# A real Slurm of two hosts on one machine, in namespaces that end with this test and take all that runs there with them.

# What Slurm needs: its folders lie here, and the hosts have one address, ports of their own and no route to elsewhere.
slurm_configuration() {
  mkdir -p slurm/{state,munge,n1/tmp,n2/tmp}
  unset TMPDIR # PMIx takes it before TmpFS, and hosts share none
  chmod 700 slurm/munge
  head -c 1024 /dev/urandom >slurm/munge/key
  chmod 600 slurm/munge/key
  printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >slurm/cgroup.conf
  cat >slurm/slurm.conf <<CONF
ClusterName=iap
SlurmctldHost=$(hostname)($address)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/slurm/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/%n
TmpFS=$PWD/slurm/%n/tmp
SlurmctldPidFile=$PWD/slurm/slurmctld.pid
SlurmdPidFile=$PWD/slurm/%n.pid
SlurmctldLogFile=$PWD/slurm/slurmctld.log
SlurmdLogFile=$PWD/slurm/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=1
NodeName=n1 NodeAddr=$address Port=6821 CPUs=16 State=UNKNOWN
NodeName=n2 NodeAddr=$address Port=6822 CPUs=16 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

start_slurm() {
  address=10.1.0.1
  ip link set lo up && ip link add v0 type veth peer name v1 && ip addr add $address/24 dev v0 && ip link set v0 up && ip link set v1 up \
    || { echo "skipped: no network of its own"; exit 77; }
  printf '127.0.0.1 localhost\n%s %s n1 n2\n' $address "$(hostname)" >hosts
  mount --bind hosts /etc/hosts
  slurm_configuration
  export SLURM_CONF=$PWD/slurm/slurm.conf
  munged --force --num-threads=2 --key-file="$PWD/slurm/munge/key" --socket="$PWD/slurm/munge/socket" --pid-file="$PWD/slurm/munge/pid" \
    --log-file="$PWD/slurm/munge/log" --seed-file="$PWD/slurm/munge/seed" 2>err || fail "munged does not begin"
  slurmctld -c 2>err || fail "slurmctld does not begin"
  local host
  for host in n1 n2; do
    # shellcheck disable=SC2016
    unshare --uts --ipc --pid --mount --fork --kill-child --mount-proc sh -c \
      'hostname '$host' && mount -t tmpfs tmpfs /dev/shm && slurmd -N '$host' -D & wait' >slurm/$host.out 2>&1 </dev/null &
  done
  await 20 '[ "$(sinfo -h -t idle -o %D)" = 2 ]' "no hosts"
}

# await SECONDS CONDITION MESSAGE
await() {
  local until=$((SECONDS + $1))
  until eval "$2"; do
    [ $SECONDS -lt $until ] || fail "after $1 s: $3: $(tail -n 9 ./*.out slurm/*.log; squeue -t all)"
    sleep 0.2
  done
}

# submit ARGS...: a batch job, whose number comes back
submit() { sbatch --parsable --output=%x.out "$@" 2>err || fail "not submitted"; }
# job_says JOB PATTERN
job_says() { scontrol -o show job "$1" 2>&1 | grep -qE "$2"; }
# kill_rank JOB RANK
kill_rank() {
  local process
  for process in $(pgrep -x iap); do
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" >environ
    grep -qx "SLURM_JOB_ID=$1" environ && grep -qx "SLURM_PROCID=$2" environ && kill -KILL "$process" && return
  done
  fail "job $1 has no rank $2"
}

# All that it starts is within namespaces whose first process ends with it, whatever ends it.
case_slurm() {
  local program
  for program in slurmctld slurmd munged srun ip setpriv; do
    command -v $program >/dev/null || { echo "skipped: there is no $program (Debian: slurm-wlm munge iproute2)"; exit 77; }
  done
  [ "$(id -u)" = 0 ] && unshare --mount --pid --net --ipc --fork true 2>err || { echo "skipped: no root with namespaces: $(cat err)"; exit 77; }
  TMPDIR=$work setpriv --pdeathsig KILL unshare --mount --pid --net --ipc --fork --kill-child --mount-proc \
    bash "$here/cli.sh" "$iap" slurm_within
  code=$?
  [ $code = 0 ] || exit $code
}

case_slurm_within() {
  trap 'exit 130' INT TERM # the first process of its namespace, which does not hear them otherwise
  # A run waits at its second iteration while there is the file of its name, of an array's part of the part's number, too
  training_script 'out = iap.run_folder("run"), on_iteration = function(r)
    local hold = (os.getenv("HOLD") or "none") .. (os.getenv("SLURM_ARRAY_TASK_ID") or "")
    while r.iteration > 1 and os.rename(hold, hold) do os.execute("sleep 0.1") end
  end'
  run run train.lua --out one --threads 1
  exits 0
  start_slurm
  mkdir bin
  ln -s "$iap" bin/iap
  export PATH=$PWD/bin:$PATH
  local batch=$here/../../scripts/slurm limited array killed

  # Slurm sends the signal up to half a minute early. (Conditions to await read the numbers of jobs.)
  # shellcheck disable=SC2034
  touch hold.limited hold.array1 hold.array2
  limited=$(HOLD=hold.limited submit -N 2 --ntasks=3 --time=1 --signal=USR1@20 "$batch/train.sbatch" train.lua --out limited)
  array=$(HOLD=hold.array submit --hold --array=1-2 --time=1 --signal=TERM@20 "$batch/sweep.sbatch" train.lua --seeds 2 --out swept --threads 1)
  scontrol update JobId="${array}_1" TimeLimit=9
  scontrol release "$array"
  await 20 '[ "$(cat swept/seed*/job.json 2>/dev/null | grep -c begun)" = 2 ]' "the parts of the array do not begin"

  # Two hosts, as one process.
  local step=(timeout 30 srun --mpi=pmix --kill-on-bad-exit -N 2 -n 3 iap)
  "${step[@]}" run train.lua --out two >out 2>err </dev/null
  code=$?
  exits 0
  same_runs one two
  "${step[@]}" doctor >out 2>err </dev/null
  says out "rank 0 on n1: "
  says out "rank 2 on n2: "

  # A rank that is killed ends the job; submitted again, it goes on.
  touch hold.killed
  killed=$(HOLD=hold.killed submit -N 2 --ntasks=3 --time=9 "$batch/train.sbatch" train.lua --out killed)
  await 20 'grep -qs "^1," killed/metrics.csv' "no first iteration"
  kill_rank "$killed" 2
  await 15 'job_says $killed JobState=FAILED' "the job outlives its rank"
  rm hold.killed
  submit -N 2 --ntasks=2 --time=9 "$batch/train.sbatch" train.lua --out killed >/dev/null
  await 20 '[ -e killed/result.json ]' "it does not go on"

  # What meets its time limit goes on by itself, and of an array this part alone.
  await 60 'job_says $limited Restarts=[1-9]' "it is not queued again"
  await 60 'job_says ${array}_2 Restarts=[1-9]' "it is not queued again"
  job_says "${array}_1" "JobState=RUNNING.* Restarts=0" || fail "the array's other part is queued again"
  rm hold.*
  await 30 '[ -z "$(squeue -h)" ]' "still there"
  same_runs one limited
  same_runs one killed
  run run train.lua --out seed2 --seed 2
  same_metrics seed2 swept/seed2
  says limited/log.txt "interrupted by SIGUSR1"
  says swept/seed2/log.txt "interrupted by SIGTERM"
}
