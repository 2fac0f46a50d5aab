# shellcheck shell=bash
# The table of iap sweep: runs that end at different iterations, options that are called like its columns.

case_sweep_lengths() {
  sweep_script "on_iteration = function(r) return r.iteration <= seed end"
  sed -i 's/^local iap.*/&\nlocal out = iap.run_folder("alone")\nlocal seed = tonumber(out:match("seed(%d+)$"))/; s/out = iap.run_folder("runs.alone")/out = out/' train.lua
  run sweep train.lua --seeds 3 --out sweep
  exits 0
  says out "after 2 to 4 iterations, 3 seeds"
  grep -qE '^ *2 to 4 +3/3 ' out || fail "the printed table has one seed's iterations"
  [ "$(head -1 sweep/sweep.csv)" = "iterations,seeds,failed,mean,std,best,best_seed,fewest_iterations" ] || fail "other columns"
  grep -qE '^4,3,0,.*,[123],2$' sweep/sweep.csv || fail "the row: $(cat sweep/sweep.csv)"
  # The page has the same, and of the steps what the runs themselves wrote.
  local steps=() seed
  for seed in 1 2 3; do
    steps+=("$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "steps") c = i } END { print $c }' sweep/seed$seed/metrics.csv)")
  done
  says sweep/report.html "<b>2 to 4</b><span>iterations</span>"
  says sweep/report.html "<b>${steps[0]} to ${steps[2]}</b><span>training steps each</span>"
  says sweep/report.html ". seed1 ended at iteration 2 of 4 (on_iteration). seed2 ended at iteration 3 of 4 (on_iteration)."
  # Where all have done as many, they are said once.
  run sweep train.lua --seed 3 --seeds 2 --out whole
  exits 0
  says out "after 4 iterations, 2 seeds"
  grep -qE '^4,2,0,.*,[34],4$' whole/sweep.csv || fail "the row: $(cat whole/sweep.csv)"
  says whole/report.html "<b>4</b><span>iterations</span>"
}

# The best is told by the most seeds, and who is better by fewer is named.
case_sweep_fewer_seeds() {
  cat >pays.lua <<'LUA'
return function(options)
  return { spec = { action_size = 1, vector = 1, max_steps = 1 }, reset = function() end, observe = function() return { 1 } end,
    step = function() return options.pay, true end }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
local set = iap.options { pay = 1 }
local out = iap.run_folder("alone")
iap.train {
  env = iap.env.make("pays.lua", { pay = set.pay }), policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 },
  iterations = 1, eval_episodes = 2, quiet = true, out = out,
  on_iteration = function() if out:find("pay=3-seed2", 1, true) or out:find("pay=2-seed", 1, true) then error("sold out") end end,
}
LUA
  run sweep train.lua --over pay=1,2,3 --seeds 2 --out sweep
  exits 1
  says out "best: pay=1: mean eval 1 after 1 iteration, 2 seeds"
  says out "a higher mean, of fewer seeds: pay=3: mean eval 3, 1 seed"
  # Where none is higher, there is no such line.
  run sweep train.lua --over pay=1,-3 --seeds 2 --out other
  exits 0
  says out "best: pay=1: "
  ! grep -q 'higher mean' out || fail "a higher mean than the highest"
  # A run that had enough before others, or was asked for fewer iterations, has done what it was to do.
  sed -i 's/on_iteration = .*/on_iteration = function() return set.pay < 5 end,/' train.lua
  run sweep train.lua --over pay=1,5 --set iterations=2 --out early
  exits 0
  says out "best: pay=5: mean eval 5 after 1 iteration, 1 seed"
  run sweep train.lua --over pay=1,3 --over iterations=1,2 --out shorter
  exits 0
  says out "best: pay=3 iterations=1: mean eval 3 after 1 iteration, 1 seed"
}

