module;
#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#include <png.h>
// The library's header needs it.
#include <cstdio>

#include <jpeglib.h>
#include <webp/encode.h>
module iap.render;
import iap.core;

namespace iap {

LibraryVersions render_versions() {
  const int webp = WebPGetEncoderVersion();
  return {{"Embree", RTC_VERSION_STRING},
          {"libjpeg-turbo", version_text(LIBJPEG_TURBO_VERSION_NUMBER / 1000000, LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000,
                                         LIBJPEG_TURBO_VERSION_NUMBER % 1000)},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"libwebp", version_text(webp >> 16, webp >> 8 & 0xff, webp & 0xff)}};
}

}  // namespace iap
