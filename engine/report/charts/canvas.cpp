module;
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <sstream>
#include <string>
#include <vector>
module iap.report;
import iap.core;
import iap.render;
#include "canvas.hpp"

namespace iap {
namespace {

/// Cairo draws nothing after a failure, and other letters where it gets at no font's file: neither makes a picture.
void check(cairo_t* cairo) {
  if (const auto status = cairo_status(cairo); status != CAIRO_STATUS_SUCCESS)
    throw Error(text("cannot draw a chart: ", cairo_status_to_string(status)));
}

void check_words(cairo_t* cairo, const std::string& words) {
  check(cairo);
  if (cairo_scaled_font_get_type(cairo_get_scaled_font(cairo)) != CAIRO_FONT_TYPE_FT)
    throw Error(text("cannot write '", words,
                     "' into a picture: no font can be read; install one (Debian: fonts-dejavu-core), or allow more open files "
                     "(ulimit -n)"));
}

/// Where the letters of UTF-8 begin.
std::vector<std::size_t> letter_starts(const std::string& words) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((static_cast<unsigned char>(words[i]) & 0xC0) != 0x80) starts.push_back(i);
  return starts;
}

}  // namespace

LibraryVersions report_versions() { return {{"cairo", cairo_version_string()}}; }

Canvas::Canvas(int width, int height)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy),
      cairo_(cairo_create(surface_.get()), cairo_destroy) {
  if (cairo_status(cairo_.get()) != CAIRO_STATUS_SUCCESS)
    throw Error(text("cannot make a ", width, " x ", height, " chart: ", cairo_status_to_string(cairo_status(cairo_.get()))));
  cairo_select_font_face(cairo_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  colour({1, 1, 1});
  cairo_paint(cairo_.get());
}

cairo_t* Canvas::get() { return cairo_.get(); }
int Canvas::width() const { return cairo_image_surface_get_width(surface_.get()); }
int Canvas::height() const { return cairo_image_surface_get_height(surface_.get()); }

void Canvas::colour(const Colour& rgb) { cairo_set_source_rgb(get(), rgb[0], rgb[1], rgb[2]); }

void Canvas::write(double x, double y, const std::string& written, double align, double size) {
  const std::string words = one_line(written);
  cairo_set_font_size(get(), size);
  cairo_text_extents_t extents;
  cairo_text_extents(get(), words.c_str(), &extents);
  check_words(get(), words);
  cairo_move_to(get(), x - align * extents.width - extents.x_bearing, y + 0.36 * size);
  cairo_show_text(get(), words.c_str());
  // Showing text leaves a current point behind, from which the next line would start.
  cairo_new_path(get());
}

void Canvas::write_upwards(double x, double y, const std::string& words, double align) {
  cairo_save(get());
  cairo_translate(get(), x, y);
  cairo_rotate(get(), -std::acos(-1.0) / 2);
  write(0, 0, words, align);
  cairo_restore(get());
}

double Canvas::width_of(const std::string& written, double size) {
  const std::string words = one_line(written);
  cairo_set_font_size(get(), size);
  cairo_text_extents_t extents;
  cairo_text_extents(get(), words.c_str(), &extents);
  check_words(get(), words);
  return extents.x_advance;
}

std::string Canvas::shortened(const std::string& words, double width, double size) {
  if (width_of(words, size) <= width) return words;
  const auto starts = letter_starts(words);
  const auto cut = [&](std::size_t letters) {
    std::size_t end = starts[letters - letters / 2], begin = letters < 2 ? words.size() : starts[starts.size() - letters / 2];
    while (end > 0 && words[end - 1] == ' ') --end;
    while (begin < words.size() && words[begin] == ' ') ++begin;
    return words.substr(0, end) + "…" + words.substr(begin);
  };
  const auto letters = std::views::iota(std::size_t{0}, starts.size());
  const auto first_too_many =
      std::ranges::partition_point(letters, [&](std::size_t count) { return width_of(cut(count), size) <= width; });
  return first_too_many == letters.begin() ? "" : cut(*(first_too_many - 1));
}

std::string Canvas::beginning_of(const std::string& words, double width, double size) {
  if (width_of(words, size) <= width) return words;
  const auto cut = [&](std::size_t end) {
    while (end > 0 && words[end - 1] == ' ') --end;
    return words.substr(0, end) + "…";
  };
  const auto starts = letter_starts(words);
  const auto first_too_long =
      std::ranges::partition_point(starts, [&](std::size_t end) { return width_of(cut(end), size) <= width; });
  return first_too_long == starts.begin() ? "" : cut(*(first_too_long - 1));
}

std::vector<std::string> Canvas::wrapped(const std::string& words, double width, double size, std::size_t most) {
  std::vector<std::string> lines;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::string longer = lines.empty() ? word : lines.back() + " " + word;
    if (!lines.empty() && width_of(longer, size) <= width) {
      lines.back() = longer;
    } else if (lines.size() < most) {
      lines.push_back(shortened(word, width, size));
    } else {
      lines.back() = beginning_of(longer, width, size);
      break;
    }
  }
  return lines;
}

void Canvas::colour_bar(double x, double y, double width, double height) {
  const bool upright = height > width;
  const double begin = std::floor(upright ? y : x), end = std::ceil(upright ? y + height : x + width);
  for (double at = begin; at < end; ++at) {
    const double part = (at + .5 - begin) / (end - begin);
    colour(heat_map_colour(upright ? 1 - part : part));
    if (upright)
      rectangle(x, at, width, 1);
    else
      rectangle(at, y, 1, height);
  }
}

Colour heat_map_colour(double share) {
  const Rgb8 bytes = heat_colour(share);
  return {bytes[0] / 255.0, bytes[1] / 255.0, bytes[2] / 255.0};
}

void Canvas::rectangle(double x, double y, double width, double height) {
  cairo_rectangle(get(), x, y, width, height);
  cairo_fill(get());
}

void Canvas::line(double x0, double y0, double x1, double y1, double grey) {
  colour({grey, grey, grey});
  cairo_set_line_width(get(), 1);
  cairo_move_to(get(), std::floor(x0) + .5, std::floor(y0) + .5);
  cairo_line_to(get(), std::floor(x1) + .5, std::floor(y1) + .5);
  cairo_stroke(get());
}

Image Canvas::image() {
  check(get());
  cairo_surface_flush(surface_.get());
  Image image({height(), width(), 3, PixelType::uint8});
  auto* out = image.bytes().data();
  for (int y = 0; y < height(); ++y) {
    const auto* row =
        reinterpret_cast<const std::uint32_t*>(cairo_image_surface_get_data(surface_.get()) +
                                               static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get()));
    for (int x = 0; x < width(); ++x)
      for (const int shift : {16, 8, 0}) *out++ = static_cast<std::uint8_t>(row[x] >> shift);
  }
  return image;
}

}  // namespace iap
