#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lua/protect.hpp"
import iap.core;

namespace iap::lua {

class Call;
/// The body of a function that Lua calls; returns the number of values it gave back.
using Body = int (*)(Call& call);

/// One row of a library table or of a class: the name in Lua, and `entry<body>`.
struct Function {
  const char* name;
  lua_CFunction entry;
};

/// What Lua must know about a class of C++ objects. Each shared object has its own: never hand userdata from one to another.
struct ClassInfo {
  const char* name;  ///< as in messages and in methods' names: "env" gives "env:step"
  void (*destroy)(void* object) noexcept;
  std::string (*describe)(const void* object);  ///< for tostring
  Config (*config)(const void* object);         ///< what the object means inside an option table; may be null
};

/// A class T is bound by a static `class_name`, a `describe() const` and, where it may stand in an option table, a
/// `config() const`.
template <typename T>
struct ClassOf {
  static void destroy(void* object) noexcept { delete static_cast<T*>(object); }
  static std::string describe(const void* object) { return static_cast<const T*>(object)->describe(); }
  static Config config(const void* object) {
    if constexpr (requires(const T& t) { t.config(); })
      return static_cast<const T*>(object)->config();
    else
      return {};
  }
  static constexpr bool has_config = requires(const T& t) { t.config(); };
  inline static const ClassInfo info{T::class_name, destroy, describe, has_config ? &ClassOf::config : nullptr};
};

/// An object and how many hold it: its userdata, until it is closed or collected, and every call that uses it (Call::object). The
/// last one destroys it: what a call allocates in Lua may run a finalizer that closes the object whose method is at work.
struct Holding {
  void* object;
  const ClassInfo* info;
  int holders = 1;
};

/// One holder less.
void let_go(Holding* holding) noexcept;

/// What a userdata holds: the object, or null once it was closed.
struct Box {
  void* object;
  Holding* holding;
};

struct FoundObject {
  const ClassInfo* info = nullptr;  ///< null: not one of our objects
  Box* box = nullptr;
};

/// Looks at the value at `index` without raising, whatever it is.
FoundObject find_object(lua_State* state, int index);

/// Opener: makes the class known to `state`. `methods` get an error with the nearest name for what they lack.
void define_class(lua_State* state, const ClassInfo& info, std::span<const Function> methods);

/// Pushes a new, still empty userdata of the class. @throws LuaError.
Box* push_box(lua_State* state, const ClassInfo& info);

/// Tells the collector, which sees only Lua's memory, about `bytes` of native memory. The stack stays as it was.
void account(lua_State* state, std::size_t bytes);

/// Pushes `object`, which Lua then owns. @throws LuaError.
template <typename T>
void push_object(lua_State* state, std::unique_ptr<T> object, std::size_t native_bytes = 0) {
  // In two steps: an assignment evaluates its right side first, and pushing may throw.
  Box* box = push_box(state, ClassOf<T>::info);
  box->holding = new Holding{object.get(), &ClassOf<T>::info};
  box->object = object.release();
  account(state, native_bytes);
}

}  // namespace iap::lua
