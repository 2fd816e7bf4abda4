// A whole JPEG by JpegSession, with libjpeg's Huffman decoder and with ours: each the other's proof.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "core/transform/decode/jpeg_huffman.h"

namespace dataline {

// The whole picture by libjpeg alone or with ours in its place, and whether that was attached and gave up. Errors are
// those of JpegSession.
struct Whole {
  Status status;
  std::vector<unsigned char> pixels;
  bool attached = false, gave_up = false, warned = false;
};

inline Whole decode_whole(Bytes bytes, bool ours, const DecodeLimits& limits = {}) {
  Whole out;
  JpegHuffman huffman;
  JpegSession session{limits};
  JDIMENSION line = 0;
  std::vector<unsigned char> pixels;
  auto start = [](jpeg_decompress_struct& info) {
    jpeg_read_header(&info, TRUE);
    info.out_color_space = info.num_components == 1   ? JCS_GRAYSCALE
                           : info.num_components == 4 ? JCS_CMYK
                                                      : JCS_RGB;
    jpeg_start_decompress(&info);
  };
  out.status = session.begin(bytes);
  if (out.status.is_ok()) out.status = session.run(start);
  if (!out.status.is_ok()) return out;
  if (ours) out.attached = huffman.attach(session.info());
  const size_t line_bytes =
      size_t{session.info().output_width} * static_cast<size_t>(session.info().output_components);
  pixels.resize(line_bytes * session.info().output_height);
  out.status = session.run([&line, &pixels, line_bytes](jpeg_decompress_struct& info) {
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = &pixels[info.output_scanline * line_bytes];
      line += jpeg_read_scanlines(&info, &row, 1);
    }
  });
  pixels.resize(line * line_bytes);
  out.pixels = std::move(pixels);
  out.gave_up = huffman.take_failure();
  if (!out.status.is_ok()) return out;
  out.status = session.run([&huffman, ours](jpeg_decompress_struct& info) {
    if (ours) huffman.hand_back(info);
    jpeg_finish_decompress(&info);
  });
  if (session.ended()) out.status = Status::ok();  // only the end is missing
  out.warned = session.warnings() > 0;
  return out;
}

}  // namespace dataline
