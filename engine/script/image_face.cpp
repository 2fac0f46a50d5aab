#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "script/faces.hpp"
#include "script/objects.hpp"
import iap.core;
import iap.render;

namespace iap {
namespace {

using lua::Call;
using lua::entry;

constexpr int largest_factor = 64;

/// iap.image.read(path)
int read(Call& call) { return give_image(call, read_png(call.string(1, "path"))); }

/// iap.image.side_by_side({image, ...}, gap)
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

int save_png(Call& call) {
  write_png(call.string(1, "path"), call.self<ImageObject>().image.view());
  return 0;
}

int enlarge_image(Call& call) {
  return give_image(call,
                    enlarge(call.self<ImageObject>().image.view(), static_cast<int>(call.integer(1, "factor", 1, largest_factor))));
}

/// image:overlay(view, factor): a copy with the patches of one of policy:views(); `factor` says how much the image was enlarged.
int overlay(Call& call) {
  Image image = call.self<ImageObject>().image;
  const Config view = call.config(1, "view");
  const auto factor = call.integer(2, "factor", 1, largest_factor, 1);
  const auto read_size = [&](const char* key) {
    const auto* found = view.find(key);
    const auto size = found ? found->integer() : std::nullopt;
    if (!size || *size < 1 || *size > 1 << 15) call.fail(text("view.", key, " is missing; pass one of policy:views()"));
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
  overlay_patches(image, columns, static_cast<int>(read_size("patch") * factor), static_cast<int>(read_size("stride") * factor),
                  selected);
  return give_image(call, std::move(image));
}

/// image:shape() -> height, width, channels, type
int shape(Call& call) {
  const auto& shape = call.self<ImageObject>().image.shape();
  return call.give(shape.height) + call.give(shape.width) + call.give(shape.channels) +
         call.give(shape.type == PixelType::uint8 ? "uint8" : "float32");
}

/// image:pixel(row, column) -> the channels' values; rows and columns count from 1.
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

/// image:bytes() -> the raw values as a string
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

void open_image_face(lua_State* state) {
  lua::define_class(state, lua::ClassOf<ImageObject>::info, methods);
  lua::push_functions(state, "iap.image", ".", functions);
  lua_setfield(state, -2, "image");
}

}  // namespace iap
