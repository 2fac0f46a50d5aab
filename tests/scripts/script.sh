#!/usr/bin/env bash
# script.sh PATTERN PROGRAM ARGS...: the program must end well, and what it prints must match the extended regular expression.
set -uo pipefail
pattern=$1
shift
printed=$("$@" 2>&1)
code=$?
printf '%s\n' "$printed"
[ $code -eq 0 ] || { echo "FAILED: exit code $code"; exit 1; }
[[ $printed =~ $pattern ]] || { echo "FAILED: nothing printed matches '$pattern'"; exit 1; }
