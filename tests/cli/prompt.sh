# shellcheck shell=bash
# The prompt, and Ctrl-C wherever it may come.

case_interrupt() {
  for body in 'while true do end' 'while true do pcall(function() while true do end end) end' \
    'local f <close> = setmetatable({}, {__close = function() end}) while true do end' \
    'xpcall(error, function() while true do end end)'; do
    printf 'print("ready") io.stdout:flush()\n%s\n' "$body" >loop.lua
    interrupted run loop.lua
    exits 130
    says err "interrupted"
    lines err 1
  done
}

# A coroutine has no hook of the main thread's; pcall keeps neither kind of thread alive.
case_interrupt_coroutine() {
  local body signal
  for signal in INT TERM; do
    for body in 'while true do end' 'while true do pcall(function() while true do end end) end' 'while true do pcall(error) end' \
      'while true do pcall(coroutine.wrap(function() while true do end end)) end'; do
      printf 'print("ready") io.stdout:flush()\ncoroutine.wrap(function() %s end)()\n' "$body" >loop.lua
      ended_by "$signal" run loop.lua
      exits 130
      says err "interrupted"
      lines err 1
    done
  done
  # One that was made before goes on from yield to yield; the one that resumes it may be a coroutine, too.
  cat >loop.lua <<'LUA'
local inner = coroutine.create(function() while true do pcall(coroutine.yield) end end)
local outer = coroutine.create(function() while true do pcall(coroutine.resume, inner) end end)
print("ready") io.stdout:flush()
while true do pcall(coroutine.resume, outer) end
LUA
  ended_by TERM run loop.lua
  exits 130
}

# A million physics steps in one call are made in parts.
case_interrupt_physics() {
  cat >settles.lua <<'LUA'
local balls = {}
for i = 1, 60 do balls[i] = ("<body pos='%g 0 .1'><freejoint/><geom size='.1'/></body>"):format(0.3 * i) end
return {
  model = "<mujoco><worldbody><geom type='plane' size='99 99 1'/>" .. table.concat(balls) ..
    "<body pos='0 3 3'><joint name='j' axis='0 1 0'/><geom size='.1' pos='.2 0 0'/></body></worldbody>" ..
    "<actuator><motor joint='j' ctrllimited='true' ctrlrange='-1 1'/></actuator></mujoco>",
  reset = function(data)
    print("ready") io.stdout:flush()
    data:step(1000000)
  end,
  reward = function() return 0 end,
}
LUA
  echo 'require "iap".env.make("settles.lua"):reset(1)' >loop.lua
  local signal
  for signal in INT TERM; do
    ended_by "$signal" run loop.lua
    exits 130
    says err "interrupted"
    lines err 1
  done
}

# Loops in the Lua state of an environment, reached directly and on the worker threads of an evaluation: also where an instruction
# keeps a library busy, and in a message handler, which Lua runs with hooks off when a hook's error calls it.
case_interrupt_environment() {
  local body
  for body in 'while true do end' 'while true do (("x"):rep(1000000)):gsub("x", "y") end' 'xpcall(error, function() while true do end end)' \
    'coroutine.wrap(function() while true do (("x"):rep(1000000)):gsub("x", "y") end end)()'; do
    cat >stuck.lua <<LUA
return function(options)
  return {
    spec = { action_size = 1, vector = 1 },
    reset = function() end,
    observe = function() return { 0 } end,
    step = function() $body end,
  }
end
LUA
    cat >loop.lua <<'LUA'
local env = require "iap".env.make("stuck.lua")
env:reset(1)
print("ready") io.stdout:flush()
env:step { 0 }
LUA
    interrupted run loop.lua
    exits 130
    says err "interrupted"
    lines err 1
  done
  cat >loop.lua <<'LUA'
local iap = require "iap"
print("ready") io.stdout:flush()
iap.train { env = "stuck.lua", policy = iap.policy.linear {}, optimizer = iap.optim.es { population = 4 }, iterations = 2, threads = 2, quiet = true }
LUA
  interrupted run loop.lua
  exits 130
}

