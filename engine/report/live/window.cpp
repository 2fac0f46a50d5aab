module;
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "report/live/live.h"
module iap.report;
import iap.core;
import iap.plugin;
import :controls;
import :live;

namespace iap {
namespace {

static_assert(static_cast<int>(escape_key) == iap_live_escape && static_cast<int>(left_key) == iap_live_left &&
              static_cast<int>(right_key) == iap_live_right && static_cast<int>(up_key) == iap_live_up &&
              static_cast<int>(down_key) == iap_live_down);
static_assert(static_cast<int>(LiveEventKind::press) == iap_live_press &&
              static_cast<int>(LiveEventKind::repeat) == iap_live_repeat &&
              static_cast<int>(LiveEventKind::release) == iap_live_release &&
              static_cast<int>(LiveEventKind::unfocus) == iap_live_unfocus &&
              static_cast<int>(LiveEventKind::close) == iap_live_close);

class PluginWindow final : public LiveWindow {
 public:
  PluginWindow(const std::string& title, int width, int height)
      : table_(plugin_table<iap_live_table>(
            {"live", iap_live_version,
             "it needs SDL2: install the package of this program that brings it, or build with libsdl2-dev installed (and not with "
             "-DIAP_LIVE=OFF)"})),
        window_(table_.open(title.c_str(), width, height, error_, sizeof error_)) {
    if (!window_)
      throw Error(text("no window can be opened: ", error_,
                       "; a window needs a display (over ssh: ssh -X). Without one write a film: leave out "
                       "--live"));
  }
  ~PluginWindow() override { table_.close(window_); }
  PluginWindow(const PluginWindow&) = delete;
  PluginWindow& operator=(const PluginWindow&) = delete;

  void show(const Image& picture) override {
    const ImageShape& shape = picture.shape();
    if (table_.present(window_, picture.bytes().data(), shape.width, shape.height, error_, sizeof error_) != 0)
      throw Error(text("the window cannot show a picture: ", error_));
  }
  std::optional<LiveEvent> wait(double seconds) override {
    iap_live_event event{};
    if (table_.wait(window_, static_cast<std::int32_t>(std::ceil(1000 * std::max(seconds, 0.0))), &event) == 0) return {};
    return LiveEvent{static_cast<LiveEventKind>(event.kind), event.key};
  }
  double now() override { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

 private:
  char error_[256] = "";
  const iap_live_table& table_;
  void* window_;
};

}  // namespace

std::unique_ptr<LiveWindow> open_live_window(const std::string& title, int width, int height) {
  return std::make_unique<PluginWindow>(title, width, height);
}

}  // namespace iap
