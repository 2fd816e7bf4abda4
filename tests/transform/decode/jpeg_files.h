// JPEG files made by libjpeg in the test, of every sampling and kind, and libjpeg's own plain decode of a whole file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "core/base/random.h"

namespace dataline {

struct JpegKind {
  int width = 64, height = 48;
  std::vector<int> h = {2, 1, 1}, v = {2, 1, 1};  // sampling of each component
  J_COLOR_SPACE in = JCS_RGB, stored = JCS_YCbCr;
  bool progressive = false;
  bool interleaved = true;  // false: a scan a component
  bool dc_only = false;     // a progressive file that ends after its DC scan
  int restart_rows = 0;
  bool arithmetic = false;  // codes; make_jpeg() gives nothing where libjpeg has none
  bool own_tables = false;  // Huffman codes made for this picture, instead of the usual ones
  int quality = 90;
};

// Smooth colours with some texture: every sample differs from its neighbours.
inline std::vector<unsigned char> test_pixels(int width, int height, int channels, uint64_t seed = 1) {
  std::vector<unsigned char> pixels(static_cast<size_t>(width) * static_cast<size_t>(height) *
                                    static_cast<size_t>(channels));
  unsigned char* next = pixels.data();  // an index is a call where tests are not optimised
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int smooth = (x * (3 + c) + y * (5 - c)) % 256;
        const int noise = static_cast<int>(random_bits(seed, static_cast<uint64_t>(y * width + x), c) % 64);
        *next++ = static_cast<unsigned char>((smooth * 3 + noise * 4) / 4 % 256);
      }
    }
  }
  return pixels;
}

inline std::string make_jpeg(const JpegKind& kind) {
#if !defined(C_ARITH_CODING_SUPPORTED)
  if (kind.arithmetic) return "";
#endif
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  const int channels = static_cast<int>(kind.h.size());
  info.image_width = static_cast<JDIMENSION>(kind.width);
  info.image_height = static_cast<JDIMENSION>(kind.height);
  info.input_components = channels;
  info.in_color_space = kind.in;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, kind.stored);
  jpeg_set_quality(&info, kind.quality, TRUE);
  for (int i = 0; i < channels; ++i) {
    info.comp_info[i].h_samp_factor = kind.h[i];
    info.comp_info[i].v_samp_factor = kind.v[i];
  }
  info.restart_in_rows = kind.restart_rows;
  info.arith_code = kind.arithmetic ? TRUE : FALSE;
  info.optimize_coding = kind.own_tables ? TRUE : FALSE;
  std::vector<jpeg_scan_info> scans;
  if (kind.progressive) jpeg_simple_progression(&info);
  if (kind.dc_only) info.num_scans = 1;
  if (!kind.interleaved) {
    for (int i = 0; i < channels; ++i) scans.push_back({1, {i}, 0, 63, 0, 0});
    info.scan_info = scans.data();
    info.num_scans = channels;
  }
  jpeg_start_compress(&info, TRUE);
  std::vector<unsigned char> pixels = test_pixels(kind.width, kind.height, channels);
  for (int y = 0; y < kind.height; ++y) {
    JSAMPROW row = &pixels[static_cast<size_t>(y) * kind.width * channels];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return bytes;
}

// The plain loop: line by line, all of it.
inline std::vector<unsigned char> plain_decode(const std::string& bytes, J_COLOR_SPACE out) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = out;
  jpeg_start_decompress(&info);
  std::vector<unsigned char> pixels(size_t{info.output_width} * info.output_height * info.output_components);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = &pixels[size_t{info.output_scanline} * info.output_width * info.output_components];
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
}

}  // namespace dataline
