#!/usr/bin/env bash
# What happens to a whole process or to its folder: processes.sh PROGRAM SHIM DATA CASE [COUNT]. Prints one line of the table in
# docs/reliability.md.
set -uo pipefail
iap=$(readlink -f "$1") shim=$(readlink -f "$2") data=$(readlink -f "$3") count=${5:-10}
here=$(readlink -f "$(dirname "$0")")
# shellcheck source=/dev/null
source "$here/common.sh"
small_run
words=(run train.lua --resume --threads 2)

cases=0 lost=0 crashed=0 wrong=0 start=$SECONDS
# found WHAT...: what is wrong in this case, or nothing
found() {
  cases=$((cases + 1))
  [ -n "$*" ] || return 0
  wrong=$((wrong + 1))
  case $* in *'by signal'*) crashed=$((crashed + 1)) ;; esac
  case $* in *LOST*) lost=$((lost + 1)) ;; esac
  echo "case $cases: $*"
}
# undisturbed [COMMAND...]: the bytes that every run has to come to
undisturbed() {
  "$iap" "${words[@]}" >out 2>err </dev/null || fail "undisturbed: $(cat err)"
  content run >right
  rm -rf run
}
# goes_on: what is wrong with the run once it is resumed in peace
goes_on() {
  "$iap" "${words[@]}" >out 2>err </dev/null || { echo "LOST: does not go on: $(cat err)"; return; }
  content run | cmp -s - right || echo "LOST: goes on to other bytes"
}
# A longer run, in the background; $child is its process.
long_run() {
  words+=(--set iterations=300)
  undisturbed
}
begin() {
  "$iap" "${words[@]}" >out 2>err </dev/null &
  child=$!
}
# rows N: waits until the run has so many rows, or has ended.
rows() {
  until [ "$(cat run/metrics.csv 2>/dev/null | wc -l)" -gt "$1" ]; do
    kill -0 "$child" 2>/dev/null || return 0
    sleep 0.002
  done
}
ends() {
  wait "$child" 2>/dev/null
  code=$?
}

# Killed at random moments, which the seed decides.
case_kills() {
  long_run
  RANDOM=17
  for ((i = 0; i < count; ++i)); do
    rm -rf run
    for ((k = 0; k < 3; ++k)); do
      begin
      sleep "0.$(printf '%03d' $((RANDOM % 250)))"
      { kill -KILL "$child" && wait "$child"; } 2>/dev/null
    done
    found "$(goes_on; left_parts)"
  done
}

case_stops() {
  long_run
  for ((i = 0; i < count; ++i)); do
    rm -rf run
    begin
    rows $((1 + i % 30))
    kill -STOP "$child" 2>/dev/null
    sleep 0.05
    kill -CONT "$child" 2>/dev/null
    ends
    found "$(trouble $code out err; content run | cmp -s - right || echo "LOST: ends with other bytes")"
  done
}

# The terminal is gone, a limit of processor time is reached, a batch system announces the end: exit code 130 and a checkpoint.
case_signals() {
  long_run
  local signal
  for ((i = 0; i < count; ++i)); do
    for signal in HUP XCPU TERM USR1 INT; do
      rm -rf run
      # As a shell of somebody who works there would start it: this one may itself have been started to ignore hangups.
      env --default-signal="$signal" "$iap" "${words[@]}" >out 2>err </dev/null &
      child=$!
      rows $((1 + i % 30))
      kill "-$signal" "$child" 2>/dev/null
      ends
      found "$([ $code = 130 ] || [ $code = 0 ] || echo "SIG$signal: exit code $code: $(cat err)"; goes_on)"
    done
  done
}

# Under nohup the terminal may go.
case_nohup() {
  long_run
  for ((i = 0; i < count; ++i)); do
    rm -rf run
    (trap '' HUP && exec "$iap" "${words[@]}") >out 2>err </dev/null &
    child=$!
    rows $((1 + i % 30))
    kill -HUP "$child" 2>/dev/null
    ends
    found "$(trouble $code out err; [ $code = 0 ] || echo "exit code $code"; content run | cmp -s - right || echo "LOST: ends with other bytes")"
  done
}

# No file may grow beyond so many blocks.
case_file_limit() {
  words+=(--set iterations=60)
  undisturbed
  local blocks refused=0
  for blocks in 1 2 3 4 5 6; do
    rm -rf run
    (ulimit -f "$blocks" && exec "$iap" "${words[@]}") >out 2>err </dev/null
    code=$?
    [ $code = 0 ] || refused=$((refused + 1))
    found "$(trouble $code out err; [ $code = 0 ] || grep -q 'File too large' err || echo "says $(cat err)"; goes_on)"
  done
  [ $refused -gt 1 ] || found "the limit was never reached"
}