# Ctrl-C reaches all processes of a terminal, but system() has ours ignore it while a program runs: how that ended is what is left.
case_interrupt_program() {
  local body pid
  for body in 'os.execute("kill -INT $$")' 'os.execute("exit 130")' 'while true do pcall(os.execute, "exit 130") end' \
    'coroutine.wrap(function() while true do pcall(os.execute, "kill -INT $$") end end)()'; do
    printf '%s\nprint("went on")\n' "$body" >loop.lua
    run run loop.lua
    exits 130
    says err "interrupted"
    lines err 1
    silent out
  done
  # Other ends are for the script to judge.
  echo 'print(os.execute("kill -TERM $$")) print(os.execute("exit 2")) print(os.execute())' >loop.lua
  run run loop.lua
  exits 0
  says out $'signal\t15'
  says out $'exit\t2'
  lines out 3

  # group_interrupted ARGS...: as `interrupted`, with all that the program has started
  group_interrupted() {
    : >out
    setsid "$iap" "$@" >out 2>err </dev/null &
    pid=$!
    until grep -q ready out; do
      kill -0 "$pid" || fail "ended before it was ready"
      sleep 0.05
    done
    sleep 0.2
    kill -INT -- "-$pid"
    wait "$pid"
    code=$?
  }
  training_script ""
  run run train.lua --out whole
  exits 0
  training_script 'on_iteration = function(r) if r.iteration == 2 then os.execute("[ -e again ] || { echo ready; exec sleep 60; }") end end,'
  group_interrupted run train.lua --out dot
  exits 130
  says err "dot stopped after iteration 2 of 4; continue with"
  touch again
  run run train.lua --out dot --resume
  exits 0
  same_metrics whole dot
  echo 'local f = io.popen("echo up; exec sleep 60") f:read() print("ready") io.stdout:flush() f:close() print("went on")' >loop.lua
  group_interrupted run loop.lua
  exits 130
  lines out 1

  printf '%s\n' 'os.execute("exit 130") print("went on")' 'print("al" .. "ive")' | "$iap" >out 2>err
  says err "interrupted"
  says out "alive"
  lines out 1
}

# Work that cannot be stopped in good order, such as a pattern that is matched without end, stops at the second Ctrl-C.
case_second_interrupt() { second_interrupt; }

# As the first process of a container, too, to which the kernel gives no signal that it does not handle.
case_second_interrupt_first_process() {
  local words
  for words in "unshare --pid --fork" "unshare --map-root-user --pid --fork"; do
    # shellcheck disable=SC2086
    $words true 2>/dev/null || continue
    # shellcheck disable=SC2086
    second_interrupt $words
    return
  done
  echo "no process may be the first of a namespace here: skipped"
  exit 77
}

# second_interrupt WORD...: the program, which those words start, is interrupted until it ends.
second_interrupt() {
  printf 'print(io.open("/proc/self/stat"):read("n"), "ready") io.stdout:flush()\nlocal _ = ("a"):rep(1000):find((".-"):rep(12) .. "b")\n' >loop.lua
  "$@" "$iap" run loop.lua >out 2>err </dev/null &
  local started=$! own
  until grep -q ready out; do
    kill -0 "$started" || fail "ended before it was ready"
    sleep 0.05
  done
  own=$(cut -f 1 out)
  # Two that come before the first is handled are one: as many as it takes.
  for _ in $(seq 30); do
    kill -INT "$own" 2>/dev/null || break
    sleep 0.3
  done
  kill -KILL "$own" 2>/dev/null && fail "no interrupt ends it"
  wait "$started"
  code=$?
  exits 130
}

# A scheduler has no other signal before SIGKILL, but sends it to the process and to its group: those two are one.
case_second_termination() {
  printf 'print("ready") io.stdout:flush()\nlocal _ = ("a"):rep(1000):find((".-"):rep(12) .. "b")\n' >loop.lua
  "$iap" run loop.lua >out 2>err </dev/null &
  local pid=$! begin
  until grep -q ready out; do
    kill -0 "$pid" || fail "ended before it was ready"
    sleep 0.05
  done
  begin=${EPOCHREALTIME/[.,]/}
  while kill -TERM "$pid" 2>/dev/null; do sleep 0.5; done
  wait "$pid"
  code=$?
  exits 143
  [ $((${EPOCHREALTIME/[.,]/} - begin)) -ge 5000000 ] || fail "did not wait for 5 s"
}

