#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "script/context.hpp"
#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.render;
import iap.report;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr int largest_factor = 64;

/// @lua function iap.image.read
/// Reads a picture.
/// @param path string - a .png
/// @return image - bytes, RGB
int read(Call& call) { return give_image(call, read_png(call.string(1, "path"))); }

/// @lua function iap.image.side_by_side
/// Joins pictures of equal height from left to right.
/// @param images image[] - at least one; all of one height, channels and 8 bits
/// @param gap integer 0..1000 = 2 - pixels between two
/// @return image - a new one
int side_by_side_images(Call& call) {
  if (lua_type(call.state(), call.at(1)) != LUA_TTABLE) call.refuse(1, "images", "a list of images");
  std::vector<Image> images;
  const auto count = static_cast<lua_Integer>(lua_rawlen(call.state(), call.at(1)));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(call.state(), call.at(1), i);
    const auto found = lua::find_object(call.state(), -1);
    if (found.info != &lua::ClassOf<ImageObject>::info || !found.box->object)
      call.fail(text("images[", i, "] must be an image, got ", lua::describe_value(call.state(), -1)));
    images.push_back(static_cast<ImageObject*>(found.box->object)->image);
    lua_pop(call.state(), 1);
  }
  if (images.empty()) call.refuse(1, "images", "at least one image");
  return give_image(call, side_by_side(images, static_cast<int>(call.integer(2, "gap", 0, 1000, 2))));
}

/// @lua method image:save_png
/// Writes the picture.
/// @param path string - the .png to write
int save_png(Call& call) {
  const auto path = call.string(1, "path");
  const auto& image = call.self<ImageObject>().image;
  RunContext::begin_writing(call.state());
  check_picture_name(path, "an image");
  write_png(path, image.view());
  return 0;
}

/// @lua method image:enlarge
/// Every pixel becomes a square of pixels.
/// @param factor integer 1..64 - side of the squares
/// @return image - a new one
int enlarge_image(Call& call) {
  return give_image(call,
                    enlarge(call.self<ImageObject>().image.view(), static_cast<int>(call.integer(1, "factor", 1, largest_factor))));
}

/// How opaque each patch of `selected` is; all alike where the view holds no scores.
std::vector<float> read_opacities(const Call& call, const Config& view, std::int64_t patches, const std::vector<int>& selected) {
  std::vector<float> scores(selected.size());
  if (const auto* given = view.find("scores")) {
    const Config::List all = given->list() ? *given->list() : Config::List{};
    if (std::ssize(all) != patches)
      call.fail(text("view.scores holds ", all.size(), " numbers for ", patches, " patches; give one for each"));
    for (std::size_t i = 0; i < selected.size(); ++i) {
      const Config& score = all[static_cast<std::size_t>(selected[i])];
      if (!score.number()) call.fail(text("view.scores holds ", score.describe(), ", which is no number"));
      scores[i] = static_cast<float>(*score.number());
    }
  }
  std::vector<int> places(scores.size());
  std::iota(places.begin(), places.end(), 0);
  return importance_opacities(scores, places);
}

/// @lua method image:overlay
/// A copy with the patches that a policy chose. They are filled with white: the one of the highest score among them is 3/4 opaque,
/// that of the lowest 1/4, in between it goes by score; where scores are equal all are 3/4. Call it on the image that the view
/// belongs to, which is `view.frame` where there is one.
/// @param view table{policy.view} - one of policy:views(); without `scores`, they count as equal
/// @param factor integer 1..64 = 1 - how much the image was enlarged
/// @return image - a new one
/// @example env:observe().images.pixels:enlarge(4):overlay(policy:views()[1], 4):save_png("seen.png")
int overlay(Call& call) {
  Image image = call.self<ImageObject>().image;
  const Config view = call.config(1, "view", {.skip = {"frame"}});
  const auto factor = call.integer(2, "factor", 1, largest_factor, 1);
  const auto read_size = [&](const char* key) {
    const auto* found = view.find(key);
    if (!found) call.fail(text("view.", key, " is missing; pass one of policy:views()"));
    const auto size = found->integer();
    if (!size || *size < 1 || *size > largest_seen_side)
      call.fail(text("view.", key, " is ", found->describe(), "; views have an integer from 1 to ", largest_seen_side, " there"));
    return static_cast<int>(*size);
  };
  const int columns = read_size("columns"), rows = read_size("rows");
  std::vector<int> selected;
  const auto* positions = view.find("selected");
  for (const auto& position : positions && positions->list() ? *positions->list() : Config::List{}) {
    const auto index = position.integer();
    if (!index || *index < 1 || *index > std::int64_t{columns} * rows)
      call.fail(text("view.selected holds ", position.describe(), ", which is no patch of a ", rows, " x ", columns, " grid"));
    selected.push_back(static_cast<int>(*index) - 1);
  }
  const auto patch = static_cast<int>(read_size("patch") * factor), stride = static_cast<int>(read_size("stride") * factor);
  overlay_patches(image, {.columns = columns, .patch = patch, .stride = stride}, selected,
                  read_opacities(call, view, std::int64_t{columns} * rows, selected), {255, 255, 255});
  return give_image(call, std::move(image));
}

/// @lua method image:shape
/// Its size.
/// @return integer height - rows
/// @return integer width - columns
/// @return integer channels - 1, 3 or 4
/// @return string type - "uint8" or "float32"
int shape(Call& call) {
  const auto& shape = call.self<ImageObject>().image.shape();
  return call.give(shape.height) + call.give(shape.width) + call.give(shape.channels) +
         call.give(shape.type == PixelType::uint8 ? "uint8" : "float32");
}

/// @lua method image:pixel
/// The values of one pixel.
/// @param row integer 1.. - from the top
/// @param column integer 1.. - from the left
/// @return number ... - one a channel
int pixel(Call& call) {
  const auto& image = call.self<ImageObject>().image;
  const auto& shape = image.shape();
  const auto row = call.integer(1, "row", 1, shape.height), column = call.integer(2, "column", 1, shape.width);
  const std::size_t first =
      (static_cast<std::size_t>(row - 1) * shape.width + static_cast<std::size_t>(column - 1)) * shape.channels;
  for (std::size_t i = first; i < first + static_cast<std::size_t>(shape.channels); ++i)
    if (shape.type == PixelType::uint8)
      call.give(static_cast<int>(image.bytes()[i]));
    else
      call.give(double{image.floats()[i]});
  return shape.channels;
}

/// @lua method image:bytes
/// The raw values, row by row from the top, channels together.
/// @return string - uint8 or float32
int bytes(Call& call) {
  const auto view = call.self<ImageObject>().image.view();
  return call.give(std::string_view(static_cast<const char*>(view.data), view.shape.bytes()));
}

constexpr lua::Function functions[] = {{"read", entry<read>}, {"side_by_side", entry<side_by_side_images>}};
constexpr lua::Function methods[] = {
    {"save_png", entry<save_png>}, {"enlarge", entry<enlarge_image>}, {"overlay", entry<overlay>},
    {"shape", entry<shape>},       {"pixel", entry<pixel>},           {"bytes", entry<bytes>},
};

}  // namespace

/// @lua table iap.image
/// Pictures.

/// @lua class image
/// A picture of bytes or floats, such as env:observe gives.
/// @page image
void open_image_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<ImageObject>::info, methods);
  lua::push_functions(state, "iap.image", ".", functions);
  lua_setfield(state, -2, "image");
}

}  // namespace iap
