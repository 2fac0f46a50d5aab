#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "lua/memory_pool.hpp"
#include "lua/protect.hpp"

namespace iap::lua {

/// What Lua out of a file may use.
struct Allowance {
  std::int64_t steps = 300'000'000;  ///< in one call from C++: instructions, and what the libraries' loops and allocations cost
  std::size_t memory = std::size_t{256} << 20;   ///< bytes of the whole state
  std::size_t string = std::size_t{16} << 20;    ///< bytes of one string
  std::size_t program = std::size_t{256} << 10;  ///< bytes of one text of a program
  std::size_t keys = std::size_t{1} << 16;   ///< of one table besides its list: places for them, which Lua doubles; 1024 or more
  std::size_t stack = std::size_t{1} << 18;  ///< values on the stack of one thread: of calls inside calls, or handed over at once
  double seconds = 60;         ///< of processor time in one call: for what steps do not see, such as comparing long strings
  MemoryPool* pool = nullptr;  ///< that its memory is taken from; null: the process's
};

/// Counts what a confined state uses. Once a limit is passed the state is past it for good: whatever Lua does with the error, every
/// further instruction, bounded function and call from C++ fails with the same message.
///
/// Instructions are counted by a hook, which each thread of the state inherits from the one that makes it. Library functions whose
/// loops no hook sees are replaced by ones that `charge` (bounded.hpp). How long one instruction may take depends on the largest
/// strings, blocks, stacks and hash parts of tables: where those are large, fewer instructions pass between two looks at the clock.
/// A hash part beyond a limit is refused: integer keys may all collide in it, and one instruction that makes it anew takes the
/// square. So is a stack: a call of what is called through `__call` of `__call` moves its arguments up the stack, one value a turn.
///
/// The state's own collector is stopped: a table with weak keys can make one collection take hours (each pass over such tables may
/// mark a single entry), and no hook runs meanwhile. So this one collects, when memory has doubled, and makes the keys of all
/// tables strong before.
class Meter {
 public:
  /// `loaded_from` is the file whose author would have to be trusted.
  Meter(const std::string& loaded_from, const Allowance& allowance);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// The meter of the state; null where it has none, being free.
  static Meter* of(lua_State* state) noexcept;
  /// For lua_newstate, whose user data is the meter.
  static void* allocate(void* meter, void* block, std::size_t old_size, std::size_t new_size) noexcept;
  /// Opener: begins to count; pushes the table that must get every metatable as a key, so that its mode is known.
  void begin(lua_State* state);

  /// For C functions without C++ objects: takes `steps` from what is left of this call, and raises past it.
  void charge(lua_State* state, std::uint64_t steps) {
    take(steps);
    if (left_ < look_at_) check(state);
  }
  /// The same before a loop that charges as it goes: takes `steps` where so many are not left, so that it need not begin.
  void foresee(lua_State* state, std::uint64_t steps) {
    if (left_ < 0 || steps > static_cast<std::uint64_t>(left_)) charge(state, steps);
  }
  /// The same for C++. @throws LuaError.
  void spend(std::uint64_t steps);
  /// Takes steps without a word; who looks next notices.
  void owe(std::uint64_t steps) noexcept { take(steps); }
  /// For C functions: raises where a string of so many bytes may not be made.
  void check_string(lua_State* state, std::uint64_t bytes);
  /// For C functions: looks at steps and time, and raises if the state is past a limit.
  void check(lua_State* state);
  /// Whether what is allocated from now on is a table's list, or for keys that no program chose: Lua does not tell the allocator,
  /// and a list may be as large as a hash part. No Lua may run meanwhile, and nothing may raise but want of memory.
  void allow_any_table(bool allowed) noexcept { any_table_ = allowed; }
  /// What parsing the program `name` of so many bytes costs: in the square, as chains of `and` do. @throws LuaError if it is too
  /// long.
  void charge_program(std::string_view name, std::size_t bytes);
  /// Before the thread runs: it is looked at as often as what its state holds wants it.
  void enter(lua_State* thread) noexcept;
  /// Whether Lua may no longer go on: past a limit, or interrupted by the user.
  bool over() const noexcept;
  bool past() const noexcept { return passed_ != nullptr; }
  /// "; if you trust FILE, pass --trust ...": the end of every refusal.
  const std::string& remedy() const { return remedy_; }
  /// Bytes in use.
  std::size_t memory() const noexcept { return used_; }