case_prompt_pipe() {
  printf '%s\n' '1 + 1' '= "a" .. "b"' 'for i = 1, 2 do' '  print(i)' 'end' '{ 1, { x = 2 } }' 'local x = 5' 'iap.version:len() > 0' | "$iap" >out 2>err
  code=$?
  exits 0
  silent err
  [ "$(cat out)" = "$(printf '2\nab\n1\n2\n{ 1, { x = 2 } }\ntrue')" ] || fail "prompt"
  printf '%s\n' 'help(iap.optim.es)' 'help' 'help("sigma")' 'policy = iap.policy.build(iap.policy.linear {}, "cartpole-balance")' 'help(policy.act)' |
    "$iap" >out 2>err
  code=$?
  exits 0
  silent err
  for text in "iap.optim.es { ... } -> optimizer" "Areas of the Lua reference:" "sigma is an option of" "policy:act(observation) -> action"; do says out "$text"; done
  printf '%s\n' 'iap.polcy' 'x = = 1' 'error("late")' 'print("still here")' 'function f()' | "$iap" repl >out 2>err
  code=$?
  exits 1
  says out "still here"
  says err "iap has no 'polcy'; did you mean 'policy'?"
  says err "input:1: unexpected symbol near '='"
  says err "input:1: late"
  says err "'end' expected"
  lines err 4
}

# What cannot be read is an error, and a signal in the midst of a long input ends it.
case_prompt_cut_off() {
  "$iap" </ >out 2>err
  code=$?
  exits 1
  silent out
  says err "cannot read the standard input: Is a directory"
  lines err 1
  # While it reads an input of many lines, each of which may be its last.
  { echo 'x = {' && seq -f '"%060.0f",' 20000 && echo '}'; } >lines
  "$iap" <lines >out 2>err &
  local prompt=$!
  sleep 1
  kill "$prompt"
  wait "$prompt"
  code=$?
  [ $code = 130 ] || [ $code = 143 ] || fail "it ends by $code"
}

# An expression may span lines as statements may; what is wrong with one that says so by "=" is told of the expression.
case_prompt_lines() {
  printf '%s\n' '={' '1, 2 }' '= 1 +' '  1' '{ "a",' '"b" }' '6 *' '7' '"x" ..' '"y"' '= -- two' '2' 'for i = 3, 3 do' 'print(i) end' |
    "$iap" repl >out 2>err
  code=$?
  exits 0
  silent err
  [ "$(cat out)" = "$(printf '{ 1, 2 }\n2\n{ "a", "b" }\n42\nxy\n2\n3')" ] || fail "an expression in several lines"
  printf '%s\n' '= 1 + * 2' '= { 1' | "$iap" repl >out 2>err
  code=$?
  exits 1
  silent out
  [ "$(cat err)" = "$(printf "input:1: unexpected symbol near '*'\ninput:2: '}' expected (to close '{' at line 1) near <eof>")" ] || fail "messages"
}

# What guards the globals against unknown names costs no result.
case_prompt_guarded() {
  printf '%s\n' 'local _ = setmetatable(_G, { __newindex = function(_, name) error("undeclared " .. name, 2) end })' '=40+2' '=_+1' 'x = 1' |
    "$iap" repl >out 2>err
  [ "$(cat out)" = "$(printf '42\n43')" ] || fail "a result is lost"
  [ "$(cat err)" = "input:1: undeclared x" ] || fail "messages"
}

# A value that cannot be shown is one message; the inputs after it are as if it had not been.
case_prompt_unshowable() {
  printf '%s\n' 't = setmetatable({}, { __tostring = function() error("boom") end })' 't' '1 + 1' '2, t' '2 + 2' | "$iap" repl >out 2>err
  code=$?
  exits 1
  [ "$(cat out)" = "$(printf '2\n4')" ] || fail "other inputs show something else"
  [ "$(cat err)" = "$(printf 'input:1: boom\ninput:1: boom')" ] || fail "messages"
  # One that changes the table in which it stands.
  printf '%s\n' 't = { 1, x = 2 }' \
    't.a = setmetatable({}, { __tostring = function() t.a = nil for i = 1, 200 do t["k" .. i] = i end return "shown" end })' 't' '1 + 1' |
    "$iap" repl >out 2>err
  code=$?
  exits 0
  [ "$(cat out)" = "$(printf '{ 1, a = shown, x = 2 }\n2')" ] || fail "a table that changes"
}

