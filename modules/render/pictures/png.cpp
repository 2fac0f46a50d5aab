module;
#include <png.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
module iap.render;
import iap.core;

// libpng reports errors by a call that must not return. Its own way out is a longjmp; an exception would have to cross C frames.
// So the frames between setjmp and libpng hold nothing that needs a destructor, and the message waits in a plain struct.
namespace iap {
namespace {

struct Failure {
  char message[200] = "";
};

void fail(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::strncpy(failure->message, message, sizeof failure->message - 1);
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

struct Source {
  const char* next;
  std::size_t left;
};

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->left) png_error(png, "the file ends too early");
  std::memcpy(to, source->next, count);
  source->next += count;
  source->left -= count;
}

// A growing buffer without a destructor: an allocation that fails is an error of libpng's.
struct Sink {
  char* data;
  std::size_t size, capacity;
};

void write_bytes(png_structp png, png_bytep from, std::size_t count) {
  auto* sink = static_cast<Sink*>(png_get_io_ptr(png));
  if (sink->size + count > sink->capacity) {
    const std::size_t capacity = std::max(2 * sink->capacity, sink->size + count);
    auto* grown = static_cast<char*>(std::realloc(sink->data, capacity));
    if (!grown) png_error(png, "out of memory");
    sink->data = grown;
    sink->capacity = capacity;
  }
  std::memcpy(sink->data + sink->size, from, count);
  sink->size += count;
}

void flush(png_structp) {}

bool encode(png_structp png, png_infop info, const ImageView* image, Sink* sink) {
  if (setjmp(png_jmpbuf(png))) return false;
  const auto& shape = image->shape;
  png_set_write_fn(png, sink, write_bytes, flush);
  png_set_IHDR(png, info, static_cast<png_uint_32>(shape.width), static_cast<png_uint_32>(shape.height), 8,
               shape.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const std::size_t row = static_cast<std::size_t>(shape.width) * shape.channels;
  for (int y = 0; y < shape.height; ++y) png_write_row(png, image->bytes() + row * y);
  png_write_end(png, info);
  return true;
}

bool has_palette(png_structp png, png_infop info) { return png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE; }

bool read_header(png_structp png, png_infop info, Source* source, int* height, int* width) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_read_fn(png, source, read_bytes);
  png_set_user_limits(png, 16384, 16384);
  // libpng would unpack and keep megabytes of each text and colour profile, which the header does not tell: all chunks but those
  // that pixels need are skipped (IHDR, PLTE, tRNS, IDAT and IEND).
  constexpr int all = -1;
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, all);
  png_read_info(png, info);
  if (has_palette(png, info)) {
    png_set_packing(png);  // libpng's expansion would take a colour that the palette lacks for black
  } else {
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
  }
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  *height = static_cast<int>(png_get_image_height(png, info));
  *width = static_cast<int>(png_get_image_width(png, info));
  const std::size_t bytes_a_pixel = has_palette(png, info) ? 1 : 3;
  if (png_get_rowbytes(png, info) != static_cast<std::size_t>(*width) * bytes_a_pixel) png_error(png, "an unknown kind of pixel");
  return true;
}

bool read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

struct PngWriter {
  Failure failure;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, fail, ignore);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  ~PngWriter() { png_destroy_write_struct(&png, &info); }
};

struct PngReader {
  Failure failure;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, fail, ignore);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

// Colours in place of the numbers of colours that stand in the last third of a row.
void look_up(const PngReader& reader, std::span<std::uint8_t> row, const auto& refuse) {
  png_colorp palette = nullptr;
  int colours = 0;
  png_get_PLTE(reader.png, reader.info, &palette, &colours);
  const std::size_t width = row.size() / 3;
  for (std::size_t x = 0; x < width; ++x) {
    const int index = row[2 * width + x];
    if (index >= colours)
      throw refuse(text("a pixel has the colour ", index, ", and its palette has ", colours, ", counted from 0; write it anew"));
    row[3 * x] = palette[index].red;
    row[3 * x + 1] = palette[index].green;
    row[3 * x + 2] = palette[index].blue;
  }
}

}  // namespace

std::string encode_png(const ImageView& image) {
  const auto& shape = image.shape;
  if (shape.type != PixelType::uint8 || (shape.channels != 1 && shape.channels != 3) || shape.height < 1 || shape.width < 1)
    throw Error(text("cannot encode the image: a PNG needs 8-bit grey or RGB, got ", shape.height, " x ", shape.width, " x ",
                     shape.channels, shape.type == PixelType::uint8 ? " bytes" : " floats"));
  PngWriter writer;
  Sink sink{nullptr, 0, 0};
  const std::unique_ptr<Sink, void (*)(Sink*)> owner(&sink, [](Sink* s) { std::free(s->data); });
  if (!writer.info || !encode(writer.png, writer.info, &image, &sink))
    throw Error(text("cannot encode the image as a PNG: ", writer.info ? writer.failure.message : "out of memory"));
  return {sink.data, sink.size};
}

void write_png(const std::filesystem::path& path, const ImageView& image) {
  std::string file;
  try {
    file = encode_png(image);
  } catch (const Error& error) {
    throw Error(text("cannot write ", path.string(), ": ", error.what()));
  }
  write_file_atomic(path, file);
}

Image read_png(const std::filesystem::path& path) {
  check_file(path);
  const std::string content = read_file(path);
  const auto refuse = [&](std::string_view why) { return Error(text("cannot read ", path.string(), " as a PNG: ", why)); };
  if (content.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(content.data()), 0, 8) != 0)
    throw refuse("it does not start as one");
  PngReader reader;
  if (!reader.info) throw refuse("out of memory");
  Source source{content.data(), content.size()};
  int height = 0, width = 0;
  if (!read_header(reader.png, reader.info, &source, &height, &width)) throw refuse(reader.failure.message);
  if (static_cast<std::size_t>(height) * width > largest_picture)
    throw refuse(text("it has ", height, " x ", width, " pixels; use one of at most ", largest_picture, " in all"));
  check_memory(text("reading ", path.string()), 3.0 * height * width);
  Image image({height, width, 3, PixelType::uint8});
  std::vector<png_bytep> rows(height);
  for (int y = 0; y < height; ++y) rows[y] = image.bytes().data() + static_cast<std::size_t>(y) * width * 3;
  const bool indexed = has_palette(reader.png, reader.info);
  if (indexed)
    for (auto& row : rows) row += std::size_t{2} * width;
  if (!read_rows(reader.png, rows.data())) throw refuse(reader.failure.message);
  if (indexed)
    for (int y = 0; y < height; ++y)
      look_up(reader, image.bytes().subspan(static_cast<std::size_t>(y) * width * 3, width * 3), refuse);
  return image;
}

}  // namespace iap