  /// A call from C++; those inside others belong to the outermost. @throws LuaError where the state is past a limit.
  class Call {
   public:
    explicit Call(lua_State* state);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    Meter* meter() const { return meter_; }

   private:
    Meter* meter_;
  };

  /// @throws LuaError if a limit was passed: which one, where, and the remedy.
  void refuse_past() const;
  /// Lua had no memory left. @throws LuaError.
  [[noreturn]] void refuse_memory();

 private:
  static void hook(lua_State* state, lua_Debug* frame);
  void begin_call() noexcept;
  void take(std::uint64_t steps) noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 50;
    left_ -= static_cast<std::int64_t>(steps < most ? steps : most);
  }
  void look() noexcept;
  void plan_look() noexcept;
  void tick(lua_State* state) noexcept;
  void check_time() noexcept;
  void choose_interval(double elapsed) noexcept;
  void meet(std::size_t& largest, std::size_t size) noexcept;
  void collect(lua_State* state) noexcept;
  void expect_collection() noexcept;
  void strengthen_keys() noexcept;
  bool may_make_table_part(std::size_t bytes) noexcept;
  bool is_stack(const void* block, std::size_t bytes) const noexcept;
  bool may_be_stack(std::size_t bytes) const noexcept;
  bool may_grow_stack(std::size_t bytes) noexcept;
  bool note_stack(void* before, void* now) noexcept;
  bool room_for(std::size_t bytes) noexcept;
  bool share_reaches(std::size_t bytes) noexcept;
  void settle() noexcept;
  void pass(const char* limit) noexcept;
  void note_place(lua_State* state) noexcept;
  void raise(lua_State* state);
  std::string message() const;

  std::string remedy_, place_, shortage_;
  Allowance allowance_;
  MemoryPool& pool_;
  std::int64_t left_, look_at_ = 0;                ///< below which the next look is due
  std::size_t used_ = 0, share_ = 0, collect_at_;  ///< the share was taken from the pool
  std::size_t spare_;                              ///< bytes that may still be allocated past a limit
  const char* passed_ = nullptr;                   ///< null, or what was too much
  const char* lacking_;                            ///< what is too much if Lua ends by itself for want of memory, as its buffers do
  int calls_ = 0;                                  ///< nested
  int interval_;                                   ///< instructions between two looks
  std::size_t longest_string_, largest_block_, largest_hash_, largest_stack_;  ///< bytes, bytes, places, values; once there was one
  std::size_t made_before_ = 0;                                                ///< Lua's kind of what was allocated last
  std::unordered_set<const void*> stacks_;  ///< of threads, where they have them since they were made or moved them from there
  bool slow_ = false;       ///< whether one of these is so large that the usual interval may take more than a second or two
  bool refused_ = false;    ///< whether the last growth was refused
  bool any_table_ = false;  ///< see allow_any_table
  double started_ = 0, processor_ = 0;
  bool started_known_ = false,
       timing_ = false;              ///< whether the clocks were read in this call: at the first look, and the processor's later
  lua_State* running_ = nullptr;     ///< the thread that runs, or did last
  lua_State* metatables_ = nullptr;  ///< a thread that holds the known metatables and "__mode"
};

/// For C functions, as Meter::charge; free states pay nothing.
inline void charge(lua_State* state, std::uint64_t steps) {
  if (Meter* meter = Meter::of(state)) meter->charge(state, steps);
}

/// For C functions, as Meter::check_string.
inline void check_string(lua_State* state, std::uint64_t bytes) {
  if (Meter* meter = Meter::of(state)) meter->check_string(state, bytes);
}

/// For C functions, as Meter::check.
inline void check_time(lua_State* state) {
  if (Meter* meter = Meter::of(state)) meter->check(state);
}

/// For C functions: lua_createtable for a list of so many items, with so many names beside them.
void create_list(lua_State* state, std::size_t items, int names = 0);

/// For C++ that works in proportion to what Lua gave it. @throws LuaError.
inline void spend(lua_State* state, std::uint64_t steps) {
  if (Meter* meter = Meter::of(state)) meter->spend(steps);
}

}  // namespace iap::lua