# A value that takes more memory to show than there is ends its own input.
case_prompt_memory() {
  printf '%s\n' 's = ("x"):rep(200000000)' 's' '#s' | (ulimit -v 580000 && exec "$iap" repl) >out 2>err
  code=$?
  exits 1
  [ "$(cat out)" = 200000000 ] || fail "what is left of it"
  [ "$(cat err)" = "out of memory" ] || fail "messages"
}

# wait_for TEXT [TIMES]: until the terminal of `open_prompt` shows it.
wait_for() {
  for _ in $(seq 400); do
    [ "$(grep -oF -- "$1" out | wc -l)" -ge "${2:-1}" ] && return
    sleep 0.05
  done
  fail "expected '$1' on the terminal"
}

# A prompt in a terminal of its own: keys go to descriptor 3, what it shows to the file out, its process is $pid.
open_prompt() {
  command -v script >/dev/null || { echo "no 'script' program: skipped"; exit 0; }
  mkfifo keys
  env -u LANG -u LC_ALL -u LC_CTYPE TERM=xterm script -qec "$iap" /dev/null <keys >out 2>err &
  pid=$!
  exec 3>keys
  wait_for "Tab completes"
}

# The prompt on a terminal: completion by Tab, Ctrl-C at the prompt and in a loop, history, Ctrl-D.
case_prompt_terminal() {
  open_prompt
  printf 'iap.vers\t:len() + 700\r' >&3
  wait_for "705"
  printf 'print("loop" .. "ing") while true do end\r' >&3
  wait_for "looping"
  printf '\003' >&3
  wait_for "interrupted"
  printf 'half a line' >&3
  wait_for "half a line"
  printf '\003' >&3
  # The terminal itself showed the first one.
  wait_for "^C" 2
  printf 'print("alive" .. 1 + 1)\r' >&3
  wait_for "alive2"
  printf 'function twice(x)\rreturn 2 * x end\r' >&3
  printf 'twice(21)\r' >&3
  wait_for "42"
  printf '"h\303\251"\r' >&3
  wait_for "hé"
  # Bytes of another encoding swallow no key, Enter neither.
  printf 'print("lat\351" .. "in1") -- \342\202\r' >&3
  wait_for "lat�in1"
  printf 'print("byt" .. "es") -- \377\370\355\240\200\360\r' >&3
  wait_for "bytes"
  printf '\004' >&3
  exec 3>&-
  wait "$pid"
  code=$?
  exits 0
  grep -q 'alive' state/iap/history || fail "no history"
  grep -q 'half a line' state/iap/history && fail "an abandoned line is in the history"
  return 0
}

# Inputs that came to their end are kept however the prompt ends, and whatever other prompts enter meanwhile; a file that grew too long is cut.
case_prompt_history() {
  local kept=state/iap/history
  mkdir -p state/iap other
  { echo _HiStOrY_V2_ && seq -f 'x=%g' 1500; } >$kept
  open_prompt
  printf 'print("fir".."st")\r' >&3
  wait_for "first"
  (
    cd other || exit 1
    open_prompt
    printf 'print("sec".."ond")\r' >&3
    wait_for "second"
    printf '\004' >&3
    exec 3>&-
    wait "$pid"
  ) || exit 1
  printf 'os.exit()\r' >&3
  exec 3>&-
  wait "$pid"
  [ "$(wc -l <$kept)" -lt 1010 ] || fail "the history goes on growing"
  [ "$(sed -n '1p;/x=1500/,$p' $kept)" = "$(printf '%s\n' _HiStOrY_V2_ x=1500 'print("fir".."st")' 'print("sec".."ond")')" ] ||
    fail "history: $(tail -3 $kept)"
  # What is no history, as after a full disk, does not hide what comes.
  echo none >$kept
  rm keys
  open_prompt
  printf 'print("th".."ird")\r' >&3
  wait_for "third"
  wait_for "> " 2
  kill -KILL "$pid"
  exec 3>&-
  wait "$pid" 2>/dev/null
  [ "$(cat $kept)" = "$(printf '%s\n' _HiStOrY_V2_ 'print("th".."ird")')" ] || fail "history: $(cat $kept)"
  # A place of the working folder's own is none.
  rm keys
  export XDG_STATE_HOME=state
  open_prompt
  printf 'print("fo".."urth")\r' >&3
  wait_for "fourth"
  printf '\004' >&3
  exec 3>&-
  wait "$pid"
  grep -q urth $kept && fail "a relative XDG_STATE_HOME is taken"
  grep -q urth .local/state/iap/history || fail "no history at home"
  return 0
}

