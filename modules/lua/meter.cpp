#include "lua/meter.hpp"

#include <ctime>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "lua/tables.hpp"

namespace iap::lua {
namespace {

/// Instructions between two looks, fewer where one can take long. It may compare two long strings, and a byte of these, where it is
/// zero, takes the C library's comparison so many seconds. It may look for a key among ones that all collide, in 2000 tables one
/// behind the other by __index, the most that Lua goes through (or in one that is behind itself). It may move half the square of a
/// stack's values, to call what is called through others (or through itself). It may walk through a block, as `next` does for the
/// first value of a list that was emptied.
constexpr int usual_interval = 2000;
constexpr double seconds_a_byte = 20e-9, seconds_a_place = 2000 * 4e-9, seconds_a_byte_walked = 0.2e-9, seconds_a_move = 0.6e-9;
/// Walks shorten the interval where it would take longer than this. The others begin with half of the time that is left, as an
/// honest program with such strings and tables ends long before.
constexpr double longest_walks = 2;
/// Without longer strings, larger blocks and hash parts of more places, the instructions between two looks take a few seconds at
/// most.
constexpr std::size_t long_string = std::size_t{1} << 16, large_block = std::size_t{4} << 20, large_hash = 256, large_stack = 2048;
/// Between two looks bounded functions take as many steps as so many times the instructions: what they charge for an element.
constexpr std::int64_t steps_an_instruction = 4;
/// Lua's own: a place in the hash part of a table, a value in its list. Hash parts have a power of two of places.
constexpr std::size_t bytes_a_place = 24, bytes_a_value = 16;
/// To make a hash part of so many places anew is worth a look at the clock.
constexpr std::size_t worth_a_look = 1024;
/// A step is about what an instruction takes: so many bytes are allocated, moved or collected in one.
constexpr std::size_t bytes_allocated = 16, bytes_collected = 8;
constexpr std::size_t least_garbage = std::size_t{1} << 18;
/// What messages may take when nothing else may.
constexpr std::size_t reserve_for_messages = std::size_t{64} << 10;
constexpr std::size_t longest_place = 200, longest_shortage = 500;
/// What is taken from the pool or given back at once: a fresh state has more.
constexpr std::size_t portion = std::size_t{1} << 14;

constexpr const char* steps_limit = "took more steps than one call may";
constexpr const char* memory_limit = "used more memory than a state may";
constexpr const char* pool_limit = "found too little memory in the process";
constexpr const char* string_limit = "made a longer string than it may";
constexpr const char* keys_limit = "made a table of more keys than it may";
constexpr const char* stack_limit = "made a larger stack than it may";
constexpr const char* time_limit = "took more processor time than one call may";

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Meter::Meter(const std::string& loaded_from, const Allowance& allowance)
    : remedy_(text("; if you trust '", loaded_from,
                   "', pass --trust (trust = true in Lua, iap_policy_load_trusted in C, trusted=True in Python)")),
      allowance_(allowance),
      pool_(allowance.pool ? *allowance.pool : MemoryPool::of_process()),
      left_(allowance.steps),
      collect_at_(least_garbage),
      spare_(reserve_for_messages),
      lacking_(memory_limit),
      interval_(usual_interval),
      longest_string_(long_string),
      largest_block_(large_block),
      largest_hash_(large_hash),
      largest_stack_(large_stack) {
  place_.reserve(longest_place);
  shortage_.reserve(longest_shortage);
}

Meter::~Meter() { pool_.give_back(share_); }

Meter* Meter::of(lua_State* state) noexcept {
  void* meter = nullptr;
  return lua_getallocf(state, &meter) == allocate ? static_cast<Meter*>(meter) : nullptr;
}

void* Meter::allocate(void* meter, void* block, std::size_t old_size, std::size_t new_size) noexcept {
  Meter& self = *static_cast<Meter*>(meter);
  // Without a block, the old size is the kind of what is made.
  const std::size_t held = block ? old_size : 0;
  const bool stack = block ? self.is_stack(block, old_size) : old_size == 0 && self.made_before_ == LUA_TTHREAD;
  if (new_size == 0) {
    if (stack) self.stacks_.erase(block);
    std::free(block);
    self.used_ -= held;
    self.settle();
    return nullptr;
  }
  if (new_size > held) {
    constexpr std::size_t header = 64, grown = std::numeric_limits<std::size_t>::max();
    const std::size_t kind = block ? grown : old_size, before = std::exchange(self.made_before_, kind);
    const bool string = kind == LUA_TSTRING;
    if (string && new_size > self.allowance_.string + header) self.pass(string_limit);
    // What follows a userdata is the memory of luaL_Buffer, which that userdata holds.
    const bool table_part = kind == 0 && before != LUA_TUSERDATA && new_size > large_hash * bytes_a_place;
    if (table_part && !self.may_make_table_part(new_size)) return nullptr;
    const bool perhaps_stack = kind == 0 && before != LUA_TUSERDATA && self.may_be_stack(new_size);
    if ((stack || perhaps_stack) && !self.may_grow_stack(new_size)) return nullptr;
    if (!self.room_for(new_size - held)) {
      if (stack && !block) self.made_before_ = before;  // Lua collects, and asks once more
      return nullptr;
    }
    self.left_ -= static_cast<std::int64_t>(1 + new_size / bytes_allocated);
    if (string && new_size > self.longest_string_) self.meet(self.longest_string_, new_size);
    if (new_size > self.largest_block_) self.meet(self.largest_block_, new_size);
  }
  void* moved = std::realloc(block, new_size);
  if (!moved) return new_size <= held ? block : nullptr;  // Lua counts on making things smaller
  if (stack && moved != block && !self.note_stack(block, moved)) {
    std::free(moved);
    return nullptr;
  }
  self.used_ += new_size - held;
  self.settle();
  return moved;
}

bool Meter::room_for(std::size_t bytes) noexcept {
  // Loops of Lua's own that nobody counts may allocate.
  if (left_ < 0 && calls_ > 0) pass(steps_limit);
  const bool spent = past() && bytes > spare_;
  const std::size_t most = allowance_.memory + (past() ? reserve_for_messages : 0);
  const bool inside = !spent && used_ <= most && bytes <= most - used_;
  if (inside && share_reaches(used_ + bytes)) {
    if (past()) spare_ -= bytes;
    refused_ = false;
    return true;
  }
  lacking_ = inside ? pool_limit : memory_limit;
  if (refused_ || bytes > allowance_.memory) pass(lacking_);
  refused_ = true;
  expect_collection();
  return false;
}

// A list that comes into being with its size may be as large as a hash part. One made of values on the stack, as `{ f() }` makes
// it, is told by these: instructions and functions that store a key have fewer. The stack can be looked at: the releases of Lua
// that take its pointers away while it moves (5.4.5 and later) change its block, and this is about new ones.
bool Meter::may_make_table_part(std::size_t bytes) noexcept {
  const std::size_t places = bytes / bytes_a_place;
  if (bytes % bytes_a_place != 0 || !std::has_single_bit(places) || any_table_) return true;
  if (running_ && static_cast<std::size_t>(lua_gettop(running_)) > bytes / bytes_a_value) return true;
  if (places > allowance_.keys) {
    if (running_ && !past()) note_place(running_);
    pass(keys_limit);
  } else if (places > largest_hash_) {
    meet(largest_hash_, places);
  } else if (places >= worth_a_look) {
    check_time();
  }
  // One more that takes as long as the last would be too much.
  if (!past() || places < worth_a_look) return true;
  expect_collection();
  return false;
}

// Releases before 5.4.5 take a new block for a stack that grows, as they do for lists of a known size: of these none has as many
// values as a stack may have, and one that is taken for a stack costs looks alone.
bool Meter::may_be_stack(std::size_t bytes) const noexcept {
  constexpr bool takes_new_blocks = LUA_VERSION_RELEASE_NUM < 50405;
  return takes_new_blocks && bytes > large_stack * bytes_a_value && bytes % bytes_a_value == 0 && !any_table_;
}

// None is smaller.
bool Meter::is_stack(const void* block, std::size_t bytes) const noexcept {
  return bytes >= LUA_MINSTACK * bytes_a_value && bytes % bytes_a_value == 0 && stacks_.contains(block);
}

bool Meter::may_grow_stack(std::size_t bytes) noexcept {
  const std::size_t values = bytes / bytes_a_value;
  if (values > allowance_.stack) {
    lacking_ = stack_limit;  // which Lua may catch, as its own limit
    expect_collection();
    return false;
  }
  if (values > largest_stack_) meet(largest_stack_, values);
  return true;
}

// One that moves needs no memory for this.
bool Meter::note_stack(void* before, void* now) noexcept try {
  auto node = stacks_.extract(before);
  if (!node) return stacks_.insert(now).second;
  node.value() = now;
  stacks_.insert(std::move(node));
  return true;
} catch (const std::exception&) {
  return false;
}

// Lua, where it is refused memory, collects what it can and asks once more.
void Meter::expect_collection() noexcept {
  left_ -= static_cast<std::int64_t>(used_ / bytes_collected);
  strengthen_keys();
}

// Called inside of allocations: what it keeps fits into what was reserved.
bool Meter::share_reaches(std::size_t bytes) noexcept {
  if (bytes <= share_ + (past() ? reserve_for_messages : 0)) return true;
  const std::size_t more = (bytes - share_ + portion - 1) / portion * portion;
  try {
    pool_.take(more);
  } catch (const std::exception& error) {
    shortage_ = std::string_view(error.what()).substr(0, longest_shortage);
    return false;
  }
  share_ += more;
  return true;
}

void Meter::settle() noexcept {
  if (share_ < used_ + 2 * portion) return;
  const std::size_t spare = (share_ - used_) / portion * portion;
  pool_.give_back(spare);
  share_ -= spare;
}

void Meter::begin(lua_State* state) {
  lua_gc(state, LUA_GCSTOP);
  lua_State* thread = lua_newthread(state);
  lua_rawsetp(state, LUA_REGISTRYINDEX, this);
  lua_createtable(state, 0, 0);
  lua_createtable(state, 0, 1);
  lua_pushliteral(state, "k");
  lua_setfield(state, -2, "__mode");
  lua_setmetatable(state, -2);
  lua_pushvalue(state, -1);
  lua_pushliteral(state, "__mode");
  lua_xmove(state, thread, 2);
  metatables_ = thread;
  lua_sethook(state, hook, LUA_MASKCOUNT, usual_interval);
}

// Runs inside of allocations too: it allocates nothing, and works on a stack of its own.
void Meter::strengthen_keys() noexcept {
  if (!metatables_) return;
  lua_State* state = metatables_;
  lua_pushnil(state);
  while (lua_next(state, 1)) {
    lua_pop(state, 1);
    lua_pushvalue(state, 2);
    if (lua_rawget(state, 3) == LUA_TSTRING) {
      const char* mode = lua_tolstring(state, -1, nullptr);
      if (std::strchr(mode, 'k') && !std::strchr(mode, 'v')) {
        lua_pushvalue(state, 2);
        lua_pushnil(state);
        lua_rawset(state, 3);
      }
    }
    lua_pop(state, 1);
  }
}

void Meter::collect(lua_State* state) noexcept {
  expect_collection();
  lua_gc(state, LUA_GCCOLLECT);
  const std::size_t left = allowance_.memory - std::min(used_, allowance_.memory);
  collect_at_ = used_ + std::max(std::min(used_, left / 2), least_garbage);
}

void Meter::hook(lua_State* state, lua_Debug*) {
  Meter& meter = *of(state);
  meter.running_ = state;
  if (interrupt_requested()) {
    lua_sethook(state, hook, LUA_MASKCOUNT, 1);
    luaL_error(state, "interrupted");
  }
  meter.tick(state);
  if (meter.past()) meter.raise(state);
}

void Meter::tick(lua_State* state) noexcept {
  left_ -= lua_gethookcount(state);
  if (used_ > collect_at_) collect(state);
  look();
  const int wanted = past() ? 1 : interval_;
  if (lua_gethookcount(state) != wanted) lua_sethook(state, hook, LUA_MASKCOUNT, wanted);
}

void Meter::look() noexcept {
  if (left_ < 0) pass(steps_limit);
  check_time();
  plan_look();
}

void Meter::plan_look() noexcept {
  look_at_ = past() ? std::numeric_limits<std::int64_t>::max()
                    : std::max(left_ - steps_an_instruction * std::int64_t{interval_}, std::int64_t{0});
}

// Half of the time that is left may pass until the next look, in the worst case: a call that begins may run as long as ever, and
// one whose time is nearly over is looked at often.
void Meter::choose_interval(double elapsed) noexcept {
  constexpr double least = 1;
  const double most = std::max(allowance_.seconds - elapsed, least) / 2;
  const auto values = static_cast<double>(largest_stack_);
  const double longest = std::max({seconds_a_byte * static_cast<double>(longest_string_),
                                   seconds_a_place * static_cast<double>(largest_hash_), seconds_a_move * values * values / 2});
  const double walk = seconds_a_byte_walked * static_cast<double>(largest_block_);
  interval_ =
      static_cast<int>(std::clamp(std::min(most / longest, std::min(most, longest_walks) / walk), 1.0, double{usual_interval}));
}

void Meter::enter(lua_State* thread) noexcept {
  running_ = thread;
  const int wanted = past() ? 1 : interval_;
  if (lua_gethookcount(thread) > wanted) lua_sethook(thread, hook, LUA_MASKCOUNT, wanted);
}

void Meter::meet(std::size_t& largest, std::size_t size) noexcept {
  largest = size;
  slow_ = true;
  check_time();
  plan_look();
  if (running_) enter(running_);
}

void Meter::check_time() noexcept {
  // The clock of the processor's time is slow to ask; it never runs ahead of the other.
  constexpr double worth_asking = 0.1;
  const double now = seconds_of(CLOCK_MONOTONIC_COARSE);
  if (!started_known_) {
    started_ = now;
    started_known_ = true;
  }
  const double elapsed = now - started_;
  choose_interval(elapsed);
  if (!timing_ && (elapsed >= worth_asking || slow_)) {
    processor_ = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    timing_ = true;
  }
  if (elapsed > allowance_.seconds && seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor_ > allowance_.seconds) pass(time_limit);
}

// Inside of allocations too, where a thread's stack may be on the move: only its hook may be touched.
void Meter::pass(const char* limit) noexcept {
  any_table_ = false;
  if (passed_) return;
  passed_ = limit;
  plan_look();
  if (running_) enter(running_);
}

// What it keeps fits into what was reserved, so that it allocates nothing.
void Meter::note_place(lua_State* state) noexcept {
  if (!place_.empty()) return;
  lua_Debug frame;
  for (int level = 0; place_.empty() && lua_getstack(state, level, &frame); ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.currentline <= 0) continue;
    char digits[16];
    int count = 0;
    for (int line = frame.currentline; line > 0; line /= 10) digits[count++] = static_cast<char>('0' + line % 10);
    place_.append(frame.short_src, std::min(std::strlen(frame.short_src), longest_place - sizeof digits)).push_back(':');
    while (count > 0) place_.push_back(digits[--count]);
  }
}

void Meter::raise(lua_State* state) {
  note_place(state);
  lua_pushstring(state, passed_);
  lua_error(state);
}

void Meter::spend(std::uint64_t steps) {
  take(steps);
  if (left_ < look_at_) {
    look();
    if (running_) enter(running_);
  }
  refuse_past();
}

void Meter::check_string(lua_State* state, std::uint64_t bytes) {
  if (bytes > allowance_.string) pass(string_limit);
  if (past()) raise(state);
}

void Meter::check(lua_State* state) {
  look();
  enter(state);
  if (past()) raise(state);
}

void Meter::charge_program(std::string_view name, std::size_t bytes) {
  constexpr std::uint64_t square = 256;
  if (bytes > allowance_.program)
    throw LuaError(text(name, ": is a program of ", bytes, " bytes, where ", allowance_.program,
                        " is the most that a file may bring", remedy_));
  spend(bytes + static_cast<std::uint64_t>(bytes) * bytes / square);
}

bool Meter::over() const noexcept { return past() || interrupt_requested(); }

void Meter::begin_call() noexcept {
  left_ = allowance_.steps;
  started_known_ = timing_ = false;
  interval_ = usual_interval;
  if (slow_) check_time();
  plan_look();
}

std::string Meter::message() const {
  // Trust would lift the count of memory, not make more of it.
  if (passed_ == pool_limit) return text(place_, place_.empty() ? "" : ": ", shortage_);
  constexpr std::int64_t million = 1'000'000;
  const auto bytes = [](std::size_t count) { return memory_text(static_cast<double>(count)); };
  const auto limit = passed_ == memory_limit   ? text("used more than ", bytes(allowance_.memory), " of memory")
                     : passed_ == string_limit ? text("made a string of more than ", bytes(allowance_.string))
                     : passed_ == keys_limit   ? text("made a table with more than ", allowance_.keys,
                                                      " keys besides its list (fill lists from their beginning, without gaps)")
                     : passed_ == stack_limit
                         ? text("wants a stack of more than ", allowance_.stack,
                                " values, which Lua doubles (calls inside calls, or many values handed over at once)")
                     : passed_ == time_limit ? text("took more than ", allowance_.seconds, " s of processor time in one call")
                                             : text("took more than ", allowance_.steps / million, " million steps in one call");
  return text(place_, place_.empty() ? "" : ": ", limit, ", the most that Lua out of a file may", remedy_);
}

void Meter::refuse_past() const {
  if (past()) throw LuaError(message());
}

void Meter::refuse_memory() {
  pass(lacking_);
  throw LuaError(message());
}

Meter::Call::Call(lua_State* state) : meter_(of(state)) {
  if (!meter_) return;
  meter_->refuse_past();
  if (meter_->calls_++ == 0) {
    // What C++ makes for each call, such as lists of inputs, is garbage before the hook of a short one ever runs.
    if (meter_->used_ > meter_->collect_at_) meter_->collect(state);
    meter_->begin_call();
  }
  meter_->enter(state);
}

Meter::Call::~Call() {
  if (meter_) --meter_->calls_;
}

void create_list(lua_State* state, std::size_t items, int names) {
  Meter* const meter = Meter::of(state);
  if (meter) meter->allow_any_table(true);
  lua_createtable(state, static_cast<int>(std::min<std::size_t>(items, INT_MAX)), names);
  if (meter) meter->allow_any_table(false);
}

}  // namespace iap::lua
