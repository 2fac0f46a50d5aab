module;
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
module iap.sim;
import iap.core;
#include "mujoco_egl.hpp"

// EGL's stable ABI is spelt out here: the engine must build and run without its headers and library.
namespace iap {
namespace {

using Handle = void*;
using Int = std::int32_t;
constexpr Int none = 0x3038, surface_type = 0x3033, draw_surface = 0x3059, read_surface = 0x305A, pbuffer_bit = 1,
              renderable_type = 0x3040, opengl_bit = 8, red_size = 0x3024, green_size = 0x3023, blue_size = 0x3022,
              extensions_name = 0x3055;
constexpr unsigned opengl_api = 0x30A2, surfaceless_platform = 0x31DD, device_platform = 0x313F;

struct Functions {
  Handle (*get_proc_address)(const char*);
  unsigned (*initialize)(Handle, Int*, Int*);
  unsigned (*choose_config)(Handle, const Int*, Handle*, Int, Int*);
  unsigned (*query_api)();
  unsigned (*bind_api)(unsigned);
  Handle (*create_context)(Handle, Handle, Handle, const Int*);
  unsigned (*destroy_context)(Handle, Handle);
  unsigned (*make_current)(Handle, Handle, Handle, Handle);
  Handle (*get_current_context)();
  Handle (*get_current_display)();
  Handle (*get_current_surface)(Int);
  const char* (*query_string)(Handle, Int);
  Int (*get_error)();
  // Extensions, nullptr where missing.
  Handle (*get_platform_display)(unsigned, Handle, const Int*);
  unsigned (*query_devices)(Int, Handle*, Int*);
  const char* (*query_device_string)(Handle, Int);
};

struct Display {
  Functions egl{};
  Handle display = nullptr, config = nullptr;
  bool gpu = false;
};

template <typename Function>
void load(Handle library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw Error(text("libEGL.so.1 has no ", name, "; install a current libegl1, or draw with path = 'cpu'"));
}

Functions load_functions() {
  // MuJoCo finds its OpenGL through whichever of EGL and OSMesa the process has loaded; RTLD_LOCAL suffices.
  const Handle library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(text("drawing through OpenGL needs EGL: ", dlerror(),
                     "; install libegl1 (and libgl1-mesa-dri without a GPU), or draw with path = 'cpu'"));
  Functions egl{};
  load(library, "eglGetProcAddress", egl.get_proc_address);
  load(library, "eglInitialize", egl.initialize);
  load(library, "eglChooseConfig", egl.choose_config);
  load(library, "eglQueryAPI", egl.query_api);
  load(library, "eglBindAPI", egl.bind_api);
  load(library, "eglCreateContext", egl.create_context);
  load(library, "eglDestroyContext", egl.destroy_context);
  load(library, "eglMakeCurrent", egl.make_current);
  load(library, "eglGetCurrentContext", egl.get_current_context);
  load(library, "eglGetCurrentDisplay", egl.get_current_display);
  load(library, "eglGetCurrentSurface", egl.get_current_surface);
  load(library, "eglQueryString", egl.query_string);
  load(library, "eglGetError", egl.get_error);
  const auto extension = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(egl.get_proc_address(name));
  };
  extension("eglGetPlatformDisplayEXT", egl.get_platform_display);
  extension("eglQueryDevicesEXT", egl.query_devices);
  extension("eglQueryDeviceStringEXT", egl.query_device_string);
  return egl;
}

// OpenGL is the API of the calling thread's calls while it lives; then it is again the one that the host chose.
class OpenGlApi {
 public:
  explicit OpenGlApi(const Functions& egl) : egl_(egl), before_(egl.query_api()), bound_(egl.bind_api(opengl_api)) {}
  ~OpenGlApi() { egl_.bind_api(before_); }
  OpenGlApi(const OpenGlApi&) = delete;
  OpenGlApi& operator=(const OpenGlApi&) = delete;
  explicit operator bool() const { return bound_; }

 private:
  const Functions& egl_;
  unsigned before_;
  bool bound_;
};

bool start(Display& result, Handle display) {
  if (!display || !result.egl.initialize(display, nullptr, nullptr)) return false;
  if (const OpenGlApi api(result.egl); !api) return false;
  const std::array<Int, 11> wanted{surface_type, pbuffer_bit, renderable_type, opengl_bit, red_size, 8,
                                   green_size,   8,           blue_size,       8,          none};
  Int count = 0;
  if (!result.egl.choose_config(display, wanted.data(), &result.config, 1, &count) || count < 1) return false;
  result.display = display;
  return true;
}

// A GPU if there is one: the first device that is not a software renderer and starts.
bool start_device(Display& result) {
  const Functions& egl = result.egl;
  std::array<Handle, 16> devices{};
  Int count = 0;
  if (!egl.query_devices || !egl.query_devices(static_cast<Int>(devices.size()), devices.data(), &count)) return false;
  for (Int i = 0; i < count; ++i) {
    const char* extensions = egl.query_device_string ? egl.query_device_string(devices[i], extensions_name) : nullptr;
    if (extensions && std::strstr(extensions, "software")) continue;
    if (start(result, egl.get_platform_display(device_platform, devices[i], nullptr))) return result.gpu = true;
  }
  return false;
}

Display open_display() {
  Display result;
  result.egl = load_functions();
  if (!result.egl.get_platform_display)
    throw Error("this EGL cannot work without a window (no EGL_EXT_platform_base); draw with path = 'cpu'");
  if (start_device(result)) return result;
  if (start(result, result.egl.get_platform_display(surfaceless_platform, nullptr, nullptr))) return result;
  throw Error(text("EGL found neither a GPU nor a software renderer for OpenGL (error ", result.egl.get_error(),
                   "); install libgl1-mesa-dri, or draw with path = 'cpu'"));
}

// Displays live as long as the process; terminating one would end everybody's contexts. A failure is tried anew at each call.
const Display& shared_display() {
  static const Display display = open_display();
  return display;
}

}  // namespace

EglContext::EglContext() {
  const Display& shared = shared_display();
  const OpenGlApi api(shared.egl);
  context_ = shared.egl.create_context(shared.display, shared.config, nullptr, nullptr);
  if (!context_)
    throw Error(text("EGL cannot create an OpenGL context (error ", shared.egl.get_error(), "); draw with path = 'cpu'"));
}

EglContext::~EglContext() {
  const Display& shared = shared_display();
  shared.egl.destroy_context(shared.display, context_);
}

EglContext::Current::Current(const EglContext& context) {
  const Display& shared = shared_display();
  const Functions& egl = shared.egl;
  context_ = egl.get_current_context();
  display_ = egl.get_current_display();
  draw_ = egl.get_current_surface(draw_surface);
  read_ = egl.get_current_surface(read_surface);
  api_ = egl.query_api();
  if (egl.bind_api(opengl_api) && egl.make_current(shared.display, nullptr, nullptr, context.context_)) return;
  const Int error = egl.get_error();
  egl.bind_api(api_);
  throw Error(text("EGL cannot make the OpenGL context current (error ", error,
                   "); it is in use by another thread, or the driver cannot draw without a surface"));
}

EglContext::Current::~Current() {
  const Display& shared = shared_display();
  const Functions& egl = shared.egl;
  egl.make_current(shared.display, nullptr, nullptr, nullptr);
  egl.bind_api(api_);
  if (context_) egl.make_current(display_, draw_, read_, context_);
}

bool EglContext::on_gpu() { return shared_display().gpu; }

void* EglContext::function(const char* name) { return shared_display().egl.get_proc_address(name); }

}  // namespace iap
