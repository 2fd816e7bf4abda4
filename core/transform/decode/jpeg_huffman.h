// The Huffman codes of a JPEG of one sequential scan, in the place of libjpeg's own decoder of them. That one takes two
// thirds of a photograph's time; with this one a photograph takes a sixth less (bench/README.md).
//
// libjpeg is built of objects that are structs of functions. `info.entropy` is the one for codes, asked for one MCU (the
// blocks of some 8 or 16 lines and columns) after the other; attach() puts this one there. It judges no file: of what is
// damaged or odd - a code that does not exist, a marker where none is due, bytes that end - it gives libjpeg an error to
// leave by, and take_failure() says that all is to be done again without it. So pixels and errors are libjpeg's.
//
// Threads: externally synchronized. Source: ITU-T T.81 (JPEG), annexes C and F.2.2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/decode/jpeg_session.h"

#if DATALINE_HAS_JPEGINT

#include <array>
#include <cstdint>
#include <utility>

extern "C" {
#include <jpegint.h>  // struct jpeg_entropy_decoder
}

namespace dataline {

// The codes of a DHT segment, looked up by the next bits of the file.
class JpegCodes {
 public:
  static constexpr int kLookBits =
      10;  // 4 KiB: nearly all codes, and the tables of an image stay in the L1 cache

  // False: codes that no sequential JPEG of 8 bits has.
  bool build(const JHUFF_TBL& table, bool dc);

  // What the code at the top of `bits` says (jpeg_huffman.cpp tells how); of more than kLookBits by long_entry().
  uint32_t entry(uint64_t bits) const {
    const uint32_t found = entries_[bits >> (64 - kLookBits)];
    return found != 0 ? found : long_entry(bits);
  }

 private:
  [[gnu::noinline]] uint32_t long_entry(uint64_t bits) const;

  std::array<uint32_t, 1 << kLookBits> entries_ = {};
  // Of each length: the first code after its last, and what a code's place among the symbols is more than the code.
  std::array<int32_t, 17> end_ = {}, offset_ = {};
  std::array<uint8_t, 17> counts_ = {};
  std::array<uint8_t, 256> symbols_ = {};
  bool built_ = false, dc_ = false;
};

// The next bits of a scan. The highest of `bits` is the next one; below the `count` that are valid stand zeros, or bits of
// the byte at `next`. `padding` of the `count` are zeros that no byte gave: fewer than that left is an overrun.
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

  // Between jpeg_start_decompress() and the first line. False: libjpeg's own decoder stays, as the file is no single
  // sequential scan.
  bool attach(jpeg_decompress_struct& info);
  bool take_failure() { return std::exchange(failed_, false); }  // since attach() or the last call
  // After the last line: libjpeg goes on where the codes ended.
  void hand_back(jpeg_decompress_struct& info) const;

 private:
  struct Part {  // a component of the scan
    const JpegCodes* dc = nullptr;
    const JpegCodes* ac = nullptr;
    int32_t last_dc = 0;
  };

  static boolean decode(j_decompress_ptr info, JBLOCKROW* blocks);
  template <bool kStored>
  void decode_blocks(j_decompress_ptr info, JBLOCKROW* blocks);
  void restart(j_decompress_ptr info);
  [[noreturn]] void give_up(j_decompress_ptr info);

  // What later versions of libjpeg keep after their functions is nothing here.
  [[maybe_unused]] void* reserved_[8] = {};
  bool failed_ = false;
  uint32_t mcus_until_restart_ = 0;
  int32_t next_restart_ = 0;
  JpegBits bits_;
  std::array<Part, MAX_COMPS_IN_SCAN> parts_ = {};
  std::array<JpegCodes, NUM_HUFF_TBLS> dc_codes_, ac_codes_;
};

}  // namespace dataline

#else  // where libjpeg's inner header is not installed, its own decoder stays

namespace dataline {

class JpegHuffman {
 public:
  bool attach(jpeg_decompress_struct&) { return false; }
  bool take_failure() { return false; }
  void hand_back(jpeg_decompress_struct&) const {}
};

}  // namespace dataline

#endif  // DATALINE_HAS_JPEGINT
