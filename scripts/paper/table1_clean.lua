-- The tasks of table 1 without distractions, 100 x 100 pixels, by the eyes of scripts/paper/table1.lua (patches of 4 x 4; ours learn
-- from 50 x 50), beside what DrQ-v2, which learns by gradients, earns after 100,000 frames. Its options are the same:
--
--   ./dev run scripts/paper/table1_clean.lua                             all tasks and eyes, seed 1; an hour or two on 2 cores
--   ./dev run scripts/paper/table1_clean.lua cheetah-run --set eyes=trans --set iterations=400
--
-- Writes runs/paper/table1-clean/, as table1.lua does.
local distracted = require "distracted"
local table1 = require "table1_rows"

table1.run {
  name = "table1-clean",
  defaults = { pixels = { 100, 100 }, distraction = "none" },
  make = distracted.make,
  printed = { { "drq_v2_100k", "drq" } },
}
