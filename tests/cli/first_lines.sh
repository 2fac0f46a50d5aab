# shellcheck shell=bash
# What stands in the first line of a script, and what reaches it there.

# experiment.lua runs as the script did that began with a line for the shell, or with the mark that editors on Windows write.
case_resume_shell_line() {
  local head
  for head in '#!/usr/bin/env iap\n' '\xEF\xBB\xBF' '\xEF\xBB\xBF#!/usr/bin/env iap\n'; do
    rm -rf run
    training_script 'out = "run", on_iteration = function(r)
      if r.iteration == 2 and io.open("stop") then print("ready") io.stdout:flush() while true do end end
    end,'
    # shellcheck disable=SC2059
    (printf "$head" && cat train.lua) >headed.lua
    goes_on_from_pipe headed.lua --seed 5
    tail -n +2 run/experiment.lua | cmp - headed.lua || fail "experiment.lua is another script"
    run run headed.lua --seed 5 --resume
    exits 0
    # Lines have the numbers that they have in the file.
    sed -i 's/^print(result.iterations.*/error("here")/' run/experiment.lua
    run run run/experiment.lua --seed 5 --out other
    exits 1
    says err "run/experiment.lua:$(grep -n '^error("here")' run/experiment.lua | cut -d: -f1): here"
    rm -r other
    run sweep headed.lua --seeds 1 --out swept
    exits 0
    run run swept/seed1/experiment.lua --out again
    exits 0
    rm -r swept again
  done
}

# A script's own first lines are its own, however they begin.
case_own_first_lines() {
  local line
  for line in "-- run with care: needs a quiet machine" "-- run all of the series of tests" "-- run with"; do
    rm -rf run
    training_script 'out = "run",'
    sed -i "1i $line" train.lua
    run run train.lua --set iterations=1
    exits 0
    [ "$(head -1 run/experiment.lua)" = "-- run with --set iterations=1" ] || fail "the settings are missing"
    tail -n +2 run/experiment.lua | cmp - train.lua || fail "experiment.lua is another script"
    run run train.lua --set iterations=2 --resume
    exits 0
    run run run/experiment.lua --set iterations=3 --resume
    exits 0
  done
  # The arguments reach a script as they do in the stock interpreter, too.
  echo 'local first, second = ... print(first, second, select("#", ...))' >words.lua
  run run words.lua seed=3 more
  exits 0
  says out "$(printf 'seed=3\tmore\t2')"
  training_script ''
  sed -i '1i local first = ... assert(first == "seed=3")' train.lua
  run run train.lua seed=3 --set iterations=1
  exits 0
}
