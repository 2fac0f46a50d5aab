// The plugin `live` (live.h) on SDL2.
#define SDL_MAIN_HANDLED
#include <SDL2/SDL.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "plugin/plugin.h"
#include "report/live/live.h"

namespace {

struct Window {
  SDL_Window* window = nullptr;
  SDL_Renderer* renderer = nullptr;
  SDL_Texture* texture = nullptr;
  int width = 0, height = 0;  ///< of the pictures that it has room for
};

void explain(char* error, std::size_t size) { SDL_strlcpy(error, SDL_GetError(), size); }

void close_window(void* opened) {
  auto* window = static_cast<Window*>(opened);
  if (window->texture) SDL_DestroyTexture(window->texture);
  if (window->renderer) SDL_DestroyRenderer(window->renderer);
  if (window->window) SDL_DestroyWindow(window->window);
  delete window;
  SDL_QuitSubSystem(SDL_INIT_VIDEO);
  SDL_Quit();
}

/// Room for a picture in the middle of the screen, made smaller where the screen is.
void make_room(Window& window, int width, int height) {
  window.width = width;
  window.height = height;
  SDL_Rect screen;
  if (SDL_GetDisplayUsableBounds(std::max(0, SDL_GetWindowDisplayIndex(window.window)), &screen) == 0) {
    const double share = std::min({1.0, static_cast<double>(screen.w) / width, static_cast<double>(screen.h) / height});
    width = static_cast<int>(share * width);
    height = static_cast<int>(share * height);
  }
  SDL_SetWindowSize(window.window, width, height);
  SDL_SetWindowPosition(window.window, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
}

/// Names the kinds of screens that the environment speaks of. SDL by itself would go on to windows that nobody can see.
bool choose_screen() {
  if (std::getenv("SDL_VIDEODRIVER")) return true;
  const bool x11 = std::getenv("DISPLAY"), wayland = std::getenv("WAYLAND_DISPLAY");
  if (x11 || wayland)
    return SDL_SetHint(SDL_HINT_VIDEODRIVER, x11 && wayland ? "x11,wayland" : x11 ? "x11" : "wayland") == SDL_TRUE;
  SDL_SetError("neither DISPLAY nor WAYLAND_DISPLAY is set");
  return false;
}

void* open_window(const char* title, std::int32_t width, std::int32_t height, char* error, std::size_t error_size) {
  SDL_SetMainReady();
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C is the program's
  SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
  if (!choose_screen() || SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
    explain(error, error_size);
    return nullptr;
  }
  auto* window = new (std::nothrow) Window;
  if (!window) {
    SDL_strlcpy(error, "out of memory", error_size);
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
    return nullptr;
  }
  window->window = SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width, height,
                                    SDL_WINDOW_SHOWN | SDL_WINDOW_RESIZABLE);
  // A picture needs no graphics card, and every machine draws it the same.
  if (window->window) window->renderer = SDL_CreateRenderer(window->window, -1, SDL_RENDERER_SOFTWARE);
  if (!window->renderer) {
    explain(error, error_size);
    close_window(window);
    return nullptr;
  }
  make_room(*window, width, height);
  SDL_StopTextInput();
  return window;
}

void draw(const Window& window) {
  SDL_SetRenderDrawColor(window.renderer, 0, 0, 0, 255);
  SDL_RenderClear(window.renderer);
  if (window.texture) SDL_RenderCopy(window.renderer, window.texture, nullptr, nullptr);
  SDL_RenderPresent(window.renderer);
}

bool fit(Window& window, int width, int height) {
  int old_width = 0, old_height = 0;
  if (window.texture && SDL_QueryTexture(window.texture, nullptr, nullptr, &old_width, &old_height) == 0 && old_width == width &&
      old_height == height)
    return true;
  SDL_Texture* texture = SDL_CreateTexture(window.renderer, SDL_PIXELFORMAT_RGB24, SDL_TEXTUREACCESS_STREAMING, width, height);
  if (!texture) return false;
  if (window.texture) SDL_DestroyTexture(window.texture);
  window.texture = texture;
  if (window.width != width || window.height != height) make_room(window, width, height);
  return SDL_RenderSetLogicalSize(window.renderer, width, height) == 0;
}

std::int32_t present(void* opened, const std::uint8_t* rgb, std::int32_t width, std::int32_t height, char* error,
                     std::size_t error_size) {
  auto* window = static_cast<Window*>(opened);
  if (!fit(*window, width, height) || SDL_UpdateTexture(window->texture, nullptr, rgb, 3 * width) != 0) {
    explain(error, error_size);
    return -1;
  }
  draw(*window);
  return 0;
}

std::int32_t key_code(SDL_Keycode key) {
  switch (key) {
    case SDLK_LEFT: return iap_live_left;
    case SDLK_RIGHT: return iap_live_right;
    case SDLK_UP: return iap_live_up;
    case SDLK_DOWN: return iap_live_down;
    case SDLK_ESCAPE: return iap_live_escape;
    case SDLK_KP_PLUS: return '+';
    case SDLK_KP_MINUS: return '-';
    default: return key >= ' ' && key <= '~' ? key : 0;
  }
}

/// Whether `seen` is of any interest; if so, `event` says what it was.
bool understand(const Window& window, const SDL_Event& seen, iap_live_event& event) {
  switch (seen.type) {
    case SDL_QUIT: event = {iap_live_close, 0}; return true;
    case SDL_KEYDOWN: event = {seen.key.repeat ? iap_live_repeat : iap_live_press, key_code(seen.key.keysym.sym)}; return true;
    case SDL_KEYUP: event = {iap_live_release, key_code(seen.key.keysym.sym)}; return true;
    case SDL_WINDOWEVENT:
      switch (seen.window.event) {
        case SDL_WINDOWEVENT_CLOSE: event = {iap_live_close, 0}; return true;
        case SDL_WINDOWEVENT_FOCUS_LOST: event = {iap_live_unfocus, 0}; return true;
        case SDL_WINDOWEVENT_EXPOSED:
        case SDL_WINDOWEVENT_SIZE_CHANGED: draw(window); return false;
        default: return false;
      }
    default: return false;
  }
}

std::int32_t wait(void* opened, std::int32_t milliseconds, iap_live_event* event) {
  SDL_Event seen;
  // Events of no interest end the wait as well: who asked looks at the time and asks again.
  for (int found = SDL_WaitEventTimeout(&seen, milliseconds); found != 0; found = SDL_PollEvent(&seen))
    if (understand(*static_cast<const Window*>(opened), seen, *event)) return 1;
  return 0;
}

const iap_live_table table{open_window, present, wait, close_window};

}  // namespace

const iap_plugin_head iap_plugin{"live", iap_live_version, &table};