case_sweep_columns() {
  sweep_script ""
  sed -i '1a local options = iap.options { mean = 1, set = { mean = 1 } }' train.lua
  run sweep train.lua --over iterations=1,2 --over mean=1,2 --out sweep
  exits 0
  [ "$(head -1 sweep/sweep.csv)" = "set.iterations,set.mean,iterations,seeds,failed,mean,std,best,best_seed,fewest_iterations" ] ||
    fail "columns: $(head -1 sweep/sweep.csv)"
  grep -qE '^2,1,2,1,0,' sweep/sweep.csv || fail "the row: $(cat sweep/sweep.csv)"
  grep -qE '^set.iterations +mean +iterations ' out || fail "the printed table has two columns of one name"
  # Paths of other options are no free names.
  run sweep train.lua --over mean=1,2 --over set.mean=1,2 --set iterations=1 --out other
  exits 0
  says other/sweep.csv "set.set.mean,set.mean,iterations,"
  # A table of an earlier program is the sweep's, too.
  cp sweep/sweep.csv new.csv
  sed -i '1s/.*/iterations,mean,iterations,seeds,failed,mean,std,best,best_seed/; s/,[0-9]*$//' sweep/sweep.csv
  run sweep train.lua --over iterations=1,2 --over mean=1,2 --out sweep --collect
  exits 0
  cmp -s sweep/sweep.csv new.csv || fail "another table than before"
}

# Scripts read what their training hands over, in the short runs, too.
case_sweep_confirmed() {
  sweep_script "confirm_episodes = 6,"
  sed -i 's/^iap.train {/local run = iap.train {/' train.lua
  echo 'print("confirmed", run.confirmed.mean, string.format("%.3g to %.3g", run.confirmed.low, run.confirmed.high))' >>train.lua
  run sweep train.lua --over optimizer.sigma=0.05,0.1 --seeds 2 --halving 2 --out halves
  exits 0
  grep -h ' fresh episodes' halves/*/log.txt | grep -oE 'on [0-9]+ fresh' | sort | uniq -c | tr -s ' \n' ' ' >counts
  says counts "4 on 2 fresh 2 on 6 fresh"
  # The page says on how many, where they are not alike.
  says halves/report.html "<small>(2 episodes)</small>"
  says halves/report.html "<small>(6 episodes)</small>"
  local longest
  longest=$(grep ',4,2,0,' halves/sweep.csv | cut -d, -f1)
  run run train.lua --set "optimizer.sigma=$longest" --seed 2 --out alone
  exits 0
  same_metrics alone "halves/sigma=$longest-seed2"
  # What asks for no confirmation has none.
  sed -i '$d' train.lua
  run sweep train.lua --over optimizer.sigma=0.05,0.1 --halving 2 --set confirm_episodes=0 --out without
  exits 0
  ! grep -q 'fresh episode' without/*/log.txt || fail "a run confirmed what it was not asked to"
}

# Means are finite where returns are, though their sum is not, and no number takes lines.
case_sweep_large_returns() {
  cat >huge.lua <<'LUA'
return function()
  return { spec = { action_size = 1, vector = 1, max_steps = 1 }, reset = function() end, observe = function() return { 1 } end,
    step = function() return 1e308, true end }
end
LUA
  cat >train.lua <<'LUA'
local iap = require "iap"
iap.train {
  env = iap.env.make("huge.lua"), policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 },
  iterations = 1, eval_episodes = 2, quiet = true,
}
LUA
  run sweep train.lua --seeds 2 --out sweep
  exits 0
  says out "best: mean eval 1e+308 after 1 iteration, 2 seeds"
  [ "$(tail -1 sweep/sweep.csv)" = "1,2,0,1e+308,0,1e+308,1,1" ] || fail "the row: $(cat sweep/sweep.csv)"
  run eval sweep/seed1 --episodes 2
  exits 0
  says out "mean return         1e+308"
  says out "(best evaluation 1e+308, iteration 0)"
  run report sweep/seed1 --no-pictures --out page.html
  exits 0
  says page.html "<b>1 × 10³⁰⁸</b><span>best evaluation"
}
