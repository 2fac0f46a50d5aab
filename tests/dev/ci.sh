#!/usr/bin/env bash
# ci.sh ROOT CASE: what CI runs, with a stand-in for ./dev that notes how it was called and takes the time, or fails, as the case has it.
set -u
root=$1 name=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/.ci" && cp "$root/.ci/run" "$folder/.ci/"
fail() { printf '%s\n' "ci.sh: $*" "$(cat "$folder/calls" "$folder/said")" >&2; exit 1; }

# stand_in NAME ACTION...: what ./dev does when its arguments begin with NAME.
stand_in() { printf '%s\n' "case \"\$*\" in \"$1\"*) ${*:2} ;; esac" >>"$folder/dev"; }
printf '%s\n' '#!/usr/bin/env bash' "echo \"\$*\" >>'$folder/calls'" >"$folder/dev"
chmod +x "$folder/dev"
calls=4 wanted=0 seconds=100
case $name in
  everything) said='done' ;;
  release_fails) stand_in test 'exit 8'; calls=2 wanted=8 said='./dev test$' ;;
  sanitizer_fails) stand_in 'test --sanitize' 'exit 8'; calls=3 wanted=8 said='failed: ./dev test --sanitize address' ;;
  slow_release) stand_in 'test' 'sleep 4'; seconds=6 calls=3 said='left out, as this machine is too slow for it: ./dev test --sanitize address' ;;
  slow_sanitizer) stand_in 'test --sanitize' 'sleep 60'; seconds=12 said='the time is over, and nothing had failed until then: ./dev test --sanitize' ;;
  slow_analysis) stand_in 'tidy' 'sleep 60'; seconds=12 said='the time is over, and nothing had failed until then: ./dev tidy' ;;
  *) fail "no case '$name'" ;;
esac

status=0
CI_SECONDS=$seconds bash "$folder/.ci/run" >/dev/null 2>"$folder/said" || status=$?
[ $status = $wanted ] || fail "ended with $status, not $wanted"
[ "$(wc -l <"$folder/calls")" = $calls ] || fail "not $calls calls"
grep -q -- "$said" "$folder/said" || fail "did not say '$said'"