# Ctrl-C that comes as the prompt comes back costs no input.
case_prompt_returning() {
  open_prompt
  local try
  for try in $(seq 12); do
    printf 'for i = 1, 3e6 do end\r' >&3
    sleep "0.0$((try % 4 + 2))"
    printf '\003' >&3
    sleep 0.2
    printf 'print("try-" .. %d)\r' "$try" >&3
    wait_for "try-$try"
  done
  printf '\004' >&3
  exec 3>&-
  wait "$pid"
  code=$?
  exits 0
}

# Ctrl-C without a terminal: what comes while nothing runs is nothing to the input after it, and what comes while a value is printed
# ends that.
case_prompt_between() {
  mkfifo keys shown
  "$iap" repl <keys >shown 2>err &
  local pid=$! printed
  exec 3>keys 4<shown
  # said LINE: what it prints next
  said() {
    local line
    read -r -t 20 line <&4
    [ "$line" = "$1" ] || fail "expected '$1', got '${line:0:200}'"
  }
  echo 'print("re" .. "ady")' >&3
  said ready
  sleep 0.3
  kill -INT "$pid"
  sleep 0.2
  printf '%s\n' 'z = 5' 'z' >&3
  said 5
  # Nobody reads: it waits in the middle of the value.
  echo '("x"):rep(3000000)' >&3
  read -r -N 1 printed <&4
  sleep 0.3
  kill -INT "$pid"
  sleep 0.2
  read -r -t 20 printed <&4
  [ "${#printed}" -lt 1000000 ] || fail "${#printed} characters were printed after Ctrl-C"
  printf '%s\n' 'z + 1' '_ + 1' >&3
  said 6
  said 7
  exec 3>&-
  wait "$pid"
  [ "$(cat err)" = interrupted ] || fail "messages"
}

# Ctrl-C in iap.train at the prompt ends the training, not the input: its value is the result so far.
case_prompt_training() {
  cp "$scripts/pendulum.lua" .
  open_prompt
  printf 'p = iap.policy.linear { activation = "tanh" }\r' >&3
  printf 'function seen(name) return function(r) if r.iteration == 3 then print(name .. "-at-" .. 3) end end end\r' >&3
  printf 'function go(t) t.env, t.policy, t.iterations, t.quiet = "pendulum.lua", p, 1000000, true return iap.train(t) end\r' >&3
  # In a folder: the run can go on.
  printf 'r = go { out = "dot", on_iteration = seen "named" }\r' >&3
  wait_for "named-at-3"
  printf '\003' >&3
  wait_for 'out = "dot", resume = true continues the run'
  printf 'print(r.stop_reason, r.iterations >= 3, #iap.eval(r.policy, { episodes = 2 }).episodes .. "-played")\r' >&3
  wait_for "2-played"
  # It is asked about the last row that there is.
  printf 'print(go { out = "dot", resume = true, on_iteration = function() return false end }.iterations - r.iterations .. "-more")\r' >&3
  wait_for "0-more"
  # Nowhere and without a name: the policy is at hand.
  printf 'go { on_iteration = seen "nameless" }\r' >&3
  wait_for "nameless-at-3"
  printf '\003' >&3
  wait_for 'policy:save("FILE") keeps it'
  printf '_.policy:save("kept.iap") print("sav" .. "ed")\r' >&3
  wait_for "saved"
  # In a loop, no further training begins.
  printf 'for i = 1, 3 do print("round-" .. i) go { on_iteration = seen("loop" .. i) } end\r' >&3
  wait_for "loop1-at-3"
  printf '\003' >&3
  wait_for "interrupted after iteration" 3
  printf 'print("still" .. 1 + 1)\r' >&3
  wait_for "still2"
  printf '\004' >&3
  exec 3>&-
  wait "$pid"
  code=$?
  exits 0
  [ -s dot/checkpoint.iap ] && [ -s kept.iap ] || fail "nothing is left of the training"
  grep -q 'loop2-at' out && fail "the loop trained on"
  return 0
}
