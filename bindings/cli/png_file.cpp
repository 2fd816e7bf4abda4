// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/png_file.h"

#include <new>

#include "bindings/cli/failure.h"

#if DATALINE_HAS_LIBSPNG
#include <spng.h>

#include <cstdlib>
#include <memory>
#endif

namespace dataline::cli {

#if DATALINE_HAS_LIBSPNG

namespace {

// zlib's set-up fails only without memory.
void check_png(int error) {
  if (error == SPNG_EMEM || error == SPNG_EZLIB_INIT) throw std::bad_alloc();
  if (error != SPNG_OK) throw Failure{.message = std::string("PNG: ") + spng_strerror(error)};
}

}  // namespace

void require_png_writer() {}

std::string png_bytes(const Picture& picture) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> encoder(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (encoder == nullptr) throw std::bad_alloc();
  spng_ihdr header = {};
  header.width = static_cast<uint32_t>(picture.width);
  header.height = static_cast<uint32_t>(picture.height);
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  check_png(spng_set_option(encoder.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check_png(spng_set_option(encoder.get(), SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_NONE));
  check_png(spng_set_ihdr(encoder.get(), &header));
  check_png(spng_encode_image(encoder.get(), picture.rgb.data(), picture.rgb.size(), SPNG_FMT_PNG,
                              SPNG_ENCODE_FINALIZE));
  size_t size = 0;
  int error = SPNG_OK;
  const std::unique_ptr<void, void (*)(void*)> bytes(spng_get_png_buffer(encoder.get(), &size, &error),
                                                     std::free);
  check_png(error);
  return {static_cast<const char*>(bytes.get()), size};
}

#else

void require_png_writer() {
  throw Failure{.message = "preview cannot write a PNG: this build has no libspng (DATALINE_WITH_LIBSPNG)"};
}

std::string png_bytes(const Picture&) {
  require_png_writer();
  return {};
}

#endif

}  // namespace dataline::cli
