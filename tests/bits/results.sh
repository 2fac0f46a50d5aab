# shellcheck shell=bash
# What bits.sh and machines.sh compare: policies that ship play, and small trainings run. Source it with $root, the tree, set.
played=(scripts/paper/policies/{cheetah-run-change,reacher-easy-change,ball-in-cup-catch}.iap
  scripts/attention_agent/policies/{car-racing-iap,car-racing-tokens,take-cover-centroids}.iap)
trained=(distracted obstacles rooms footholds road)

# The program would begin anew with "portable", outside an emulator even, were its mathematical library not chosen already.
plain_mathematics=glibc.cpu.hwcaps=-FMA,-FMA4

# shellcheck source=/dev/null
source "$root/tests/timeless.sh"
# result_of NAME FILE INSTRUCTIONS "PLAYING OPTIONS" PROGRAM... : writes FILE, which holds all bits of what comes out of a policy or a
# training of this NAME. The working folder has a log and a run of it.
result_of() {
  local name=$1 file=$2 instructions=$3 options=$4
  shift 4
  if [ "$instructions" = portable ]; then export GLIBC_TUNABLES=$plain_mathematics; else unset GLIBC_TUNABLES; fi
  with() { "$@" --threads 1 --instructions "$instructions" >log 2>&1 || { cat log; exit 1; }; }
  if [[ $name == *.iap ]]; then
    # shellcheck disable=SC2086
    with "$@" eval "$root/$name" $options --actions "$file"
  else
    rm -rf run
    with "$@" run "$root/tests/bits/train.lua" --set "world=$name" --out run
    { timeless run/metrics.csv; od -An -tx1 run/final.iap; } >"$file"
  fi
}
