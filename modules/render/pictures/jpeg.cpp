module;
#include <cstddef>
#include <cstdint>
#include <cstdio>
// libjpeg's header needs the C library's before it.
#include <jpeglib.h>

#include <csetjmp>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
module iap.render;
import iap.core;

// As with libpng, an error must not return: the frames between setjmp and libjpeg hold nothing that needs a destructor.
namespace iap {
namespace {

// A progressive JPEG has about ten scans. One of a hundred bytes makes libjpeg go over the whole picture once more.
constexpr int most_scans = 500;

struct Decoder {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf way_out;
  char message[JMSG_LENGTH_MAX];
  bool interrupted, too_many_scans;
};

[[noreturn]] void leave(j_common_ptr jpeg) {
  auto* decoder = static_cast<Decoder*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, decoder->message);
  std::longjmp(decoder->way_out, 1);
}

// Warnings (-1) tell of damaged data, which libjpeg would fill up.
void note(j_common_ptr jpeg, int level) {
  if (level < 0) leave(jpeg);
}

bool refuse(Decoder* decoder, const char* why) {
  std::strncpy(decoder->message, why, sizeof decoder->message - 1);
  return false;
}

// libjpeg calls it once for each row of blocks of each scan.
void watch(j_common_ptr jpeg) {
  auto* decoder = static_cast<Decoder*>(jpeg->client_data);
  decoder->interrupted = interrupt_requested();
  decoder->too_many_scans = decoder->jpeg.input_scan_number > most_scans;
  if (decoder->interrupted || decoder->too_many_scans) std::longjmp(decoder->way_out, 1);
}

bool read_header(Decoder* decoder, const unsigned char* data, std::size_t size) {
  jpeg_decompress_struct& jpeg = decoder->jpeg;
  if (setjmp(decoder->way_out)) return false;
  jpeg_create_decompress(&jpeg);
  jpeg.progress = &decoder->progress;
  jpeg_mem_src(&jpeg, data, size);
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK)
    return refuse(decoder, "its colours are for print (CMYK); convert it to RGB");
  jpeg.out_color_space = JCS_RGB;
  return true;
}

bool read_rows(Decoder* decoder, std::uint8_t* rgb) {
  jpeg_decompress_struct& jpeg = decoder->jpeg;
  if (setjmp(decoder->way_out)) return false;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = rgb + std::size_t{jpeg.output_scanline} * jpeg.output_width * 3;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

struct OwnDecoder : Decoder {
  OwnDecoder() : Decoder{} {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = static_cast<Decoder*>(this);
    errors.error_exit = leave;
    errors.emit_message = note;
    progress.progress_monitor = watch;
  }
  ~OwnDecoder() { jpeg_destroy_decompress(&jpeg); }
  OwnDecoder(const OwnDecoder&) = delete;
  OwnDecoder& operator=(const OwnDecoder&) = delete;
};

constexpr std::string_view jpeg_start = "\xff\xd8\xff", png_start = "\x89PNG";

}  // namespace

Image read_jpeg(const std::filesystem::path& path) {
  check_file(path);
  const std::string content = read_file(path);
  const auto fail = [&](const auto&... why) { return Error(text("cannot read ", path.string(), " as a JPEG: ", why...)); };
  if (!content.starts_with(jpeg_start)) throw fail(content.empty() ? "it is empty" : "it does not start as one");
  OwnDecoder decoder;
  if (!read_header(&decoder, reinterpret_cast<const unsigned char*>(content.data()), content.size()))
    throw fail(std::string_view(decoder.message));
  const std::size_t height = decoder.jpeg.image_height, width = decoder.jpeg.image_width;
  if (height * width > largest_picture)
    throw fail("it has ", height, " x ", width, " pixels; use one of at most ", largest_picture, " in all");
  // Of a progressive one, the coefficients of all its pixels are kept beside them.
  constexpr double bytes_a_pixel = 3 + 3 * sizeof(std::int16_t);
  check_memory(text("reading ", path.string()), bytes_a_pixel * static_cast<double>(height * width));
  Image image({static_cast<int>(height), static_cast<int>(width), 3, PixelType::uint8});
  if (!read_rows(&decoder, image.bytes().data())) {
    if (decoder.interrupted) throw Interrupted();
    if (decoder.too_many_scans)
      throw fail("it has more than ", most_scans, " scans; save it again with fewer, or as one that is not progressive");
    throw fail(std::string_view(decoder.message));
  }
  return image;
}

Image read_image(const std::filesystem::path& path) {
  check_file(path);
  const std::string content = read_file(path);
  if (content.starts_with(png_start)) return read_png(path);
  if (content.starts_with(jpeg_start)) return read_jpeg(path);
  throw Error(text("cannot read ", path.string(), ": ",
                   content.empty() ? "it is empty" : "it starts neither as a PNG nor as a JPEG", "; remove or replace it"));
}

}  // namespace iap