# The newest checkpoint with a block that never reached the disk, or all from there on: the one before takes over, and says so.
case_torn() {
  words+=(--set iterations=6)
  undisturbed
  "$iap" run train.lua --set iterations=3 >out 2>err || fail "$(cat err)"
  mv run before
  local size block how
  size=$(stat -c %s before/checkpoint.iap)
  for ((block = 0; block * 32 < size; block += count)); do
    for how in hole cut; do
      rm -rf run
      cp -r before run
      if [ $how = cut ]; then
        truncate -s $((block * 32)) run/checkpoint.iap
      else
        dd if=/dev/zero of=run/checkpoint.iap bs=32 seek="$block" count=1 conv=notrunc status=none
        cmp -s run/checkpoint.iap before/checkpoint.iap && continue
      fi
      found "$(goes_on; grep -q '^warning: continuing from the previous checkpoint' err || echo "says nothing: $(cat err)")"
    done
  done
  # Both: one message, and nothing is touched.
  rm -rf run
  cp -r before run
  truncate -s 100 run/checkpoint.iap run/checkpoint.previous.iap
  cp -r run damaged
  "$iap" "${words[@]}" >out 2>err </dev/null
  code=$?
  found "$(trouble $code out err; [ $code = 1 ] || echo "exit code $code"; rm -f run/log.txt damaged/log.txt; diff -r run damaged)"
}

# A folder that cannot be written to. Root writes everywhere, so that somebody else runs it.
case_read_only() {
  undisturbed
  "$iap" run train.lua --set iterations=1 >out 2>err || fail "$(cat err)"
  local as=()
  if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod -R a+rX "$work"
    "${as[@]}" "$iap" --version >/dev/null 2>&1 || { echo "SKIPPED: nobody may run $iap"; exit 77; }
  fi
  local file
  for file in . metrics.csv log.txt; do
    chmod -R a+w run
    chmod a-w run/$file
    "${as[@]}" "$iap" "${words[@]}" --set iterations=2 >out 2>err </dev/null
    code=$?
    # A table that is not written to but replaced may be read-only itself.
    found "$(trouble $code out err; [ $code = 1 ] || [ $file = metrics.csv ] || echo "exit code $code with $file read-only")"
  done
  chmod -R a+w run
  found "$(goes_on)"
}

# The run's folder is taken away while the run goes on.
case_vanishing() {
  long_run
  for ((i = 0; i < count; ++i)); do
    rm -rf run
    begin
    rows $((1 + i % 30))
    mv run gone 2>/dev/null
    ends
    found "$(trouble $code out err; [ $code = 0 ] || [ $code = 1 ] || echo "exit code $code")"
    # What went with the folder is the run as it was.
    rm -rf run
    [ ! -e gone ] || mv gone run
    found "$(goes_on)"
  done
}

# Two processes, one folder: the second is told so, the first is not disturbed.
case_two() {
  long_run
  for ((i = 0; i < count; ++i)); do
    rm -rf run
    begin
    rows $((1 + i % 30))
    kill -STOP "$child" 2>/dev/null || { found "ended before it was stopped"; continue; }
    "$iap" "${words[@]}" >out.second 2>err.second </dev/null
    code=$?
    found "$(trouble $code out.second err.second; grep -q 'in use by another process' err.second || echo "says $(cat err.second)")"
    kill -CONT "$child"
    ends
    found "$(trouble $code out err; [ $code = 0 ] || echo "exit code $code"; content run | cmp -s - right || echo "LOST: ends with other bytes")"
  done
}

# Too few file handles, for all that works with files.
case_handles() {
  undisturbed
  "$iap" "${words[@]}" >out 2>err || fail "$(cat err)"
  mv run seen
  "$iap" run "$here/picture.lua" "$here/../../engine/cli/templates/lua/task.lua" || fail "the policy to draw"
  "$iap" play picture.iap --as-seen --strip 2 --scale 4 -o right.png >out 2>err || fail "$(cat err)"
  "$iap" eval seen --episodes 2 --csv right.csv >out 2>err || fail "$(cat err)"
  local handles
  for ((handles = 4; handles < 4 + count; ++handles)); do # with 3 the loader gets at no library
    rm -rf run made.*
    (ulimit -n $handles && exec "$iap" "${words[@]}") >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err; goes_on)"
    (ulimit -n $handles && exec "$iap" eval seen --episodes 2 --csv made.csv) >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err; [ ! -e made.csv ] || cmp made.csv right.csv)"
    (ulimit -n $handles && exec "$iap" play picture.iap --as-seen --strip 2 --scale 4 -o made.png) >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err; [ ! -e made.png ] || cmp made.png right.png)"
    (ulimit -n $handles && exec "$iap" report seen --no-pictures -o made.html) >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err)"
  done
}

