-- Table 1 of "Unlocking Pixels": the Distracting Control Suite, static, medium, 240 x 320 pixels, by three eyes:
--   rank    the papers': patches of 2 x 2 (L = 19200), the positions and motion of the top 10, an LSTM with a straight path beside it
--   trans   ours: ten tokens of IAP-trans over 60 x 80 averages of the pixels, their differences, and a clock or a memory
--   change  ours: sixteen heads of rank over what changed in the same averages, of which static distractions are no part
--
--   ./dev run scripts/paper/table1.lua                                   all tasks and eyes, seed 1; some 4 hours on 2 cores, most of them for rank
--   ./dev run scripts/paper/table1.lua --set seeds=3 --set episodes=100  three seeds of each: start it as often as there are cores
--   ./dev run scripts/paper/table1.lua cheetah-run --set eyes=trans      this task, this eye
--   ./dev run scripts/paper/table1.lua --set iterations=1 --set optimizer.population=4 --set episodes=1   a trial
--   --set kernel=relu (of rank; default hybrid, with (m, r) = (10, 5)), --set videos=FOLDER (DAVIS 2017's frames),
--   --set distraction=hard, --set pixels=[120,160] (such rows are rows of another table)
-- Our eyes learn from pictures of 60 x 80 and play those of 240 x 320 through averages of 4 x 4 pixels.
-- docs/results.md has what came out; the walker's row of rank there was trained with
--   --set optimizer.learning_rate=0.1 --set optimizer.learning_rate_decay=0.985
--
-- Writes runs/paper/table1/: a run folder for each task, eye and seed; results.csv: the best policies of all that was trained there and
-- played for as many episodes, which training never saw, beside what the papers print (`low` to `high`: of one seed the 95% interval of
-- its mean, of several the lowest and the highest of their means); report.html, which grows while jobs end. Started again it goes on
-- where it was.
local distracted = require "distracted"
local table1 = require "table1_rows"

table1.run {
  name = "table1",
  defaults = { pixels = { 240, 320 }, distraction = "medium" },
  make = distracted.make,
  printed = { { "paper_iap", "iap" }, { "paper_sac", "sac" }, { "paper_qt_opt", "qt_opt" } },
}
