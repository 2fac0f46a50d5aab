#!/usr/bin/env bash
# The n-th call of a kind fails: calls.sh PROGRAM SHIM DATA SCENARIO KIND STRIDE [FIRST]. For every STRIDE-th n, from FIRST on (1), the
# scenario is run once with that fault: it has to end as `trouble` says, leave whole files or none and, where it trains, go on to the
# bytes of an undisturbed run. KIND is one of shim.c's names; with a + at its end all calls from the n-th on fail. Prints one line of
# the table in docs/reliability.md.
set -uo pipefail
iap=$(readlink -f "$1") shim=$(readlink -f "$2") data=$(readlink -f "$3") scenario=$4 kind=$5 stride=$6 begin=${7:-1}
here=$(readlink -f "$(dirname "$0")")
# shellcheck source=/dev/null
source "$here/common.sh"
IAP_FAULT_PROGRAM=$(basename "$iap")
export IAP_FAULT_PROGRAM

# What a scenario needs, the command, and the files that it writes.
trains=0 made=() launcher=''
threads=(--threads 1)
case $kind in thread*) threads=(--threads 4) ;; esac
case $scenario in
  train | resume | ranks)
    small_run
    words=(run train.lua --resume "${threads[@]}")
    trains=1
    ;;
  eval) words=(eval policy.iap --episodes 3 "${threads[@]}" --csv made.csv) made=(made.csv) ;;
  check) words=(check pendulum.lua --episodes 1 --steps 5) ;;
  report) words=(report seen --no-pictures -o made.html) made=(made.html) ;;
  play) words=(play picture.iap --as-seen --steps 2 --scale 1 -o made.apng) made=(made.apng) ;;
  film) words=(play picture.iap --as-seen --steps 2 --scale 1 -o made.webp) made=(made.webp) ;;
  strip) words=(play picture.iap --as-seen --steps 2 --strip 2 --scale 4 -o made.png) made=(made.png) ;;
  *) fail "no scenario '$scenario'" ;;
esac
if [ "$scenario" = ranks ]; then
  # MPICH's launcher: Open MPI's has words of its own to say about a rank that ends with an exit code.
  launcher=mpirun.mpich
  $launcher -n 2 "$iap" doctor >/dev/null 2>&1 </dev/null || { echo "skipped: $launcher starts no ranks here"; exit 77; }
fi
if [ $trains = 0 ]; then
  small_run
  "$iap" run train.lua >/dev/null 2>&1 || fail "the run to look at"
  cp run/best.iap policy.iap
  mv run seen
  "$iap" run "$here/picture.lua" "$here/../../engine/cli/templates/lua/task.lua" || fail "the policy to draw"
fi

# The program, or two ranks of it where there is a launcher: the fault is rank 0's, which writes the files. Its pipes and sockets are MPI's.
start() {
  if [ -z "$launcher" ]; then
    LD_PRELOAD=$1 "$iap" "${words[@]}" </dev/null
  else
    timeout 60 $launcher -n 1 env LD_PRELOAD="$1" "$iap" "${words[@]}" : -n 1 "$iap" "${words[@]}" </dev/null
  fi
}

fresh() {
  rm -rf run "${made[@]}" ./.iap-*.part
  [ ! -e before ] || cp -r before run
}
if [ "$scenario" = resume ]; then
  "$iap" run train.lua --set iterations=1 >/dev/null 2>&1 || fail "the run to resume"
  mv run before
fi

# The undisturbed run, twice: what it makes, and how often it calls.
fresh
IAP_FAULT_COUNTS=counts start "$shim" >right.out 2>err || fail "undisturbed: $(cat err)"
[ $trains = 0 ] || content run >right
for file in "${made[@]}"; do cp "$file" "right.$file"; done
names=(memory write short read sync rename open mkdir map thread space clock stat)
for i in "${!names[@]}"; do
  [ "${names[$i]}" != "${kind%+}" ] || calls=$(od -An -t u8 -j $((i * 8)) -N 8 counts | tr -d ' ')
done
[ -n "${calls:-}" ] || fail "no kind '$kind'"
# Behind these calls the speed is measured: more of the same.
[ "$scenario" != check ] || calls=$((calls < 16000 ? calls : 16000))

# look CODE: what is wrong after a run with a fault
look() {
  # A check that ran to its end says in its report what it found.
  if [ "$scenario" = check ] && [ "$1" = 1 ] && [ ! -s err ]; then
    grep -qE '^(kept|broken): [0-9]+ of [0-9]+ rules' out || echo "no report: $(cat out)"
    return
  fi
  trouble "$1" out err
  if [ "$1" = 0 ] && [ "$scenario" != check ] && [ "$scenario" != report ]; then
    cmp -s out right.out || echo "ended in order and printed something else: $(head -c 200 out)"
  fi
  local file
  for file in "${made[@]}"; do
    if [ "$1" = 0 ]; then
      [ -e "$file" ] || echo "ended in order without $file"
      [ "$scenario" = report ] || cmp -s "$file" "right.$file" || echo "ended in order with another $file"
    elif [ -e "$file" ] && [ "$scenario" != report ] && ! cmp -s "$file" "right.$file"; then
      echo "$file is half-written"
    fi
  done
  ! compgen -G './.iap-*.part' >/dev/null || echo "left $(compgen -G './.iap-*.part' | xargs)"
  [ $trains = 1 ] || return
  left_parts
  start '' >out 2>err || { echo "LOST: does not go on: $(cat err)"; return; }
  content run | cmp -s - right || echo "LOST: goes on to other bytes"
}

once=${kind%+} plus=${kind#"${kind%+}"}
cases=0 refused=0 lost=0 crashed=0 wrong=0 began=$SECONDS
for ((n = begin; n <= calls; n += stride)); do
  fresh
  # The shell's own words about a program that a signal ended are not the program's.
  { IAP_FAULT=$once:$n$plus start "$shim" >out 2>err; } 2>/dev/null
  code=$?
  cases=$((cases + 1))
  [ $code = 0 ] || refused=$((refused + 1))
  found=$(look $code)
  [ -n "$found" ] || continue
  wrong=$((wrong + 1))
  case $found in *'by signal'*) crashed=$((crashed + 1)) ;; esac
  case $found in *LOST*) lost=$((lost + 1)) ;; esac
  [ $wrong -gt 20 ] || printf '%s\n' "$scenario $kind:$n: $found"
done
echo "$scenario $kind: $calls calls, $cases cases ($refused refused), $lost lost, $crashed crashes, $wrong wrong, $((SECONDS - began)) s"
[ $cases -gt 0 ] && [ $wrong = 0 ]
