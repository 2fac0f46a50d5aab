#pragma once
#include <stddef.h>
#include <stdint.h>

/// The table of the plugin `live`, which shows pictures in a window and says which keys are pressed there. All functions are called
/// on one thread.
extern "C" {

enum { iap_live_version = 1 };

/// Keys of printable characters have the code of the character, of letters the lower-case one.
enum iap_live_key { iap_live_escape = 27, iap_live_left = 256, iap_live_right, iap_live_up, iap_live_down };

enum iap_live_kind { iap_live_press, iap_live_repeat, iap_live_release, iap_live_unfocus, iap_live_close };

struct iap_live_event {
  int32_t kind;  ///< of iap_live_kind
  int32_t key;   ///< of iap_live_press, iap_live_repeat and iap_live_release; 0 for other keys than those above
};

struct iap_live_table {
  /// Opens a window with room for pictures of width x height pixels. Null if it cannot be; why is then in `error`.
  void* (*open)(const char* title, int32_t width, int32_t height, char* error, size_t error_size);
  /// Shows a picture: rows top-down, 3 bytes a pixel (red, green, blue), without gaps. Of another size than the one before it makes
  /// the window fit. 0, or -1 with why in `error`.
  int32_t (*present)(void* window, const uint8_t* rgb, int32_t width, int32_t height, char* error, size_t error_size);
  /// Waits up to `milliseconds` for something to happen; 1 if it did, 0 if not.
  int32_t (*wait)(void* window, int32_t milliseconds, struct iap_live_event* event);
  void (*close)(void* window);
};
}
