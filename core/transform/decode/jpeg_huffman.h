// A Huffman decoder for baseline and extended sequential JPEGs, in place of libjpeg-turbo's own. Huffman decoding is two
// thirds of the time of a photograph; libjpeg's decoder makes a photograph take 9 to 18 % longer (bench/README.md).
//
// libjpeg calls its entropy decoder through `info.entropy`, a struct of function pointers, once per MCU (a square of 8 or 16
// pixels). attach() replaces that struct. We handle valid data only: on an invalid code, an unexpected marker or missing data
// we leave libjpeg with an error, take_failure() returns true, and the caller decodes the image again with libjpeg's decoder.
// So all pixels, warnings and errors are libjpeg's.
//
// The struct is declared in jpegint.h, a private header. So this is the build option DATALINE_WITH_JPEG_HUFFMAN
// (core/cmake/dataline_jpeg_huffman.cmake lists the tested releases), and attach() refuses a library of another release than the
// header's.
//
// Threads: externally synchronized. Source: ITU-T T.81 (JPEG), annexes C and F.2.2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/decode/jpeg_session.h"

#if DATALINE_HAS_JPEG_HUFFMAN

#include <array>
#include <cstdint>
#include <utility>

extern "C" {
#include <jpegint.h>  // struct jpeg_entropy_decoder
}

namespace dataline {

// The lookup table of one Huffman table (DHT).
class JpegCodes {
 public:
  // Most codes are shorter than this, and the tables of an image (4 KiB each) fit the L1 cache.
  static constexpr int kLookBits = 10;

  // Returns false for a table that no 8-bit sequential JPEG may have.
  bool build(const JHUFF_TBL& table, bool dc);

  // Decodes the code at the top of `bits`. Codes of up to kLookBits bits are in the table; long_entry() searches for longer
  // ones. jpeg_huffman.cpp describes the fields of an entry.
  uint32_t entry(uint64_t bits) const {
    const uint32_t found = entries_[bits >> (64 - kLookBits)];
    return found != 0 ? found : long_entry(bits);
  }

 private:
  [[gnu::noinline]] uint32_t long_entry(uint64_t bits) const;

  std::array<uint32_t, 1 << kLookBits> entries_ = {};
  // By code length: one past the last code, and the difference between a code and the index of its symbol.
  std::array<int32_t, 17> end_ = {}, offset_ = {};
  std::array<uint8_t, 17> counts_ = {};
  std::array<uint8_t, 256> symbols_ = {};
  bool built_ = false, dc_ = false;
};

// The bit reader. `bits` holds the next bits of the scan from the top, `count` of them valid; below are zeros or bits of the byte
// at `next`. The last `padding` of the valid bits are zeros past the end of the data: `count` < `padding` is an overrun.
struct JpegBits {
  const std::byte* next = nullptr;
  const std::byte* end = nullptr;
  uint64_t bits = 0;
  int32_t count = 0;
  int32_t padding = 0;
};

class JpegHuffman : public jpeg_entropy_decoder {
 public:
  JpegHuffman() : jpeg_entropy_decoder() {}
  JpegHuffman(const JpegHuffman&) = delete;
  JpegHuffman& operator=(const JpegHuffman&) = delete;

  // Call between jpeg_start_decompress() and the first line. Returns false, and leaves libjpeg's decoder in place, if the file
  // is not a single sequential scan or the library is not the one that jpegint.h belongs to.
  bool attach(jpeg_decompress_struct& info);
  bool take_failure() { return std::exchange(failed_, false); }  // since attach() or the last call
  // Call after the last line: tells libjpeg where the scan's data ended.
  void hand_back(jpeg_decompress_struct& info) const;

 private:
  struct Part {  // a component of the scan
    const JpegCodes* dc = nullptr;
    const JpegCodes* ac = nullptr;
    int32_t last_dc = 0;
  };

  static bool is_library_of_header(const jpeg_error_mgr& errors);
  static boolean decode(j_decompress_ptr info, JBLOCKROW* blocks);
  template <bool kStored>
  void decode_blocks(j_decompress_ptr info, JBLOCKROW* blocks);
  void restart(j_decompress_ptr info);
  [[noreturn]] void give_up(j_decompress_ptr info);

  bool failed_ = false;
  uint32_t mcus_until_restart_ = 0;
  int32_t next_restart_ = 0;
  JpegBits bits_;
  std::array<Part, MAX_COMPS_IN_SCAN> parts_ = {};
  std::array<JpegCodes, NUM_HUFF_TBLS> dc_codes_, ac_codes_;
};

}  // namespace dataline

#else  // libjpeg's decoder stays in place

namespace dataline {

class JpegHuffman {
 public:
  bool attach(jpeg_decompress_struct&) { return false; }
  bool take_failure() { return false; }
  void hand_back(jpeg_decompress_struct&) const {}
};

}  // namespace dataline

#endif  // DATALINE_HAS_JPEG_HUFFMAN
