#!/usr/bin/env bash
# all.sh PROGRAM SHIM DATA [--all] [NAME]: the rows of rows.txt and processes.txt whose scenario, kind or case is NAME (default: every
# row), in the suite's slices or, with --all, every call and the long counts. `./dev faults` runs it.
set -uo pipefail
here=$(dirname "$0")
given=("$1" "$2" "$3")
shift 3
all=0
[ "${1:-}" != --all ] || { all=1; shift; }
name=${1:-} bad=0 rows=0
rows_of() { grep '^[a-z]' "$here/$1"; }
while read -r scenario kind stride; do
  [ -z "$name" ] || [ "$name" = "$scenario" ] || [ "$name" = "${kind%+}" ] || continue
  # Of threads the first alone: what TBB starts later, once a trial went well, cannot be let fail without an end of the process.
  [ $all = 0 ] || [ "${kind%+}" = thread ] || stride=1
  rows=$((rows + 1))
  bash "$here/calls.sh" "${given[@]}" "$scenario" "$kind" "$stride"
  case $? in 0 | 77) ;; *) bad=$((bad + 1)) ;; esac
done < <(rows_of rows.txt)
while read -r case count long; do
  [ -z "$name" ] || [ "$name" = "$case" ] || continue
  [ $all = 0 ] || count=$long
  rows=$((rows + 1))
  bash "$here/processes.sh" "${given[@]}" "$case" "$count"
  case $? in 0 | 77) ;; *) bad=$((bad + 1)) ;; esac
done < <(rows_of processes.txt)
[ $rows -gt 0 ] || { echo "no row '$name'; rows.txt and processes.txt in tests/faults name them" >&2; exit 2; }
[ $bad = 0 ] || { echo "$bad of $rows rows are not as they should be" >&2; exit 1; }
