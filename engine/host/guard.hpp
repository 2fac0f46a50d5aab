#pragma once
// What every function of the C interface does: no exception leaves it, what the caller got wrong is told from what failed inside,
// and the host's modes have no part in results.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "host/modes.hpp"
#include "iap.h"
import iap.core;

namespace iap::host {

/// What the caller got wrong.
class BadArgument : public Error {
 public:
  using Error::Error;
};

/// A file that is missing, damaged or not to be written.
class BadFile : public Error {
 public:
  using Error::Error;
};

template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw BadArgument(text(parts...));
}

/// Runs `body`; no exception leaves. `keep` stores the message.
template <typename Body, typename Keep>
iap_status guarded(Body body, Keep keep) noexcept {
  const OwnModes modes;
  try {
    body();
    return IAP_OK;
  } catch (const BadArgument& error) {
    keep(error.what());
    return IAP_BAD_ARGUMENT;
  } catch (const BadFile& error) {
    keep(error.what());
    return IAP_BAD_FILE;
  } catch (const std::bad_alloc&) {
    keep("out of memory");
    return IAP_FAILED;
  } catch (const std::exception& error) {
    keep(error.what());
    return IAP_FAILED;
  } catch (...) {
    keep("unknown failure");
    return IAP_FAILED;
  }
}

/// As `guarded`, for a call on `object`, whose member `error` keeps the message.
template <typename Object, typename Body>
iap_status on(Object* object, Body body) noexcept {
  if (!object) return IAP_BAD_ARGUMENT;
  return guarded(body, [object](const char* text) noexcept {
    try {
      object->error = one_line(text);
    } catch (...) {
      object->error.clear();
    }
  });
}

/// As `guarded`, for a call that makes an object: `message` receives what is wrong.
template <typename Body>
iap_status making(char* message, std::size_t size, Body body) noexcept {
  return guarded(body, [=](const char* text) noexcept {
    if (!message || size == 0) return;
    const auto copy = [=](std::string_view shown) {
      const std::size_t length = whole_characters(shown, size - 1);
      std::memcpy(message, shown.data(), length);
      message[length] = '\0';
    };
    try {
      copy(one_line(text));
    } catch (...) {
      copy("out of memory");
    }
  });
}

/// Frees what a call made; Lua that is trusted may run while it goes.
template <typename Object>
void destroy(const Object* object) noexcept {
  const OwnModes modes;
  delete object;
}

/// "1 image", "2 images".
inline std::string counted(std::size_t count, const char* what) { return text(count, " ", what, count == 1 ? "" : "s"); }

/// A number of threads as the caller gave it. @throws BadArgument.
inline int checked_threads(const char* function, std::int32_t threads) {
  constexpr std::int32_t most = 4096;
  require(threads >= 0 && threads <= most, function, ": 'threads' is ", threads, "; give 0 (all) to ", most);
  return threads;
}

}  // namespace iap::host