# Standard streams that were closed before the program began: no file takes their place.
case_streams() {
  undisturbed
  local in out err
  sed -i 's/quiet = true/quiet = false/' train.lua
  for in in '</dev/null' '<&-'; do
    for out in '>out' '>&-'; do
      for err in '2>err' '2>&-'; do
        rm -rf run out err
        touch out err
        eval "\"\$iap\" \"\${words[@]}\" $in $out $err"
        code=$?
        found "$([ $code = 0 ] || echo "exit code $code with $in $out $err"; content run | cmp -s - right || echo "LOST: $in $out $err ends with other bytes")"
      done
    done
  done
  # A result that nobody got is none.
  "$iap" list >/dev/full 2>err </dev/null
  code=$?
  found "$(trouble $code out err; [ $code = 1 ] || echo "exit code $code though nothing could be printed")"
}

# The clock goes back by a day.
case_clock() {
  undisturbed
  for ((i = 1; i <= count; ++i)); do
    rm -rf run
    IAP_FAULT_PROGRAM=$(basename "$iap") IAP_FAULT=clock:$i+ LD_PRELOAD=$shim "$iap" "${words[@]}" >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err; [ $code = 0 ] || echo "exit code $code"; content run | cmp -s - right || echo "LOST: ends with other bytes")"
  done
}

# What a power cut must find: a file is synced before it gets its name, its folder after that, and the tables before each checkpoint.
case_order() {
  sed -i 's/log = { "jsonl" }/log = { "jsonl", "tensorboard" }/' train.lua
  local iterations
  for iterations in 2 4; do # begun, and gone on with
    IAP_FAULT_PROGRAM=$(basename "$iap") IAP_FAULT_NOTES=notes LD_PRELOAD=$shim \
      "$iap" "${words[@]}" --set iterations=$iterations >out 2>err </dev/null
    code=$?
    found "$(trouble $code out err; awk -v folder="$(pwd -P)/run" '
      { for (i = 2; i <= NF; ++i) sub("^run/", folder "/", $i) }
      $1 == "fsync" {
        if ($2 == folder) named = ""
        synced[$2] = NR
        next
      }
      named { print named ": the folder is not synced after its rename" }
      $2 ~ /\/\.iap-[0-9]+\.part$/ {
        if (!($2 in synced)) print $3 ": not synced before its rename"
        delete synced[$2]
        named = $3
      }
      $3 == folder "/checkpoint.iap" {
        ++checkpoints
        for (i = split("metrics.csv metrics.jsonl events.out.tfevents.iap", tables, " "); i > 0; --i)
          if (synced[folder "/" tables[i]] <= last) print tables[i] ": not synced before checkpoint " checkpoints
        last = NR
      }
      END {
        if (named) print named ": the folder is not synced after its rename"
        if (checkpoints < 2) print "only " checkpoints " checkpoints"
      }' notes)"
  done
}

# Gone on with, runs under one name look at files in proportion to their number.
case_many() {
  sed -i 's/^local result/for i = 1, iap.options { runs = 1 }.runs do\n&/; s/out = "run"/out = iap.run_folder("run")/; s/^print.*/&\nend/' train.lua
  local runs looks=()
  for runs in 2 4 8; do
    "$iap" run train.lua --threads 1 --set runs=$runs >right.out 2>err </dev/null || fail "$runs runs: $(cat err)"
    IAP_FAULT_PROGRAM=$(basename "$iap") IAP_FAULT_COUNTS=counts LD_PRELOAD=$shim \
      "$iap" run train.lua --threads 1 --set runs=$runs --resume >out 2>err </dev/null
    code=$?
    looks+=("$(od -An -t u8 -j $((12 * 8)) -N 8 counts | tr -d ' ')")
    found "$(trouble $code out err; cmp -s out right.out || echo "$runs runs go on to others")"
    rm -r run run-*
  done
  local more=$((looks[1] - looks[0])) most=$((looks[2] - looks[1]))
  found "$([ $((10 * most)) -le $((22 * more)) ] || echo "2 runs more look $more times, 4 runs more $most times")"
}

"case_$4"
echo "$4: $cases cases, $lost lost, $crashed crashes, $wrong wrong, $((SECONDS - start)) s"
[ $cases -gt 0 ] && [ $wrong = 0 ]
